/// How separable_groups.cu covers a plane: strips of 64 columns, one beside the other and below.
#pragma once

#include <algorithm>
#include <cstdint>

#include "line_bands.hpp"

namespace convfilt {

/// Strips that reach beside the picture take up to so many times as long, so they have fewer rows.
constexpr int kSideCost = 3;

/// A strip's place, in strips and in rows of outputs.
struct LineStrip {
  int across, from, rows;
};

/// Columns in samples.
struct LineGrid {
  int lead = 0;             ///< from an output's column back to where its strip's samples begin
  int left = 0, right = 0;  ///< samples beside the picture that taps reach
  int last_tap = 0;         ///< from an output's column to its last tap
  int steps = 0;
  int across = 0;                        ///< strips side by side
  int left_strips = 0, side_strips = 0;  ///< that reach beside the picture: to the left, in all
  int rows = 0, side_rows = 0;           ///< of outputs of a strip; of one that does
  int down = 0, side_down = 0;           ///< strips one below the other, likewise

  CONVFILT_HD int chunks() const { return steps * kLineStep / kChunk; }
  /// Columns that strips read, from `lead` before the first one on.
  int read_columns() const { return (across - 1) * kLineColumns + steps * kLineStep; }
  int blocks() const { return side_strips * side_down + (across - side_strips) * down; }

  /// Those that reach beside the picture come first.
  CONVFILT_HD LineStrip strip(int block) const {
    const int sides = side_strips * side_down;
    if (block < sides) {
      const int side = block % side_strips;
      return {side < left_strips ? side : across - side_strips + side,
              block / side_strips * side_rows, side_rows};
    }
    const int inner = across - side_strips, n = block - sides;
    return {left_strips + n % inner, n / inner * rows, rows};
  }
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
  grid.left_strips = std::min(grid.across, ceil_div(grid.left, kLineColumns));
  // The first strip whose last output's last tap lies beside the picture.
  const int first = std::max(0, in_width - grid.last_tap) / kLineColumns;
  grid.side_strips =
      grid.left_strips + std::max(0, grid.across - std::max(grid.left_strips, first));
  return grid;
}

/// When all blocks have ended that a grid of so many rows has, in groups of rows: `at_once` run at
/// a time, and each begins with `blocks` groups that give no outputs.
inline std::int64_t line_time(const LineGrid& grid, int blocks, int at_once) {
  const std::int64_t inner = grid.rows / kLineRows + blocks;
  const std::int64_t side = kSideCost * (grid.side_rows / kLineRows) + blocks;
  const std::int64_t last = grid.side_strips > 0 ? std::max(inner, side) : inner;
  if (grid.blocks() <= at_once) return last;
  const std::int64_t all = std::int64_t(grid.side_strips) * grid.side_down * side +
                           std::int64_t(grid.across - grid.side_strips) * grid.down * inner;
  return all / at_once + last;
}

/// The rows: so many that all blocks end early.
inline void line_rows_of(LineGrid& grid, int blocks, int out_height, int at_once) {
  constexpr int kMostGroups = 256;
  LineGrid best = grid;
  std::int64_t least = INT64_MAX;
  for (int groups = std::min(kMostGroups, ceil_div(out_height, kLineRows)); groups > 0; --groups) {
    grid.rows = groups * kLineRows;
    grid.down = ceil_div(out_height, grid.rows);
    for (int share = 1; share <= kSideCost + 1; ++share) {
      grid.side_rows = ceil_div(groups, share) * kLineRows;
      grid.side_down = ceil_div(out_height, grid.side_rows);
      const std::int64_t time = line_time(grid, blocks, at_once);
      if (time >= least) continue;
      least = time;
      best = grid;
    }
  }
  grid = best;
}

}  // namespace convfilt
