/// "2048x1024" as a person writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace convfilt {

struct Extent {
  std::int64_t width = 0, height = 0;
};

/// Two whole numbers with an x between; nothing for other words. The caller checks their range; a
/// number that no int64 holds becomes the largest int64.
std::optional<Extent> parse_sides(std::string_view word);

}  // namespace convfilt
