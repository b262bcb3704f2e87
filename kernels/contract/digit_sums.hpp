/// The sums of one, two or three digits of base 256, and how they end together.
#pragma once

#include <cstdint>

#include "kernels/contract/float_end.hpp"

namespace convfilt {

/// What a mask with weights of fewer digits has not is not looked at.
template <int kDigits>
struct DigitSums {
  std::int32_t top, middle, low;

  CONVFILT_HD std::int32_t total() const {
    if (kDigits == 1) return top;
    return kDigits == 2 ? top * 256 + low : (top * 256 + middle) * 256 + low;
  }
  /// Of one digit and two.
  CONVFILT_HD std::int32_t ended(const FloatEnd& end) const {
    return kDigits == 1 ? end(top) : end(top, low);
  }
  /// Of any number of digits.
  template <class End>
  CONVFILT_HD std::int32_t ended(const End& end) const {
    return end(total());
  }
};

}  // namespace convfilt
