/// Comparisons: rows, what stands in them, and what a refusal or failure leaves.
#include "src/lab/compare/measure.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/backend/devices.hpp"
#include "kernels/registry.hpp"
#include "src/base/errors.hpp"

namespace convfilt::test {
namespace {

Problem problem_of(int width, int height, const Mask& mask, Depth depth = Depth::u8) {
  return {width, height, 1, depth, Border::replicate, 0, mask};
}

Strategy as(std::string_view name, const char* of = "cpu") {
  Strategy strategy = *find_strategy(of);
  strategy.name = name;
  return strategy;
}

/// Gives what `cpu` gives, but for one sample, which is off by 3.
class OffByThree : public Plan {
 public:
  explicit OffByThree(std::unique_ptr<Plan> plan) : plan_(std::move(plan)) {}
  Timing run(PictureView<const std::byte> in, PictureView<std::byte> out) override {
    const Timing timing = plan_->run(in, out);
    auto* sample = reinterpret_cast<unsigned char*>(out.row(1)) + 2;
    *sample = static_cast<unsigned char>(*sample + (*sample < 128 ? 3 : -3));
    return timing;
  }

 private:
  std::unique_ptr<Plan> plan_;
};

/// Strategies that do what strategies should not, beside `cpu` and `basic`.
Machine machine() {
  static const Strategy wrong = [] {
    Strategy strategy = as("wrong");
    strategy.prepare_cpu = [](const Problem& problem,
                              const PlanOptions& options) -> std::unique_ptr<Plan> {
      return std::make_unique<OffByThree>(
          find_strategy("cpu")->prepare(problem, DeviceKind::cpu, options));
    };
    return strategy;
  }();
  static const Strategy failing = [] {
    Strategy strategy = as("failing");
    strategy.prepare_cpu = [](const Problem&, const PlanOptions&) -> std::unique_ptr<Plan> {
      throw DeviceError("the library libnothing.so is missing");
    };
    return strategy;
  }();
  static const Strategy refusing = [] {
    Strategy strategy = as("refusing");
    strategy.refuses = [](const Problem&, const Tuning&) { return std::string("only 1x1 masks"); };
    return strategy;
  }();
  static const Strategy* const strategies[] = {find_strategy("basic"), find_strategy("cpu"), &wrong,
                                               &failing, &refusing};
  static const CudaDevices none{{}, "this machine is invented, and has none"};
  return {strategies, 2, false, []() -> const CudaDevices& { return none; },
          [] { return std::string(); }};
}

Comparison comparison(const Problem& problem, CompareOptions options) {
  const Machine all = machine();
  if (options.contenders.empty()) options.contenders = all_contenders(all);
  const Image picture =
      noise_picture(problem.width, problem.height, problem.channels, problem.depth);
  DeviceLimits limits(2);
  int told = 0;
  Comparison result =
      compare(problem, picture, options, all, limits, [&](const std::string&) { ++told; });
  CHECK(told >= int(result.rows.size()));
  return result;
}

const Row& row_of(const Comparison& comparison, const char* name) {
  for (const Row& row : comparison.rows)
    if (row.contender == name) return row;
  throw std::logic_error(std::string("no row ") + name);
}

}  // namespace

TEST_CASE("median and quartiles, by hand") {
  CHECK(quartiles_of({}).median == 0);
  CHECK(quartiles_of({7}).median == 7);
  CHECK(quartiles_of({7}).iqr == 0);
  CHECK(quartiles_of({4, 1, 3, 2}).median == 2.5);
  CHECK(quartiles_of({4, 1, 3, 2}).iqr == doctest::Approx(1.5));  // 3.25 - 1.75
  CHECK(quartiles_of({5, 1, 4, 2, 3}).median == 3);
  CHECK(quartiles_of({5, 1, 4, 2, 3}).iqr == 2);
  CHECK(quartiles_of({1, 1, 1, 100}).median == 1);
}

TEST_CASE("runs fit the budget, but there are some") {
  CHECK(runs_within(1000, 10, 3, 21) == 21);
  CHECK(runs_within(1000, 100, 3, 21) == 10);
  CHECK(runs_within(1000, 1e6, 3, 21) == 3);
  CHECK(runs_within(1000, 0, 3, 21) == 21);
}

TEST_CASE("a CPU row has times that agree with each other, and is right") {
  const Problem problem = problem_of(200, 150, mask_named("5x3"));
  const Comparison c = comparison(problem, {});
  const Row& row = row_of(c, "cpu");
  CHECK(row.refusal.empty());
  CHECK(row.width == 200);
  REQUIRE(row.times);
  const Times& t = *row.times;
  const double seconds = t.ms.median / 1e3, bytes = 2 * 200 * 150;
  CHECK(t.runs >= 3);
  CHECK(t.pixels_per_second == doctest::Approx(200 * 150 / seconds));
  CHECK(t.bytes_per_second == doctest::Approx(bytes / seconds));
  CHECK(t.flops == doctest::Approx(2 * 15 * 200 * 150 / seconds));
  CHECK(t.intensity == doctest::Approx(15));
  REQUIRE(c.devices.size() == 2);
  const DeviceFacts& facts = c.devices[0];
  CHECK(facts.location.kind == DeviceKind::cpu);
  CHECK(facts.peak.threads == 2);
  CHECK(t.copies == doctest::Approx(t.ms.median / facts.copy_ms));
  const double arithmetic = t.flops * seconds / facts.peak.fp32, copy = facts.copy_ms / 1e3;
  CHECK(t.roofline == doctest::Approx(std::max(copy, arithmetic) / seconds));
  CHECK(t.memory_bound == (copy >= arithmetic));
  CHECK_FALSE(t.basic);  // `basic` has no time in the emulator

  REQUIRE(row.accuracy);
  CHECK(row.accuracy->samples == 200 * 150);
  CHECK(row.accuracy->of == 200 * 150);
  CHECK(row.accuracy->rows == 150);
  CHECK(row.accuracy->bound == doctest::Approx(0.5).epsilon(0.05));
  CHECK(broken_bound(row, "steps").empty());
  CHECK(*t.best >= 1);
  CHECK(row.accuracy->largest > 0.4);  // it rounds
  CHECK(row.accuracy->largest <= 0.52);
  CHECK(row.accuracy->differing == 0.0);
  CHECK(row.by_auto);
  CHECK(c.auto_choice.starts_with("cpu on cpu ("));
}

TEST_CASE("an emulated row has counts, and no times") {
  const Comparison c = comparison(problem_of(64, 64, mask_named("5x3")), {});
  const Row& row = row_of(c, "basic");
  CHECK(row.location.kind == DeviceKind::emulator);
  CHECK_FALSE(row.times);
  REQUIRE(row.counted);
  CHECK(row.counted->global_reads == 15);  // one for each tap
  CHECK(row.counted->shared_reads == 0);
  CHECK(row.counted->reuse == 1);
  CHECK(row.counted->ghost_cells == 0);  // replicate makes up none
  CHECK(row.accuracy->differing == 0.0);
  CHECK(c.devices[1].copy_ms == 0);
}

TEST_CASE("what takes too long is counted on a piece from the middle") {
  CompareOptions options;
  options.request.threads = 1;  // however many cores there are
  // The emulator's first run of 922 million multiply-adds is of a small piece on any machine, and
  // no machine takes the whole in a millisecond.
  options.row_patience = 1e-3;
  const Comparison c = comparison(problem_of(1200, 800, mask_named("31x31")), options);
  const Row& row = row_of(c, "basic");
  CHECK(row.width < 1200);
  CHECK(row.height < 800);
  CHECK(row.counted->global_reads == 961);
  CHECK(row.accuracy->differing == 0.0);
  CHECK(row_of(c, "cpu").width < 1200);  // nor does the CPU take it so soon

  // These are too many for a first run, too, but with patience all are counted.
  options.contenders = {{find_strategy("basic"), {}}};
  const Problem smaller = problem_of(300, 200, mask_named("31x31"));
  CHECK(row_of(comparison(smaller, options), "basic").width < 300);
  options.row_patience = 1e6;
  CHECK(row_of(comparison(smaller, options), "basic").width == 300);
}

TEST_CASE("all that is counted is counted on the same piece") {
  CompareOptions options;
  options.request.threads = 1;
  options.request.device = "emulator";
  options.row_patience = 0.1;  // the whole is 6e9 multiply-adds for one core
  for (const char* name : {"basic", "tiled-in"})
    options.contenders.push_back({find_strategy(name), {}});
  Problem problem = problem_of(3000, 2000, mask_named("31x31"));
  problem.mode = Mode::full;
  const Comparison c = comparison(problem, options);
  const Row &basic = row_of(c, "basic"), &tiled = row_of(c, "tiled-in");
  REQUIRE(basic.counted);
  REQUIRE(tiled.counted);
  CHECK(basic.width < 3000);
  CHECK(basic.width == tiled.width);
  CHECK(basic.height == tiled.height);
}

TEST_CASE("wrong, failing and refusing strategies are rows that say so") {
  const Comparison c = comparison(problem_of(100, 50, mask_named("3x3")), {});
  const Row& wrong = row_of(c, "wrong");
  CHECK(wrong.accuracy->largest > 2);
  CHECK(*wrong.accuracy->differing == doctest::Approx(1 / 5000.0));
  CHECK_FALSE(broken_bound(wrong, "steps").empty());
  // One of the two rows with times on the CPU is the fastest.
  const Times &one = *wrong.times, &other = *row_of(c, "cpu").times;
  CHECK(std::min(*one.best, *other.best) == 1);
  CHECK(std::max(*one.best, *other.best) ==
        doctest::Approx(std::max(one.ms.median, other.ms.median) /
                        std::min(one.ms.median, other.ms.median)));
  const Row& failing = row_of(c, "failing");
  CHECK(failing.refusal == "the library libnothing.so is missing");
  CHECK_FALSE(failing.times);
  CHECK(row_of(c, "refusing").refusal == "only 1x1 masks");
}

TEST_CASE("where the bytes of cpu take too long, rows from the middle are compared") {
  CompareOptions options;
  options.request.device = "cpu";
  options.request.threads = 1;
  for (const Mode mode : kModes) {
    for (const Border border : {Border::wrap, Border::constant}) {
      if (mode == Mode::full && border != Border::constant) continue;
      Problem problem = problem_of(120, 90, mask_named("5x9"));
      problem.mode = mode;
      problem.border = border;
      options.reference_patience = 4;
      CHECK(row_of(comparison(problem, options), "cpu").accuracy->rows_compared == 0);
      // 120 * 90 samples of 0.3 ns, and 45 multiply-adds each of 0.012: 9 us in all.
      options.reference_patience = 3e-6;
      const Accuracy cpu = *row_of(comparison(problem, options), "cpu").accuracy;
      CHECK(cpu.rows_compared > 20);
      CHECK(cpu.rows_compared < 45);
      CHECK(cpu.differing == 0.0);
      // The sample that `wrong` gets wrong lies above these rows.
      CHECK(row_of(comparison(problem, options), "wrong").accuracy->differing == 0.0);
      options.reference_patience = 1e-9;
      CHECK_FALSE(row_of(comparison(problem, options), "cpu").accuracy->differing);
    }
  }
}

TEST_CASE("what is separable is held against separable on the CPU") {
  Machine all = machine();
  Strategy wrong = as("wrong-bytes", "separable");
  wrong.prepare_cpu = [](const Problem& problem,
                         const PlanOptions& options) -> std::unique_ptr<Plan> {
    return std::make_unique<OffByThree>(
        find_strategy("separable")->prepare(problem, DeviceKind::cpu, options));
  };
  const Strategy* const strategies[] = {find_strategy("cpu"), find_strategy("separable"), &wrong};
  all.strategies = strategies;
  const Problem problem = problem_of(100, 50, mask_named("9x9"));
  CompareOptions options;
  options.contenders = all_contenders(all);
  options.request.device = "cpu";
  DeviceLimits limits(2);
  const Image picture = noise_picture(100, 50, 1, Depth::u8);
  const Comparison c = compare(problem, picture, options, all, limits, [](const std::string&) {});
  CHECK(row_of(c, "separable").accuracy->differing_from_family == 0.0);
  CHECK(*row_of(c, "separable").accuracy->differing > 0);
  CHECK(*row_of(c, "wrong-bytes").accuracy->differing_from_family == doctest::Approx(1 / 5000.0));
  CHECK_FALSE(row_of(c, "cpu").accuracy->differing_from_family);
}

TEST_CASE("--device restricts, and what does not run there is a row") {
  CompareOptions options;
  options.request.device = "cpu";
  const Comparison c = comparison(problem_of(40, 30, mask_named("3x3")), options);
  CHECK(row_of(c, "cpu").times);
  CHECK(row_of(c, "basic").refusal.starts_with("does not run on cpu, only on emulator"));
  options.request.device = "cuda";
  CHECK_THROWS_AS(comparison(problem_of(40, 30, mask_named("3x3")), options), DeviceError);
}

TEST_CASE("auto in the list is the strategy it takes, once; settings and depths go through") {
  CompareOptions options;
  options.contenders = parse_contenders("auto,cpu", machine());
  const Comparison c = comparison(problem_of(40, 30, mask_named("3x3"), Depth::f32), options);
  REQUIRE(c.rows.size() == 1);
  CHECK(c.rows[0].contender == "cpu");
  CHECK(c.rows[0].by_auto);
  CHECK(c.rows[0].accuracy->largest < 1);
  CHECK(c.sample_unit > 0.9e-6);
  CHECK(c.sample_unit <= 1e-6);
}

TEST_CASE("a mode without results is refused in every row") {
  Problem problem = problem_of(10, 10, mask_named("11x3"));
  problem.mode = Mode::valid;
  const Comparison c = comparison(problem, {});
  for (const Row& row : c.rows) CHECK_FALSE(row.refusal.empty());
  CHECK(c.auto_choice.starts_with("nothing: "));
}

}  // namespace convfilt::test
