/// How kernels of warpgroups cover a plane: with strips of 1024 columns, side by side and one below
/// the other.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/contract/ceil_div.hpp"
#include "kernels/plan/even_rows.hpp"
#include "kernels/tensor/warpgroup/mask.hpp"

namespace convfilt::tensor::warpgroup {

constexpr int kColumns = 64 * kSegment;  // columns of a strip
constexpr int kMostRows = 128;           // rows of a strip
constexpr int kSector = 32;              // bytes that a GPU writes at once

/// How strips cover a plane. Columns count samples.
struct Grid {
  int lead = 0;    ///< columns from where a segment's samples begin to its first output
  int chunks = 0;  ///< chunks of 16 samples that a segment's taps cover
  int last_x = 0;  ///< the last strip's first column; the strip may overlap another or the side
  int left = 0, right = 0;  ///< samples beside the picture that taps reach
  int last_tap = 0;         ///< columns from an output to its last tap
  int across = 0;           ///< strips side by side
  int rows = 1;             ///< rows of outputs of a strip
  int down = 0;             ///< strips one below the other

  CONVFILT_HD int strip_x(int strip) const {
    const int x = strip * kColumns;
    return x < last_x ? x : last_x;
  }
  /// Columns that strips read; the first lies `lead` before the first output.
  int read_columns() const { return last_x + kColumns + (chunks - 1) * kChunk; }
};

/// Grid::lead for outputs whose taps begin dx columns further on. Samples are read from a multiple
/// of four on.
constexpr int lead_of(int dx) {
  return -(dx & ~3);
}

/// Whether strips fit a plane well. Where the last strip would compute most of its columns a second
/// time, other kernels waste less.
inline bool strips_fit(std::int64_t columns) {
  const std::int64_t strips = (columns + kColumns - 1) / kColumns;
  return columns >= kColumns && strips * kColumns <= columns + columns / 2;
}

/// The grid's columns. `dx` is the offset of an output's first tap, `taps` the columns from its
/// first to its last.
inline Grid cover_columns(int dx, int taps, int in_width, int out_width) {
  Grid grid;
  grid.lead = lead_of(dx);
  grid.chunks = ceil_div(segment_samples(dx, taps), kChunk);
  grid.last_tap = dx + taps - 1;
  grid.left = std::max(0, -dx);
  grid.right = std::max(0, out_width + grid.last_tap - in_width);
  grid.last_x = ceil_div(std::max(0, out_width - kColumns), kSector) * kSector;
  grid.across = ceil_div(grid.last_x, kColumns) + 1;
  return grid;
}

/// Chooses the grid's rows so that all blocks end soonest, if `at_once` of them run at a time and
/// the beginning of each takes as long as a few rows.
inline void cover_rows(Grid& grid, int rows_together, int mask_height, int out_height, int at_once,
                       int most_rows = kMostRows) {
  constexpr int kLeastRows = 8, kBegin = 8;
  grid.rows = even_rows(out_height, rows_together, grid.across, at_once, kBegin + mask_height / 2,
                        {kLeastRows, most_rows});
  grid.down = ceil_div(out_height, grid.rows);
}

}  // namespace convfilt::tensor::warpgroup
