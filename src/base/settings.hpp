/// Settings of strategies, as a user writes them.
#pragma once

#include <string>

#include "kernels/strategy.hpp"

namespace convfilt {

/// Sets a setting from a word of its list, or a number in its range. Throws UsageError, with the
/// nearest word or the range.
void set_from_word(Tuning& tuning, Setting setting, const std::string& word);

}  // namespace convfilt
