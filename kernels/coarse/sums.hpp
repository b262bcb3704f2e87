/// The kernel of coarse.cu that sums nodes, either down the columns of a plane by a line of
/// weights, or from a plane onto a grid. Each job keeps only few threads busy, so one launch does
/// several jobs.
#pragma once

#include "kernels/coarse/mask.hpp"
#include "kernels/coarse/samples.hpp"

namespace convfilt::CONVFILT_BACKEND::coarse {

using namespace convfilt::coarse;

inline constexpr int kSumsAThread = 16;
inline constexpr int kSumThreads = 128;

/// A line of weights for sum_columns: kSumsAThread - 1 zeros, the weights, and zeros.
struct PaddedLine {
  const Four<float>* weights;
  int steps;  ///< steps of four samples that a thread's sums take
};

/// out.row(x)[y] = sum over i of line[i] * in(x, first + y + i). The result is transposed, so that
/// the next sum runs down columns again. Rows of `out` have room for whole multiples of
/// kSumsAThread sums, and rows beyond those of `in` meet only weights of 0.
struct ColumnJob {
  PlaneView<const float> in;  ///< the first channel; so is `out`
  PlaneView<float> out;
  std::ptrdiff_t next_in, next_out;  ///< floats from one channel to the next
  int channels;
  PaddedLine line;
  int first;

  bool pairs;  ///< whether a thread sums two columns, which rows then have room for
  int columns;

  // Where `pairs` is false, columns may lie beside the plane, and the border says what they are.
  int before = 0;   ///< columns before the plane's first
  int samples = 1;  ///< interleaved samples of a pixel
  Border border = Border::replicate;
  float ghost = 0;  ///< the sum of a column of ghost cells

  /// Threads for one channel.
  CONVFILT_HD int threads() const {
    return ceil_div(columns, pairs ? 2 : 1) * ceil_div(out.width, kSumsAThread);
  }
};

/// kSumsAThread successive sums down one column.
struct ColumnSums {
  float sums[kSumsAThread] = {}, chains[kSumsAThread] = {};

  /// Adds four samples. They meet the weights of five successive fours, the first of which is
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

/// Sums `columns` neighbouring columns, which share the weights.
template <int columns>
CONVFILT_DEVICE inline void sum_columns(const ColumnJob& job, int thread) {
  const int channel = thread / job.threads();
  if (channel >= job.channels) return;
  thread -= channel * job.threads();
  // A coarse grid has few columns. Where these end, the threads of a warp go on with further sums.
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
  constexpr int kStepsAtOnce = kStepsOfChain / columns;  // a thread waits for their loads once
  constexpr int kFours = kSumsAThread / 4 + 1;           // fours that hold a step's weights
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

/// out.row(n)[x] = sum over t of down[t] * in(x, n * step + t).
struct NodeJob {
  PlaneView<const float> in;  ///< the first channel; so is `out`
  PlaneView<float> out;
  std::ptrdiff_t next_in, next_out;  ///< floats from one channel to the next
  int channels, step;
  const Four<float>* down;

  /// Threads for one channel.
  CONVFILT_HD int threads() const { return out.width * out.height; }
};

/// The jobs of one launch: the blocks before blocks[0] do columns[0], those before blocks[1] do
/// columns[1], and the others do nodes.
struct SumJobs {
  ColumnJob columns[2];
  NodeJob nodes;
  int blocks[2];
};

CONVFILT_DEVICE inline void sum_node(const NodeJob& job, int thread) {
  const int channel = thread / job.threads();
  if (channel >= job.channels) return;
  thread -= channel * job.threads();
  const int x = thread % job.out.width, node = thread / job.out.width;
  PlaneView<const float> in = job.in.rows(node * job.step, kOrder * job.step);
  in.data += channel * job.next_in;

  float sum = 0;
  CONVFILT_UNROLL(1)
  for (int cell = 0; cell < in.height; cell += job.step) {
    CONVFILT_UNROLL(1)
    for (int begin = 0; begin < job.step; begin += kDownChain) {
      const int count = min(kDownChain, job.step - begin);
      float chain = 0;
      // Samples beyond the count belong to other cells, or repeat the last sample. They meet no
      // weight.
      float samples[kDownChain];
      CONVFILT_UNROLL(kDownChain)
      for (int t = 0; t < kDownChain; ++t)
        samples[t] = load(in, x, min(cell + begin + t, in.height - 1));
      CONVFILT_UNROLL(kDownChain / 4)
      for (int t = 0; t < kDownChain; t += 4) {
        if (t >= count) break;
        const Four<float> weights = load_weights(job.down + (cell + begin + t) / 4);
        for (int k = 0; k < 4; ++k) chain = add_product(weights.samples[k], samples[t + k], chain);
      }
      sum += chain;
    }
  }
  job.out.row(node)[x + channel * job.next_out] = sum;
}

// Four blocks on an SM gain more than the few spilled registers cost.
static __global__ void __launch_bounds__(kSumThreads, 4)
    sum_kernel(const SumJobs __grid_constant__ jobs) {
  const int block = blockIdx.x, thread = threadIdx.x;
  if (block < jobs.blocks[1]) {
    const int which = block >= jobs.blocks[0];
    const int in_job = (block - (which ? jobs.blocks[0] : 0)) * kSumThreads + thread;
    if (jobs.columns[which].pairs) {
      sum_columns<2>(jobs.columns[which], in_job);
    } else {
      sum_columns<1>(jobs.columns[which], in_job);
    }
  } else {
    sum_node(jobs.nodes, (block - jobs.blocks[1]) * kSumThreads + thread);
  }
}

/// Launches the jobs. `second` and `nodes` may be null.
inline void run_sums(const Stream& stream, const ColumnJob& first, const ColumnJob* second,
                     const NodeJob* nodes) {
  SumJobs jobs{{first, first}, {}, {}};
  const auto blocks_of = [](const auto& of) {
    return ceil_div(of.threads() * of.channels, kSumThreads);  // fits an int below 128 GiB
  };
  jobs.blocks[0] = jobs.blocks[1] = blocks_of(first);
  if (second) {
    jobs.columns[1] = *second;
    jobs.blocks[1] += blocks_of(*second);
  }
  int blocks = jobs.blocks[1];
  if (nodes) {
    jobs.nodes = *nodes;
    blocks += blocks_of(*nodes);
  }
  launch(dim3(blocks), dim3(kSumThreads), stream, sum_kernel, jobs);
}

}  // namespace convfilt::CONVFILT_BACKEND::coarse
