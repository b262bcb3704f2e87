/// "2048x1024" as a person writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace convfilt {

struct Extent {
  std::int64_t width = 0, height = 0;
};

/// Two whole numbers with an x between; nothing for other words. Their range is the caller's to
/// check; what no int64 holds is the largest one.
std::optional<Extent> parse_sides(std::string_view word);

}  // namespace convfilt
