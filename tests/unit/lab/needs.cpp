/// What strategies need of a CUDA device and of its machine, and what is taken where it is missing.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "src/auto/choice.hpp"
#include "src/lab/compare/contenders.hpp"
#include "src/lab/compare/measure.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/profiles.hpp"

namespace convfilt::test {
namespace {

/// The strategy as it is in a build with CUDA.
Strategy with_cuda(std::string_view name) {
  Strategy strategy = *find_strategy(name);
  strategy.prepare_cuda = strategy.prepare_emulator;
  return strategy;
}

const std::vector<Strategy>& some_strategies() {
  static const std::vector<Strategy> all = {with_cuda("tiled-in"), with_cuda("overlap-save"),
                                            with_cuda("fft"), with_cuda("coarse"),
                                            with_cuda("tensor")};
  return all;
}

/// A machine of one core and CUDA devices of these compute capabilities.
struct Invented {
  CudaDevices cuda;
  std::string fft_missing;
  int fft_asked = 0;
  std::vector<const Strategy*> strategies;
  Machine machine;

  explicit Invented(const std::vector<int>& majors) {
    for (const int major : majors)
      cuda.devices.push_back({int(cuda.devices.size()), "invented", major, 5, 100, 1});
    for (const Strategy& strategy : some_strategies()) strategies.push_back(&strategy);
    machine = {strategies,
               1,
               true,
               [this]() -> const CudaDevices& { return cuda; },
               [this] { return ++fft_asked, fft_missing; },
               shipped_profiles};
  }

  Choice choose(const Problem& problem, const std::string& strategy, int runs = 1) const {
    return convfilt::choose(problem, runs, {strategy, "auto", 0, {}}, machine);
  }
};

Problem problem_of(int side, const Mask& mask, Depth depth = Depth::u8) {
  return {side, side, 1, depth, Border::replicate, 0, mask};
}

}  // namespace

TEST_CASE("a device of the compute capability that a strategy needs will do, no older one") {
  for (const int major : {7, 8, 9}) {
    const CudaDevice device{3, "invented", major, 6, 100, 1};
    for (const Strategy* strategy : strategies()) {
      const bool on_tensor_cores =
          strategy->name == "tensor" || strategy->name == "separable-tensor";
      INFO(strategy->name << " on sm_" << major << 6);
      CHECK(strategy->refusal_of(device) ==
            (on_tensor_cores && major < 8 ? "CUDA device 3 (invented, sm_76) is older than sm_80"
                                          : ""));
    }
  }
}

TEST_CASE("a strategy by name takes the first device that it runs on, else the emulator") {
  const Problem problem = problem_of(64, diagonal_mask(3));
  const Choice only_old = Invented({7}).choose(problem, "tensor");
  CHECK(only_old.device == DeviceKind::emulator);
  CHECK(
      only_old.notice.starts_with("no CUDA device for it (CUDA device 0 (invented, sm_75) is "
                                  "older than sm_80); tensor runs in the emulator"));
  const Invented mixed({7, 9});
  const Choice later = mixed.choose(problem, "tensor");
  CHECK(later.device == DeviceKind::cuda);
  CHECK(later.ordinal == 1);
  CHECK(mixed.choose(problem, "tiled-in").device == DeviceKind::cuda);
  CHECK(mixed.choose(problem, "tiled-in").ordinal == 0);
  CHECK_THROWS_WITH_AS(choose(problem, 1, {"tensor", "cuda:0", 0, {}}, mixed.machine),
                       "strategy 'tensor': CUDA device 0 (invented, sm_75) is older than sm_80; "
                       "name a later device, or leave out --device",
                       DeviceError);
}

TEST_CASE("auto on a CUDA device by its number goes by that device, not by the first") {
  const Invented mixed({7, 9});
  const Problem problem = problem_of(4096, diagonal_mask(9));
  const auto name_on = [&](const std::string& device) {
    return choose(problem, 1, {"auto", device, 0, {}}, mixed.machine).strategy->name;
  };
  CHECK(name_on("cuda:0") == "tiled-in");
  CHECK(name_on("cuda:1") == "tensor");
}

TEST_CASE("compare refuses the row of a strategy that a device is too old for") {
  const Invented old({7});
  const Problem problem = problem_of(40, diagonal_mask(3));
  const Image picture = noise_picture(40, 40, 1, Depth::u8);
  const CompareOptions options;
  DeviceLimits limits(2);
  Bench bench({problem, picture, options, old.machine, limits});
  const Row row = measure_row(bench, {&some_strategies().back(), {}}, {DeviceKind::cuda, 0});
  CHECK(row.refused);
  CHECK(row.refusal == "CUDA device 0 (invented, sm_75) is older than sm_80");
}

TEST_CASE("where cuFFT is missing, the CPU or what needs none; asked only where a GPU pays") {
  const int many = 1'000'000;
  Invented one({9});
  Problem smooth = problem_of(700, mask_named("101x101"), Depth::f32);
  Problem rough = problem_of(700, diagonal_mask(101), Depth::f32);
  smooth.contrast = rough.contrast = 1;
  CHECK(one.choose(smooth, "auto", many).strategy->name == "fft");
  CHECK(one.choose(rough, "overlap-save", many).device == DeviceKind::cuda);
  one.fft_missing = "cuFFT is not here";
  const Choice without = one.choose(smooth, "auto", many);
  CHECK(without.strategy->name == "coarse");
  CHECK(without.device == DeviceKind::cuda);
  for (const char* name : {"auto", "overlap-save", "fft"}) {
    const Choice choice = one.choose(rough, name, many);
    CHECK(choice.device == DeviceKind::cpu);
    CHECK(choice.why.find(", but cuFFT is not here") != std::string::npos);
  }
  one.fft_asked = 0;
  CHECK(one.choose(rough, "auto").device == DeviceKind::cpu);
  CHECK(one.choose(rough, "fft").device == DeviceKind::cpu);
  CHECK(one.fft_asked == 0);
}

}  // namespace convfilt::test
