/// The kernel of coarse.cu that brings 8-bit samples onto a grid down columns: as decimate_rows in
/// coarse_down.hpp, in products of bytes.
#pragma once

#include "kernels/coarse/bytes.hpp"
#include "kernels/coarse/down.hpp"

namespace convfilt::CONVFILT_BACKEND {

using FourBytes = FourWords<std::uint8_t>;

/// Four columns of four rows from four rows of four columns.
CONVFILT_DEVICE inline void transpose(const FourBytes (&rows)[4], FourBytes (&columns)[4]) {
  for (int half = 0; half < 2; ++half) {
    const std::uint32_t which = half == 0 ? 0x5140 : 0x7362;
    const std::uint32_t upper = pick_bytes(rows[0].words[0], rows[1].words[0], which);
    const std::uint32_t lower = pick_bytes(rows[2].words[0], rows[3].words[0], which);
    columns[2 * half].words[0] = pick_bytes(upper, lower, 0x5410);
    columns[2 * half + 1].words[0] = pick_bytes(upper, lower, 0x7632);
  }
}

/// Sums of three successive nodes, for four columns.
struct ByteNodeSums {
  ByteSums of[kCoarseOrder][4];

  /// Adds four columns of rows, which meet these weights in the last of the three; in those before,
  /// weights that lie a cell further on.
  CONVFILT_DEVICE void add(const ByteWeights* weights, int cell, const FourBytes (&columns)[4]) {
    for (int n = 0; n < kCoarseOrder; ++n) {
      const ByteWeights of_node = weights[(kCoarseOrder - 1 - n) * cell];
      for (int k = 0; k < 4; ++k) of[n][k].add<std::uint8_t>(columns[k], of_node);
    }
  }
  CONVFILT_DEVICE void next_node() {
    for (int k = 0; k < 4; ++k) {
      of[0][k] = of[1][k];
      of[1][k] = of[2][k];
      of[2][k] = {};
    }
  }
};

static __global__ void decimate_rows8_kernel(PlaneView<const std::uint8_t> in,
                                             PlaneView<float> nodes, Cells grid, std::uint8_t ghost,
                                             ByteLine down) {
  const int x = 4 * (blockIdx.x * kCoarseThreads + threadIdx.x);
  const int begin = blockIdx.y * grid.of_block;
  if (x >= in.width) return;
  const bool wide = x + 4 <= in.width && lies_at_multiples_of(4, in);

  ByteNodeSums three;
  for (int node = begin - (kCoarseOrder - 1); node < begin + grid.of_block; ++node) {
    // Add the third cell of `node`, which is the first of a new one.
    const int cell = node + kCoarseOrder - 1;
    if (grid.adds(cell, begin)) {
      for_rows_of_cell(grid.step, [&](auto count, int t) {
        constexpr int kRows = count;
        FourRows<std::uint8_t, kRows> of(in, x, grid.first + cell * grid.step + t, wide,
                                         grid.border);
        for (int r = 0; r < kRows; ++r)
          if (of.ghosts[r]) of.rows[r].words[0] = ghost * 0x01010101u;
        for (int r = 0; r < kRows; r += 4) {
          const FourBytes four[4] = {of.rows[r], of.rows[r + 1], of.rows[r + 2], of.rows[r + 3]};
          FourBytes columns[4];
          transpose(four, columns);
          three.add(down.weights + (t + r) / 4, grid.step / 4, columns);
        }
      });
    }

    // Store the first of the three: it has all that this block adds to it.
    if (node >= 0 && node < nodes.height && grid.stores(node, begin)) {
      float* const to = nodes.row(node) + x;
      float sums[4];
      // Of blocks that share a node, one subtracts the centre.
      const float centre = node >= begin ? down.of_centre : 0.0f;
      for (int k = 0; k < 4; ++k) sums[k] = add_product(three.of[0][k].value(), down.unit, -centre);
      if (grid.adds_up(node, begin)) {
        for (int k = 0; k < 4 && x + k < in.width; ++k) atomic_add(to[k], sums[k]);
      } else {
        store4(to, sums);
      }
    }
    three.next_node();
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
