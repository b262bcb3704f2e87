#include "src/base/border_value.hpp"

#include <cmath>
#include <limits>

namespace convfilt {

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
