// Kernel times of every strategy on CUDA device 0, each beside a device copy of the same bytes in
// the same run, and checked in the same run: against the oracle on a crop, and byte for byte
// against the CPU.
//
// clang-format off
//   convfilt_bench_gpu [SIDE]     prints a Markdown table; SIDE of the square 8-bit picture, default 8192
// clang-format on

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "devices.hpp"
#include "oracle.hpp"
#include "picture.hpp"
#include "registry.hpp"

namespace convfilt::test {
namespace {

constexpr int kRepeats = 21, kFewRepeats = 3;
constexpr double kSlow = 50;  // milliseconds from which on few repeats must do
constexpr int kSides[] = {3, 5, 9, 15};
constexpr int kCrop = 160;  // pixels a side that the oracle computes

/// Nothing is timed where the pictures do not fit the device.
double median(std::vector<double> times) {
  if (times.empty()) throw std::runtime_error("too little device memory; give a smaller SIDE");
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

/// Rank 1, so that separable takes part, and not exact in few bits, as a blur's weights are.
Mask smooth_mask(int side) {
  const double sigma = side / 4.0;
  std::vector<double> weights;
  double sum = 0;
  for (int j = 0; j < side; ++j) {
    for (int i = 0; i < side; ++i) {
      const double x = i - side / 2, y = j - side / 2;
      weights.push_back(std::exp(-(x * x + y * y) / (2 * sigma * sigma)));
      sum += weights.back();
    }
  }
  for (double& w : weights) w /= sum;
  return make_mask("gaussian", side, side, std::move(weights));
}

/// Largest distance from the real-valued result, in the middle of the picture, in steps.
double oracle_distance(const Problem& problem, const Picture& in, const Picture& out) {
  const int halo_x = problem.mask.width, halo_y = problem.mask.height;
  Problem crop = problem;
  crop.width = kCrop + 2 * halo_x;
  crop.height = kCrop + 2 * halo_y;
  const int left = problem.width / 2, top = problem.height / 2;
  Picture part = Picture::of(crop);
  for (int y = 0; y < crop.height; ++y) {
    for (int x = 0; x < crop.width; ++x) part.set(x, y, 0, in.get(left + x, top + y, 0));
  }
  const auto real = convolve(crop, part);
  double distance = 0;
  for (int y = halo_y; y < halo_y + kCrop; ++y) {
    for (int x = halo_x; x < halo_x + kCrop; ++x) {
      const double want = std::clamp(real[std::size_t(y) * crop.width + x], 0.0, 255.0);
      distance = std::max(distance, std::abs(out.get(left + x, top + y, 0) - want));
    }
  }
  return distance;
}

/// Median kernel milliseconds.
double timed(Plan& plan, const Picture& in) {
  const double first = median(plan.time_resident(in.view(), 1));
  return first > kSlow ? median(plan.time_resident({}, kFewRepeats))
                       : median(plan.time_resident({}, kRepeats));
}

/// Share of samples that are not those of the CPU.
double differing(const Problem& problem, const Strategy& strategy, const Picture& in,
                 const Picture& on_gpu) {
  Picture on_cpu = Picture::of(problem);
  find_strategy(strategy.family == Family::separable ? "separable" : "cpu")
      ->prepare(problem, DeviceKind::cpu)
      ->run(in.view(), on_cpu.view());
  if (same_samples(on_gpu, on_cpu)) return 0;
  double different = 0;
  for (int y = 0; y < problem.height; ++y) {
    for (int x = 0; x < problem.width; ++x) different += on_gpu.get(x, y, 0) != on_cpu.get(x, y, 0);
  }
  return different / double(on_gpu.samples());
}

int run(int side) {
  const auto& devices = cuda_devices();
  if (devices.devices.empty()) {
    std::fprintf(stderr, "convfilt_bench_gpu: %s\n", devices.missing.c_str());
    return 1;
  }
  Problem problem;
  problem.width = problem.height = side;
  Picture in = Picture::of(problem);
  in.fill(Fill::noise, 1);
  const std::size_t bytes = std::size_t(side) * side;
  const double copy = median(time_device_copy(bytes, kRepeats));
  std::printf(
      "%s, %dx%d u8, one channel, border replicate. A device copy of the same bytes takes "
      "%.4f ms (%.2f TB/s read and written); kernel times as multiples of it, median of %d.\n\n",
      devices.devices[0].name.c_str(), side, side, copy, 2e-9 * double(bytes) / copy, kRepeats);
  std::string head("| strategy |"), rule("|---|");
  for (int mask_side : kSides) {
    const std::string side_text = std::to_string(mask_side);
    head.append(" ").append(side_text).append("×").append(side_text).append(" |");
    rule.append("---|");
  }
  std::printf(
      "%s largest distance from the real-valued result | bytes as on the CPU |\n%s---|---|\n",
      head.c_str(), rule.c_str());
  int wrong = 0;
  for (const Strategy* strategy : strategies()) {
    if (!strategy->runs_on(DeviceKind::cuda)) continue;
    std::printf("| %s |", std::string(strategy->name).c_str());
    double distance = 0, different = 0;
    for (int mask_side : kSides) {
      problem.mask = smooth_mask(mask_side);
      if (!strategy->refusal(problem).empty()) {
        std::printf(" refused |");
        continue;
      }
      const auto plan = strategy->prepare(problem, DeviceKind::cuda);
      std::printf(" %.2f |", timed(*plan, in) / copy);
      Picture on_gpu = Picture::of(problem);
      plan->run(in.view(), on_gpu.view());
      different = std::max(different, differing(problem, *strategy, in, on_gpu));
      distance = std::max(distance, oracle_distance(problem, in, on_gpu));
    }
    if (different == 0) {
      std::printf(" %.4f | yes |\n", distance);
    } else {
      std::printf(" %.4f | but for %.4f %% |\n", distance, 100 * different);
    }
    std::fflush(stdout);
    const bool exact = strategy->family != Family::transform;
    wrong += (exact && different > 0) || distance > (exact ? 0.52 : 1.0);
  }
  std::printf("\n");
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace convfilt::test

int main(int argc, char** argv) {
  try {
    return convfilt::test::run(argc > 1 ? std::max(256, std::atoi(argv[1])) : 8192);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "convfilt_bench_gpu: %s\n", error.what());
    return 1;
  }
}
