#include "src/base/sides.hpp"

#include <charconv>
#include <limits>
#include <system_error>

namespace convfilt {
namespace {

std::optional<std::int64_t> side_in(std::string_view word) {
  if (word.empty() || word.find_first_not_of("0123456789") != word.npos) return std::nullopt;
  std::int64_t side = std::numeric_limits<std::int64_t>::max();
  std::from_chars(word.data(), word.data() + word.size(), side);
  return side;
}

}  // namespace

std::optional<Extent> parse_sides(std::string_view word) {
  const std::size_t x = word.find_first_of("xX");
  if (x == word.npos) return std::nullopt;
  const auto width = side_in(word.substr(0, x)), height = side_in(word.substr(x + 1));
  if (!width || !height) return std::nullopt;
  return Extent{*width, *height};
}

}  // namespace convfilt
