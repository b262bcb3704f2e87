#include "src/base/numbers.hpp"

#include <cmath>
#include <limits>

namespace convfilt {
namespace {

std::optional<std::int64_t> side_in(std::string_view word) {
  if (word.empty() || word.find_first_not_of("0123456789") != word.npos) return std::nullopt;
  return number_of_word<std::int64_t>(word).value_or(std::numeric_limits<std::int64_t>::max());
}

}  // namespace

std::optional<Extent> parse_sides(std::string_view word) {
  const std::size_t x = word.find_first_of("xX");
  if (x == word.npos) return std::nullopt;
  const auto width = side_in(word.substr(0, x)), height = side_in(word.substr(x + 1));
  if (!width || !height) return std::nullopt;
  return Extent{*width, *height};
}

std::string border_value_refuses(double value, Depth depth) {
  const std::string name(name_of(depth));
  if (depth == Depth::f32)
    return std::abs(value) <= double(std::numeric_limits<float>::max())
               ? ""
               : name + ", numbers up to about 3.4e38";
  const double most = full_range(depth);
  return value == std::floor(value) && value >= 0 && value <= most
             ? ""
             : name + ", whole numbers from 0 to " + std::to_string(int(most));
}

}  // namespace convfilt
