#include "app/grammar/commands.hpp"

namespace convfilt {

// A build without the lab knows its commands by name alone.
const OtherCommand kCompare{{"compare", "", "", ""}, nullptr};
const OtherCommand kExplain{{"explain", "", "", ""}, nullptr};
const OtherCommand kCheck{{"check", "", "", ""}, nullptr};
const OtherCommand kTune{{"tune", "", "", ""}, nullptr};
const OtherCommand kTry{{"try", "", "", ""}, nullptr};

}  // namespace convfilt
