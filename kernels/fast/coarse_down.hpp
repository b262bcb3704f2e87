/// The kernels of coarse.cu that bring samples onto a grid, along one axis. No shared memory:
/// neighbouring threads read the same lines, which caches serve.
#pragma once

#include "device_plan.hpp"
#include "fast/coarse_axis.hpp"
#include "fast/coarse_bytes.hpp"

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
        FourWords<S> rows[4];  // so that their waits are one
        for (int r = 0; r < 4; ++r) rows[r] = load(row_of<FourWords<S>>(in, top + t + r), x / 4, 0);
        for (int r = 0; r < 4; ++r) {
          float samples[4];
          spread<S>(rows[r], centre, samples);
          three.add(load_weights(down + t + r), samples);
        }
        if (grid.ends_chain(t + 4)) three.end_chain();
      }
    } else {
      CONVFILT_UNROLL(1)
      for (int t = 0; t < grid.step; ++t) {
        const int y = border_index(grid.border, top + t, in.height);
        float samples[4];
        if (wide && y >= 0) {
          spread<S>(load(row_of<FourWords<S>>(in, y), x / 4, 0), centre, samples);
        } else {
          load_centred(in, x, y, centre, grid.ghost, samples);
        }
        three.add(load_weights(down + t), samples);
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

/// What the kernels below share: nodes.row(c H + y)[n] = sum over t of down[t] * in(channel c of
/// sample t of cells n, n + 1 and n + 2, y), H being the rows of `in`.
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

/// A thread computes a node of some rows.
template <int channels, int rows>
__global__ void decimate_columns_kernel(PlaneView<const float> in, PlaneView<float> nodes,
                                        Cells grid, const Four<float>* down) {
  const int node = blockIdx.x * kNodeColumns + threadIdx.x;
  const int y = rows * int(blockIdx.y * kNodeRows + threadIdx.y);
  if (node >= nodes.width || y >= in.height) return;
  const NodeColumns<float, channels, rows> columns(in, grid, node, y);

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
  if (columns.wide) {
    for (int t = 0; t < columns.pixels; t += 4) {
      const Four<float> weights = load_weights(down + t / 4);
      for (int r = 0; r < rows; ++r) {
        FourWords<float> fours[channels];
        columns.load_fours(t, r, fours);
        for (int k = 0; k < 4; ++k) {
          for (int c = 0; c < channels; ++c) {
            const int at = k * channels + c;
            const float sample = std::bit_cast<float>(fours[at / 4].words[at % 4]);
            chains[c][r] = add_product(weights.samples[k], sample, chains[c][r]);
          }
        }
      }
      advance(4);
    }
  } else {
    CONVFILT_UNROLL(1)
    for (int t = 0; t < columns.pixels; ++t) {
      const float weight = reinterpret_cast<const float*>(down)[t];
      const int x = columns.source(t, grid.border);
      for (int c = 0; c < channels; ++c) {
        for (int r = 0; r < rows; ++r) {
          const float sample = x < 0 ? grid.ghost : load(columns.in[r], x * channels + c, 0);
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

/// Weights as multiples of `unit`, and what the samples' centre comes to.
struct ByteLine {
  const ByteWeights* weights;
  float unit, of_centre;
};

/// The same of integer samples.
template <class T, int channels, int rows>
__global__ void decimate_bytes_kernel(PlaneView<const T> in, PlaneView<float> nodes, Cells grid,
                                      T ghost, ByteLine down) {
  const int node = blockIdx.x * kNodeColumns + threadIdx.x;
  const int y = rows * int(blockIdx.y * kNodeRows + threadIdx.y);
  if (node >= nodes.width || y >= in.height) return;
  const NodeColumns<T, channels, rows> columns(in, grid, node, y);

  ByteSums sums[channels][rows];
  constexpr int kPerLoad = 16 / int(sizeof(T));  // samples
  if (channels == 1 && columns.wide && columns.left % kPerLoad == 0 &&
      columns.pixels % kPerLoad == 0 && lies_at_multiples_of(16, in)) {
    for (int t = 0; t < columns.pixels; t += kPerLoad) {
      Bytes16 loaded[rows];
      for (int r = 0; r < rows; ++r)
        loaded[r] = load(row_of<Bytes16>(columns.in[r], 0), (columns.left + t) / kPerLoad, 0);
      for (int q = 0; q < kPerLoad / 4; ++q) {
        const ByteWeights weights = down.weights[t / 4 + q];
        for (int r = 0; r < rows; ++r) {
          FourWords<T> four;
          for (int k = 0; k < int(sizeof(T)); ++k)
            four.words[k] = loaded[r].words[q * int(sizeof(T)) + k];
          sums[0][r].template add<T>(four, weights);
        }
      }
    }
  } else if (columns.wide) {
    for (int t = 0; t < columns.pixels; t += 4) {
      const ByteWeights weights = down.weights[t / 4];
      for (int r = 0; r < rows; ++r) {
        FourWords<T> fours[channels], of_channel[channels];
        columns.load_fours(t, r, fours);
        if constexpr (channels == 3) {
          split(fours, of_channel);
        } else {
          of_channel[0] = fours[0];
        }
        for (int c = 0; c < channels; ++c) sums[c][r].template add<T>(of_channel[c], weights);
      }
    }
  } else {
    CONVFILT_UNROLL(1)
    for (int t = 0; t < columns.pixels; ++t) {
      const ByteWeights four = down.weights[t / 4];
      const int shift = 8 * (t % 4);
      const ByteWeights one{four.upper >> shift & 255, four.lower >> shift & 255};
      const int x = columns.source(t, grid.border);
      for (int c = 0; c < channels; ++c) {
        for (int r = 0; r < rows; ++r) {
          FourWords<T> sample{};
          sample.words[0] = x < 0 ? ghost : load(columns.in[r], x * channels + c, 0);
          sums[c][r].template add<T>(sample, one);
        }
      }
    }
  }
  for (int c = 0; c < channels; ++c)
    for (int r = 0; r < rows && y + r < in.height; ++r)
      nodes.row(c * in.height + y + r)[node] =
          add_product(sums[c][r].value(), down.unit, -down.of_centre);
}

}  // namespace convfilt::CONVFILT_BACKEND
