/// The numeric contract: one arithmetic, everywhere the same bytes.
///
/// 8-bit pictures are filtered in integers: the mask becomes integer weights and one divisor, so
/// sums have no order. 16-bit and float pictures use single-precision fused multiply-adds: each row
/// of the mask is one chain, left to right, from zero, and the rows' sums are added top to bottom.
/// (One chain through the whole mask loses 0.2 of a 16-bit step at 15x15; a chain for each row
/// stays under 0.05.) Masks larger than kMaxPartSide are cut into parts, which are taken in
/// row-major order, and the sum is carried on from part to part.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/contract/ceil_div.hpp"
#include "kernels/contract/finish.hpp"
#include "kernels/contract/plane_view.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

inline constexpr int kMaxPartSide = 31;  ///< a part's weights then fit 4 KB of kernel arguments
inline constexpr int kMaxPartWeights = kMaxPartSide * kMaxPartSide;

/// The type in which sums are kept, by the type Out of the samples that they become.
template <class Out>
using SumOf =
    std::conditional_t<std::is_same_v<Out, std::uint8_t> || std::is_same_v<Out, std::int16_t>,
                       std::int32_t, float>;

template <class Out>
using FinishOf =
    std::conditional_t<std::is_same_v<SumOf<Out>, std::int32_t>, IntegerFinish, FloatFinish>;

/// One part of a mask as a kernel takes it, by value, in constant memory (`__grid_constant__`).
/// Output (x, y) sums weight(i, j) * in(x + dx + i, y + dy + j).
template <class Out>
struct MaskPart {
  // Fields that every launch reads come before the weights, so that small masks fill few lines of
  // the constant cache. That way tiled-out at 15x15 takes 0.43 of the time that it takes with the
  // weights first (H200).
  int width, height;  ///< width * height <= kMaxPartWeights
  int dx, dy;
  int first, last;  ///< whether sums start at zero here, and whether they end here
  FinishOf<Out> finish;
  SumOf<Out> weights[kMaxPartWeights];

  CONVFILT_HD SumOf<Out> weight(int i, int j) const { return weights[j * width + i]; }
};

/// A mask in the arithmetic of an output type: weights, end, and a proven bound on the error.
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

/// Reals in fixed point: round(real * 2^shift), except that some are moved by a unit to keep the
/// sum of all. `error` bounds |sum(fixed * in) / 2^shift - sum(real * in)| for samples in
/// 0..sample_range.
struct FixedPoint {
  std::vector<std::int32_t> weights;
  double error = 0;
};
FixedPoint fixed_point(const std::vector<double>& reals, int shift, double sample_range);

struct Sides {
  int width, height;
};

/// The sides of the first and of the largest part that a mask is cut into (PreparedMask::parts).
inline Sides first_part(const Mask& mask) {
  const auto share = [](int side) { return side / ceil_div(side, kMaxPartSide); };
  return {share(mask.width), share(mask.height)};
}
inline Sides largest_part(const Mask& mask) {
  const auto share = [](int side) { return ceil_div(side, ceil_div(side, kMaxPartSide)); };
  return {share(mask.width), share(mask.height)};
}

/// Prepares the mask for pictures of sample type T. Throws std::invalid_argument where
/// `arithmetic_refuses` says why.
template <class T>
PreparedMask<T> prepare_mask(const Mask& mask);

/// Why no strategy can compute this: the weights are too large for 8-bit sums, or for single
/// precision. Empty when all can.
std::string arithmetic_refuses(const Problem& problem);

/// Implements Strategy::refuses for the direct and the reordered family.
inline std::string direct_refuses(const Problem& problem, const Tuning&) {
  return arithmetic_refuses(problem);
}

/// Why single precision cannot keep the transform family's bound, one step; empty when it can.
std::string transform_refuses(const Problem& problem, const Tuning& = {});

/// The border value as a sample. At integer depths it is rounded and saturated.
template <class T>
T ghost_sample(const Problem& problem);

}  // namespace convfilt
