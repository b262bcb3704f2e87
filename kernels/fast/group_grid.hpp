/// How tensor_groups.cu covers a plane: wide strips, whose samples all lie in the picture, and
/// narrow ones beside them, whose samples may not.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ceil_div.hpp"
#include "group_mask.hpp"

namespace convfilt {

constexpr int kWideColumns = 64 * kGroupSegment;  // 64 segments, side by side
constexpr int kNarrowColumns = kGroupSegment;     // 64 segments, one below the other
constexpr int kNarrowRows = 64;

/// Columns in samples. Strips begin where their samples do at an address that is a multiple of 16.
struct GroupGrid {
  int lead = 0;     ///< samples from an output's column back to where its segment's samples begin
  int chunks = 0;   ///< of 16 samples that a segment's taps cover
  int aligned = 0;  ///< whether there are such columns
  int first_x = 0;  ///< of the wide strips
  int last_x = 0;   ///< of the last of them, which may reach back over the one before
  int wide = 0;     ///< strips side by side
  int left = 0;     ///< narrow strips left of the wide ones
  int narrow = 0;   ///< narrow ones altogether
  int rows = 1;     ///< of outputs of a wide strip
  int down = 0;     ///< of these, one below the other
  int narrow_rows = kNarrowRows, narrow_down = 0;  ///< the same of narrow strips

  int blocks() const { return narrow * narrow_down + wide * down; }
  CONVFILT_HD int wide_x(int strip) const {
    const int x = first_x + strip * kWideColumns;
    return x < last_x ? x : last_x;
  }
  CONVFILT_HD int narrow_x(int strip) const {
    return strip < left ? first_x - (left - strip) * kNarrowColumns
                        : last_x + kWideColumns + (strip - left) * kNarrowColumns;
  }
};

/// The columns. `dx` is where outputs begin in the input, in samples; `address` that of the input's
/// first sample; `aligned`: rows lie at multiples of 16 of each other, and the output's at ones
/// of 4.
inline GroupGrid group_columns(int dx, int samples, int in_width, int out_width,
                               std::uintptr_t address, bool aligned) {
  constexpr int kSector = 32;  // bytes that a GPU writes at once
  GroupGrid grid;
  grid.lead = -(dx & ~3);
  grid.chunks = ceil_div(samples, kGroupSegment);
  const int phase = (grid.lead - int(address % kGroupSegment)) & (kGroupSegment - 1);
  grid.aligned = aligned && address % 4 == 0;
  const int unit = phase == 0 ? kSector : kGroupSegment;
  grid.first_x = phase + std::max(0, ceil_div(grid.lead - phase, unit)) * unit;
  const int reads = kWideColumns - kGroupSegment + grid.chunks * kGroupSegment;
  const int most = std::min(in_width - reads + grid.lead, out_width - kWideColumns);
  if (grid.aligned && most >= grid.first_x) {
    grid.last_x = most - (most - phase) % unit;
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

/// Bytes in front of the input's rows with which outputs of strips begin at multiples of 32.
inline int group_margin(int dx) {
  return -(dx & ~3) & (kGroupSegment - 1);
}

/// The rows: so many that all blocks end early, `at_once` running at a time, if each takes as long
/// to begin as for some rows; and of narrow strips so many as take about as long.
inline void group_rows_of(GroupGrid& grid, int rows_together, int mask_height, int out_height,
                          int at_once) {
  constexpr int kMostRows = 128, kLeastRows = 8, kBegin = 8;
  constexpr int kNarrowRowsAtOnce = 16;  // take as long as a wide strip's
  const auto with_rows = [&](int rows) {
    GroupGrid g = grid;
    g.rows = rows;
    g.down = ceil_div(out_height, rows);
    g.narrow_rows = std::max(1, rows * kNarrowRowsAtOnce / kNarrowRows) * kNarrowRows;
    g.narrow_down = ceil_div(out_height, g.narrow_rows);
    return g;
  };
  std::int64_t least = INT64_MAX;
  for (int rows = kLeastRows; rows <= kMostRows; rows += rows_together) {
    const GroupGrid g = with_rows(rows);
    const std::int64_t time =
        std::int64_t(ceil_div(g.blocks(), at_once)) * (rows + kBegin + mask_height / 2);
    if (time >= least) continue;
    least = time;
    grid = g;
  }
}

}  // namespace convfilt
