/// A mask of rank 1 as separable_groups.cu multiplies it: each of its lines as banded matrices of
/// digits of base 256, the top one with the sign.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/contract/separable.hpp"
#include "kernels/tensor/layout.hpp"

namespace convfilt {

constexpr int kPassColumns = 64;       // outputs of a strip's row
constexpr int kPassRows = 32;          // rows between two barriers
constexpr int kPassStep = 32;          // samples that one product multiplies
constexpr int kPassStepsTogether = 2;  // where a mask has any number of them
constexpr int kRowBandBytes = kPassColumns * kPassStep;
constexpr int kColumnBandBytes = kPassRows * kPassStep;

/// Steps that cover what a strip's row reads; `taps`: from the first to the last, in samples.
constexpr int pass_steps(int dx, int taps) {
  return ceil_div(slack_of(dx) + kPassColumns - 1 + taps, kPassStep);
}

/// Samples from an output's column back to a multiple of four, from which its strip's are read.
constexpr int pass_lead(int dx) {
  return slack_of(dx) - dx;
}

/// Groups of kPassRows rows that a group of outputs needs.
constexpr int pass_blocks(int taps) {
  return ceil_div(kPassRows - 1 + taps, kPassRows);
}

/// Bands of a digit each, the top one first: of all steps of the row, then of all blocks of the
/// column. A matrix's row (column) of 32 bytes lies as core matrices of 8 rows of 16 bytes.
///
/// The row bands' rows are outputs: row 16 * w + g + 8 * h is output 16 * w + 2g + h, so that the
/// bytes that a lane ends up with are neighbours. The column bands' columns are outputs, their rows
/// the rows of what lies between, in the order in which a lane has them.
std::vector<std::uint8_t> pass_bands(const SeparableTerm<std::uint8_t>& mask, int channels, int dx,
                                     int steps, int blocks, int digits);

}  // namespace convfilt
