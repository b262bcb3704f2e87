/// The arithmetic of one sample: a multiply-add, and how a sum ends as a sample. It is part of the
/// numeric contract (arithmetic.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/contract/plane_view.hpp"

namespace convfilt {

/// sum + weight * sample. In floats it is one fused operation, with the same result on every
/// processor.
template <class Sum>
CONVFILT_HD inline Sum multiply_add(Sum weight, std::type_identity_t<Sum> sample, Sum sum) {
  if constexpr (std::is_same_v<Sum, float>) {
#ifdef __CUDA_ARCH__
    return __fmaf_rn(weight, sample, sum);
#else
    return std::fma(weight, sample, sum);
#endif
  } else {
    return sum + weight * sample;
  }
}

/// sum + weight * sample. It is fused on a GPU, but not on the CPU, where a fused operation may be
/// a function call.
CONVFILT_HD inline float add_product(float weight, float sample, float sum) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(weight, sample, sum);
#else
  return sum + weight * sample;
#endif
}

/// Ends an integer sum as (sum + offset) / divisor, rounded half to even and saturated to
/// lowest..highest. The division is one multiplication and one shift. It is exact for divisors up
/// to 2^22 where highest - lowest <= 255, and for powers of two up to 2^14 where highest - lowest
/// <= 65535 (n * error < 2^shift; Granlund and Montgomery 1994).
struct IntegerFinish {
  std::int32_t lowest_sum = 0;   ///< lowest * divisor - offset; lower sums end as `lowest`
  std::int32_t highest_sum = 0;  ///< higher sums end as the highest value
  std::int32_t lowest = 0;       ///< even, so that parity survives the subtraction
  std::uint32_t divisor = 1, half = 0, magic = 0, shift = 0;
  std::uint32_t even = 0;  ///< 1 when the divisor is even, so that ties exist

  CONVFILT_HD std::int32_t operator()(std::int32_t sum) const {
    sum = sum < lowest_sum ? lowest_sum : sum > highest_sum ? highest_sum : sum;
    const std::uint32_t n = std::uint32_t(sum - lowest_sum) + half;
    std::uint32_t quotient = std::uint32_t((std::uint64_t(n) * magic) >> shift);
    // A tie has been rounded up. Half to even takes it down again where the quotient is odd.
    if (quotient * divisor == n) quotient -= quotient & even;
    return lowest + std::int32_t(quotient);
  }
};

/// |offset| + 256 * divisor must be at most 2^30, and every |sum| less than 2^30.
IntegerFinish integer_finish(std::int32_t offset, std::uint32_t divisor, std::int32_t lowest,
                             std::int32_t highest);

struct FloatFinish {
  float scale = 1, offset = 0;
};

template <class T>
CONVFILT_HD inline void finish(const IntegerFinish& f, std::int32_t sum, T& out) {
  out = T(f(sum));
}

/// The sum, rounded half to even and saturated to 0..highest. NaN becomes 0.
CONVFILT_HD inline std::uint32_t rounded(const FloatFinish& f, float sum, float highest) {
  const float value = multiply_add(sum, f.scale, f.offset);
  const float clamped = value > 0 ? (value < highest ? value : highest) : 0.0f;
#ifdef __CUDA_ARCH__
  return __float2uint_rn(clamped);
#else
  return std::uint32_t(std::nearbyint(clamped));
#endif
}

/// Only the transform family ends sums of 8-bit pictures so.
template <class T>
CONVFILT_HD inline void finish(const FloatFinish& f, float sum, T& out) {
  out = T(rounded(f, sum, float(T(-1))));
}

/// Every NaN becomes the same one, because processors differ in the payload that they pass on.
CONVFILT_HD inline void finish(const FloatFinish& f, float sum, float& out) {
  const float value = multiply_add(sum, f.scale, f.offset);
#ifdef __CUDA_ARCH__
  out = value == value ? value : __int_as_float(0x7fc00000);
#else
  out = value == value ? value : __builtin_nanf("");
#endif
}

}  // namespace convfilt
