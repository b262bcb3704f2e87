/// How separable_groups.cu covers a plane: strips of 64 columns, one beside the other and below.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/separable_tensor/warpgroup/bands.hpp"

namespace convfilt {

/// A strip's first column, and its rows of outputs.
struct PassStrip {
  int x, from, rows;
};

/// Columns in samples.
struct PassGrid {
  int lead = 0;             ///< from an output's column back to where its strip's samples begin
  int left = 0, right = 0;  ///< samples beside the picture that taps reach
  int last_tap = 0;         ///< from an output's column to its last tap
  int steps = 0;
  int across = 0;  ///< strips side by side
  int rows = 0;    ///< of outputs of a strip
  int down = 0;    ///< strips one below the other

  /// Columns that strips read, from `lead` before the first one on.
  int read_columns() const { return (across - 1) * kPassColumns + steps * kPassStep; }
  CONVFILT_HD PassStrip strip(int block) const {
    return {block % across * kPassColumns, block / across * rows, rows};
  }
};

/// The columns. `dx`: where outputs begin in the input; `taps`: from the first to the last.
inline PassGrid pass_columns(int dx, int taps, int steps, int in_width, int out_width) {
  PassGrid grid;
  grid.lead = pass_lead(dx);
  grid.last_tap = dx + taps - 1;
  grid.left = std::max(0, -dx);
  grid.right = std::max(0, out_width + grid.last_tap - in_width);
  grid.steps = steps;
  grid.across = ceil_div(out_width, kPassColumns);
  return grid;
}

/// The rows: so many that all blocks end early, `at_once` running at a time, if each begins with
/// `blocks` groups that give no outputs.
inline void pass_rows_of(PassGrid& grid, int blocks, int out_height, int at_once) {
  constexpr int kMostGroups = 256;
  std::int64_t least = INT64_MAX;
  for (int groups = std::min(kMostGroups, ceil_div(out_height, kPassRows)); groups > 0; --groups) {
    const int down = ceil_div(out_height, groups * kPassRows);
    const std::int64_t rounds = (std::int64_t(grid.across) * down + at_once - 1) / at_once;
    const std::int64_t time = rounds * (groups + blocks);
    if (time >= least) continue;
    least = time;
    grid.rows = groups * kPassRows;
    grid.down = down;
  }
}

}  // namespace convfilt
