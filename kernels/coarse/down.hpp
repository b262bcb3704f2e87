/// What brings samples onto a grid down columns; along rows: coarse_columns.hpp.
#pragma once

#include "kernels/coarse/axis.hpp"
#include "kernels/coarse/samples.hpp"
#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {

inline constexpr int kCoarseThreads = 64;  // of four columns each, where a thread walks down
inline constexpr int kNodeColumns = 32;    // where a thread has a node or a column of its own
inline constexpr int kNodeRows = 4;

/// Where a grid's cells lie on an axis of a plane, and what its samples are beyond its ends.
struct Cells {
  int first;  ///< the sample where cell 0 begins
  int step;
  Border border;
  float ghost;
  int of_block;  ///< cells whose nodes a block has
  bool shared;   ///< nodes that reach into another block's cells have the sum of both

  /// Cell `cell` of a block that begins with cell `begin`.
  CONVFILT_HD bool adds(int cell, int begin) const { return !shared || cell < begin + of_block; }
  CONVFILT_HD bool stores(int node, int begin) const { return shared || node >= begin; }
  CONVFILT_HD bool adds_up(int node, int begin) const {
    return shared && (node < begin || node > begin + of_block - kCoarseOrder);
  }

  CONVFILT_HD bool ends_chain(int in_cell) const {
    return in_cell % kDownChain == 0 || in_cell == step;
  }
};

/// The B-spline's weights for sample t of three successive nodes' cells: [2 d + t], [d + t], [t].
using SplineWeights = Four<float>;

/// Sums of three successive nodes, for four columns.
struct NodeSums {
  float sums[kCoarseOrder][4] = {}, chains[kCoarseOrder][4] = {};

  CONVFILT_DEVICE void add(const SplineWeights& weights, const float (&samples)[4]) {
    for (int n = 0; n < kCoarseOrder; ++n)
      for (int k = 0; k < 4; ++k)
        chains[n][k] = add_product(weights.samples[n], samples[k], chains[n][k]);
  }
  CONVFILT_DEVICE void end_chain() {
    for (int n = 0; n < kCoarseOrder; ++n) {
      for (int k = 0; k < 4; ++k) {
        sums[n][k] += chains[n][k];
        chains[n][k] = 0;
      }
    }
  }
  CONVFILT_DEVICE void next_node() {
    for (int k = 0; k < 4; ++k) {
      sums[0][k] = sums[1][k];
      sums[1][k] = sums[2][k];
      sums[2][k] = 0;
    }
  }
};

/// Successive rows of four columns from x on, or what stands for them: ghosts are 0, as are columns
/// beyond the picture.
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

/// f(rows, t): rows t.. of a cell, eight at once where they are as many, so that their waits are
/// one.
template <class F>
CONVFILT_DEVICE inline void for_rows_of_cell(int step, F f) {
  int t = 0;
  for (; t + 8 <= step; t += 8) f(std::integral_constant<int, 8>{}, t);
  if (t < step) f(std::integral_constant<int, 4>{}, t);
}

/// nodes.row(n)[x] = sum over t of down[t] * in(x, sample t of cells n, n + 1 and n + 2). A thread
/// reads the rows of some cells once and adds each to three nodes. Two blocks may add to a node,
/// to a zero there, so that their order does not matter. Rows of nodes have room for whole fours.
template <class S>
__global__ void decimate_rows_kernel(PlaneView<const S> in, PlaneView<float> nodes, Cells grid,
                                     float centre, const SplineWeights* down) {
  const int x = 4 * (blockIdx.x * kCoarseThreads + threadIdx.x);
  const int begin = blockIdx.y * grid.of_block;
  if (x >= in.width) return;
  const bool wide = x + 4 <= in.width && lies_at_multiples_of(4 * sizeof(S), in);

  NodeSums three;
  for (int node = begin - (kCoarseOrder - 1); node < begin + grid.of_block; ++node) {
    // Add the third cell of `node`, which is the first of a new one.
    const int cell = node + kCoarseOrder - 1;
    if (grid.adds(cell, begin)) {
      for_rows_of_cell(grid.step, [&](auto count, int t) {
        constexpr int kRows = count;
        const FourRows<S, kRows> four(in, x, grid.first + cell * grid.step + t, wide, grid.border);
        float samples[kRows][4];
        for (int r = 0; r < kRows; ++r) {
          spread<S>(four.rows[r], centre, samples[r]);
          for (int k = 0; k < 4; ++k) samples[r][k] = four.ghosts[r] ? grid.ghost : samples[r][k];
        }
        for (int r = 0; r < kRows; ++r) {
          three.add(load_weights(down + t + r), samples[r]);
          if (r % 4 == 3 && grid.ends_chain(t + r + 1)) three.end_chain();
        }
      });
    }

    // Store the first of the three: it has all that this block adds to it.
    if (node >= 0 && node < nodes.height && grid.stores(node, begin)) {
      float* const to = nodes.row(node) + x;
      if (grid.adds_up(node, begin)) {
        for (int k = 0; k < 4 && x + k < in.width; ++k) atomic_add(to[k], three.sums[0][k]);
      } else {
        store4(to, three.sums[0]);
      }
    }
    three.next_node();
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
