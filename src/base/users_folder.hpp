/// Where a user's own files lie, by the XDG base directory specification.
#pragma once

#include <string>

namespace convfilt {

/// The folder that the environment variable names, e.g. XDG_CACHE_HOME, if its path is absolute;
/// else `in_home`, e.g. ".cache", in HOME. Empty where neither is known.
std::string users_folder(const char* variable, const char* in_home);

}  // namespace convfilt
