/// How overlap-save cuts a picture into blocks; the same on every device.
#pragma once

#include <string>

#include "kernels/contract/plane_view.hpp"
#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// Overlapping blocks that keep disjoint rectangles of the outputs.
struct Tiling {
  int columns, rows;            ///< block, in samples
  int kept_columns, kept_rows;  ///< outputs that a block keeps: less by the mask, and one more
  int across, down;             ///< blocks

  CONVFILT_HD int tiles() const { return across * down; }

  /// The first output that a block keeps.
  CONVFILT_HD int x(int tile) const { return tile % across * kept_columns; }
  CONVFILT_HD int y(int tile) const { return tile / across * kept_rows; }

  /// Of planes tiled alike one after the other, the one that has the tile with that number, which
  /// becomes the number in it. Planes are few: no division.
  CONVFILT_HD int plane_of(int& tile) const {
    int plane = 0;
    for (; tile >= tiles(); ++plane) tile -= tiles();
    return plane;
  }
};

/// Blocks for that many outputs: of --block's side, or else by the rules of overlap_save.cu.
Tiling overlap_save_tiling(const Problem& problem, const Tuning& tuning, int out_width,
                           int out_height);

std::string overlap_save_refuses(const Problem& problem, const Tuning& tuning);

Geometry overlap_save_geometry(const Problem& problem, const Tuning& tuning);

/// Threads of one launch's blocks, in all of overlap-save's kernels.
inline constexpr int kTilingColumns = 32, kTilingRows = 8;

}  // namespace convfilt
