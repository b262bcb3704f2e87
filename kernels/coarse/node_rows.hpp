/// The kernel of coarse.cu that brings samples onto a grid down the columns, which makes rows of
/// nodes.
#pragma once

#include "kernels/coarse/mask.hpp"
#include "kernels/coarse/samples.hpp"
#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::coarse {

using namespace convfilt::coarse;

/// Where a grid's cells lie on an axis of a plane, and what its samples are beyond the plane's
/// ends.
struct Cells {
  int first;  ///< the sample where cell 0 begins
  int step;
  Border border;
  float ghost;
  int of_block;  ///< the number of cells of a block
  bool shared;   ///< whether two blocks add to a node that reaches into the cells of both

  /// These say whether a block whose first cell is `begin` adds this cell, whether it stores this
  /// node, and whether it does so by adding, since another block adds to the node, too.
  CONVFILT_HD bool adds(int cell, int begin) const { return !shared || cell < begin + of_block; }
  CONVFILT_HD bool stores(int node, int begin) const { return shared || node >= begin; }
  CONVFILT_HD bool adds_up(int node, int begin) const {
    return shared && (node < begin || node > begin + of_block - kOrder);
  }

  CONVFILT_HD bool ends_chain(int in_cell) const {
    return in_cell % kDownChain == 0 || in_cell == step;
  }
};

/// Four columns, from x on, of successive rows, or of the rows that the border puts in their place.
/// Rows of ghost cells are marked, and columns beyond the picture are 0.
template <class S, int count>
struct FourRows {
  FourWords<S> rows[count];
  bool ghosts[count] = {};

  CONVFILT_DEVICE FourRows(const PlaneView<const S>& in, int x, int y, bool wide, Border border) {
    if (wide && y >= 0 && y + count <= in.height) {
      PlaneView<const S> row = in.rows(y, 1);
      CONVFILT_UNROLL(count)
      for (int r = 0; r < count; ++r, row.data += row.stride)
        rows[r] = load(row_of<FourWords<S>>(row, 0), x / 4, 0);
      return;
    }
    CONVFILT_UNROLL(count)
    for (int r = 0; r < count; ++r) {
      const int source = border_index(border, y + r, in.height);
      ghosts[r] = source < 0;
      rows[r] = {};
      if (wide) {
        rows[r] = load(row_of<FourWords<S>>(in, max(source, 0)), x / 4, 0);
      } else {
        for (int k = 0; k < 4 && x + k < in.width; ++k)
          set_sample(rows[r], k, load(in, x + k, max(source, 0)));
      }
    }
  }
};

/// Calls f(count, t) for `count` rows of a cell, from row t on. It takes eight at once where there
/// are as many, so that the thread waits only once for their loads.
template <class F>
CONVFILT_DEVICE inline void for_rows_of_cell(int step, F f) {
  int t = 0;
  for (; t + 8 <= step; t += 8) f(std::integral_constant<int, 8>{}, t);
  if (t < step) f(std::integral_constant<int, 4>{}, t);
}

/// The sums of three successive nodes in four columns.
template <class S>
struct NodeSums {
  using Level = float;  ///< the centre, which is subtracted from samples
  using Line = const SplineWeights*;
  float sums[kOrder][4] = {}, chains[kOrder][4] = {};

  /// Adds `count` rows of a cell, from row t on.
  template <int count>
  CONVFILT_DEVICE void add(Level level, const Line& down, const Cells& grid,
                           const FourRows<S, count>& four, int t) {
    float samples[count][4];
    for (int r = 0; r < count; ++r) {
      to_floats<S>(four.rows[r], level, samples[r]);
      for (int k = 0; k < 4; ++k) samples[r][k] = four.ghosts[r] ? grid.ghost : samples[r][k];
    }
    for (int r = 0; r < count; ++r) {
      add_row(load_weights(down + t + r), samples[r]);
      if (r % 4 == 3 && grid.ends_chain(t + r + 1)) end_chain();
    }
  }
  CONVFILT_DEVICE void add_row(const SplineWeights& weights, const float (&samples)[4]) {
    for (int n = 0; n < kOrder; ++n)
      for (int k = 0; k < 4; ++k)
        chains[n][k] = add_product(weights.samples[n], samples[k], chains[n][k]);
  }
  CONVFILT_DEVICE void end_chain() {
    for (int n = 0; n < kOrder; ++n) {
      for (int k = 0; k < 4; ++k) {
        sums[n][k] += chains[n][k];
        chains[n][k] = 0;
      }
    }
  }

  /// The first node's sum in column k.
  CONVFILT_DEVICE float first(const Line&, bool, int k) const { return sums[0][k]; }
  CONVFILT_DEVICE void next_node() {
    for (int k = 0; k < 4; ++k) {
      sums[0][k] = sums[1][k];
      sums[1][k] = sums[2][k];
      sums[2][k] = 0;
    }
  }
};

