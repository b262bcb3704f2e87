/// The strategies that compute by transforms and matrices: pictures in pieces, blocks, batches.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/backend/devices.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {
namespace {

/// The runners of the transform family that take this mask, with the settings of their own rules.
/// Those of kernels/transform/ that take masks of any size must be among them.
std::vector<Runner> transform_runners(const Mask& mask) {
  const Problem p{101, 77, 1, Depth::u8, Border::reflect, 0, mask};
  for (const char* name : {"im2col", "fft", "overlap-save", "overlap-add", "in-parts"})
    REQUIRE(find_strategy(name)->refusal(p, {}) == "");
  std::vector<Runner> chosen;
  for (const Runner& runner : runners()) {
    if (runner.strategy->family == Family::transform && !runner.has_number() &&
        runner.strategy->refusal(p, runner.tuning).empty())
      chosen.push_back(runner);
  }
  // All strategies but winograd and coarse take any mask, on one device at the least.
  REQUIRE(chosen.size() >= 5);
  return chosen;
}

/// Whether the output is within its family's bound of the truth.
bool is_within_bound(const Runner& runner, const Problem& p, const Picture& in,
                     const Picture& out) {
  const std::vector<double> real = convolve(p, in);
  const double highest = p.depth == Depth::f32 ? 1e300 : full_range(p.depth);
  const double lowest = p.depth == Depth::f32 ? -1e300 : 0;
  const double allowed = allowed_error(p, runner.family(), full_range(p.depth)) + 1e-9;
  double furthest = 0;
  std::size_t k = 0;
  for (int y = 0; y < p.out_height(); ++y) {
    for (int x = 0; x < p.out_width(); ++x) {
      for (int c = 0; c < p.channels; ++c, ++k) {
        const double should_be = std::clamp(real[k], lowest, highest);
        furthest = std::max(furthest, std::abs(out.get(x, y, c) - should_be));
      }
    }
  }
  return furthest <= allowed;
}

struct FirstRun {
  std::unique_ptr<Plan> plan;
  int bands = 0;
};

/// Runs with the least memory that the device does not refuse. It is found in steps of a quarter,
/// since transforms need another amount with each library.
FirstRun run_in_least_memory(const Runner& runner, const Problem& p, const Picture& in,
                             Picture& out) {
  PlanOptions options;
  options.tuning = runner.tuning;
  options.memory_limit = Picture::of(p).samples() * size_of(p.depth) / 2;
  for (;; options.memory_limit += options.memory_limit / 4) {
    try {
      auto plan = runner.strategy->prepare(p, runner.device, options);
      const Timing timing = plan->run(in.view(), out.view());
      return {std::move(plan), timing.bands};
    } catch (const DeviceError&) {
      REQUIRE(options.memory_limit < (std::size_t{1} << 30));
    }
  }
}

Picture noise(const Problem& p) {
  Picture picture = Picture::of(p);
  picture.fill(Fill::noise, 71);
  return picture;
}

}  // namespace

TEST_CASE("little memory: transforms of windows stay within the bound, in every mode") {
  const Mask mask = anchored(gaussian_mask(9, 7, 2), 1, 6);
  struct Case {
    Runner runner;
    Depth depth;
    Mode mode;
  };
  std::vector<Case> cases;
  for (const Runner& runner : transform_runners(mask))
    for (Depth depth : kDepths)
      for (Mode mode : kModes) cases.push_back({runner, depth, mode});
  cases = by_pairs(std::move(cases), [](const Case& c) {
    const Levels runner = levels_of(c.runner);
    return Levels{runner[0], runner[1], int(c.depth), int(c.mode)};
  });
  for (const auto& [runner, depth, mode] : cases) {
    const Border border = kBorders[(int(depth) + int(mode)) % std::size(kBorders)];
    const Problem p{101, 77, 2, depth, border, 0.5, mask, mode};
    INFO(to_string(runner) << ", " << to_string(p));
    const Picture in = noise(p);
    Picture out = Picture::result_of(p);
    const FirstRun first = run_in_least_memory(runner, p, in, out);
    CHECK(first.bands > 1);
    CHECK(is_within_bound(runner, p, in, out));
    out = Picture::result_of(p);
    first.plan->run(in.view(), out.view());  // a second run uses the same memory again
    CHECK(is_within_bound(runner, p, in, out));
    count_run(runner);
  }
}

TEST_CASE("overlap-save: blocks at all sides of the picture and inside it, within the bound") {
  const Mask masks[] = {anchored(gaussian_mask(25, 19, 4), 3, 18), gaussian_mask(40, 9, 3),
                        gaussian_mask(9, 63, 5)};
  int devices = 0;
  for (const Runner& runner : runners()) {
    if (runner.strategy->name != "overlap-save" || runner.has_number() ||
        runner.family() != Family::transform)
      continue;
    ++devices;
    for (const auto& [number, block, mask, mode, depth] :
         combinations(std::array{64, 100}, masks, kModes, kDepths)) {
      const Problem p{181,  150, 1 + int(number / 3) % 3, depth, kBorders[number % 5], 0.5,
                      mask, mode};
      Runner with_block = runner;
      with_block.tuning[Setting::block] = block;
      INFO(to_string(with_block) << ", " << to_string(p));
      const Picture in = noise(p);
      CHECK(is_within_bound(with_block, p, in, run(with_block, p, in)));
      count_run(with_block);
    }
  }
  CHECK(devices > 0);
}

