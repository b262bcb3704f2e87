/// The kernels of coarse.cu that bring samples onto a grid along rows. Neighbouring threads read
/// the same lines, which caches serve.
#pragma once

#include "kernels/coarse/bytes.hpp"
#include "kernels/coarse/chunks.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Rows of nodes of each channel.
CONVFILT_DEVICE inline void store_node(const PlaneView<float>& nodes, int y, int channel,
                                       int channels, int node, float sum) {
  const int height = nodes.height / channels;
  if (y < height) nodes.row(channel * height + y)[node] = sum;
}

template <int channels, int rows>
__global__ void decimate_columns_kernel(PlaneView<const float> in, PlaneView<float> nodes,
                                        RowGrid grid, const Four<float>* down) {
  const int node = blockIdx.x * kNodeColumns + threadIdx.x;
  const int y = rows * int(blockIdx.y * kNodeRows + threadIdx.y);
  const int last = nodes.height / channels - 1;
  if (node >= nodes.width || y > last) return;
  const NodeColumns<float, channels, rows> columns(in, grid, node, y, last);

  float sums[channels][rows] = {}, chains[channels][rows] = {};
  int in_cell = 0;
  columns.for_all(grid.bytes, [&](int t, int r, const FourWords<float>(&fours)[channels]) {
    const Four<float> weights = load_weights(down + t / 4);
    for (int k = 0; k < 4; ++k) {
      for (int c = 0; c < channels; ++c) {
        const int at = k * channels + c;
        const float sample = std::bit_cast<float>(fours[at / 4].words[at % 4]);
        chains[c][r] = add_product(weights.samples[k], sample, chains[c][r]);
      }
    }
    if (r < rows - 1) return;
    in_cell += 4;
    if (in_cell % kDownChain != 0 && in_cell != grid.step) return;
    if (in_cell == grid.step) in_cell = 0;
    for (int c = 0; c < channels; ++c) {
      for (int s = 0; s < rows; ++s) {
        sums[c][s] += chains[c][s];
        chains[c][s] = 0;
      }
    }
  });
  for (int c = 0; c < channels; ++c)
    for (int r = 0; r < rows; ++r)
      store_node(nodes, y + r, c, channels, node, columns.ghosts[r] ? grid.ghost : sums[c][r]);
}

/// The same of integer samples.
template <class T, int channels, int rows>
__global__ void decimate_bytes_kernel(PlaneView<const T> in, PlaneView<float> nodes, RowGrid grid,
                                      ByteLine down) {
  const int node = blockIdx.x * kNodeColumns + threadIdx.x;
  const int y = rows * int(blockIdx.y * kNodeRows + threadIdx.y);
  const int last = nodes.height / channels - 1;
  if (node >= nodes.width || y > last) return;
  const NodeColumns<T, channels, rows> columns(in, grid, node, y, last);

  ByteSums sums[channels][rows];
  columns.for_all(grid.bytes, [&](int t, int r, const FourWords<T>(&fours)[channels]) {
    const ByteWeights weights = down.weights[t / 4];
    FourWords<T> of_channel[channels];
    if constexpr (channels == 3) {
      split(fours, of_channel);
    } else {
      of_channel[0] = fours[0];
    }
    for (int c = 0; c < channels; ++c) sums[c][r].template add<T>(of_channel[c], weights);
  });
  for (int c = 0; c < channels; ++c) {
    for (int r = 0; r < rows; ++r) {
      const float sum = add_product(sums[c][r].value(), down.unit, -down.of_centre);
      store_node(nodes, y + r, c, channels, node, columns.ghosts[r] ? grid.ghost : sum);
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