using FourBytes = FourWords<std::uint8_t>;

/// Turns four rows of four columns into four columns of four rows.
CONVFILT_DEVICE inline void transpose(const FourBytes (&rows)[4], FourBytes (&columns)[4]) {
  for (int half = 0; half < 2; ++half) {
    const std::uint32_t which = half == 0 ? 0x5140 : 0x7362;
    const std::uint32_t upper = pick_bytes(rows[0].words[0], rows[1].words[0], which);
    const std::uint32_t lower = pick_bytes(rows[2].words[0], rows[3].words[0], which);
    columns[2 * half].words[0] = pick_bytes(upper, lower, 0x5410);
    columns[2 * half + 1].words[0] = pick_bytes(upper, lower, 0x7632);
  }
}

/// The same for bytes, by instructions that multiply bytes.
template <>
struct NodeSums<std::uint8_t> {
  using Level = std::uint8_t;  ///< the value of ghost cells
  using Line = ByteLine;
  ByteSums sums[kOrder][4];

  template <int count>
  CONVFILT_DEVICE void add(Level level, const Line& down, const Cells& grid,
                           FourRows<std::uint8_t, count> four, int t) {
    for (int r = 0; r < count; ++r)
      if (four.ghosts[r]) four.rows[r].words[0] = level * 0x01010101u;
    for (int r = 0; r < count; r += 4) {
      const FourBytes rows[4] = {four.rows[r], four.rows[r + 1], four.rows[r + 2],
                                 four.rows[r + 3]};
      FourBytes columns[4];
      transpose(rows, columns);
      // These samples meet weights of the last node, and in each node before it weights that lie a
      // cell further on.
      const ByteWeights* const last = down.weights + (t + r) / 4;
      for (int n = 0; n < kOrder; ++n) {
        const ByteWeights weights = last[(kOrder - 1 - n) * (grid.step / 4)];
        for (int k = 0; k < 4; ++k) sums[n][k].add<std::uint8_t>(columns[k], weights);
      }
    }
  }

  /// Where two blocks share a node, one of them subtracts the centre.
  CONVFILT_DEVICE float first(const Line& down, bool subtracts_centre, int k) const {
    const float centre = subtracts_centre ? down.of_centre : 0.0f;
    return add_product(sums[0][k].value(), down.unit, -centre);
  }
  CONVFILT_DEVICE void next_node() {
    for (int k = 0; k < 4; ++k) {
      sums[0][k] = sums[1][k];
      sums[1][k] = sums[2][k];
      sums[2][k] = {};
    }
  }
};

/// nodes.row(n)[x] = sum over t of down[t] * in(x, sample t of cells n, n + 1 and n + 2). A thread
/// reads the rows of its cells once and adds each to three nodes. Where two blocks add to a node,
/// that node starts at zero, and the order of the two additions does not matter. Rows of nodes have
/// room for whole fours.
template <class S>
__global__ void decimate_rows_kernel(PlaneView<const S> in, PlaneView<float> nodes, Cells grid,
                                     typename NodeSums<S>::Level level,
                                     typename NodeSums<S>::Line down) {
  const int x = 4 * (blockIdx.x * kWalkThreads + threadIdx.x);
  const int begin = blockIdx.y * grid.of_block;
  if (x >= in.width) return;
  const bool wide = x + 4 <= in.width && lies_at_multiples_of(4 * sizeof(S), in);

  NodeSums<S> three;
  for (int node = begin - (kOrder - 1); node < begin + grid.of_block; ++node) {
    // Add the third cell of `node`, which is the first cell of a new node.
    const int cell = node + kOrder - 1;
    if (grid.adds(cell, begin)) {
      for_rows_of_cell(grid.step, [&](auto count, int t) {
        constexpr int kRows = count;
        const FourRows<S, kRows> four(in, x, grid.first + cell * grid.step + t, wide, grid.border);
        three.add(level, down, grid, four, t);
      });
    }

    // Store the first of the three nodes, to which this block has nothing more to add.
    if (node >= 0 && node < nodes.height && grid.stores(node, begin)) {
      float* const to = nodes.row(node) + x;
      float sums[4];
      for (int k = 0; k < 4; ++k) sums[k] = three.first(down, node >= begin, k);
      if (grid.adds_up(node, begin)) {
        for (int k = 0; k < 4 && x + k < in.width; ++k) atomic_add(to[k], sums[k]);
      } else {
        store4(to, sums);
      }
    }
    three.next_node();
  }
}

}  // namespace convfilt::CONVFILT_BACKEND::coarse
