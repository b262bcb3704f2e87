/// Random masks for measuring, equal on every machine.
#pragma once

#include <string_view>

#include "kernels/problem.hpp"

namespace convfilt {

/// The weights of a random mask.
enum class Weights {
  bits16,  ///< whole numbers that take two bytes each, over a power of two; full rank
  bits8,   ///< whole numbers that a signed byte holds, over a power of two; full rank
  rank1,   ///< a row of reals times a column of reals, with a gain of 1
  rank2,   ///< twice such a mask, less another
};

inline constexpr Weights kWeights[] = {Weights::bits16, Weights::bits8, Weights::rank1,
                                       Weights::rank2};

/// "16bit", "8bit", "rank1", "rank2"; random_mask() names its masks so.
std::string_view name_of(Weights weights);

/// A mask of these sides; the same arguments give the same mask. Whole numbers lie in
/// -limit/2..limit with a sum above a quarter of the sum of their magnitudes, and the divisor is
/// the smallest power of two not below that sum, so that a result is neither dark nor mostly
/// saturated. The limit is 32639 = 127 * 257, the largest value of two signed bytes, or 127 for one
/// byte. If 2^22 / (width * height) is less, that is the limit, so that 8-bit sums stay exact; for
/// two bytes this holds from 129 weights on. The factors of rank1 and rank2 are evenly spread over
/// 0.25..1, then scaled to sum to 1. Throws UsageError as check_mask_sides does.
Mask random_mask(Weights weights, int width, int height);

}  // namespace convfilt