TEST_CASE("overlap-save on the CPU: threads change no byte, NaN stays in its blocks") {
  const Problem p{700, 300, 1, Depth::f32, Border::replicate, 0, gaussian_mask(31, 31, 5)};
  Picture in = noise(p);
  in.set(650, 40, 0, std::nan(""));
  const Runner runner{find_strategy("overlap-save"), DeviceKind::cpu};
  PlanOptions options;
  options.tuning[Setting::block] = 128;  // keeps 98
  options.threads = 1;
  const Picture one = run(runner, p, in, options);
  options.threads = 5;
  const Picture five = run(runner, p, in, options);
  int spread = 0;
  for (int y = 0; y < p.height; ++y) {
    for (int x = 0; x < p.width; ++x) {
      const float value = float(one.get(x, y, 0));
      const bool reached = std::abs(x - 650) <= 15 && std::abs(y - 40) <= 15;
      const bool may_be = x >= 588 && x < 686 && y < 98;
      CHECK((std::isnan(value) ? may_be : !reached));
      spread += std::isnan(value);
      CHECK((std::isnan(value) || value == float(five.get(x, y, 0))));
    }
  }
  CHECK(spread >= 31 * 31);
}

TEST_CASE("more than is transformed at a time: as the direct family, within a step") {
  const Mask mask = gaussian_mask(9, 5, 2);
  // In colour one plane is smaller than a batch, and all together are larger. The last batch of
  // overlap-save transforms one block in vain.
  const Problem grey{3300, 2984, 1, Depth::u8, Border::reflect, 0, mask},
      colour{2060, 1480, 3, Depth::u8, Border::reflect, 0, mask};
  struct Case {
    bool is_grey;
    Runner runner;
  };
  std::vector<Case> cases;
  for (const bool is_grey : {true, false}) {
    for (const Runner& runner : transform_runners(mask)) {
      if (runner.device == DeviceKind::emulator) continue;  // it takes minutes
      if (runner.family() != Family::transform) continue;   // nothing is batched
      cases.push_back({is_grey, runner});
    }
  }
  cases = by_pairs(std::move(cases), [](const Case& c) {
    const Levels runner = levels_of(c.runner);
    return Levels{runner[0], runner[1], c.is_grey};
  });
  int batched = 0;
  for (const bool is_grey : {true, false}) {
    const Problem& p = is_grey ? grey : colour;
    const Picture in = noise(p);
    const Picture direct = run({find_strategy("cpu"), DeviceKind::cpu}, p, in);
    for (const Case& c : cases) {
      if (c.is_grey != is_grey) continue;
      INFO(to_string(c.runner) << ", " << to_string(p));
      CHECK(furthest_from(direct, run(c.runner, p, in), p) <= 1);
      ++batched;
    }
  }
  CHECK(batched >= 4);
}

TEST_CASE("on the CPU a run is all work: nothing is uploaded") {
  const Problem p{64, 48, 1, Depth::u8, Border::wrap, 0, box_mask(5, 5)};
  const Picture in = noise(p);
  Picture out = Picture::result_of(p);
  if (std::ranges::none_of(runners(),
                           [](const Runner& r) { return r.device == DeviceKind::cpu; })) {
    MESSAGE("skipped: CONVFILT_TEST_DEVICES leaves the CPU out");
    return;
  }
  int ran = 0;
  for (const Runner& runner : transform_runners(p.mask)) {
    if (runner.device != DeviceKind::cpu) continue;
    ++ran;
    INFO(to_string(runner));
    const auto plan = runner.strategy->prepare(p, runner.device, {.tuning = runner.tuning});
    const Timing timing = plan->run(in.view(), out.view());
    CHECK(timing.upload_ms == 0);
    CHECK(timing.download_ms == 0);
    CHECK(timing.kernel_ms > 0);
    CHECK(plan->time_resident(in.view(), 2).empty());
  }
  CHECK(ran >= 5);
}

TEST_CASE("overlap-save: blocks by the rule, thin for 1-D masks, none below the mask") {
  const Strategy& strategy = *find_strategy("overlap-save");
  Problem p{4000, 3000, 1, Depth::u8, Border::reflect, 0, box_mask(101, 101)};
  const Geometry wide = strategy.geometry(p, {});
  CHECK(wide.in_columns == 512);
  CHECK(wide.in_rows == 512);
  CHECK(wide.out_columns == 412);
  p.mask = box_mask(101, 1);
  CHECK(strategy.geometry(p, {}).in_rows == 1);
  CHECK(strategy.geometry(p, {}).in_columns >= 256);
  p.mask = box_mask(1, 101);
  CHECK(strategy.geometry(p, {}).in_columns == 16);
  CHECK(strategy.geometry(p, {}).in_rows >= 256);

  Tuning tuning;
  tuning[Setting::block] = 100;
  CHECK(strategy.refusal(p, tuning).find("--block=101 or more") != std::string::npos);
  tuning[Setting::block] = 101;
  CHECK(strategy.refusal(p, tuning).empty());
  CHECK(strategy.geometry(p, tuning).out_rows == 1);
}

TEST_CASE("overlap-save reads as many samples as its geometry tells") {
  const Runner runner{find_strategy("overlap-save"), DeviceKind::emulator};
  const Problem p{90, 70, 1, Depth::u8, Border::replicate, 0, box_mask(7, 5)};
  for (int domain : {kFrequency, kSpatial}) {
    for (int block : {0, 24}) {
      Tuning tuning;
      tuning[Setting::domain] = domain;
      tuning[Setting::block] = block;
      INFO(to_string(tuning));
      const Picture in = noise(p);
      Picture out = Picture::result_of(p);
      const auto plan = runner.strategy->prepare(p, runner.device, {.tuning = tuning});
      plan->run(in.view(), out.view());
      const Geometry g = runner.strategy->geometry(p, tuning);
      const double across = std::ceil(90.0 / g.out_columns), down = std::ceil(70.0 / g.out_rows);
      CHECK(double(plan->counts().global_reads) == across * down * g.loads);
    }
  }
}

}  // namespace convfilt::test
