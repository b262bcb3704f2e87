#include "src/auto/estimate.hpp"

#include <algorithm>

#include "kernels/contract/separable.hpp"

namespace convfilt {

Work work_of(const Problem& problem, Family family, int runs) {
  const double samples = double(problem.width) * problem.height * problem.channels * runs;
  const double bytes = samples * double(size_of(problem.depth));
  const double weights = double(problem.mask.width) * problem.mask.height;
  if (family == Family::transform)
    return {Depth::f32, samples, samples * std::min(weights, kTransformMultiplyAdds), bytes};
  const double taps = family == Family::separable ? separable_taps(problem) : weights;
  return {problem.depth, samples, samples * taps, bytes};
}

double cpu_seconds(const Work& work, int threads) {
  const bool narrow = work.depth == Depth::u8;
  const double seconds = work.samples * (narrow ? kCpuSampleU8 : kCpuSampleWide) +
                         work.multiply_adds * (narrow ? kCpuMultiplyAddU8 : kCpuMultiplyAddWide);
  return seconds / std::max(threads, 1);
}

double cuda_seconds(const Work& work) {
  return kCudaContext + 2 * work.bytes / kTransferRate + work.multiply_adds / kCudaRate;
}

double emulator_seconds(const Work& work, int threads) {
  return work.multiply_adds * kEmulatorMultiplyAdd / std::max(threads, 1);
}

bool cuda_pays(const Work& work, int threads) {
  return cpu_seconds(work, threads) > cuda_seconds(work);
}

}  // namespace convfilt
