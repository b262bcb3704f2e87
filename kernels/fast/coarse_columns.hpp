/// The kernels of coarse.cu that bring samples onto a grid along rows. Neighbouring threads read
/// the same lines, which caches serve.
#pragma once

#include "fast/coarse_bytes.hpp"
#include "fast/coarse_down.hpp"

namespace convfilt::CONVFILT_BACKEND {

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
    for (int t = 0; t < columns.pixels; t += 4) {
      const Four<float> weights = load_weights(down + t / 4);
      int sources[4];
      for (int k = 0; k < 4; ++k) sources[k] = columns.source(t + k, grid.border);
      for (int c = 0; c < channels; ++c) {
        for (int r = 0; r < rows; ++r) {
          float samples[4];
          for (int k = 0; k < 4; ++k) {
            const int x = sources[k];
            samples[k] = x < 0 ? grid.ghost : load(columns.in[r], x * channels + c, 0);
          }
          for (int k = 0; k < 4; ++k)
            chains[c][r] = add_product(weights.samples[k], samples[k], chains[c][r]);
        }
      }
      advance(4);
    }
  }
  for (int c = 0; c < channels; ++c)
    for (int r = 0; r < rows && y + r < in.height; ++r)
      nodes.row(c * in.height + y + r)[node] = sums[c][r];
}

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
    for (int t = 0; t < columns.pixels; t += 4) {
      const ByteWeights weights = down.weights[t / 4];
      int sources[4];
      for (int k = 0; k < 4; ++k) sources[k] = columns.source(t + k, grid.border);
      for (int c = 0; c < channels; ++c) {
        for (int r = 0; r < rows; ++r) {
          constexpr int kPerWord = 4 / int(sizeof(T));
          FourWords<T> four{};
          for (int k = 0; k < 4; ++k) {
            const int x = sources[k];
            const std::uint32_t sample = x < 0 ? ghost : load(columns.in[r], x * channels + c, 0);
            four.words[k / kPerWord] |= sample << (8 * sizeof(T) * (k % kPerWord));
          }
          sums[c][r].template add<T>(four, weights);
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
