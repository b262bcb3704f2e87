/// What `tune` measures, on strategies whose times are known.
#include "src/lab/tune/tune.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kernels/backend/device_errors.hpp"
#include "kernels/registry.hpp"
#include "src/auto/choice.hpp"
#include "src/auto/profile_store.hpp"
#include "tests/support/masks/sample_masks.hpp"

namespace convfilt::test {
namespace {

/// A plan whose kernels claim to take `tap` milliseconds for each tap of each pixel.
struct TimedPlan : Plan {
  TimedPlan(const Problem& problem, double tap)
      : ms(tap * problem.mask.width * problem.mask.height * problem.width * problem.height) {}
  Timing run(PictureView<const std::byte>, PictureView<std::byte>) override { return {1, ms, 2}; }
  std::vector<double> time_resident(PictureView<const std::byte>, int repeats) override {
    most_repeats = std::max(most_repeats, repeats);
    return std::vector<double>(std::size_t(repeats), ms);
  }
  double ms;
  static inline int most_repeats = 0;
};

template <int kNanoseconds>
std::unique_ptr<Plan> timed(const Problem& problem, const PlanOptions&) {
  return std::make_unique<TimedPlan>(problem, 1e-6 * kNanoseconds);
}

std::unique_ptr<Plan> too_large(const Problem& problem, const PlanOptions&) {
  if (problem.width < 30) return std::make_unique<TimedPlan>(problem, 1e-6);
  throw DeviceMemoryError("out of memory");
}

struct UnkeptPlan : Plan {
  Timing run(PictureView<const std::byte>, PictureView<std::byte>) override { return {}; }
};

std::unique_ptr<Plan> not_kept(const Problem&, const PlanOptions&) {
  return std::make_unique<UnkeptPlan>();
}

std::unique_ptr<Plan> without_library(const Problem&, const PlanOptions&) {
  throw MissingLibraryError("cuBLAS cannot be loaded");
}

std::unique_ptr<Plan> failing(const Problem&, const PlanOptions&) {
  throw DeviceError("an illegal address");
}

std::string accepts(const Problem&, const Tuning&) {
  return "";
}

Strategy on_gpu(std::string_view name, Family family, int major,
                std::unique_ptr<Plan> (*prepare)(const Problem&, const PlanOptions&)) {
  return {.name = name,
          .summary = "",
          .family = family,
          .refuses = accepts,
          .prepare_cuda = prepare,
          .needs = {.major = major}};
}

const CudaDevice kDevice{0, "invented", 8, 0, 100, 1};

struct Invented {
  std::vector<Strategy> all;
  std::vector<const Strategy*> strategies;
  CudaDevices cuda{{kDevice}, ""};
  Machine machine;

