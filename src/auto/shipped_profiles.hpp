/// The shipped profiles as text, for a program that lies alone, away from its share folder. CMake
/// writes their file.
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace convfilt {

/// Name and JSON of each.
extern const std::span<const std::pair<std::string_view, std::string_view>> kShippedProfiles;

}  // namespace convfilt
