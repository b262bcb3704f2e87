/// Estimates when a GPU pays, by one formula with the rates of a profile. Nothing is measured at
/// run time, so the same command always makes the same choice.
///
///   cpu  = (samples, multiply_adds and transformed, each times the cost of one) / threads
///   cuda = context + upload + kernels + download
#pragma once

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"
#include "src/auto/profile.hpp"

namespace convfilt {

/// The work of a job, on any machine.
struct Work {
  Depth depth = Depth::u8;  ///< the depth of the arithmetic
  double samples = 0;
  double multiply_adds = 0;  ///< those done tap by tap
  double transformed = 0;    ///< samples that take a transform's time instead
  double bytes = 0;          ///< the pictures' going in; as many come out
};

/// The work of filtering `runs` pictures of this problem's shape. In the separable family a sample
/// takes width + height multiply-adds for each term of the mask, in the direct family width *
/// height. The transform family computes in floats at any depth, and counts a transform if that is
/// less work.
Work work_of(const Problem& problem, Family family, int runs = 1);

/// Estimated seconds on `threads` cores (at least 1), pixels in host memory before and after.
double cpu_seconds(const Work& work, int threads, const CpuRates& rates);

/// Estimated seconds on a GPU whose kernels take `kernel_seconds`, in a process that has not used
/// CUDA yet. `pictures` such works share its start.
double cuda_seconds(const Work& work, int pictures, const GpuRates& rates, double kernel_seconds);

/// Estimated seconds in the emulator on `threads` cores.
double emulator_seconds(const Work& work, int threads);

}  // namespace convfilt
