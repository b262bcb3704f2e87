/// What a border makes up beside the picture, in the padding of its rows.
#pragma once

#include "border.hpp"
#include "launch.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// The samples beside the picture that a strip's taps reach: those before its rows, and behind.
struct StripSides {
  int left, right;

  CONVFILT_DEVICE bool any() const { return left + right > 0; }
};

/// Of the strip of kColumns outputs from x on.
template <int kColumns, class Grid>
CONVFILT_DEVICE inline StripSides sides_of(const Grid& grid, int x, int width) {
  return {max(0, grid.left - x), min(grid.right, max(0, x + kColumns + grid.last_tap - width))};
}

/// Writes these, of so many rows from y on, into the padding, so that a walk knows no sides. A
/// barrier behind it makes them be there. Strips that read the same rows write the same bytes, in
/// no order: a kernel of its own for it takes some 4 us.
template <int kThreads, class Place>
CONVFILT_DEVICE inline void write_sides(const Place& place, const StripSides& sides, int y,
                                        int rows) {
  constexpr int kTogether = 8;  // a thread's, so that it waits for memory once
  const PlaneView<std::uint8_t>& picture = place.picture;
  const PlaneView<const std::uint8_t> from{picture.data, picture.width, picture.height,
                                           picture.stride};
  const int across = sides.left + sides.right, count = rows * across;
  CONVFILT_UNROLL(1)
  for (int first = threadIdx.x; first < count; first += kTogether * kThreads) {
    std::uint8_t samples[kTogether];
    std::ptrdiff_t places[kTogether];
    bool there[kTogether];
    CONVFILT_UNROLL(kTogether)
    for (int k = 0; k < kTogether; ++k) {
      const int n = first + k * kThreads, side = n % across;
      const int row = n < count ? border_index(place.border, y + n / across, picture.height) : -1;
      there[k] = row >= 0;
      if (!there[k]) continue;
      const int x = side < sides.left ? side - sides.left : picture.width + side - sides.left;
      const int column = border_sample(place.border, x, picture.width, place.channels);
      if (column < 0) count_ghost_cell();
      samples[k] = column < 0 ? place.ghost : load(from, column, row);
      places[k] = row * picture.stride + x;
    }
    CONVFILT_UNROLL(kTogether)
    for (int k = 0; k < kTogether; ++k) {
      if (there[k]) picture.data[places[k]] = samples[k];
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
