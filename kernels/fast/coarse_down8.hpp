/// The kernel of coarse.cu that brings 8-bit samples onto a grid down columns: as decimate_rows in
/// coarse_down.hpp, in products of bytes.
#pragma once

#include "fast/coarse_bytes.hpp"
#include "fast/coarse_down.hpp"

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

/// Four rows of four columns from (x, y) on, ghost cells included; columns beyond the picture are
/// 0.
CONVFILT_DEVICE inline void load_bytes(const PlaneView<const std::uint8_t>& in, int x, int y,
                                       bool wide, Border border, std::uint8_t ghost,
                                       FourBytes (&rows)[4]) {
  for (int r = 0; r < 4; ++r) {
    const int source = border_index(border, y + r, in.height);
    if (source < 0) {
      rows[r].words[0] = ghost * 0x01010101u;
    } else if (wide) {
      rows[r] = load(row_of<FourBytes>(in, source), x / 4, 0);
    } else {
      rows[r].words[0] = 0;
      for (int k = 0; k < 4 && x + k < in.width; ++k)
        rows[r].words[0] |= std::uint32_t(load(in, x + k, source)) << (8 * k);
    }
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
                                             PlaneView<float> nodes, Cells grid, int cells,
                                             std::uint8_t ghost, ByteLine down) {
  const int x = 4 * (blockIdx.x * kCoarseThreads + threadIdx.x);
  const int begin = blockIdx.y * cells, end = begin + cells;
  if (x >= in.width) return;
  const bool wide = x + 4 <= in.width && lies_at_multiples_of(4, in);

  ByteNodeSums three;
  for (int node = begin - (kCoarseOrder - 1); node < end; ++node) {
    // Add the third cell of `node`, which is the first of a new one.
    const int top = grid.first + (node + kCoarseOrder - 1) * grid.step;
    const ByteWeights* weights = down.weights;
    const auto add = [&](const FourBytes(&rows)[4]) {
      FourBytes columns[4];
      transpose(rows, columns);
      three.add(weights, grid.step / 4, columns);
      ++weights;
    };
    if (node > end - kCoarseOrder) {
      // It belongs to the next block.
    } else if (wide && top >= 0 && top + grid.step <= in.height) {
      PlaneView<const std::uint8_t> four = in.rows(top, 4);
      for (int t = 0; t < grid.step; t += 4, four.data += 4 * four.stride) {
        FourBytes rows[4];
        for (int r = 0; r < 4; ++r) rows[r] = load(row_of<FourBytes>(four, r), x / 4, 0);
        add(rows);
      }
    } else {
      CONVFILT_UNROLL(1)
      for (int t = 0; t < grid.step; t += 4) {
        FourBytes rows[4];
        load_bytes(in, x, top + t, wide, grid.border, ghost, rows);
        add(rows);
      }
    }

    // Store the first of the three: it has all that this block adds to it.
    if (node >= 0 && node < nodes.height) {
      float* const to = nodes.row(node) + x;
      float sums[4];
      // Of blocks that share a node, one subtracts the centre.
      const float centre = node >= begin ? down.of_centre : 0.0f;
      for (int k = 0; k < 4; ++k) sums[k] = add_product(three.of[0][k].value(), down.unit, -centre);
      if (node < begin || node > end - kCoarseOrder) {
        for (int k = 0; k < 4 && x + k < in.width; ++k) atomic_add(to[k], sums[k]);
      } else {
        store4(to, sums);
      }
    }
    three.next_node();
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
