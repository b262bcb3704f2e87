/// The kernel of coarse.cu that sums along one axis.
#pragma once

#include "fast/coarse_down.hpp"

namespace convfilt::CONVFILT_BACKEND {

inline constexpr int kSumsAThread = 16;
inline constexpr int kSumThreads = 128;

/// A line of weights for sum_columns: kSumsAThread - 1 zeros, the weights, zeros.
struct PaddedLine {
  const Four<float>* weights;
  int steps;  ///< of four samples, that a thread's sums take
};

/// Sixteen successive sums of one column.
struct ColumnSums {
  float sums[kSumsAThread] = {}, chains[kSumsAThread] = {};

  /// Adds four samples, which meet these weights and those behind them.
  CONVFILT_DEVICE void add(const Four<float>* weights, const float (&samples)[4]) {
    float window[kSumsAThread + 4];
    for (int q = 0; q < kSumsAThread / 4 + 1; ++q) {
      const Four<float> four = load_weights(weights + q);
      for (int k = 0; k < 4; ++k) window[4 * q + k] = four.samples[k];
    }
    for (int r = 0; r < 4; ++r)
      for (int n = 0; n < kSumsAThread; ++n)
        chains[n] = add_product(window[kSumsAThread - 1 + r - n], samples[r], chains[n]);
  }
  CONVFILT_DEVICE void end_chain() {
    for (int n = 0; n < kSumsAThread; ++n) {
      sums[n] += chains[n];
      chains[n] = 0;
    }
  }
};

/// out.row(x)[y] = sum over i of line[i] * in(x, first + y + i): transposed, so that the next sum
/// is one down columns again. Rows of `out` have room for whole multiples of kSumsAThread sums.
static __global__ void sum_columns_kernel(PlaneView<const float> in, PlaneView<float> out,
                                          PaddedLine line, int first, Border border, float ghost) {
  // Threads of a warp go on with the next sums where columns end: of a coarse grid there are few.
  const int thread = blockIdx.x * kSumThreads + threadIdx.x;
  const int x = thread % in.width, y = kSumsAThread * (thread / in.width);
  if (y >= out.width) return;
  const int top = first + y;

  constexpr int kStepsOfChain = kLineChain / 4;
  ColumnSums sixteen;
  for (int begin = 0; begin < line.steps; begin += kStepsOfChain) {
    const int end = min(begin + kStepsOfChain, line.steps);
    if (top + 4 * begin >= 0 && top + 4 * end <= in.height) {
      PlaneView<const float> four = in.rows(top + 4 * begin, 4);
      CONVFILT_UNROLL(2)
      for (int step = begin; step < end; ++step, four.data += 4 * four.stride) {
        float samples[4];
        for (int r = 0; r < 4; ++r) samples[r] = load(four, x, r);
        sixteen.add(line.weights + step, samples);
      }
    } else {
      CONVFILT_UNROLL(1)
      for (int step = begin; step < end; ++step) {
        float samples[4];
        for (int r = 0; r < 4; ++r) {
          const int source = border_index(border, top + 4 * step + r, in.height);
          samples[r] = source < 0 ? ghost : load(in, x, source);
        }
        sixteen.add(line.weights + step, samples);
      }
    }
    sixteen.end_chain();
  }
  for (int n = 0; n < kSumsAThread; n += 4) {
    const float four[4] = {sixteen.sums[n], sixteen.sums[n + 1], sixteen.sums[n + 2],
                           sixteen.sums[n + 3]};
    store4(out.row(x) + y + n, four);
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
