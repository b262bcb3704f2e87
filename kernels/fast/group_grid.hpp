/// How tensor_groups.cu covers a plane: wide strips, whose samples all lie in the picture, and
/// narrow ones beside them, whose samples may not.
#pragma once

#include <algorithm>

#include "ceil_div.hpp"
#include "group_mask.hpp"

namespace convfilt {

constexpr int kWideColumns = 64 * kGroupSegment;  // 64 segments, side by side
constexpr int kNarrowColumns = kGroupSegment;     // 64 segments, one below the other
constexpr int kNarrowRows = 64;

/// Columns in samples. Strips begin where their samples do at a multiple of 16.
struct GroupGrid {
  int lead = 0;     ///< samples from an output's column back to where its segment's samples begin
  int chunks = 0;   ///< of 16 samples that a segment's taps cover
  int first_x = 0;  ///< of the wide strips
  int last_x = 0;   ///< of the last of them, which may reach back over the one before
  int wide = 0;     ///< strips side by side
  int left = 0;     ///< narrow strips left of the wide ones
  int narrow = 0;   ///< narrow ones altogether
  int rows = 1;     ///< of outputs of a wide strip
  int narrow_rows = 1;  ///< and of a narrow one
  int narrow_down = 0;  ///< of these, one below the other

  CONVFILT_HD int narrow_blocks() const { return narrow * narrow_down; }
  CONVFILT_HD int wide_x(int strip) const {
    const int x = first_x + strip * kWideColumns;
    return x < last_x ? x : last_x;
  }
  CONVFILT_HD int narrow_x(int strip) const {
    return strip < left ? first_x - (left - strip) * kNarrowColumns
                        : last_x + kWideColumns + (strip - left) * kNarrowColumns;
  }
};

/// The columns. `dx` is where outputs begin in the input, in samples; `aligned`: rows of both
/// planes begin where wide strips may read and write.
inline GroupGrid group_columns(int dx, int samples, int in_width, int out_width, bool aligned) {
  GroupGrid grid;
  grid.lead = -(dx & ~3);
  grid.chunks = ceil_div(samples, kGroupSegment);
  const int phase = grid.lead & (kGroupSegment - 1);
  grid.first_x = std::max(grid.lead, phase);
  const int reads = kWideColumns - kGroupSegment + grid.chunks * kGroupSegment;
  const int most = std::min(in_width - reads + grid.lead, out_width - kWideColumns);
  if (aligned && most >= grid.first_x) {
    grid.last_x = most - ((most - phase) & (kGroupSegment - 1));
    grid.wide = ceil_div(grid.last_x - grid.first_x, kWideColumns) + 1;
    grid.left = ceil_div(grid.first_x, kNarrowColumns);
    const int right = out_width - grid.last_x - kWideColumns;
    grid.narrow = grid.left + std::max(0, ceil_div(right, kNarrowColumns));
  } else {
    grid.first_x = phase == 0 ? 0 : phase - kGroupSegment;
    grid.last_x = grid.first_x - kWideColumns;
    grid.narrow = ceil_div(out_width - grid.first_x, kNarrowColumns);
  }
  return grid;
}

/// The rows: so many that all multiprocessors end together, `at_once` blocks running at a time.
inline void group_rows_of(GroupGrid& grid, int rows_together, int out_height, int at_once) {
  constexpr int kMostRows = 128, kLeastRows = 8, kMostNarrowRows = 512;
  grid.narrow_rows = std::min(kMostNarrowRows, out_height);
  grid.narrow_down = ceil_div(out_height, grid.narrow_rows);
  if (grid.wide == 0) return;
  const int narrow = grid.narrow_blocks();
  const int rounds = ceil_div(grid.wide * ceil_div(out_height, kMostRows) + narrow, at_once);
  const int down = std::max(1, (rounds * at_once - narrow) / grid.wide);
  const int rows = std::clamp(ceil_div(out_height, down), kLeastRows, kMostRows);
  grid.rows = ceil_div(rows, rows_together) * rows_together;
}

}  // namespace convfilt
