/// The sample that a kernel reads where a tap meets a ghost cell. contract/border.hpp says which
/// row and column of the picture stand in for one, or -1, which means the border value. The
/// textbook's kernels have their own test in sight instead.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/backend/launch.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/border.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// border_index() of a row. It is called, not inlined, because it is rarely needed and the kernels
/// that walk down a picture are large.
CONVFILT_CALLED inline int edge_row(Border border, int y, int height) {
  return border_index(border, y, height);
}

/// border_sample(), called for the same reason.
CONVFILT_CALLED inline int edge_column(Border border, int x, int width, int channels) {
  return border_sample(border, x, width, channels);
}

/// The picture's sample, or the border value where `column` or `row` is below 0.
template <class T>
CONVFILT_DEVICE inline T load_or_ghost(const PlaneView<const T>& in, int column, int row, T ghost) {
  if (column < 0 || row < 0) {
    count_ghost_cell();
    return ghost;
  }
  return load(in, column, row);
}

/// A word of ghost cells: the border value once, twice or four times.
template <class T>
CONVFILT_HD constexpr std::uint32_t ghost_word(T ghost) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<std::uint32_t>(ghost);
  } else {
    return ghost * (sizeof(T) == 2 ? 0x00010001u : 0x01010101u);
  }
}

CONVFILT_DEVICE inline void count_ghost_cells(int cells) {
  CONVFILT_UNROLL(1)
  for (int cell = 0; cell < cells; ++cell) count_ghost_cell();
}

/// Sets four words of shared memory, which lie at a multiple of 16 bytes, to ghost cells.
template <class Words, class T>
CONVFILT_DEVICE inline void set_ghosts(const Words& words, int at, T ghost) {
  const std::uint32_t word = ghost_word(ghost);
  words.set4(at, Four<std::uint32_t>{{word, word, word, word}});
  count_ghost_cells(4 * int(sizeof(word) / sizeof(T)));
}

}  // namespace convfilt::CONVFILT_BACKEND
