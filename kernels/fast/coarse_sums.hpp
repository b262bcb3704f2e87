/// Sums along one axis, see coarse.cu; coarse_jobs.hpp has their kernel.
#pragma once

#include "fast/coarse_down.hpp"

namespace convfilt::CONVFILT_BACKEND {

inline constexpr int kSumsAThread = 16;
inline constexpr int kSumThreads = 128;

/// A line of weights for sum_column: kSumsAThread - 1 zeros, the weights, zeros.
struct PaddedLine {
  const Four<float>* weights;
  int steps;  ///< of four samples, that a thread's sums take
};

/// out.row(x)[y] = sum over i of line[i] * in(x, first + y + i): transposed, so that the next sum
/// is one down columns again. Rows of `out` have room for whole multiples of kSumsAThread sums;
/// rows beyond those of `in` meet only weights of 0.
struct ColumnJob {
  PlaneView<const float> in;  ///< of the first channel, as is `out`
  PlaneView<float> out;
  std::ptrdiff_t next_in, next_out;  ///< from channel to channel
  int channels;
  PaddedLine line;
  int first;

  // Columns beside the plane, as a border makes them up of it.
  int columns;  ///< of them all
  int before;   ///< of `in`
  int samples;  ///< of a pixel, side by side
  Border border;
  float ghost;  ///< the sum of a column of nothing else

  CONVFILT_HD int threads() const { return columns * ceil_div(out.width, kSumsAThread); }
};

/// Sixteen successive sums of one column.
struct ColumnSums {
  float sums[kSumsAThread] = {}, chains[kSumsAThread] = {};

  /// Adds four samples, which meet the weights of five successive fours, of which the first is
  /// number `begin` in a ring.
  template <int fours>
  CONVFILT_DEVICE void add(const Four<float> (&ring)[fours], int begin, const float (&samples)[4]) {
    CONVFILT_UNROLL(4)
    for (int r = 0; r < 4; ++r) {
      CONVFILT_UNROLL(kSumsAThread)
      for (int n = 0; n < kSumsAThread; ++n) {
        const int at = kSumsAThread - 1 + r - n;
        const float weight = ring[(begin + at / 4) % fours].samples[at % 4];
        chains[n] = add_product(weight, samples[r], chains[n]);
      }
    }
  }
  CONVFILT_DEVICE void end_chain() {
    for (int n = 0; n < kSumsAThread; ++n) {
      sums[n] += chains[n];
      chains[n] = 0;
    }
  }
};

CONVFILT_DEVICE inline void sum_column(const ColumnJob& job, int thread) {
  const int channel = thread / job.threads();
  if (channel >= job.channels) return;
  thread -= channel * job.threads();
  // Threads of a warp go on with the next sums where columns end: of a coarse grid there are few.
  const int x = thread % job.columns, y = kSumsAThread * (thread / job.columns);
  float* const to = job.out.row(x) + channel * job.next_out + y;
  const int column = border_sample(job.border, x - job.before, job.in.width, job.samples);
  if (column < 0) {
    const float four[4] = {job.ghost, job.ghost, job.ghost, job.ghost};
    for (int n = 0; n < kSumsAThread; n += 4) store4(to + n, four);
    return;
  }
  PlaneView<const float> in = job.in;
  in.data += channel * job.next_in;
  const int top = job.first + y, last = in.height - 1;

  constexpr int kStepsOfChain = kLineChain / 4;
  constexpr int kFours = kSumsAThread / 4 + 1;  // that a step's weights lie in
  static_assert(kStepsOfChain == kFours + 1, "a chain brings the ring of weights round");
  ColumnSums sixteen;
  Four<float> ring[kFours + 1];
  for (int q = 0; q < kFours; ++q) ring[q] = load_weights(job.line.weights + q);
  int begin = 0;
  CONVFILT_UNROLL(1)
  for (; begin + kStepsOfChain <= job.line.steps; begin += kStepsOfChain) {
    float samples[kStepsOfChain][4];  // so that their waits are one
    const int row = top + 4 * begin;
    if (row + kLineChain <= in.height) {
      PlaneView<const float> one{in.row(row) + column, 1, 1, in.stride};
      CONVFILT_UNROLL(kLineChain)
      for (int k = 0; k < kLineChain; ++k, one.data += one.stride)
        samples[k / 4][k % 4] = load(one, 0, 0);
    } else {
      CONVFILT_UNROLL(kLineChain)
      for (int k = 0; k < kLineChain; ++k)
        samples[k / 4][k % 4] = load(in, column, min(row + k, last));
    }
    CONVFILT_UNROLL(kStepsOfChain)
    for (int k = 0; k < kStepsOfChain; ++k) {
      ring[(k + kFours) % (kFours + 1)] = load_weights(job.line.weights + begin + k + kFours);
      sixteen.add(ring, k, samples[k]);
    }
    sixteen.end_chain();
  }
  CONVFILT_UNROLL(1)
  for (; begin < job.line.steps; ++begin) {
    float samples[4];
    CONVFILT_UNROLL(4)
    for (int r = 0; r < 4; ++r) samples[r] = load(in, column, min(top + 4 * begin + r, last));
    sixteen.add(ring, 0, samples);
    for (int q = 0; q < kFours - 1; ++q) ring[q] = ring[q + 1];
    ring[kFours - 1] = load_weights(job.line.weights + begin + kFours);
  }
  sixteen.end_chain();
  for (int n = 0; n < kSumsAThread; n += 4) {
    const float four[4] = {sixteen.sums[n], sixteen.sums[n + 1], sixteen.sums[n + 2],
                           sixteen.sums[n + 3]};
    store4(to + n, four);
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
