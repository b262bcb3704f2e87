#include "src/base/users_folder.hpp"

#include <cstdlib>

namespace convfilt {

std::string users_folder(const char* variable, const char* in_home) {
  const auto named = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value && *value == '/' ? value : "");
  };
  if (std::string folder = named(variable); !folder.empty()) return folder;
  const std::string home = named("HOME");
  return home.empty() ? "" : home + "/" + in_home;
}

}  // namespace convfilt
