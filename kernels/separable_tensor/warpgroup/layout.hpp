/// How separable-tensor's kernels for warpgroups cut their work. A plane is cut into strips of 64
/// columns, side by side and one below the other. A mask of rank 1 becomes banded matrices of
/// digits of base 256, of which the top one has the sign. Columns and taps count samples, so
/// channels lie side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/contract/separable.hpp"
#include "kernels/plan/even_rows.hpp"
#include "kernels/tensor/layout.hpp"

namespace convfilt::separable_tensor::warpgroup {

constexpr int kColumns = 64;       ///< columns of outputs of a strip
constexpr int kRows = 32;          ///< rows of a slice, which is computed between two barriers
constexpr int kStep = 32;          ///< samples of a row that one product multiplies
constexpr int kStepsTogether = 2;  ///< steps of one turn, in a loop over any number of them
constexpr int kRowMatrixBytes = kColumns * kStep;
constexpr int kColumnMatrixBytes = kRows * kStep;

/// Steps that cover what a strip reads of a row. `taps` counts samples from the first tap to the
/// last.
constexpr int steps_for(int dx, int taps) {
  return ceil_div(slack_of(dx) + kColumns - 1 + taps, kStep);
}

/// Samples from where a strip's samples begin to its first output. It is a multiple of four.
constexpr int lead_of(int dx) {
  return slack_of(dx) - dx;
}

/// The number of slices of rows that a slice of outputs needs.
constexpr int slices_for(int taps) {
  return ceil_div(kRows - 1 + taps, kRows);
}

/// Makes the mask's banded matrices. Those of all steps of the row come first, then those of all
/// slices of the column. Each step and slice has a matrix for each digit, the top digit first.
/// Matrices lie as core matrices of 8 rows, or for the column of 8 columns, of 16 bytes.
///
/// Each row of a row's matrix stands for an output. Row 16 * w + g + 8 * h is output
/// 16 * w + 2g + h, so that the outputs that a lane ends up with are neighbours. Each column of a
/// column's matrix stands for an output, and its rows are rows of row sums, in the order in which a
/// lane has them.
std::vector<std::uint8_t> banded_matrices(const SeparableTerm<std::uint8_t>& mask, int channels,
                                          int dx, int steps, int slices, int digits);

/// A strip's first column, its first row of outputs, and how many rows it has.
struct Strip {
  int x, from, rows;
};

/// How strips cover a plane.
struct Grid {
  int lead = 0;             ///< lead_of() of this piece of the picture
  int left = 0, right = 0;  ///< samples beside the picture that taps reach
  int last_tap = 0;         ///< columns from an output to its last tap
  int steps = 0;
  int across = 0;  ///< strips side by side
  int rows = 0;    ///< rows of outputs of a strip
  int down = 0;    ///< strips one below the other

  /// The number of columns that strips read. The first lies `lead` columns before output 0.
  int read_columns() const { return (across - 1) * kColumns + steps * kStep; }
  CONVFILT_HD Strip strip(int block) const {
    return {block % across * kColumns, block / across * rows, rows};
  }
};

/// Cuts the columns. `dx` is the offset of an output's first tap, and `taps` counts samples from
/// the first tap to the last.
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

/// Cuts the rows, if `at_once` blocks run at a time. What a block costs beside its own rows is
/// counted as `slices` slices.
inline void cut_rows(Grid& grid, int slices, int out_height, int at_once) {
  grid.rows = even_rows(out_height, kRows, grid.across, at_once, slices * kRows);
  grid.down = ceil_div(out_height, grid.rows);
}

}  // namespace convfilt::separable_tensor::warpgroup
