/// The kernels of coarse.cu: onto a grid along one axis, sums along one axis, and back from the
/// grids. No shared memory: neighbouring threads read the same lines, which caches serve.
#pragma once

#include "device_plan.hpp"
#include "fast/coarse_axis.hpp"
#include "fast/coarse_samples.hpp"

namespace convfilt::CONVFILT_BACKEND {

inline constexpr int kCoarseThreads = 64;  // of four columns each, where a thread walks down
inline constexpr int kNodeColumns = 32;    // where a thread has a node or a column of its own
inline constexpr int kNodeRows = 4;
inline constexpr int kRowsAThread = 4;  // of decimate_columns: they share weights
inline constexpr int kSumsAThread = 16;

/// Where a grid's cells lie on an axis of a plane, and what its samples are beyond its ends.
struct Cells {
  int first;  ///< the sample where cell 0 begins
  int step;
  Border border;
  float ghost;
};

/// The B-spline's weights for sample t of three successive nodes' cells: [2 d + t], [d + t], [t].
using SplineWeights = Four<float>;

/// nodes.row(n)[x] = sum over t of down[t] * in(x, sample t of cells n, n + 1 and n + 2). A thread
/// reads the rows of `cells` cells once and adds each to three nodes. Two blocks may add to a node,
/// to a zero there, so that their order does not matter. Rows of nodes have room for whole fours.
template <class S>
__global__ void decimate_rows_kernel(PlaneView<const S> in, PlaneView<float> nodes, Cells grid,
                                     int cells, float centre, const SplineWeights* down) {
  const int x = kCoarseColumns * (blockIdx.x * kCoarseThreads + threadIdx.x);
  const int begin = blockIdx.y * cells, end = begin + cells;
  if (x >= in.width) return;
  const bool wide = x + kCoarseColumns <= in.width && lies_at_multiples_of(4 * sizeof(S), in);

  float sums[kCoarseOrder][kCoarseColumns] = {}, chains[kCoarseOrder][kCoarseColumns] = {};
  for (int node = begin - 2; node < end; ++node) {
    if (node < end - 2) {
      const int top = grid.first + (node + 2) * grid.step;
      for (int t = 0; t < grid.step; t += 4) {
        // Load four rows at once, so that their waits are one.
        float samples[4][kCoarseColumns];
        for (int r = 0; r < 4; ++r) {
          const int y = border_index(grid.border, top + t + r, in.height);
          load_centred(in, x, y, wide, centre, grid.ghost, samples[r]);
        }
        for (int r = 0; r < 4; ++r) {
          const SplineWeights weights = down[t + r];
          for (int n = 0; n < kCoarseOrder; ++n)
            for (int k = 0; k < kCoarseColumns; ++k)
              chains[n][k] = add_product(weights.samples[n], samples[r][k], chains[n][k]);
        }
        if ((t + 4) % kDownChain == 0 || t + 4 == grid.step) {
          for (int n = 0; n < kCoarseOrder; ++n) {
            for (int k = 0; k < kCoarseColumns; ++k) {
              sums[n][k] += chains[n][k];
              chains[n][k] = 0;
            }
          }
        }
      }
    }
    // The first of the three has all that this block adds to it.
    if (node >= 0 && node < nodes.height) {
      float* const to = nodes.row(node) + x;
      if (node < begin || node > end - kCoarseOrder) {
        for (int k = 0; k < kCoarseColumns && x + k < in.width; ++k) atomic_add(to[k], sums[0][k]);
      } else {
        Four<float> four;
        for (int k = 0; k < kCoarseColumns; ++k) four.samples[k] = sums[0][k];
        *reinterpret_cast<Four<float>*>(to) = four;
      }
    }
    for (int k = 0; k < kCoarseColumns; ++k) {
      sums[0][k] = sums[1][k];
      sums[1][k] = sums[2][k];
      sums[2][k] = 0;
    }
  }
}

/// nodes.row(y)[n] = sum over t of down[t] * in(sample t of cells n, n + 1 and n + 2, y), read in
/// chunks of so many samples. A thread computes a node of some rows.
template <class T, int chunk>
__global__ void decimate_columns_kernel(PlaneView<const T> in, PlaneView<float> nodes, Cells grid,
                                        float centre, const Four<float>* down) {
  const int node = blockIdx.x * kNodeColumns + threadIdx.x;
  const int y = kRowsAThread * int(blockIdx.y * kNodeRows + threadIdx.y);
  if (node >= nodes.width || y >= in.height) return;
  const bool aligned = grid.first % chunk == 0 && lies_at_multiples_of(chunk * sizeof(T), in);

  float sums[kRowsAThread] = {};
  int t = 0;
  for (int cell = node; cell < node + kCoarseOrder; ++cell) {
    for (int begin = 0; begin < grid.step; begin += kDownChain) {
      const int end = min(begin + kDownChain, grid.step);
      float chains[kRowsAThread] = {};
      for (int in_cell = begin; in_cell < end; in_cell += chunk, t += chunk) {
        const int x = grid.first + cell * grid.step + in_cell;
        const bool wide = aligned && x >= 0 && x + chunk <= in.width;
        float samples[kRowsAThread][chunk];
        for (int r = 0; r < kRowsAThread; ++r)
          load_chunk<T, chunk>(in, x, min(y + r, in.height - 1), wide, centre, grid, samples[r]);
        for (int q = 0; q < chunk / 4; ++q) {
          const Four<float> weights = down[t / 4 + q];
          for (int k = 0; k < 4; ++k)
            for (int r = 0; r < kRowsAThread; ++r)
              chains[r] = add_product(weights.samples[k], samples[r][4 * q + k], chains[r]);
        }
      }
      for (int r = 0; r < kRowsAThread; ++r) sums[r] += chains[r];
    }
  }
  for (int r = 0; r < kRowsAThread && y + r < in.height; ++r) nodes.row(y + r)[node] = sums[r];
}

/// A line of weights for sum_columns: kSumsAThread - 1 zeros, the weights, zeros.
struct PaddedLine {
  const Four<float>* weights;
  int steps;  ///< of four samples, that a thread's sums take
};

/// out.row(x)[y] = sum over i of line[i] * in(x, first + y + i): transposed, so that the next sum
/// is one down columns again. Rows of `out` have room for whole multiples of kSumsAThread sums.
static __global__ void sum_columns_kernel(PlaneView<const float> in, PlaneView<float> out,
                                          PaddedLine line, int first, Border border, float ghost) {
  const int x = blockIdx.x * kNodeColumns + threadIdx.x;
  const int y = kSumsAThread * int(blockIdx.y * kNodeRows + threadIdx.y);
  if (x >= in.width || y >= out.width) return;
  const int top = first + y;
  const bool inside = top >= 0 && top + 4 * line.steps <= in.height;

  float sums[kSumsAThread] = {}, chains[kSumsAThread] = {};
  for (int step = 0; step < line.steps; ++step) {
    float samples[4], weights[kSumsAThread + 4];
    for (int r = 0; r < 4; ++r) {
      const int row = top + 4 * step + r;
      const int source = inside ? row : border_index(border, row, in.height);
      samples[r] = source < 0 ? ghost : load(in, x, source);
    }
    for (int q = 0; q < kSumsAThread / 4 + 1; ++q) {
      const Four<float> four = line.weights[step + q];
      for (int k = 0; k < 4; ++k) weights[4 * q + k] = four.samples[k];
    }
    for (int r = 0; r < 4; ++r)
      for (int n = 0; n < kSumsAThread; ++n)
        chains[n] = add_product(weights[kSumsAThread - 1 + r - n], samples[r], chains[n]);
    if ((step + 1) % (kLineChain / 4) == 0 || step + 1 == line.steps) {
      for (int n = 0; n < kSumsAThread; ++n) {
        sums[n] += chains[n];
        chains[n] = 0;
      }
    }
  }
  for (int n = 0; n < kSumsAThread; n += 4) {
    Four<float> four;
    for (int k = 0; k < 4; ++k) four.samples[k] = sums[n + k];
    *reinterpret_cast<Four<float>*>(out.row(x) + y + n) = four;
  }
}

/// What the outputs are interpolated from; see coarse.cu.
struct Grids {
  PlaneView<const float> fine_x, both, fine_y;
  int step_x, step_y;
  const SplineWeights *back_x, *back_y;
};

/// Four columns of a node's row of f.x s.y - s.x s.y, not yet interpolated in y.
CONVFILT_DEVICE inline void row_of_node(const Grids& grids, int node, int x, int cell_x,
                                        const SplineWeights (&back)[kCoarseColumns],
                                        float (&row)[kCoarseColumns]) {
  const Four<float> fine = load4(grids.fine_x, x, node);
  for (int k = 0; k < kCoarseColumns; ++k) row[k] = fine.samples[k];
  for (int n = 0; n < kCoarseOrder; ++n) {
    const float both = -load(grids.both, cell_x + n, node);
    for (int k = 0; k < kCoarseColumns; ++k) row[k] = add_product(back[k].samples[n], both, row[k]);
  }
}

/// Outputs from the nodes around: a thread walks down four columns of `cells` cells.
template <class T>
__global__ void interpolate_kernel(Grids grids, PlaneView<T> out, int cells, FloatFinish end) {
  const int x = kCoarseColumns * (blockIdx.x * kCoarseThreads + threadIdx.x);
  const int first = blockIdx.y * cells;
  if (x >= out.width || first * grids.step_y >= out.height) return;
  const bool wide = x + kCoarseColumns <= out.width && lies_at_multiples_of(4 * sizeof(T), out);

  // All four columns lie in one cell.
  const int cell_x = x / grids.step_x;
  SplineWeights back[kCoarseColumns];
  for (int k = 0; k < kCoarseColumns; ++k) back[k] = grids.back_x[x - cell_x * grids.step_x + k];
  float rows[kCoarseOrder][kCoarseColumns];
  row_of_node(grids, first, x, cell_x, back, rows[1]);
  row_of_node(grids, first + 1, x, cell_x, back, rows[2]);

  for (int cell = first; cell < first + cells; ++cell) {
    const int top = cell * grids.step_y, bottom = min(top + grids.step_y, out.height);
    if (top >= bottom) return;
    for (int k = 0; k < kCoarseColumns; ++k) {
      rows[0][k] = rows[1][k];
      rows[1][k] = rows[2][k];
    }
    row_of_node(grids, cell + 2, x, cell_x, back, rows[2]);
    for (int y = top; y < bottom; ++y) {
      const SplineWeights weights = grids.back_y[y - top];
      float sums[kCoarseColumns];
      for (int k = 0; k < kCoarseColumns; ++k) sums[k] = weights.samples[0] * rows[0][k];
      for (int n = 1; n < kCoarseOrder; ++n)
        for (int k = 0; k < kCoarseColumns; ++k)
          sums[k] = add_product(weights.samples[n], rows[n][k], sums[k]);
      for (int n = 0; n < kCoarseOrder; ++n) {
        const float fine = load(grids.fine_y, cell_x + n, y);
        for (int k = 0; k < kCoarseColumns; ++k)
          sums[k] = add_product(back[k].samples[n], fine, sums[k]);
      }
      store_ended(end, sums, out, x, y, wide);
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
