/// The kernel of coarse.cu that sums on and onto grids, several jobs at once.
#pragma once

#include "kernels/coarse/down.hpp"
#include "kernels/coarse/sums.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// out.row(n)[x] = sum over t of down[t] * in(x, n * step + t).
struct NodeJob {
  PlaneView<const float> in;  ///< of the first channel, as is `out`
  PlaneView<float> out;
  std::ptrdiff_t next_in, next_out;  ///< from channel to channel
  int channels, step;
  const Four<float>* down;

  CONVFILT_HD int threads() const { return out.width * out.height; }
};

/// What runs at once, since of each there are few threads, in blocks of these numbers.
struct SumJobs {
  ColumnJob columns[2];
  NodeJob nodes;
  int blocks[2];  ///< of columns[0]; of both
};

CONVFILT_DEVICE inline void sum_node(const NodeJob& job, int thread) {
  const int channel = thread / job.threads();
  if (channel >= job.channels) return;
  thread -= channel * job.threads();
  const int x = thread % job.out.width, node = thread / job.out.width;
  PlaneView<const float> in = job.in.rows(node * job.step, kCoarseOrder * job.step);
  in.data += channel * job.next_in;

  float sum = 0;
  CONVFILT_UNROLL(1)
  for (int cell = 0; cell < in.height; cell += job.step) {
    CONVFILT_UNROLL(1)
    for (int begin = 0; begin < job.step; begin += kDownChain) {
      const int count = min(kDownChain, job.step - begin);
      float chain = 0;
      // Samples beyond the count are other cells', at the end the last: theirs is no weight.
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

// More blocks an SM are worth the few registers that are spilled.
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

/// Launches it; all but the first job may be missing.
inline void run_sums(const Stream& stream, const ColumnJob& first, const ColumnJob* second,
                     const NodeJob* nodes) {
  SumJobs jobs{{first, first}, {}, {}};
  const auto blocks_of = [](const auto& of) {
    return ceil_div(of.threads() * of.channels, kSumThreads);  // beyond an int: 128 GiB
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

}  // namespace convfilt::CONVFILT_BACKEND
