/// The end of 8-bit sums where the divisor is a power of two, in fewer operations than
/// IntegerFinish takes, with the same result.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/contract/finish.hpp"

namespace convfilt {

/// What sums begin at, so that the end need not add it: the offset and half the divisor, or just
/// less where ties exist.
inline std::int64_t start_of(const IntegerFinish& finish) {
  const auto lowest = std::int64_t(finish.lowest) * std::int64_t(finish.divisor);
  return lowest - finish.lowest_sum + finish.half - finish.even;
}

/// (sum + offset) / 2^shift, rounded half to even: a sum that began at `start` needs one more where
/// its quotient is odd. 32 bits hold it, since sums and `start` stay within 2^30
/// (integer_finish()).
struct HalfToEven {
  std::int32_t start = 0;
  std::uint32_t parity = 0;  ///< brings the quotient's last bit to the top; 0 where nothing is lost
  std::uint32_t shift = 0;
  int usable = 0;  ///< whether the divisor is a power of two

  /// Of a sum that began at `start`: its upper bits, from `shift` on, are the quotient.
  CONVFILT_HD std::uint32_t unshifted(std::uint32_t sum) const {
    return sum + (sum * parity >> 31);
  }

  /// The quotient of such a sum. Not saturated.
  CONVFILT_HD std::int32_t operator()(std::int32_t sum) const {
    return std::int32_t(unshifted(std::uint32_t(sum))) >> shift;
  }
};

/// What an end saturates to is not here.
inline HalfToEven half_to_even(const IntegerFinish& finish) {
  HalfToEven end;
  end.usable = std::has_single_bit(finish.divisor);
  if (!end.usable) return end;
  end.start = std::int32_t(start_of(finish));
  end.shift = std::uint32_t(std::bit_width(finish.divisor) - 1);
  end.parity = finish.even ? 1u << (31 - end.shift) : 0;
  return end;
}

}  // namespace convfilt
