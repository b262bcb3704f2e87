/// How tensor_groups.cu covers a plane: strips of 1024 columns, one beside the other and below.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/contract/ceil_div.hpp"
#include "kernels/tensor/warpgroup/mask.hpp"

namespace convfilt {

constexpr int kGroupColumns = 64 * kGroupSegment;  // 64 segments
constexpr int kMostGroupRows = 128;                // of a strip
constexpr int kSector = 32;                        // bytes that a GPU writes at once

/// Columns in samples.
struct GroupGrid {
  int lead = 0;    ///< from an output's column back to where its segment's samples begin
  int chunks = 0;  ///< of 16 samples that a segment's taps cover
  /// Of the last strip, which may reach back over the one before, or over the side.
  int last_x = 0;
  int left = 0, right = 0;  ///< samples beside the picture that taps reach
  int last_tap = 0;         ///< from an output's column to its last tap
  int across = 0;           ///< strips side by side
  int rows = 1;             ///< of outputs of a strip
  int down = 0;             ///< strips one below the other

  CONVFILT_HD int strip_x(int strip) const {
    const int x = strip * kGroupColumns;
    return x < last_x ? x : last_x;
  }
  /// Columns that strips read, from `lead` before the first one on.
  int read_columns() const { return last_x + kGroupColumns + (chunks - 1) * kChunk; }
};

/// Samples from an output's column back to a multiple of four, from which its taps are read.
constexpr int group_lead(int dx) {
  return -(dx & ~3);
}

/// Whether strips fit a plane well: other kernels waste less where the last one would do most of
/// its columns a second time.
inline bool strips_fit(std::int64_t columns) {
  const std::int64_t strips = (columns + kGroupColumns - 1) / kGroupColumns;
  return columns >= kGroupColumns && strips * kGroupColumns <= columns + columns / 2;
}

/// The columns. `dx`: where outputs begin in the input; `taps`: from the first to the last.
inline GroupGrid group_columns(int dx, int taps, int in_width, int out_width) {
  GroupGrid grid;
  grid.lead = group_lead(dx);
  grid.chunks = ceil_div(group_samples(dx, taps), kChunk);
  grid.last_tap = dx + taps - 1;
  grid.left = std::max(0, -dx);
  grid.right = std::max(0, out_width + grid.last_tap - in_width);
  grid.last_x = ceil_div(std::max(0, out_width - kGroupColumns), kSector) * kSector;
  grid.across = ceil_div(grid.last_x, kGroupColumns) + 1;
  return grid;
}

/// The rows: so many that all blocks end early, `at_once` running at a time, if each takes as long
/// to begin as for some rows.
inline void group_rows_of(GroupGrid& grid, int rows_together, int mask_height, int out_height,
                          int at_once, int most_rows = kMostGroupRows) {
  constexpr int kLeastRows = 8, kBegin = 8;
  std::int64_t least = INT64_MAX;
  for (int rows = kLeastRows; rows <= most_rows; rows += rows_together) {
    const int down = ceil_div(out_height, rows);
    const std::int64_t time =
        std::int64_t(ceil_div(grid.across * down, at_once)) * (rows + kBegin + mask_height / 2);
    if (time >= least) continue;
    least = time;
    grid.rows = rows;
    grid.down = down;
  }
}

}  // namespace convfilt
