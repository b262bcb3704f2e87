/// How separable-tensor's kernels for warpgroups cut their work: a plane into strips of 64 columns,
/// one beside the other and below, and a mask of rank 1 into banded matrices of digits of base 256,
/// the top digit with the sign. Columns and taps count samples, so channels lie side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/contract/separable.hpp"
#include "kernels/plan/even_rows.hpp"
#include "kernels/tensor/layout.hpp"

namespace convfilt::separable_tensor::warpgroup {

constexpr int kColumns = 64;       ///< of a strip's outputs
constexpr int kRows = 32;          ///< of a slice, which a strip takes between two barriers
constexpr int kStep = 32;          ///< samples of a row that one product multiplies
constexpr int kStepsTogether = 2;  ///< in a loop over any number of them
constexpr int kRowMatrixBytes = kColumns * kStep;
constexpr int kColumnMatrixBytes = kRows * kStep;

/// Steps that cover what a strip reads of a row. `taps`: from the first to the last.
constexpr int steps_for(int dx, int taps) {
  return ceil_div(slack_of(dx) + kColumns - 1 + taps, kStep);
}

/// Samples from an output's column back to where its strip's samples begin, a multiple of four.
constexpr int lead_of(int dx) {
  return slack_of(dx) - dx;
}

/// Slices of rows that a slice of outputs needs.
constexpr int slices_for(int taps) {
  return ceil_div(kRows - 1 + taps, kRows);
}

/// The mask's banded matrices, each one digit's, the top digit first: those of all steps of the
/// row, then those of all slices of the column. A row (of a column's matrix, a column) of 32 bytes
/// lies as core matrices of 8 rows of 16 bytes.
///
/// The rows of a row's matrix are outputs. Row 16 * w + g + 8 * h is output 16 * w + 2g + h, so
/// that the bytes that a lane ends up with are neighbours. The columns of a column's matrix are
/// outputs, its rows are rows of row sums, in the order in which a lane has them.
std::vector<std::uint8_t> banded_matrices(const SeparableTerm<std::uint8_t>& mask, int channels,
                                          int dx, int steps, int slices, int digits);

/// A strip's first column, its first row of outputs, and how many rows it has.
struct Strip {
  int x, from, rows;
};

/// How strips cover a plane.
struct Grid {
  int lead = 0;             ///< lead_of() the outputs
  int left = 0, right = 0;  ///< samples beside the picture that taps reach
  int last_tap = 0;         ///< from an output's column to its last tap
  int steps = 0;
  int across = 0;  ///< strips side by side
  int rows = 0;    ///< of outputs of a strip
  int down = 0;    ///< strips one below the other

  /// Columns that strips read, from `lead` before the first one on.
  int read_columns() const { return (across - 1) * kColumns + steps * kStep; }
  CONVFILT_HD Strip strip(int block) const {
    return {block % across * kColumns, block / across * rows, rows};
  }
};

/// Cuts the columns. `dx`: where outputs begin in the input; `taps`: from the first to the last.
inline Grid cut_columns(int dx, int taps, int steps, int in_width, int out_width) {
  Grid grid;
  grid.lead = lead_of(dx);
  grid.last_tap = dx + taps - 1;
  grid.left = std::max(0, -dx);
  grid.right = std::max(0, out_width + grid.last_tap - in_width);
  grid.steps = steps;
  grid.across = ceil_div(out_width, kColumns);
  return grid;
}

/// Cuts the rows, if `at_once` blocks run at a time, each of which begins with `slices` slices that
/// give no outputs.
inline void cut_rows(Grid& grid, int slices, int out_height, int at_once) {
  grid.rows = even_rows(out_height, kRows, grid.across, at_once, slices * kRows);
  grid.down = ceil_div(out_height, grid.rows);
}

}  // namespace convfilt::separable_tensor::warpgroup
