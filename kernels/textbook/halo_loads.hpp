/// The published ways to load an input tile into shared memory when the block has a thread for each
/// sample of the output tile, but the input tile is larger by the halo. All read each sample once.
/// Loops are not unrolled, because fully occupied multiprocessors have only 32 registers for each
/// thread.
#pragma once

#include "kernels/textbook/terms.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// An input tile: its place in the image and its size, the output tile's columns and rows, and the
/// block's rows. The block has as many columns as the output tile.
struct InTile {
  int x, y, columns, rows;
  int tile, tile_rows, block_rows;
};

/// Sweeps: the block passes over the input tile in strides of its own size.
///
///     1 1 1 1 2 2
///     1 1 1 1 2 2      a 4 x 2 block on a 6 x 4 input tile
///     3 3 3 3 4 4
///     3 3 3 3 4 4
template <class Tile, class T>
CONVFILT_DEVICE void load_in_sweeps(Tile& in_tile, const InTile& at, const PlaneView<const T>& in,
                                    Border border, T ghost) {
  CONVFILT_UNROLL(1)
  for (int row = threadIdx.y; row < at.rows; row += at.block_rows) {
    CONVFILT_UNROLL(1)
    for (int col = threadIdx.x; col < at.columns; col += at.tile) {
      in_tile[row][col] = sample_or_ghost(in, at.x + col, at.y + row, border, ghost);
    }
  }
}

/// Regions: the tile in the middle, and the halo's parts of the eight neighbour tiles. A cell of a
/// neighbour tile is loaded by the thread that has the same place in its own tile, so the threads
/// at the right end load the left halo, and so on.
///
///     1 2 2 2 2 3
///     4 5 5 5 5 6      upper left, above, upper right, ... of a 4 x 2 tile with a halo of 1
///     4 5 5 5 5 6
///     7 8 8 8 8 9
///
/// A halo wider than a tile reaches farther neighbours, which are regions, too.
template <class Tile, class T>
CONVFILT_DEVICE void load_in_regions(Tile& in_tile, const InTile& at, const PlaneView<const T>& in,
                                     Border border, T ghost) {
  // The middle region lies under the middle of the mask.
  const int left = (at.columns - at.tile + 1) / 2, right = at.columns - at.tile - left;
  const int top = (at.rows - at.tile_rows + 1) / 2, bottom = at.rows - at.tile_rows - top;
  CONVFILT_UNROLL(1)
  for (int down = -ceil_div(top, at.tile_rows); down <= ceil_div(bottom, at.tile_rows); ++down) {
    CONVFILT_UNROLL(1)
    for (int across = -ceil_div(left, at.tile); across <= ceil_div(right, at.tile); ++across) {
      const int col = left + across * at.tile + int(threadIdx.x);
      if (col < 0 || col >= at.columns) continue;
      CONVFILT_UNROLL(1)
      for (int place = threadIdx.y; place < at.tile_rows; place += at.block_rows) {
        const int row = top + down * at.tile_rows + place;
        if (row < 0 || row >= at.rows) continue;
        in_tile[row][col] = sample_or_ghost(in, at.x + col, at.y + row, border, ghost);
      }
    }
  }
}

/// Two steps: threads and cells are numbered along the rows. First every thread loads the cell of
/// its number, then one of the cells that are left. Two steps suffice if the input tile has at most
/// twice as many cells as the block has threads; otherwise there are more steps.
///
///     1 1 1 1 1 1
///     1 1 1 1 1 1      a block of 4 x 4 threads on a 6 x 5 input tile
///     1 1 1 1 2 2
///     2 2 2 2 2 2
///     2 2 2 2 2 2
template <class Tile, class T>
CONVFILT_DEVICE void load_in_two_steps(Tile& in_tile, const InTile& at,
                                       const PlaneView<const T>& in, Border border, T ghost) {
  const int threads = at.tile * at.block_rows;
  const int first = int(threadIdx.y) * at.tile + int(threadIdx.x);
  CONVFILT_UNROLL(1)
  for (int cell = first; cell < at.rows * at.columns; cell += threads) {
    const int row = cell / at.columns, col = cell % at.columns;
    in_tile[row][col] = sample_or_ghost(in, at.x + col, at.y + row, border, ghost);
  }
}

/// How often each warp comes to a load, whether or not its threads find a cell there.
inline int turns_of(Halo halo, const InTile& at) {
  // Regions along an axis: before the middle one, the middle one, and behind it.
  const auto regions = [](int side, int tile) {
    const int around = side - tile;
    return ceil_div((around + 1) / 2, tile) + 1 + ceil_div(around / 2, tile);
  };
  switch (halo) {
    case kSweeps: return ceil_div(at.columns, at.tile) * ceil_div(at.rows, at.block_rows);
    case kRegions:
      return regions(at.columns, at.tile) * regions(at.rows, at.tile_rows) *
             ceil_div(at.tile_rows, at.block_rows);
    case kTwoStep: return ceil_div(at.columns * at.rows, at.tile * at.block_rows);
  }
  return 0;
}

}  // namespace convfilt::CONVFILT_BACKEND
