/// What a border makes up beside the picture, in the padding of its rows.
#pragma once

#include "border.hpp"
#include "launch.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Writes what the border makes up beside the picture into the padding of the rows that a strip
/// reads, so that its walk knows no sides. Strips that read the same rows write the same bytes, in
/// no order: a kernel of its own for it takes some 4 us.
template <int kColumns, int kThreads, class Place, class Grid>
CONVFILT_DEVICE inline void write_sides(const Place& place, const Grid& grid, int x, int y,
                                        int rows) {
  const PlaneView<uint8_t>& picture = place.picture;
  const PlaneView<const uint8_t> from{picture.data, picture.width, picture.height, picture.stride};
  const int left = x < grid.left ? grid.left : 0;
  const int right = x + kColumns + grid.last_tap > picture.width ? grid.right : 0;
  if (left + right == 0) return;  // for the whole block
  CONVFILT_UNROLL(1)
  for (int k = threadIdx.x; k < rows * (left + right); k += kThreads) {
    const int row = border_index(place.border, y + k / (left + right), picture.height);
    if (row < 0) continue;
    const int side = k % (left + right);
    const int at = side < left ? side - left : picture.width + side - left;
    const int column = border_sample(place.border, at, picture.width, place.channels);
    if (column < 0) count_ghost_cell();
    picture.row(row)[at] = column < 0 ? place.ghost : load(from, column, row);
  }
  __threadfence();
  __syncthreads();
}

}  // namespace convfilt::CONVFILT_BACKEND
