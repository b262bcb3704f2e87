/// The estimate behind --device=auto, and the choice made from it on invented machines.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "src/auto/choice.hpp"
#include "src/base/errors.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/profiles.hpp"

using namespace convfilt;
using test::diagonal_mask;

namespace {

Problem problem_of(int side, Mask mask, Depth depth = Depth::u8) {
  Problem problem;
  problem.width = problem.height = side;
  problem.depth = depth;
  problem.mask = std::move(mask);
  problem.contrast = 1;
  return problem;
}

Mask box(int side) {
  return make_mask("box", side, side, std::vector<double>(std::size_t(side) * side, 1),
                   side * side);
}

/// Rank 1, so that auto takes the separable family.
Mask wide_box() {
  return box(41);
}

/// Rank 2: the picture twice, less a box.
Mask less_box(int side) {
  Mask mask = box(side);
  for (double& w : mask.weights) w = -w;
  mask.weights[mask.weights.size() / 2] += 2 * mask.divisor;
  return mask;
}

std::string accepts(const Problem&, const Tuning&) {
  return "";
}
std::string refuses(const Problem&, const Tuning&) {
  return "no problem is good enough; take another strategy.";
}
std::unique_ptr<Plan> never_run(const Problem&, const PlanOptions&) {
  return nullptr;
}

Strategy invented(std::string_view name, Family family, bool cpu, bool emulator, bool cuda) {
  return {.name = name,
          .summary = "",
          .family = family,
          .refuses = name == "picky" ? refuses : accepts,
          .prepare_cpu = cpu ? never_run : nullptr,
          .prepare_emulator = emulator ? never_run : nullptr,
          .prepare_cuda = cuda ? never_run : nullptr,
          .needs = {.major = name == "tensor" ? kTensorCoreMajor : 0,
                    .fft = family == Family::transform},
          .spatial_family = family};
}

/// Strategies that only say where they run.
const Strategy kCpu = invented("cpu", Family::direct, true, false, false);
const Strategy kTiledIn = invented("tiled-in", Family::direct, false, true, true);
const Strategy kTiledOut = invented("tiled-out", Family::direct, false, true, true);
const Strategy kSeparated = invented("separable", Family::separable, true, false, true);
const Strategy kGpuOnly = invented("gpu-only", Family::direct, false, false, true);
const Strategy kPicky = invented("picky", Family::direct, true, false, false);
const Strategy kTensor = invented("tensor", Family::direct, false, true, true);
const Strategy kDirect = invented("direct", Family::direct, false, true, true);
const Strategy kBlocks = invented("overlap-save", Family::transform, true, true, true);
const Strategy kWhole = invented("fft", Family::transform, true, true, true);
const Strategy* const kAll[] = {&kCpu,   &kTiledIn, &kTiledOut, &kSeparated, &kGpuOnly,
                                &kPicky, &kTensor,  &kDirect,   &kBlocks,    &kWhole};

/// A machine of 8 cores that counts how often CUDA is asked.
struct Invented {
  CudaDevices cuda;
  int asked = 0;
  std::string fft_missing;
  Machine machine;

  explicit Invented(int devices, bool built = true, int major = 9) {
    for (int i = 0; i < devices; ++i) cuda.devices.push_back({i, "invented", major, 0, 100, 1});
    if (devices == 0) cuda.missing = "there is no driver; install one";
    machine = {kAll,
               8,
               built,
               [this]() -> const CudaDevices& { return ++asked, cuda; },
               [this] { return fft_missing; },
               test::shipped_profiles};
  }

