/// The kernels of coarse.cu that bring samples onto a grid, along one axis. No shared memory:
/// neighbouring threads read the same lines, which caches serve.
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
      for (int t = 0; t < grid.step; t += 4) {
        Four<S> rows[4];  // so that their waits are one
        for (int r = 0; r < 4; ++r) rows[r] = load4(in, x, top + t + r);
        for (int r = 0; r < 4; ++r) {
          float samples[4];
          spread(rows[r], centre, samples);
          three.add(down[t + r], samples);
        }
        if (grid.ends_chain(t + 4)) three.end_chain();
      }
    } else {
      CONVFILT_UNROLL(1)
      for (int t = 0; t < grid.step; ++t) {
        const int y = border_index(grid.border, top + t, in.height);
        float samples[4];
        load_centred(in, x, y, centre, grid.ghost, samples);
        three.add(down[t], samples);
        if (grid.ends_chain(t + 1)) three.end_chain();
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

/// nodes.row(c H + y)[n] = sum over t of down[t] * in(channel c of sample t of cells n, n + 1 and
/// n + 2, y), H being the rows of `in`. A thread computes a node of some rows.
template <class T, int channels, int rows>
__global__ void decimate_columns_kernel(PlaneView<const T> in, PlaneView<float> nodes, Cells grid,
                                        float centre, const Four<float>* down) {
  const int node = blockIdx.x * kNodeColumns + threadIdx.x;
  const int y = rows * int(blockIdx.y * kNodeRows + threadIdx.y);
  if (node >= nodes.width || y >= in.height) return;
  const int width = in.width / channels, pixels = kCoarseOrder * grid.step;
  const int left = grid.first + node * grid.step;
  const bool inside = left >= 0 && left + pixels <= width;
  const bool wide = left % 4 == 0 && lies_at_multiples_of(4 * sizeof(T), in);
  constexpr int kPerLoad =
      16 / int(sizeof(T) * channels);  // pixels in 16 bytes, where they fill it
  const bool widest = channels == 1 && grid.step % kPerLoad == 0 && left % kPerLoad == 0 &&
                      lies_at_multiples_of(16, in);

  float sums[channels][rows] = {}, chains[channels][rows] = {};
  int in_cell = 0;
  const auto advance = [&](int count) {
    in_cell += count;
    if (!grid.ends_chain(in_cell)) return;
    if (in_cell == grid.step) in_cell = 0;
    for (int c = 0; c < channels; ++c) {
      for (int r = 0; r < rows; ++r) {
        sums[c][r] += chains[c][r];
        chains[c][r] = 0;
      }
    }
  };
  if (inside && widest) {
    if constexpr (channels == 1) {
      for (int t = 0; t < pixels; t += kPerLoad) {
        Bytes16 words[rows];
        for (int r = 0; r < rows; ++r) words[r] = load16(in, left + t, min(y + r, in.height - 1));
        for (int q = 0; q < kPerLoad / 4; ++q) {
          const Four<float> weights = down[t / 4 + q];
          for (int r = 0; r < rows; ++r) {
            float samples[4];
            spread<T>(words[r], q, centre, samples);
            for (int k = 0; k < 4; ++k)
              chains[0][r] = add_product(weights.samples[k], samples[k], chains[0][r]);
          }
        }
        advance(kPerLoad);
      }
    }
  } else if (inside && wide) {
    for (int t = 0; t < pixels; t += 4) {
      const Four<float> weights = down[t / 4];
      for (int r = 0; r < rows; ++r) {
        float samples[channels][4];
        for (int c = 0; c < channels; ++c)
          spread(load4(in, (left + t) * channels + 4 * c, min(y + r, in.height - 1)), centre,
                 samples[c]);
        for (int k = 0; k < 4; ++k) {
          for (int c = 0; c < channels; ++c) {
            const int at = k * channels + c;
            chains[c][r] = add_product(weights.samples[k], samples[at / 4][at % 4], chains[c][r]);
          }
        }
      }
      advance(4);
    }
  } else {
    CONVFILT_UNROLL(1)
    for (int t = 0; t < pixels; ++t) {
      const int x = border_index(grid.border, left + t, width);
      const float weight = reinterpret_cast<const float*>(down)[t];
      for (int c = 0; c < channels; ++c) {
        for (int r = 0; r < rows; ++r) {
          const int row = min(y + r, in.height - 1);
          const float sample =
              x < 0 ? grid.ghost : centred(load(in, x * channels + c, row), centre);
          chains[c][r] = add_product(weight, sample, chains[c][r]);
        }
      }
      advance(1);
    }
  }
  for (int c = 0; c < channels; ++c)
    for (int r = 0; r < rows && y + r < in.height; ++r)
      nodes.row(c * in.height + y + r)[node] = sums[c][r];
}

}  // namespace convfilt::CONVFILT_BACKEND
