/// How overlap-save cuts a picture into blocks; the same on every device.
#pragma once

#include <string>

#include "kernels/contract/plane_view.hpp"
#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt::transform {

/// Overlapping blocks that keep disjoint rectangles of the outputs.
struct Tiling {
  int columns, rows;            ///< block, in samples
  int kept_columns, kept_rows;  ///< outputs that a block keeps: its own less the mask's, and one
  int across, down;             ///< blocks

  CONVFILT_HD int tiles() const { return across * down; }

  /// The first output that the tile's block keeps.
  CONVFILT_HD int x(int tile) const { return tile % across * kept_columns; }
  CONVFILT_HD int y(int tile) const { return tile / across * kept_rows; }

  /// Planes that are tiled alike follow each other. This is the plane that has tile number `tile`,
  /// which becomes the tile's number in its plane. A loop beats a division, since planes are few.
  CONVFILT_HD int plane_of(int& tile) const {
    int plane = 0;
    for (; tile >= tiles(); ++plane) tile -= tiles();
    return plane;
  }
};

/// The blocks for so many outputs: with --block's side, or else by the rules of overlap_save.cu.
Tiling overlap_save_tiling(const Problem& problem, const Tuning& tuning, int out_width,
                           int out_height);

/// Why blocks would not hold the mask, or the family refuses the problem; empty when all is well.
std::string overlap_save_refuses(const Problem& problem, const Tuning& tuning);

/// What `explain` tells of the blocks, for such a block of threads.
Geometry overlap_save_geometry(const Problem& problem, const Tuning& tuning, int block_columns,
                               int block_rows);

}  // namespace convfilt::transform