  Choice choose(const Problem& problem, const std::string& strategy, const std::string& device,
                int runs = 1) const {
    return convfilt::choose(problem, runs, {strategy, device, 0, {}}, machine);
  }
};

/// What choose() says when it throws `Error`.
template <class Error>
std::string complaint(const Invented& invented, const Problem& problem, const std::string& strategy,
                      const std::string& device) {
  try {
    invented.choose(problem, strategy, device);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("work counts taps of the family, samples and runs") {
  const Problem problem = problem_of(1000, wide_box(), Depth::u16);
  CHECK(workload_of(problem, Family::direct).multiply_adds == 1e6 * 41 * 41);
  CHECK(workload_of(problem, Family::separable).multiply_adds == 1e6 * 82);
  CHECK(workload_of(problem, Family::separable, 3).multiply_adds == 3e6 * 82);
  CHECK(workload_of(problem_of(1000, less_box(41)), Family::separable).multiply_adds == 2e6 * 82);
  CHECK(workload_of(problem, Family::direct, 3).bytes == 6e6);
  // A transform computes in floats at any depth. Under a small mask, tap by tap costs less.
  const Workload transformed = workload_of(problem_of(1000, diagonal_mask(101)), Family::transform);
  CHECK(transformed.depth == Depth::f32);
  CHECK(transformed.transformed == 1e6);
  CHECK(transformed.multiply_adds == 0);
  const Workload tapped = workload_of(problem_of(1000, diagonal_mask(3)), Family::transform);
  CHECK(tapped.transformed == 0);
  CHECK(tapped.multiply_adds == 9e6);
}

TEST_CASE("CPU time falls with threads, and every sample costs, however small the mask") {
  const CpuRates rates{"", 1e-9, 2e-9, 1e-11, 3e-11, 5e-8};
  const Workload heavy = workload_of(problem_of(4000, wide_box()), Family::direct);
  CHECK(cpu_seconds(heavy, 8, rates) == doctest::Approx(cpu_seconds(heavy, 1, rates) / 8));
  CHECK(cpu_seconds(heavy, 0, rates) == cpu_seconds(heavy, 1, rates));
  const Workload bytes = workload_of(problem_of(1000, diagonal_mask(10)), Family::direct);
  CHECK(cpu_seconds(bytes, 1, rates) == doctest::Approx(1e-3 + 1e-3));
  const Workload floats =
      workload_of(problem_of(1000, diagonal_mask(10), Depth::f32), Family::direct);
  CHECK(cpu_seconds(floats, 1, rates) == doctest::Approx(2e-3 + 3e-3));
  const Workload transformed = workload_of(problem_of(1000, diagonal_mask(101)), Family::transform);
  CHECK(cpu_seconds(transformed, 1, rates) == doctest::Approx(2e-3 + 50e-3));
}

TEST_CASE("GPU time is the start, both transfers and the kernels") {
  const GpuRates rates{"", 9, 0, 100, 1e12, 0.25, 1e9, 2e9};
  const Workload work = workload_of(problem_of(1000, diagonal_mask(3), Depth::f32), Family::direct);
  CHECK(cuda_seconds(work, 1, rates, 0.5) == doctest::Approx(0.25 + 0.004 + 0.002 + 0.5));
  CHECK(cuda_seconds(work, 50, rates, 0.5) == doctest::Approx(0.005 + 0.004 + 0.002 + 0.5));
}

TEST_CASE("pictures of a folder share a GPU's start, the cores and the GPUs") {
  const Invented two(2);
  const Problem problem = problem_of(2048, diagonal_mask(31));
  Request request;
  const auto choice = [&] { return choose(problem, 1, request, two.machine); };
  CHECK(choice().device == DeviceKind::cpu);
  request.pictures = 1000;
  CHECK(choice().device == DeviceKind::cuda);
  // The last pictures of a resumed run have more threads each, and get what the others got.
  request.threads = 1;
  CHECK(choice().device == DeviceKind::cuda);
  // Many cores are faster than one link to a GPU.
  Invented large(2);
  large.machine.cores = 64;
  CHECK(choose(problem, 1, request, large.machine).device == DeviceKind::cpu);
  request.pictures = 2;
  CHECK(choice().device == DeviceKind::cpu);

  request.pictures = 1000;
  for (const std::string device : {"auto", "cuda"})
    for (int lane = 0; lane < 4; ++lane) {
      request.device = device;
      request.lane = lane;
      request.ordinals.clear();
      CHECK(choice().ordinal == lane % 2);
      CHECK(gpu_of(request, two.machine) == lane % 2);
      // A strategy to be learned from goes to all GPUs of a folder, too.
      request.strategy = "tiled-in";
      CHECK(choice().ordinal == lane % 2);
      request.strategy = "auto";
      request.ordinals = {1};
      CHECK(choice().ordinal == 1);
      CHECK(gpu_of(request, two.machine) == 1);
      CHECK(shared_gpus(request, two.machine) == std::vector<int>{1});
    }
  request.device = "cuda:0";
  CHECK(choice().ordinal == 0);
  CHECK(shared_gpus(request, two.machine) == std::vector<int>{0});
  request.device = "cpu";
  CHECK(gpu_of(request, two.machine) == std::nullopt);
}

TEST_CASE("masks of one filter are weighed together, since their floats stay on the GPU") {
  Invented one(1);
  const Problem step = problem_of(1500, wide_box(), Depth::f32);
  Request request;
  request.pictures = 1000;
  const double bytes = 1500.0 * 1500;
  const auto pays = [&](int steps, double in, double out) {
    return gpu_pays_for_all(std::vector<MaskJob>(std::size_t(steps), {step, 1}), in, out, request,
                            one.machine);
  };
  // Each alone would move floats, four bytes a sample each way.
  CHECK(choose(step, 1, request, one.machine).device == DeviceKind::cpu);
  CHECK(pays(1, 4 * bytes, 4 * bytes) == "");
  CHECK(has(pays(2, bytes, bytes), "all masks together: estimated "));
  CHECK(has(pays(2, bytes, bytes), " on 8 CPU threads, "));
  CHECK(has(pays(2, bytes, bytes), " on a GPU (by the shipped profile of "));
  request.why = pays(2, bytes, bytes);
  request.device = "cuda";
  CHECK(has(choose(step, 1, request, one.machine).why, "; all masks together: "));
  // Who names a device or a strategy gets it, and one picture does not repay a start.
  CHECK(pays(2, bytes, bytes) == "");
  request = {};
  CHECK(pays(2, bytes, bytes) == "");
  request.pictures = 1000;
  request.strategy = "separable";
  CHECK(pays(2, bytes, bytes) == "");
  request.strategy = "auto";
  one.asked = 0;
  CHECK(pays(1, 4 * bytes, 4 * bytes) == "");
  CHECK(one.asked == 0);
  one.cuda.devices.clear();
  CHECK(pays(2, bytes, bytes) == "");
}

TEST_CASE("a GPU pays for much work, never for a small picture or a copy") {
  const Invented one(1);
  const auto takes_gpu = [&](const Problem& problem) {
    return one.choose(problem, "auto", "auto").device == DeviceKind::cuda;
  };
  CHECK_FALSE(takes_gpu(problem_of(512, diagonal_mask(15))));
  CHECK_FALSE(takes_gpu(problem_of(4000, wide_box())));
  CHECK_FALSE(takes_gpu(problem_of(1 << 15, diagonal_mask(1))));
  CHECK(takes_gpu(problem_of(8192, diagonal_mask(63))));
}

TEST_CASE("auto: family by the mask, CUDA asked only where it would pay") {
  const Invented two(2);
  const Choice small = two.choose(problem_of(512, diagonal_mask(3)), "auto", "auto");
  CHECK(small.strategy == &kCpu);
  CHECK(small.device == DeviceKind::cpu);
  CHECK(two.choose(problem_of(512, wide_box()), "auto", "auto").strategy == &kSeparated);
  CHECK(two.asked == 0);

  const Choice large = two.choose(problem_of(16384, diagonal_mask(63)), "auto", "auto");
  CHECK(large.strategy == &kTensor);
  CHECK(large.device == DeviceKind::cuda);
  CHECK(has(large.why, "family direct by the mask; "));
  CHECK(has(large.why, "estimated"));
  // These devices are no H200, and are not called one.
  CHECK(has(large.why,
            " ms on a GPU (by the shipped profile of NVIDIA H200, the nearest to this invented "
            "(compute capability 9.0 for 9.0))"));
  // Nobody asked which GPU is here.
  CHECK(has(small.why,
            " ms on a GPU (by the shipped profile of NVIDIA H200, before asking which GPU this "
            "machine has)"));
  const Problem wide = problem_of(8192, diagonal_mask(23), Depth::f32);
  CHECK(two.choose(wide, "auto", "cuda").strategy == &kDirect);
  const Invented old(1, true, 7);  // without tensor cores for bytes
  CHECK(old.choose(problem_of(8192, diagonal_mask(63)), "auto", "cuda").strategy == &kDirect);
  CHECK(two.choose(problem_of(64, diagonal_mask(3)), "auto", "emulator").strategy == &kTiledOut);
  CHECK(two.choose(problem_of(8192, diagonal_mask(15)), "auto", "auto").device == DeviceKind::cpu);
  CHECK(two.choose(problem_of(8192, diagonal_mask(41)), "auto", "auto", 100).device ==
        DeviceKind::cuda);
  CHECK(two.choose(problem_of(8192, diagonal_mask(63)), "auto", "cpu").strategy == &kCpu);
  CHECK(two.choose(problem_of(64, wide_box()), "auto", "cuda:1").ordinal == 1);

  const Choice without = Invented(0).choose(problem_of(8192, diagonal_mask(101)), "auto", "auto");
  CHECK(without.device == DeviceKind::cpu);
  CHECK(without.notice.empty());
}

namespace {

/// The shipped profile, whose GPU is called so and takes so many times as long for everything.
Profile like_shipped(const std::string& name, double times) {
  Profile profile = test::shipped_profiles().front();
  profile.gpu->name = name;
  for (CostCurve& curve : profile.curves)
    for (CostPoint& point : curve.points) point.ms *= times;
  return profile;
}

}  // namespace

TEST_CASE("once the GPU is known, its own profile decides, not the first") {
  Invented one(1);
  // Not so slow that one run alone would take longer than the CPU takes for all.
  const std::vector<Profile> profiles = {like_shipped("another", 1), like_shipped("invented", 1e3)};
  one.machine.profiles = [&]() -> const std::vector<Profile>& { return profiles; };
  for (const char* strategy : {"auto", "overlap-save"}) {
    const Choice large =
        one.choose(problem_of(8192, diagonal_mask(101), Depth::f32), strategy, "auto", 100);
    INFO(large.why);
    CHECK(large.device == DeviceKind::cpu);
    CHECK(has(large.why, " s on a GPU (by the shipped profile of invented)"));
  }
  CHECK(one.asked > 0);
  one.asked = 0;
  const Choice small = one.choose(problem_of(64, diagonal_mask(3)), "auto", "auto");
  CHECK(has(small.why, "(by the shipped profile of another, before asking which GPU"));
  CHECK(one.asked == 0);
}

TEST_CASE("a time that nobody measured is not 0 ms, and decides nothing") {
  Invented one(1);
  std::vector<Profile> profiles = {like_shipped("invented", 1)};
  profiles[0].curves.clear();
  one.machine.profiles = [&]() -> const std::vector<Profile>& { return profiles; };
  for (const double start : {1e-9, 0.3}) {
    profiles[0].gpu->context_seconds = start;
    const Choice large = one.choose(problem_of(16384, diagonal_mask(63)), "auto", "auto");
    INFO(large.why);
    CHECK(large.device == DeviceKind::cpu);
    CHECK(has(large.why, ", and no time on a GPU in the shipped profile of invented"));
    CHECK_FALSE(has(large.why, " ms on a GPU"));
  }
  const Choice asked = one.choose(problem_of(16384, diagonal_mask(63)), "auto", "cuda");
  CHECK(asked.strategy == &kTensor);
  CHECK(
      has(asked.why, "device as asked, no time of its kernels in the shipped profile of invented"));
  // Named, it runs on the GPU unless that takes longer before any kernel has begun.
  for (const auto& [side, device] : {std::pair{64, DeviceKind::cpu}, {16384, DeviceKind::cuda}}) {
    const Choice named =
        one.choose(problem_of(side, diagonal_mask(63), Depth::f32), "overlap-save", "auto");
    INFO(named.why);
    CHECK(named.device == device);
    CHECK(has(named.why,
              " ms for start and transfers on a GPU, no time of its kernels in the shipped profile "
              "of invented"));
    CHECK_FALSE(has(named.why, " 0 ms"));
  }
}

TEST_CASE("auto: large masks by transforms, unless samples are none that these take") {
  const Problem wide = problem_of(8192, diagonal_mask(31), Depth::f32);
  Invented two(2);
  const Choice chosen = two.choose(wide, "auto", "cuda");
  CHECK(chosen.strategy == &kBlocks);
  CHECK(has(chosen.why,
            "family transform by so large a mask, in which bytes may differ by a "
            "rounding from device to device; "));
  CHECK(two.choose(problem_of(8192, diagonal_mask(301)), "auto", "cuda").strategy == &kWhole);
  CHECK(two.choose(wide, "auto", "cpu").strategy == &kBlocks);
  CHECK(two.choose(wide, "auto", "emulator").strategy == &kBlocks);
  // The CPU transforms smaller ones as a whole.
  for (const auto& [side, strategy] : {std::pair{4096, &kWhole}, {4097, &kBlocks}}) {
    const Problem problem = problem_of(side, diagonal_mask(31), Depth::f32);
    CHECK(two.choose(problem, "auto", "cpu").strategy == strategy);
  }

  Problem bright = wide;
  bright.contrast = HUGE_VAL;
  const Choice exact = two.choose(bright, "auto", "cuda");
  CHECK(exact.strategy == &kDirect);
  CHECK(has(exact.why, "family direct, since a transform would spread infinities, NaN"));

  // 1,000 such pictures are worth a GPU, but not without its library.
  two.machine.cores = 1;
  REQUIRE(two.choose(wide, "auto", "auto", 1000).device == DeviceKind::cuda);
  two.fft_missing = "cuFFT is not here";
  const Choice without = two.choose(wide, "auto", "auto", 1000);
  CHECK(without.device == DeviceKind::cpu);
  CHECK(has(without.why, ", but cuFFT is not here"));
}

TEST_CASE("threads beyond the cores do not make the CPU look faster") {
  const Problem problem = problem_of(16384, diagonal_mask(63));
  const Invented one(1);  // of 8 cores
  for (int threads : {8, 64, 1024}) {
    const Choice choice = convfilt::choose(problem, 1, {"auto", "auto", threads}, one.machine);
    CHECK(choice.device == DeviceKind::cuda);
    CHECK(has(choice.why, "on 8 CPU threads"));
  }
}

TEST_CASE("a mask beyond the arithmetic is named, whatever the device") {
  Problem problem = problem_of(64, make_mask("huge", 2, 1, {1e30, 1}));
  for (const char* device : {"auto", "cpu", "emulator", "cuda"}) {
    const std::string text = complaint<UsageError>(Invented(1), problem, "auto", device);
    CHECK(has(text, "mask 'huge': "));
    CHECK_FALSE(has(text, "--device"));
  }
}

TEST_CASE("a textbook strategy takes the GPU, else the emulator, and says so") {
  const Problem problem = problem_of(64, diagonal_mask(3));
  CHECK(Invented(1).choose(problem, "tiled-in", "auto").device == DeviceKind::cuda);
  CHECK(Invented(1).choose(problem, "tiled-in", "auto").notice.empty());
  CHECK(Invented(1).choose(problem, "cpu", "auto").device == DeviceKind::cpu);
  CHECK(Invented(1).choose(problem, "separable", "auto").device == DeviceKind::cpu);

  const Choice emulated = Invented(0).choose(problem, "tiled-in", "auto");
  CHECK(emulated.device == DeviceKind::emulator);
  CHECK(
      emulated.notice ==
      "no CUDA device (there is no driver; install one); tiled-in runs in the emulator on the CPU: "
      "same bytes, not the speed");
  const Choice slow = Invented(0).choose(problem_of(8192, diagonal_mask(15)), "tiled-in", "auto");
  CHECK(has(slow.notice, "not the speed; this will take some 15 s"));

  const Choice asked = Invented(0).choose(problem, "tiled-in", "emulator");
  CHECK(asked.device == DeviceKind::emulator);
  CHECK(asked.notice.empty());
}

TEST_CASE("devices that are missing") {
  const Problem problem = problem_of(64, diagonal_mask(3));
  CHECK(complaint<DeviceError>(Invented(0), problem, "auto", "cuda") ==
        "--device=cuda: there is no driver; install one");
  CHECK(has(complaint<DeviceError>(Invented(0, false), problem, "tiled-in", "cuda"), "no driver"));
  CHECK(has(complaint<DeviceError>(Invented(0), problem, "gpu-only", "auto"), "no driver"));
  CHECK(has(complaint<DeviceError>(Invented(2), problem, "auto", "cuda:2"), "cuda:0 to cuda:1"));
  CHECK(has(complaint<DeviceError>(Invented(1), problem, "auto", "cuda:1"), "only cuda:0"));
}

TEST_CASE("what cannot be asked for") {
  const Problem problem = problem_of(64, diagonal_mask(3));
  const Invented one(1);
  CHECK(has(complaint<UsageError>(one, problem, "tiled-im", "auto"), "did you mean 'tiled-in'?"));
  CHECK(has(complaint<UsageError>(one, problem, "auto", "cudo"), "did you mean 'cuda'?"));
  for (const char* device : {"gpu", "GPU", "gpu:0"})
    CHECK(has(complaint<UsageError>(one, problem, "auto", device), "did you mean 'cuda'?"));
  for (const char* device : {"cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999"})
    CHECK(has(complaint<UsageError>(one, problem, "auto", device), "cuda:0"));
  CHECK(has(complaint<UsageError>(one, problem, "cpu", "cuda"), "only on cpu"));
  CHECK(has(complaint<UsageError>(one, problem, "tiled-in", "cpu"), "emulator and cuda"));
  CHECK(has(complaint<UsageError>(one, problem, "picky", "auto"), "no problem is good enough"));
  CHECK(has(complaint<UsageError>(one, problem_of(64, wide_box()), "auto", "emulator"),
            "tiled-in, tiled-out, tensor, direct, overlap-save or fft"));
}
