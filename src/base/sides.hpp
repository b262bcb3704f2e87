/// "2048x1024" as a user writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace convfilt {

struct Extent {
  std::int64_t width = 0, height = 0;
};

/// Two whole numbers with an x between them; nothing for other words. The caller checks their
/// range; a number beyond int64 becomes the largest int64.
std::optional<Extent> parse_sides(std::string_view word);

}  // namespace convfilt
