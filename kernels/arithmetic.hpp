/// The numeric contract: one arithmetic, everywhere the same bytes.
///
/// 8-bit pictures are filtered in integers: the mask becomes integer weights and one divisor, so
/// sums have no order. 16-bit and float pictures use single-precision fused multiply-adds: each row
/// of the mask is one chain, left to right, from zero; the rows' sums are added top to bottom. (One
/// chain through the whole mask was seen to lose 0.2 of a 16-bit step at 15x15; a chain a row stays
/// under 0.05.) Masks larger than kMaxPartSide are cut into parts, taken in row-major order, the
/// sum carried on.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "plane_view.hpp"
#include "problem.hpp"

namespace convfilt {

inline constexpr int kMaxPartSide = 31;  ///< so that a part's weights fit a 4 KB kernel parameter
inline constexpr int kMaxPartWeights = kMaxPartSide * kMaxPartSide;

/// What sums of samples are kept in, by the type the sum ends up as.
template <class Out>
using SumOf =
    std::conditional_t<std::is_same_v<Out, std::uint8_t> || std::is_same_v<Out, std::int16_t>,
                       std::int32_t, float>;

/// sum + weight * sample: in floats one fused operation, the same on every processor.
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

/// Ends an integer sum: (sum + offset) / divisor, rounded half to even, saturated to
/// lowest..highest. Division is one multiplication and one shift: exact for divisor <= 2^22 and
/// highest - lowest <= 255, or any power of two up to 2^14 and 65535 (n * error < 2^shift; Granlund
/// and Montgomery 1994).
struct IntegerFinish {
  std::int32_t lowest_sum = 0;   ///< sums below end as `lowest`: lowest * divisor - offset
  std::int32_t highest_sum = 0;  ///< sums above end as highest
  std::int32_t lowest = 0;       ///< even, so that parity survives the subtraction
  std::uint32_t divisor = 1, half = 0, magic = 0, shift = 0;
  std::uint32_t even = 0;  ///< 1 when the divisor is even, so that ties exist

  CONVFILT_HD std::int32_t operator()(std::int32_t sum) const {
    sum = sum < lowest_sum ? lowest_sum : sum > highest_sum ? highest_sum : sum;
    const std::uint32_t n = std::uint32_t(sum - lowest_sum) + half;
    std::uint32_t quotient = std::uint32_t((std::uint64_t(n) * magic) >> shift);
    // A tie was rounded up; half to even wants it down again where the quotient is odd.
    if (quotient * divisor == n) quotient -= quotient & even;
    return lowest + std::int32_t(quotient);
  }
};

/// |offset| + 256 * divisor must be at most 2^30, |sum| less.
IntegerFinish integer_finish(std::int32_t offset, std::uint32_t divisor, std::int32_t lowest,
                             std::int32_t highest);

struct FloatFinish {
  float scale = 1, offset = 0;
};

CONVFILT_HD inline void finish(const IntegerFinish& f, std::int32_t sum, std::uint8_t& out) {
  out = std::uint8_t(f(sum));
}

CONVFILT_HD inline void finish(const IntegerFinish& f, std::int32_t sum, std::int16_t& out) {
  out = std::int16_t(f(sum));
}

/// Rounded half to even, saturated to 0..highest; NaN becomes 0.
CONVFILT_HD inline std::uint32_t rounded(const FloatFinish& f, float sum, float highest) {
  const float value = multiply_add(sum, f.scale, f.offset);
  const float clamped = value > 0 ? (value < highest ? value : highest) : 0.0f;
#ifdef __CUDA_ARCH__
  return __float2uint_rn(clamped);
#else
  return std::uint32_t(std::nearbyint(clamped));
#endif
}

/// 8-bit pictures end so in the transform family alone.
CONVFILT_HD inline void finish(const FloatFinish& f, float sum, std::uint8_t& out) {
  out = std::uint8_t(rounded(f, sum, 255.0f));
}

CONVFILT_HD inline void finish(const FloatFinish& f, float sum, std::uint16_t& out) {
  out = std::uint16_t(rounded(f, sum, 65535.0f));
}

/// Every NaN becomes the same one: processors differ in the payload that they pass on.
CONVFILT_HD inline void finish(const FloatFinish& f, float sum, float& out) {
  const float value = multiply_add(sum, f.scale, f.offset);
#ifdef __CUDA_ARCH__
  out = value == value ? value : __int_as_float(0x7fc00000);
#else
  out = value == value ? value : __builtin_nanf("");
#endif
}

template <class Out>
using FinishOf =
    std::conditional_t<std::is_same_v<SumOf<Out>, std::int32_t>, IntegerFinish, FloatFinish>;

/// One part of a mask as a kernel takes it, by value, in constant memory (`__grid_constant__`).
/// Output (x, y) sums weight(i, j) * in(x + dx + i, y + dy + j).
template <class Out>
struct MaskPart {
  // What every launch reads stands before the weights, so that small masks fill few lines of the
  // constant cache: tiled-out at 15x15 takes 0.43 of the time it takes with the weights first
  // (H200).
  int width, height;  ///< width * height <= kMaxPartWeights
  int dx, dy;
  int first, last;  ///< whether the sum starts at zero, whether it is finished here
  FinishOf<Out> finish;
  SumOf<Out> weights[kMaxPartWeights];

  CONVFILT_HD SumOf<Out> weight(int i, int j) const { return weights[j * width + i]; }
};

/// A mask as the arithmetic of an output type has it: weights, end, and a proven error.
template <class Out>
struct PreparedMask {
  int width = 0, height = 0, anchor_x = 0, anchor_y = 0;
  std::vector<SumOf<Out>> weights;  ///< row-major
  FinishOf<Out> finish;
  double error =
      0;  ///< bound on |computed - real| before rounding, in steps of u8; 0 = exact. u8 only

  /// The mask in parts of at most this size, in row-major order.
  std::vector<MaskPart<Out>> parts(int max_width = kMaxPartSide,
                                   int max_height = kMaxPartSide) const;
};

/// Prepares the mask for pictures of sample type T. Throws std::invalid_argument where
/// `arithmetic_refuses` says why.
template <class T>
PreparedMask<T> prepare_mask(const Mask& mask);

/// Why no strategy can compute this: weights too large for 8-bit sums, or for single precision.
/// Empty when all can.
std::string arithmetic_refuses(const Problem& problem);

/// Why single precision cannot keep the transform family's bound, one step; empty when it can.
std::string transform_refuses(const Problem& problem);

/// The border value as a sample. Integer depths: rounded and saturated.
template <class T>
T ghost_sample(const Problem& problem);

}  // namespace convfilt
