/// The user's folders, by the XDG base directory specification.
#pragma once

#include <string>

namespace convfilt {

/// The folder in the environment variable, e.g. XDG_CACHE_HOME, if its path is absolute; else
/// `in_home`, e.g. ".cache", in HOME. Empty if both are missing.
std::string users_folder(const char* variable, const char* in_home);

}  // namespace convfilt
