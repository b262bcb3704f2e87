/// What a lane of coarse_strips.hpp adds up.
#pragma once

#include "kernels/coarse/bytes.hpp"
#include "kernels/coarse/down.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Sums of three successive nodes, of a lane's rows.
template <class T, int channels, int rows>
struct StripSums {
  using Line = ByteLine;
  ByteSums of[kCoarseOrder][channels][rows];

  CONVFILT_DEVICE void add(const Line& down, int step, int t, int r,
                           const FourWords<T> (&fours)[channels]) {
    FourWords<T> of_channel[channels];
    if constexpr (channels == 3) {
      split(fours, of_channel);
    } else {
      of_channel[0] = fours[0];
    }
    for (int n = 0; n < kCoarseOrder; ++n) {
      const ByteWeights weights = down.weights[((kCoarseOrder - 1 - n) * step + t) / 4];
      for (int c = 0; c < channels; ++c) of[n][c][r].template add<T>(of_channel[c], weights);
    }
  }
  CONVFILT_DEVICE void end_chain() {}
  CONVFILT_DEVICE float first(const Line& down, int c, int r) const {
    return add_product(of[0][c][r].value(), down.unit, -down.of_centre);
  }
  CONVFILT_DEVICE void next_node() {
    for (int c = 0; c < channels; ++c) {
      for (int r = 0; r < rows; ++r) {
        of[0][c][r] = of[1][c][r];
        of[1][c][r] = of[2][c][r];
        of[2][c][r] = {};
      }
    }
  }
};

template <int channels, int rows>
struct StripSums<float, channels, rows> {
  using Line = const Four<float>*;
  float sums[kCoarseOrder][channels][rows] = {}, chains[kCoarseOrder][channels][rows] = {};

  CONVFILT_DEVICE void add(Line down, int step, int t, int r,
                           const FourWords<float> (&fours)[channels]) {
    for (int n = 0; n < kCoarseOrder; ++n) {
      const Four<float> weights = load_weights(down + ((kCoarseOrder - 1 - n) * step + t) / 4);
      for (int at = 0; at < 4 * channels; ++at) {
        float& chain = chains[n][at % channels][r];
        const float sample = std::bit_cast<float>(fours[at / 4].words[at % 4]);
        chain = add_product(weights.samples[at / channels], sample, chain);
      }
    }
  }
  CONVFILT_DEVICE void end_chain() {
    for (int n = 0; n < kCoarseOrder; ++n) {
      for (int c = 0; c < channels; ++c) {
        for (int r = 0; r < rows; ++r) {
          sums[n][c][r] += chains[n][c][r];
          chains[n][c][r] = 0;
        }
      }
    }
  }
  CONVFILT_DEVICE float first(Line, int c, int r) const { return sums[0][c][r]; }
  CONVFILT_DEVICE void next_node() {
    for (int c = 0; c < channels; ++c) {
      for (int r = 0; r < rows; ++r) {
        sums[0][c][r] = sums[1][c][r];
        sums[1][c][r] = sums[2][c][r];
        sums[2][c][r] = 0;
      }
    }
  }
};

}  // namespace convfilt::CONVFILT_BACKEND
