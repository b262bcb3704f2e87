/// A mask as warpgroups multiply it: its rows as banded matrices of digits, and how its sums end.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/sum_ends.hpp"
#include "kernels/tensor/layout.hpp"

namespace convfilt::tensor::warpgroup {

constexpr int kSegment = 16;  // neighbouring outputs that one row of a product gives
constexpr int kStep = 32;     // samples of a segment that one product multiplies
constexpr int kMostSteps = 3;

/// Samples that a segment's taps cover, counted from a multiple of four. `taps` is the number of
/// columns from the first tap to the last.
constexpr int segment_samples(int dx, int taps) {
  return slack_of(dx) + kSegment - 1 + taps;
}

/// Takes the lowest digit of base 256, -128..127, from a weight, and leaves the higher ones.
std::int8_t take_digit(std::int32_t& weight);

/// The weights of a mask or of a part of one.
template <class Weighted>
std::span<const std::int32_t> weights_of(const Weighted& mask) {
  return {std::data(mask.weights), std::size_t(mask.width) * mask.height};
}

/// How many digits -128..127 of base 256 hold all weights.
int signed_digits(std::span<const std::int32_t> weights);
template <class Weighted>
int signed_digits(const Weighted& mask) {
  return signed_digits(weights_of(mask));
}

/// How a mask is cut: the taps of its rows into steps, and its rows into parts of `height` rows
/// each, one below the other. The last part may have rows of zeros below the mask.
struct Cut {
  int steps, parts, height;
  bool half = false;  ///< the last step needs half its samples; heights are odd then
};

/// Whether a kernel takes masks in parts. Its height is 0 where it is compiled for any height.
/// Masks of one step have too few weights to fill shared memory.
CONVFILT_HD constexpr bool takes_parts(int steps, int height) {
  return steps > 1 && height == 0;
}

/// Rows of outputs, one below the other, that a product computes. Each takes 16 columns a digit.
CONVFILT_HD constexpr int rows_together(int digits) {
  return digits == 1 ? 4 : 2;
}

/// Bytes of a banded matrix. It has 16 columns a digit, in halves of 8. A half has the first 16
/// samples of all its columns, then the second 16.
CONVFILT_HD constexpr int matrix_bytes_of(int digits) {
  return digits * kSegment * kStep;
}

/// The number of a part's banded matrices: one for each of its rows, and some of zeros before and
/// behind them. A product takes successive matrices for the outputs one below the other, and some
/// of these lie outside the mask. The lowest of the outputs takes the first columns.
CONVFILT_HD constexpr int matrix_count(int digits, int mask_height) {
  return mask_height + 2 * (rows_together(digits) - 1);
}

constexpr int bytes_of_part(const Cut& cut, int digits) {
  const int bytes = matrix_count(digits, cut.height) * matrix_bytes_of(digits);
  return cut.steps * bytes - (cut.half ? bytes / 2 : 0);
}

/// Makes all banded matrices. Those of a part for the first 32 samples come first, then those for
/// the next 32, and behind them the next part's. Column 8 * half + 2t + k of a digit is output
/// 4t + 2 * half + k of a segment, so that a lane gets four neighbours. Where only half of a step
/// is needed, its columns have 16 samples. `slack` counts the samples of a segment before its first
/// tap.
std::vector<std::uint8_t> banded_matrices(const PreparedMask<std::uint8_t>& mask, const Cut& cut,
                                          int slack, int channels, int digits);

/// How sums end: in floats where that is exact, else by a shift where the divisor is a power of
/// two, else as IntegerFinish does.
struct Ends {
  FloatEnd floats;  ///< for one digit or two; sums begin at its starts, for other ends at 0
  HalfToEven halves;
  IntegerFinish any;
};

Ends ends_of(const IntegerFinish& finish, std::span<const std::int32_t> weights, int digits);
template <class Weighted>
Ends ends_of(const Weighted& mask, int digits) {
  return ends_of(mask.finish, weights_of(mask), digits);
}

}  // namespace convfilt::tensor::warpgroup
