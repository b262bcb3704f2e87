/// The shipped profiles as text, for a program without its share folder. CMake writes the file with
/// them.
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace convfilt {

/// Name and JSON of each.
extern const std::span<const std::pair<std::string_view, std::string_view>> kShippedProfiles;

}  // namespace convfilt
