/// A narrow strip of tensor_groups.cu, for the picture's sides: its segments lie one below the
/// other.
#pragma once

#include "group_walk.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Words of shared memory of a tile: its samples, and where they come from.
CONVFILT_HD constexpr int narrow_words(int chunks, int mask_height) {
  return chunks * (4 * (kNarrowRows + mask_height - 1) + 16);
}

/// Sixteen samples of row y, which may lie outside the picture, from those columns.
CONVFILT_DEVICE inline Four<uint32_t> sixteen_samples(const GroupPlace& place, SharedWords columns,
                                                      int y) {
  Four<uint32_t> words{};
  y = border_index(place.border, y, place.in.height);
  CONVFILT_UNROLL(16)
  for (int k = 0; k < 16; ++k) {
    const int column = y < 0 ? -1 : columns.get<int>(k);
    if (column < 0) count_ghost_cell();
    const uint32_t sample = column < 0 ? place.ghost : load(place.in, column, y);
    words.samples[k / 4] |= sample << (k % 4 * 8);
  }
  return words;
}

/// The 64 rows from y on of a narrow strip.
template <int kDigits, int kSteps>
CONVFILT_DEVICE inline void narrow_tile(const GroupPlace& place, const GroupMask& mask,
                                        const GroupGrid& grid, int strip, int y) {
  const int rows = kNarrowRows + mask.height - 1, step_bytes = 2 * rows * 16;
  const int x = grid.narrow_x(strip), in_x = x - grid.lead;
  const SharedWords columns = place.rows.from(grid.chunks * rows * 4);

  // Load the samples, 16 columns below each other.
  if (int(threadIdx.x) < 16 * grid.chunks) {
    columns.set(threadIdx.x, border_sample(place.border, in_x + int(threadIdx.x), place.in.width,
                                           place.channels));
  }
  __syncthreads();
  CONVFILT_UNROLL(1)
  for (int k = threadIdx.x; k < grid.chunks * rows; k += kGroupThreads) {
    const int chunk = k / rows, chunk_x = in_x + 16 * chunk, in_y = y + mask.dy + k % rows;
    if (grid.aligned && chunk_x >= 0 && chunk_x + 16 <= place.in.width && in_y >= 0 &&
        in_y < place.in.height) {
      copy16(place.in, chunk_x, in_y, place.rows, 4 * k);
    } else {
      place.rows.set4(4 * k, sixteen_samples(place, columns.from(16 * chunk), in_y));
    }
  }
  commit_copies();
  finish_copies<0>();
  hand_over();
  __syncthreads();

  // Multiply with the bands of the first of the outputs together.
  const Operand samples = operand(place.rows, rows * 16, 8 * 16);
  const Operand bands = band_operand(place.bands);
  GroupSums<kDigits> sums;
  start<kDigits>(mask.end, sums);
  begin_products();
  CONVFILT_UNROLL(1)
  for (int j = 0; j < mask.height; ++j) {
    const int band = group_bands(kDigits, mask.height) - group_rows(kDigits) - j;
    add_row<kSteps, kDigits>(sums, samples.from(16 * j), step_bytes,
                             bands.from(band * group_band_bytes(kDigits)), mask.height);
  }
  commit_products();
  finish_products(sums);

  // End the sums.
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const int to_x = strip < grid.left ? grid.first_x : place.out.width;
  const bool words = lies_at_multiples_of(4, place.out);
  with_end<kDigits>(mask.end, [&](const auto& end) {
    CONVFILT_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      const int row = y + 16 * warp + g + 8 * half;
      if (row >= place.out.height) continue;
      const uint32_t word = four_of<kDigits>(end, 0, half, sums);
      store_word(place.out.row(row), x + 4 * t, 0, to_x, words, word);
    }
  });
}

}  // namespace convfilt::CONVFILT_BACKEND
