/// A mask as tensor_groups.cu multiplies it: its rows as banded matrices of digits.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/float_end.hpp"
#include "kernels/contract/half_to_even.hpp"
#include "kernels/tensor/layout.hpp"

namespace convfilt {

constexpr int kGroupSegment = 16;  // neighbouring outputs that one row of a product gives
constexpr int kGroupStep = 32;     // of a segment's samples, that one product multiplies
constexpr int kMostGroupSteps = 3;

/// Samples that a segment's taps cover, from a multiple of four on; `taps`: from the first to the
/// last.
constexpr int group_samples(int dx, int taps) {
  return slack_of(dx) + kGroupSegment - 1 + taps;
}

/// The lowest digit of base 256, -128..127; `weight` becomes what is left for the next.
std::int8_t take_digit(std::int32_t& weight);

/// Weights of a mask or of a part of one.
template <class Weighted>
std::span<const std::int32_t> weights_of(const Weighted& mask) {
  return {std::data(mask.weights), std::size_t(mask.width) * mask.height};
}

/// Digits -128..127 of base 256 that hold all weights.
int signed_digits(std::span<const std::int32_t> weights);
template <class Weighted>
int signed_digits(const Weighted& mask) {
  return signed_digits(weights_of(mask));
}

/// How a mask is cut: the taps of its rows into steps, and itself into parts, one below the other,
/// of so many rows each. The last one may have zeros below the mask.
struct GroupCut {
  int steps, parts, height;
  bool half = false;  ///< of the last step half counts, and heights are odd
};

/// Whether a kernel that is compiled for so many steps and that height, 0 being any, takes masks in
/// parts: one step holds too few weights to fill shared memory.
CONVFILT_HD constexpr bool takes_parts(int steps, int height) {
  return steps > 1 && height == 0;
}

/// Outputs one below the other that a product's columns hold: 16 columns each a digit.
CONVFILT_HD constexpr int group_rows(int digits) {
  return digits == 1 ? 4 : 2;
}

/// Where a band lies in memory: 16 columns a digit in halves of 8, of each the first 16 samples of
/// all columns, then the second.
CONVFILT_HD constexpr int group_band_bytes(int digits) {
  return digits * kGroupSegment * kGroupStep;
}

/// Bands one behind the other: the mask's rows, and as many zeros before and behind that as many
/// neighbouring bands as there are rows together may begin and end beside the mask. The last of
/// these rows has the first columns.
CONVFILT_HD constexpr int group_bands(int digits, int mask_height) {
  return mask_height + 2 * (group_rows(digits) - 1);
}

constexpr int group_part_bytes(const GroupCut& cut, int digits) {
  const int bytes = group_bands(digits, cut.height) * group_band_bytes(digits);
  return cut.steps * bytes - (cut.half ? bytes / 2 : 0);
}

/// All bands of a part, of the first 32 samples, then of the next, and behind them the next part's.
/// Column 8 * half + 2t + k of a digit is output 4t + 2 * half + k of a segment, so that a lane
/// gets four neighbours. Of half a step a digit's half has 8 columns of 16 samples. `slack`:
/// samples of a segment before the first tap's.
std::vector<std::uint8_t> group_bands_of(const PreparedMask<std::uint8_t>& mask,
                                         const GroupCut& cut, int slack, int channels, int digits);

/// How sums end: in floats where they can, else half to even by a shift, else as IntegerFinish
/// does.
struct GroupEnd {
  FloatEnd floats;  ///< of one digit and two: its sums begin at its starts, the others' at 0
  HalfToEven halves;
  IntegerFinish any;
};

GroupEnd group_end(const IntegerFinish& finish, std::span<const std::int32_t> weights, int digits);
template <class Weighted>
GroupEnd group_end(const Weighted& mask, int digits) {
  return group_end(mask.finish, weights_of(mask), digits);
}

}  // namespace convfilt
