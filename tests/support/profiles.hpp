/// Profiles for tests, which must not depend on what the user has measured.
#pragma once

#include <vector>

#include "src/auto/profile.hpp"
#include "src/auto/profile_store.hpp"

namespace convfilt::test {

/// Those shipped with the program.
inline const std::vector<Profile>& shipped_profiles() {
  static const std::vector<Profile> profiles = [] {
    std::vector<Profile> all;
    for (const auto& [name, json] : kShippedProfiles)
      all.push_back(parse_profile(json, std::string(name)));
    return all;
  }();
  return profiles;
}

}  // namespace convfilt::test
