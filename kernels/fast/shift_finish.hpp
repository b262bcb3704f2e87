/// The end of 8-bit sums where the divisor is a power of two, in fewer operations than
/// IntegerFinish takes, with the same result.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "finish.hpp"

namespace convfilt {

/// (sum + offset) / 2^shift, rounded half to even.
struct ShiftFinish {
  std::int32_t offset = 0;
  std::int32_t below_half = 0;  ///< half the divisor, less one where ties exist
  std::uint32_t shift = 0;
  std::int32_t even = 0;  ///< 1 where the divisor is even, so that ties exist
  int usable = 0;         ///< whether the divisor is a power of two

  /// Of a sum to which the offset was added already. Not saturated.
  CONVFILT_HD std::int32_t operator()(std::int32_t sum_and_offset) const {
    // Half to even: what is added is half where the quotient is odd, and just less where it is not.
    return (sum_and_offset + below_half + ((sum_and_offset >> shift) & even)) >> shift;
  }
};

/// From an end for samples of 0..255.
inline ShiftFinish shift_finish(const IntegerFinish& finish) {
  ShiftFinish f;
  f.offset = -finish.lowest_sum;
  f.shift = std::uint32_t(std::bit_width(finish.divisor) - 1);
  f.even = std::int32_t(finish.even);
  f.below_half = std::int32_t(finish.half) - f.even;
  f.usable = std::has_single_bit(finish.divisor);
  return f;
}

/// Two samples, saturated to 0..255, the first in the low byte.
CONVFILT_HD inline std::uint16_t saturated_pair(std::int32_t first, std::int32_t second) {
#ifdef __CUDA_ARCH__
  std::uint32_t pair;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(pair) : "r"(second), "r"(first));
  return std::uint16_t(pair);
#else
  return std::uint16_t(std::clamp(first, 0, 255) | std::clamp(second, 0, 255) << 8);
#endif
}

/// Four samples likewise.
CONVFILT_HD inline std::uint32_t saturated_four(std::int32_t a, std::int32_t b, std::int32_t c,
                                                std::int32_t d) {
#ifdef __CUDA_ARCH__
  std::uint32_t upper, four;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(upper) : "r"(d), "r"(c));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(four) : "r"(b), "r"(a), "r"(upper));
  return four;
#else
  return saturated_pair(a, b) | std::uint32_t(saturated_pair(c, d)) << 16;
#endif
}

}  // namespace convfilt
