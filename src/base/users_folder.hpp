/// The user's folders, by the XDG base directory specification.
#pragma once

#include <cstdlib>
#include <string>

namespace convfilt {

/// The folder in the environment variable, e.g. XDG_CACHE_HOME, if its path is absolute; else
/// `in_home`, e.g. ".cache", in HOME. Empty if both are missing.
inline std::string users_folder(const char* variable, const char* in_home) {
  const auto named = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value && *value == '/' ? value : "");
  };
  if (std::string folder = named(variable); !folder.empty()) return folder;
  const std::string home = named("HOME");
  return home.empty() ? "" : home + "/" + in_home;
}

}  // namespace convfilt
