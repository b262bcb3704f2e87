#include "src/auto/estimate.hpp"

#include <algorithm>

#include "kernels/contract/separable.hpp"

namespace convfilt {
namespace {

/// From this many weights on, a transform is less work than going tap by tap.
constexpr double kTransformMultiplyAdds = 1700;

/// Seconds of one core for a multiply-add in the emulator, whose every read is counted and checked:
/// 3 (basic) to 20 (texture) nanoseconds at 15x15.
constexpr double kEmulatorMultiplyAdd = 8e-9;

}  // namespace

Work work_of(const Problem& problem, Family family, int runs) {
  const double samples = double(problem.width) * problem.height * problem.channels * runs;
  const double bytes = samples * double(size_of(problem.depth));
  const double weights = double(problem.mask.width) * problem.mask.height;
  if (family == Family::transform) {
    const bool transforms = weights >= kTransformMultiplyAdds;
    return {Depth::f32, samples, transforms ? 0 : samples * weights, transforms ? samples : 0,
            bytes};
  }
  const double taps = family == Family::separable ? separable_taps(problem) : weights;
  return {problem.depth, samples, samples * taps, 0, bytes};
}

double cpu_seconds(const Work& work, int threads, const CpuRates& rates) {
  const bool narrow = work.depth == Depth::u8;
  const double seconds =
      work.samples * (narrow ? rates.sample_u8 : rates.sample_wide) +
      work.multiply_adds * (narrow ? rates.multiply_add_u8 : rates.multiply_add_wide) +
      work.transformed * rates.transform_sample;
  return seconds / std::max(threads, 1);
}

double cuda_seconds(const Work& work, int pictures, const GpuRates& rates, double kernel_seconds) {
  return rates.context_seconds / pictures + work.bytes / rates.upload_rate +
         work.bytes / rates.download_rate + kernel_seconds;
}

double emulator_seconds(const Work& work, int threads) {
  return (work.multiply_adds + work.transformed * kTransformMultiplyAdds) * kEmulatorMultiplyAdd /
         std::max(threads, 1);
}

}  // namespace convfilt
