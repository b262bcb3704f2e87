#include "app/grammar/commands.hpp"

namespace convfilt {

// A build without the lab knows its commands by name alone.
const OtherCommand kCompare{{.name = "compare"}, nullptr};
const OtherCommand kExplain{{.name = "explain"}, nullptr};
const OtherCommand kCheck{{.name = "check"}, nullptr};
const OtherCommand kTune{{.name = "tune"}, nullptr};
const OtherCommand kTry{{.name = "try"}, nullptr};

}  // namespace convfilt
