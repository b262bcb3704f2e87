/// What brings samples onto a grid: down columns, and for coarse_columns.hpp along rows.
#pragma once

#include "device_plan.hpp"
#include "fast/coarse_axis.hpp"
#include "fast/coarse_samples.hpp"

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

/// What a thread of coarse_columns.hpp reads, where nodes.row(c H + y)[n] = sum over t of down[t] *
/// in(channel c of sample t of cells n, n + 1 and n + 2, y), H being the rows of `in`.
template <class T, int channels, int rows>
struct NodeColumns {
  PlaneView<const T> in[rows];  ///< one row each
  int width, left, pixels;
  bool wide;  ///< all inside, and in fours at multiples of their size

  CONVFILT_DEVICE NodeColumns(const PlaneView<const T>& picture, const Cells& grid, int node, int y)
      : width(picture.width / channels),
        left(grid.first + node * grid.step),
        pixels(kCoarseOrder * grid.step),
        wide(left >= 0 && left + pixels <= width && left % 4 == 0 &&
             lies_at_multiples_of(4 * sizeof(T), picture)) {
    for (int r = 0; r < rows; ++r) in[r] = row_of<T>(picture, min(y + r, picture.height - 1));
  }

  /// Four pixels from the t-th on, as they lie.
  CONVFILT_DEVICE void load_fours(int t, int r, FourWords<T> (&fours)[channels]) const {
    const auto row = row_of<FourWords<T>>(in[r], 0);
    for (int q = 0; q < channels; ++q) fours[q] = load(row, (left + t) / 4 * channels + q, 0);
  }

  /// Column of the sample that stands for the t-th pixel; below 0: the ghost.
  CONVFILT_DEVICE int source(int t, Border border) const {
    return border_index(border, left + t, width);
  }
};

/// nodes.row(n)[x] = sum over t of down[t] * in(x, sample t of cells n, n + 1 and n + 2). A thread
/// reads the rows of `cells` cells once and adds each to three nodes. Two blocks may add to a node,
/// to a zero there, so that their order does not matter. Rows of nodes have room for whole fours.
template <class S>
__global__ void decimate_rows_kernel(PlaneView<const S> in, PlaneView<float> nodes, Cells grid,
                                     int cells, float centre, const SplineWeights* down) {
  const int x = 4 * (blockIdx.x * kCoarseThreads + threadIdx.x);
  const int begin = blockIdx.y * cells, end = begin + cells;
  if (x >= in.width) return;
  const bool wide = x + 4 <= in.width && lies_at_multiples_of(4 * sizeof(S), in);

  NodeSums three;
  for (int node = begin - (kCoarseOrder - 1); node < end; ++node) {
    // Add the third cell of `node`, which is the first of a new one.
    const int top = grid.first + (node + kCoarseOrder - 1) * grid.step;
    if (node > end - kCoarseOrder) {
      // It belongs to the next block.
    } else if (wide && top >= 0 && top + grid.step <= in.height) {
      PlaneView<const S> four = in.rows(top, 4);
      for (int t = 0; t < grid.step; t += 4, four.data += 4 * four.stride) {
        FourWords<S> rows[4];  // so that their waits are one
        for (int r = 0; r < 4; ++r) rows[r] = load(row_of<FourWords<S>>(four, r), x / 4, 0);
        for (int r = 0; r < 4; ++r) {
          float samples[4];
          spread<S>(rows[r], centre, samples);
          three.add(load_weights(down + t + r), samples);
        }
        if (grid.ends_chain(t + 4)) three.end_chain();
      }
    } else {
      CONVFILT_UNROLL(1)
      for (int t = 0; t < grid.step; t += 4) {
        int sources[4];
        FourWords<S> rows[4];
        for (int r = 0; r < 4; ++r) {
          sources[r] = border_index(grid.border, top + t + r, in.height);
          if (wide && sources[r] >= 0)
            rows[r] = load(row_of<FourWords<S>>(in, sources[r]), x / 4, 0);
        }
        for (int r = 0; r < 4; ++r) {
          float samples[4];
          if (wide && sources[r] >= 0) {
            spread<S>(rows[r], centre, samples);
          } else {
            load_centred(in, x, sources[r], centre, grid.ghost, samples);
          }
          three.add(load_weights(down + t + r), samples);
        }
        if (grid.ends_chain(t + 4)) three.end_chain();
      }
    }

    // Store the first of the three: it has all that this block adds to it.
    if (node >= 0 && node < nodes.height) {
      float* const to = nodes.row(node) + x;
      if (node < begin || node > end - kCoarseOrder) {
        for (int k = 0; k < 4 && x + k < in.width; ++k) atomic_add(to[k], three.sums[0][k]);
      } else {
        store4(to, three.sums[0]);
      }
    }
    three.next_node();
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
