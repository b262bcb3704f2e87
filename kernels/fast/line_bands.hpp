/// A mask of rank 1 as separable_groups.cu multiplies it: each of its lines as banded matrices of
/// digits of base 256, the top one with the sign, and how such a kernel covers a plane.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "separable.hpp"
#include "tensor_layout.hpp"

namespace convfilt {

constexpr int kLineColumns = 64;       // outputs of a strip's row
constexpr int kLineRows = 32;          // rows between two barriers
constexpr int kLineStep = 32;          // samples that one product multiplies
constexpr int kLineStepsTogether = 2;  // where a mask has any number of them
constexpr int kRowBandBytes = kLineColumns * kLineStep;
constexpr int kColumnBandBytes = kLineRows * kLineStep;

/// Steps that cover what a strip's row reads; `taps`: from the first to the last, in samples.
constexpr int line_steps(int dx, int taps) {
  return ceil_div(slack_of(dx) + kLineColumns - 1 + taps, kLineStep);
}

/// Samples from an output's column back to a multiple of four, from which its strip's are read.
constexpr int line_lead(int dx) {
  return slack_of(dx) - dx;
}

/// Groups of kLineRows rows that a group of outputs needs.
constexpr int line_blocks(int taps) {
  return ceil_div(kLineRows - 1 + taps, kLineRows);
}

/// Bands of a digit each, the top one first: of all steps of the row, then of all blocks of the
/// column. A matrix's row (column) of 32 bytes lies as core matrices of 8 rows of 16 bytes.
///
/// The row bands' rows are outputs: row 16 * w + g + 8 * h is output 16 * w + 2g + h, so that the
/// bytes that a lane ends up with are neighbours. The column bands' columns are outputs, their rows
/// the rows of what lies between, in the order in which a lane has them.
std::vector<std::uint8_t> line_bands(const SeparableMask<std::uint8_t>& mask, int channels, int dx,
                                     int steps, int blocks, int digits);

/// Columns in samples.
struct LineGrid {
  int lead = 0;             ///< from an output's column back to where its strip's samples begin
  int left = 0, right = 0;  ///< samples beside the picture that taps reach
  int last_tap = 0;         ///< from an output's column to its last tap
  int steps = 0;
  int across = 0;  ///< strips side by side
  int rows = 0;    ///< of outputs of a strip
  int down = 0;    ///< strips one below the other

  CONVFILT_HD int chunks() const { return steps * kLineStep / kChunk; }
  /// Columns that strips read, from `lead` before the first one on.
  int read_columns() const { return (across - 1) * kLineColumns + steps * kLineStep; }
};

/// The columns. `dx`: where outputs begin in the input; `taps`: from the first to the last.
inline LineGrid line_columns(int dx, int taps, int steps, int in_width, int out_width) {
  LineGrid grid;
  grid.lead = line_lead(dx);
  grid.last_tap = dx + taps - 1;
  grid.left = std::max(0, -dx);
  grid.right = std::max(0, out_width + grid.last_tap - in_width);
  grid.steps = steps;
  grid.across = ceil_div(out_width, kLineColumns);
  return grid;
}

/// The rows: so many that all blocks end early, `at_once` running at a time, if each begins with
/// `blocks` groups that give no outputs.
inline void line_rows_of(LineGrid& grid, int blocks, int out_height, int at_once) {
  constexpr int kMostGroups = 64;
  std::int64_t least = INT64_MAX;
  for (int groups = 1; groups <= kMostGroups; ++groups) {
    const int down = ceil_div(out_height, groups * kLineRows);
    const std::int64_t rounds = (std::int64_t(grid.across) * down + at_once - 1) / at_once;
    const std::int64_t time = rounds * (groups + blocks);
    if (time >= least) continue;
    least = time;
    grid.rows = groups * kLineRows;
    grid.down = down;
  }
}

}  // namespace convfilt
