/// One picture from file to file: decoded, filtered and encoded at the same time, in bands of rows.
#pragma once

#include "src/filter/filter.hpp"
#include "src/run/passage.hpp"

namespace convfilt {

/// Filters a picture, whose result is complete but has no name until somebody calls
/// Passage::commit; it appears whole or not at all. Throws IoError, UsageError, Stopped, and what
/// the filter throws; Passage::commit throws likewise, but never Stopped.
FileReport filter_picture(Passage& passage, Convolver& convolver);

}  // namespace convfilt