  explicit Invented(std::vector<Strategy> strategies_) : all(std::move(strategies_)) {
    for (const Strategy& strategy : all) strategies.push_back(&strategy);
    machine = {strategies,
               1,
               true,
               [this]() -> const CudaDevices& { return cuda; },
               [] { return std::string(); },
               []() -> const std::vector<Profile>& {
                 static const std::vector<Profile> none;
                 return none;
               }};
  }
  Invented(const Invented&) = delete;
};

TuneGrid small_grid() {
  TuneGrid grid;
  grid.sizes = {{20, 10}, {40, 10}};
  grid.squares = {3, 5, 7};
  grid.lines = {3, 5};
  grid.transforms = {3, 5};
  grid.runs = 5;
  return grid;
}

const CostCurve* curve_of(const std::vector<CostCurve>& curves, std::string_view strategy,
                          Depth depth, int channels, int width) {
  for (const CostCurve& curve : curves)
    if (curve.strategy == strategy && curve.depth == depth && curve.channels == channels &&
        curve.width == width)
      return &curve;
  return nullptr;
}

}  // namespace

TEST_CASE("tune keeps every time under strategy, depth, channels, size and taps") {
  const Invented one({on_gpu("fast", Family::direct, 0, timed<1>),
                      on_gpu("slow", Family::direct, 0, timed<3>),
                      on_gpu("hopeless", Family::direct, 0, timed<5>),
                      on_gpu("newest", Family::direct, 8, timed<1>),
                      on_gpu("too-new", Family::direct, 9, timed<1>),
                      on_gpu("other-sums", Family::reordered, 0, timed<1>),
                      on_gpu("any-transform", Family::transform, 0, timed<1>),
                      on_gpu("lines", Family::separable, 0, timed<1>)});
  std::vector<std::string> told;
  const auto measured = measure_curves(kDevice, one.machine, small_grid(),
                                       [&](const std::string& what) { told.push_back(what); });
  const auto& curves = measured.curves;
  CHECK(TimedPlan::most_repeats == small_grid().runs);
  CHECK(measured.points == int(told.size()));
  CHECK(told_left_out(measured) == "");
  const CostCurve* fast = curve_of(curves, "fast", Depth::u8, 1, 40);
  REQUIRE(fast);
  CHECK(fast->height == 10);
  CHECK(fast->kernel == "");
  REQUIRE(fast->points.size() == 3);
  CHECK(fast->points[1].taps == 25);
  CHECK(fast->points[1].ms == doctest::Approx(1e-6 * 25 * 400));
  for (const Depth depth : kDepths)
    for (const int channels : {1, 3})
      for (const int width : {20, 40}) {
        CHECK(curve_of(curves, "fast", depth, channels, width));
        CHECK(curve_of(curves, "slow", depth, channels, width)->points.size() == 3);
        // Five times as long as the best: one mask is enough.
        CHECK(curve_of(curves, "hopeless", depth, channels, width)->points.size() == 1);
        CHECK(curve_of(curves, "newest", depth, channels, width)->points.size() == 3);
        const CostCurve* lines = curve_of(curves, "lines", depth, channels, width);
        REQUIRE(lines);
        CHECK(lines->points.back().taps == 10);
        REQUIRE(curve_of(curves, "any-transform", depth, channels, width));
        CHECK(curve_of(curves, "any-transform", depth, channels, width)->points.size() == 2);
      }
  for (const char* name : {"too-new", "other-sums"})
    for (const CostCurve& curve : curves) CHECK(curve.strategy != name);
  CHECK_FALSE(told.empty());
}

TEST_CASE(
    "points without memory enough, or a library, are left out and told of; any other failure ends "
    "tune") {
  const auto nothing = [](const std::string&) {};
  const Invented one({on_gpu("fast", Family::direct, 0, timed<1>),
                      on_gpu("too-large", Family::direct, 0, too_large),
                      on_gpu("not-kept", Family::direct, 0, not_kept),
                      on_gpu("without-library", Family::direct, 0, without_library)});
  const auto measured = measure_curves(kDevice, one.machine, small_grid(), nothing);
  CHECK(curve_of(measured.curves, "too-large", Depth::u8, 1, 20));
  CHECK_FALSE(curve_of(measured.curves, "too-large", Depth::u8, 1, 40));
  CHECK_FALSE(curve_of(measured.curves, "not-kept", Depth::u8, 1, 20));
  CHECK_FALSE(curve_of(measured.curves, "without-library", Depth::u8, 1, 20));
  // 3 masks, 3 depths, grey and colour: at the larger size, and twice at both.
  CHECK(measured.left_out.size() == 18 + 36 + 36);
  const std::string text = told_left_out(measured);
  INFO(text);
  CHECK(text.starts_with("left out 90 of 144 points; the first: not-kept, "));
  CHECK(text.find(": the device has too little memory to keep it there") != std::string::npos);

  const Invented broken(
      {on_gpu("fast", Family::direct, 0, timed<1>), on_gpu("failing", Family::direct, 0, failing)});
  std::string said;
  try {
    measure_curves(kDevice, broken.machine, small_grid(), nothing);
  } catch (const DeviceError& error) {
    said = error.what();
  }
  CHECK(said.starts_with("measuring failing, "));
  CHECK(said.ends_with(": an illegal address"));
}

TEST_CASE("transforms that need cuFFT are not measured where it is missing") {
  Invented one({on_gpu("plain", Family::transform, 0, timed<1>),
                on_gpu("by-fft", Family::transform, 0, timed<1>)});
  one.all[1].needs.fft = true;
  const auto has = [&](const char* name) {
    const auto measured =
        measure_curves(kDevice, one.machine, small_grid(), [](const std::string&) {});
    CHECK(told_left_out(measured) == "");
    return curve_of(measured.curves, name, Depth::u8, 1, 20) != nullptr;
  };
  CHECK(has("by-fft"));
  one.machine.fft_missing = [] { return std::string("cuFFT is not here"); };
  CHECK(has("plain"));
  CHECK_FALSE(has("by-fft"));
}

TEST_CASE("tune measures each strategy of the families that auto takes on a GPU") {
  std::vector<Strategy> all;
  for (const Strategy* strategy : strategies()) {
    all.push_back(*strategy);
    if (strategy->prepare_emulator) all.back().prepare_cuda = timed<1>;
  }
  const Invented one(std::move(all));
  TuneGrid grid = small_grid();
  grid.sizes = {{640, 480}};
  grid.smooth = {101};
  const auto curves = measure_curves(kDevice, one.machine, grid, [](const std::string&) {}).curves;
  for (const Strategy& strategy : one.all) {
    const CostCurve* curve = nullptr;
    for (const Depth depth : kDepths)
      if (const CostCurve* found = curve_of(curves, strategy.name, depth, 1, 640)) curve = found;
    INFO(strategy.name);
    CHECK((curve != nullptr) ==
          (strategy.runs_on(DeviceKind::cuda) && strategy.family != Family::reordered));
  }
}

TEST_CASE("an older device's best is measured, however much faster the newest strategy is") {
  const Invented one({on_gpu("newest", Family::direct, 8, timed<1>),
                      on_gpu("best-before", Family::direct, 0, timed<50>),
                      on_gpu("worst", Family::direct, 0, timed<300>)});
  const auto curves =
      measure_curves(kDevice, one.machine, small_grid(), [](const std::string&) {}).curves;
  CHECK(curve_of(curves, "best-before", Depth::u8, 1, 40)->points.size() == 3);
  CHECK(curve_of(curves, "worst", Depth::u8, 1, 40)->points.size() == 1);
}

TEST_CASE("curves of kernels that this device does not take are kept, from its own name alone") {
  Profile before, now;
  before.gpu = now.gpu = GpuRates{"same", 9, 0, 1, 1e12, 0.3, 1e9, 1e9};
  before.curves = {{"tensor", Depth::u8, 1, "warps", 640, 480, {{9, 1}}},
                   {"tensor", Depth::u8, 1, "warpgroups", 640, 480, {{9, 2}}},
                   {"tensor", Depth::u8, 3, "warpgroups", 640, 480, {{9, 5}}},
                   {"direct", Depth::u8, 1, "", 640, 480, {{9, 3}}}};
  now.curves = {{"tensor", Depth::u8, 1, "warpgroups", 640, 480, {{9, 4}}}};
  Profile other = now;
  other.gpu->name = "another";
  keep_other_kernels(now, before);
  REQUIRE(now.curves.size() == 3);
  CHECK(now.curves[1].kernel == "warps");
  CHECK(now.curves[2].channels == 3);
  keep_other_kernels(other, before);
  CHECK(other.curves.size() == 1);
}

TEST_CASE("what tune measures is written, read again, and decides what auto takes") {
  Invented one({on_gpu("first", Family::direct, 0, timed<2>),
                on_gpu("second", Family::direct, 0, timed<1>),
                on_gpu("third", Family::direct, 0, timed<3>)});
  Profile profile;
  profile.cpu = {"a CPU", 1e-9, 1e-9, 1e-9, 1e-9, 1e-9};
  profile.gpu = GpuRates{kDevice.name, kDevice.major, 0, 100, 1e12, 1e-9, 1e12, 1e12};
  profile.curves =
      measure_curves(kDevice, one.machine, small_grid(), [](const std::string&) {}).curves;
  const auto folder =
      std::filesystem::temp_directory_path() / ("convfilt-tuned-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "tuned.json") << to_json(profile);
  const std::vector<Profile> read = profiles_in(folder.string(), Origin::users);
  std::filesystem::remove_all(folder);
  REQUIRE(read.size() == 1);
  CHECK(read[0].curves.size() == profile.curves.size());

  one.machine.profiles = [&]() -> const std::vector<Profile>& { return read; };
  Problem problem;
  problem.width = 40;
  problem.height = 10;
  problem.mask = diagonal_mask(5);
  const Choice choice = choose(problem, 1000, {"auto", "cuda", 0, {}}, one.machine);
  CHECK(choice.strategy->name == "second");
  CHECK(choice.why.find(", some 0.01 ms by your profile of invented") != std::string::npos);
  const auto ms = read[0].ms_of(*choice.strategy, problem, kDevice);
  REQUIRE(ms);
  CHECK(*ms == doctest::Approx(1e-6 * 25 * 400));
}

namespace {

/// Claims nanoseconds of one core for a sample and for each of its taps, twice as many for wide
/// samples; a transform claims 52 for a sample. The longest lines take `longest` times as many.
template <Family family, int longest = 1>
std::unique_ptr<Plan> on_core(const Problem& problem, const PlanOptions&) {
  const double width = problem.mask.width, height = problem.mask.height;
  const double taps = family == Family::separable ? width + height : width * height;
  const double tapwise = (1 + 0.25 * taps) * (problem.depth == Depth::u8 ? 1 : 2) *
                         (problem.mask.width == 127 ? longest : 1);
  auto plan = std::make_unique<TimedPlan>(problem, 0);
  plan->ms = 1e-6 * (family == Family::transform ? 52 : tapwise) * problem.width * problem.height;
  return plan;
}

Strategy on_cpu(std::string_view name, Family family,
                std::unique_ptr<Plan> (*prepare)(const Problem&, const PlanOptions&)) {
  return {
      .name = name, .summary = "", .family = family, .refuses = accepts, .prepare_cpu = prepare};
}

}  // namespace

TEST_CASE("the CPU's rates are what samples and taps took") {
  const Invented one({on_cpu("cpu", Family::direct, on_core<Family::direct>),
                      on_cpu("separable", Family::separable, on_core<Family::separable>),
                      on_cpu("fft", Family::transform, on_core<Family::transform>)});
  const CpuRates rates = measure_cpu(one.machine, true, [](const std::string&) {});
  // In nanoseconds: Approx takes seconds as small as these for the same.
  CHECK(1e9 * rates.sample_u8 == doctest::Approx(1));
  CHECK(1e9 * rates.multiply_add_u8 == doctest::Approx(0.25));
  CHECK(1e9 * rates.sample_wide == doctest::Approx(2));
  CHECK(1e9 * rates.multiply_add_wide == doctest::Approx(0.5));
  CHECK(1e9 * rates.transform_sample == doctest::Approx(50));

  // Every mask counts alike: what takes longest does not set the price of a sample.
  const Invented bent({on_cpu("cpu", Family::direct, on_core<Family::direct>),
                       on_cpu("separable", Family::separable, on_core<Family::separable, 2>),
                       on_cpu("fft", Family::transform, on_core<Family::transform>)});
  const CpuRates near = measure_cpu(bent.machine, true, [](const std::string&) {});
  CHECK(1e9 * near.sample_u8 > 0.5);
  CHECK(1e9 * near.multiply_add_u8 < 0.5);
}

TEST_CASE("the rates of this CPU are rates") {
  Machine machine = this_machine();
  const CpuRates rates = measure_cpu(machine, true, [](const std::string&) {});
  CHECK_FALSE(rates.name.empty());
  // The limits leave room from a fast core to an emulated one under a sanitizer.
  for (const double sample : {rates.sample_u8, rates.sample_wide, rates.transform_sample}) {
    CHECK(sample > 1e-12);
    CHECK(sample < 1e-4);
  }
  CHECK(rates.multiply_add_u8 > 1e-13);
  CHECK(rates.multiply_add_wide > 1e-13);
  CHECK(rates.multiply_add_wide < 1e-5);
}

TEST_CASE("the summary tells the rates beside those before, and which choices change") {
  const Invented one({on_gpu("basic", Family::direct, 0, timed<1>),
                      on_gpu("direct", Family::direct, 0, timed<1>)});
  Profile before;
  before.cpu = {"old CPU", 1e-9, 1e-9, 1e-9, 1e-9, 1e-9};
  before.gpu = GpuRates{"old GPU", 8, 0, 1, 1e12, 0.3, 1e9, 1e9};
  for (const Depth depth : kDepths)
    for (const int channels : {1, 3})
      for (const auto& [name, ms] : {std::pair{"basic", 1.0}, {"direct", 2.0}})
        before.curves.push_back({name, depth, channels, "", 640, 480, {{9, ms}}});
  Profile now = before;
  now.cpu.sample_u8 = 3e-9;
  now.gpu->name = "new GPU";
  CHECK(changes(&before, now, &kDevice, one.machine).find("otherwise at 0 of ") !=
        std::string::npos);
  for (CostCurve& curve : now.curves)
    if (curve.strategy == "basic" && curve.depth == Depth::u16) curve.points[0].ms = 3;
  const std::string text = changes(&before, now, &kDevice, one.machine);
  INFO(text);
  CHECK(text.find("new GPU") != std::string::npos);
  CHECK(text.find("(before: 1)") != std::string::npos);
  CHECK(text.find("direct instead of basic (2 ms, not 3)") != std::string::npos);
  CHECK(text.find("otherwise at 40 of 120 points; the first 8:\n") != std::string::npos);
  const std::string shown = text.substr(text.find("the first 8:\n"));
  CHECK(std::count(shown.begin(), shown.end(), '\n') == 1 + 8);
  CHECK(changes(nullptr, now, nullptr, one.machine).find("before") == std::string::npos);
}

}  // namespace convfilt::test
