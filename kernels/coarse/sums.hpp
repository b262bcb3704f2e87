/// Sums along one axis, see coarse.cu; coarse_jobs.hpp has their kernel.
#pragma once

#include "kernels/coarse/column_job.hpp"
#include "kernels/coarse/samples.hpp"

namespace convfilt::CONVFILT_BACKEND {

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

/// So many neighbouring columns, which share weights.
template <int columns>
CONVFILT_DEVICE inline void sum_columns(const ColumnJob& job, int thread) {
  const int channel = thread / job.threads();
  if (channel >= job.channels) return;
  thread -= channel * job.threads();
  // Threads of a warp go on with the next sums where columns end: of a coarse grid there are few.
  const int across = ceil_div(job.columns, columns);
  const int x = columns * (thread % across), y = kSumsAThread * (thread / across);
  float* const to = job.out.row(x) + channel * job.next_out + y;
  int column = x;
  if constexpr (columns == 1) {
    column = border_sample(job.border, x - job.before, job.in.width, job.samples);
    if (column < 0) {
      const float four[4] = {job.ghost, job.ghost, job.ghost, job.ghost};
      for (int n = 0; n < kSumsAThread; n += 4) store4(to + n, four);
      return;
    }
  }
  PlaneView<const float> in = job.in;
  in.data += channel * job.next_in;
  const int top = job.first + y, last = in.height - 1;
  using Samples = Words<4 * columns>;
  const auto add = [&](ColumnSums(&sums)[columns], const auto& ring, int begin,
                       const Samples(&rows)[4]) {
    CONVFILT_UNROLL(2)
    for (int c = 0; c < columns; ++c) {
      float samples[4];
      for (int r = 0; r < 4; ++r) samples[r] = std::bit_cast<float>(rows[r].words[c]);
      sums[c].add(ring, begin, samples);
    }
  };

  constexpr int kStepsOfChain = kLineChain / 4;
  constexpr int kStepsAtOnce = kStepsOfChain / columns;  // so that their waits are one
  constexpr int kFours = kSumsAThread / 4 + 1;           // that a step's weights lie in
  static_assert(kStepsOfChain == kFours + 1, "a chain brings the ring of weights round");
  ColumnSums sums[columns];
  Four<float> ring[kFours + 1];
  for (int q = 0; q < kFours; ++q) ring[q] = load_weights(job.line.weights + q);
  int begin = 0;
  CONVFILT_UNROLL(1)
  for (; begin + kStepsOfChain <= job.line.steps; begin += kStepsOfChain) {
    CONVFILT_UNROLL(2)
    for (int part = 0; part < kStepsOfChain; part += kStepsAtOnce) {
      Samples samples[kStepsAtOnce][4];
      const int row = top + 4 * (begin + part);
      if (row + 4 * kStepsAtOnce <= in.height) {
        PlaneView<const float> one{in.row(row), in.width, 1, in.stride};
        CONVFILT_UNROLL(kLineChain)
        for (int k = 0; k < 4 * kStepsAtOnce; ++k, one.data += one.stride)
          samples[k / 4][k % 4] = load(row_of<Samples>(one, 0), column / columns, 0);
      } else {
        CONVFILT_UNROLL(kLineChain)
        for (int k = 0; k < 4 * kStepsAtOnce; ++k)
          samples[k / 4][k % 4] =
              load(row_of<Samples>(in, min(row + k, last)), column / columns, 0);
      }
      CONVFILT_UNROLL(kStepsAtOnce)
      for (int k = 0; k < kStepsAtOnce; ++k) {
        const int step = part + k;
        ring[(step + kFours) % (kFours + 1)] =
            load_weights(job.line.weights + begin + step + kFours);
        add(sums, ring, step, samples[k]);
      }
    }
    for (int c = 0; c < columns; ++c) sums[c].end_chain();
  }
  CONVFILT_UNROLL(1)
  for (; begin < job.line.steps; ++begin) {
    Samples samples[4];
    CONVFILT_UNROLL(4)
    for (int r = 0; r < 4; ++r)
      samples[r] = load(row_of<Samples>(in, min(top + 4 * begin + r, last)), column / columns, 0);
    add(sums, ring, 0, samples);
    for (int q = 0; q < kFours - 1; ++q) ring[q] = ring[q + 1];
    ring[kFours - 1] = load_weights(job.line.weights + begin + kFours);
  }
  CONVFILT_UNROLL(2)
  for (int c = 0; c < columns; ++c) {
    sums[c].end_chain();
    if (x + c >= job.columns) break;
    for (int n = 0; n < kSumsAThread; n += 4) {
      const float* const from = sums[c].sums + n;
      const float four[4] = {from[0], from[1], from[2], from[3]};
      store4(to + c * job.out.stride + n, four);
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
