/// Which options exclude each other, and which need another: one table for the errors on the
/// command line and for the defaults that give way to it.
#pragma once

#include <string>
#include <string_view>

#include "kernels/strategy.hpp"
#include "src/base/words.hpp"

namespace convfilt {

/// Throws UsageError if two of the values exclude each other, or one lacks what it needs. Pairs
/// that need the picture or the machine to be judged are left to the code that knows these.
void check_clashes(std::string_view command, const Values& values);

/// Whether a default excludes one of the stronger values, or a stronger one excludes it. `on_line`:
/// those stand on the command line, and so they also exclude what they cannot be used with. A
/// stronger default does not: it waits until it can be used.
bool gives_way(std::string_view command, const std::string& option, const std::string& value,
               const Values& stronger, bool on_line);

/// Whether the command has no use for the option beside these values.
bool is_useless(std::string_view command, const std::string& option, const std::string& value,
                const Values& values);

/// "--halo" for Setting::halo.
std::string option_name(Setting setting);

}  // namespace convfilt
