/// Overlapping blocks of a plane, by which fft and overlap-save go.
#pragma once

#include "kernels/contract/plane_view.hpp"

namespace convfilt::transform {

/// Overlapping blocks that keep disjoint rectangles of the outputs.
struct Tiling {
  int columns, rows;            ///< a block's, in samples
  int kept_columns, kept_rows;  ///< outputs that a block keeps: its side less the mask's, plus 1
  int across, down;             ///< blocks across, and blocks down

  CONVFILT_HD int tiles() const { return across * down; }

  /// The first output that the tile's block keeps.
  CONVFILT_HD int x(int tile) const { return tile % across * kept_columns; }
  CONVFILT_HD int y(int tile) const { return tile / across * kept_rows; }

  /// The plane of tile number `tile`, where planes that are tiled alike follow each other. `tile`
  /// becomes the tile's number in its plane. A loop beats a division, since planes are few.
  CONVFILT_HD int plane_of(int& tile) const {
    int plane = 0;
    for (; tile >= tiles(); ++plane) tile -= tiles();
    return plane;
  }
};

}  // namespace convfilt::transform
