/// The schedules of overlap-add and in-parts: every product once, and no two blocks of a step in
/// one output.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/registry.hpp"
#include "kernels/transform/block_schedule.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {
using namespace transform;

namespace {

/// What the launches of overlap-add, of one piece of the mask and one step each, do to the outputs
/// of an axis.
struct Tally {
  std::vector<int> taps;  ///< weights that each output got
  int writers = 0;        ///< the most blocks of one launch that add to one output
  bool taps_once = true;  ///< whether no output got a weight twice
};

Tally tally(const BlockAxis& axis, int outputs) {
  Tally t{std::vector<int>(outputs)};
  std::vector<std::vector<bool>> seen(outputs, std::vector<bool>(axis.side));
  for (int n = 0; n < axis.pieces(); ++n) {
    const Interval weights = axis.piece(n);
    for (int step = 0; step < axis.steps; ++step) {
      std::vector<int> writers(outputs);
      const Intervals on = intervals_of(axis, outputs, 0, outputs, weights, axis.steps, step);
      for (int k = 0; k < on.count; ++k) {
        const int b = on.interval(k), first = on.output(b) + weights.first;
        const int end = std::min(outputs, first + axis.block + weights.count - 1);
        for (int x = std::max(0, first); x < end; ++x) {
          t.writers = std::max(t.writers, ++writers[x]);
          for (int i = weights.first; i < weights.first + weights.count; ++i) {
            const int sample = x + axis.side - 1 - i;
            if (sample / axis.block != b) continue;
            if (seen[x][i]) t.taps_once = false;
            seen[x][i] = true;
            ++t.taps[x];
          }
        }
      }
    }
  }
  return t;
}

/// A schedule by its definition: the pairs (i, j) of each interval, by division and first output.
using Pairs = std::set<std::pair<int, int>>;
using Schedule = std::map<std::pair<int, int>, Pairs>;

/// Takes every pair of a mask and a signal of so many weights and samples, tries all intervals of
/// all divisions for it, and leaves out intervals that reach none of the outputs [first, end).
Schedule by_definition(int weights, int samples, int l1, int l2, int first, int end) {
  Schedule schedule;
  const int reach = l2 + std::min(l1, weights) - 1;
  for (int i = 0; i * l1 < weights; ++i) {
    for (int j = 0; j * l2 < samples; ++j) {
      const int begin = i * l1 + j * l2;
      int found = 0;
      for (int k = 0; k <= l2 / l1; ++k) {
        for (int r = 0; k * l1 + r * (l1 + l2) <= begin; ++r) {
          if (k * l1 + r * (l1 + l2) != begin) continue;
          ++found;
          if (begin + reach > first && begin < end) schedule[{k, begin}].insert({i, j});
        }
      }
      REQUIRE(found == 1);
    }
  }
  return schedule;
}

/// What kernels do, where output 0 of the picture is output `first` of the convolution.
Schedule by_kernels(const Intervals& on, int first) {
  Schedule schedule;
  for (int n = 0; n < on.count; ++n) {
    const int p = on.interval(n);
    const Interval blocks = on.blocks_of(p);
    REQUIRE(blocks.count > 0);
    for (int j = blocks.first; j < blocks.first + blocks.count; ++j)
      REQUIRE(schedule[{on.division(p), on.output(p) + first}]
                  .insert({p - on.axis.ratio() * j, j})
                  .second);
  }
  return schedule;
}

constexpr int kBlocks[] = {1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33};
constexpr Domain kDomains[] = {kFrequency, kSpatial};

/// A strategy's runners on every device, with this tuning.
std::vector<Runner> runners_of(const char* name, const Tuning& tuning) {
  std::vector<Runner> found;
  for (const Runner& runner : runners()) {
    if (runner.strategy->name == name && runner.tuning == Tuning{}) {
      found.push_back({runner.strategy, runner.device, tuning});
    }
  }
  return found;
}

Tuning tuned(Domain domain, Accumulate accumulate, int block, int steps = 0) {
  Tuning tuning;
  tuning[Setting::domain] = domain;
  tuning[Setting::accumulate] = accumulate;
  tuning[Setting::block] = block;
  tuning[Setting::steps] = steps;
  return tuning;
}

void check_against_oracle(const Runner& runner, const Problem& p, const PlanOptions& options = {},
                          Timing* timing = nullptr) {
  INFO(to_string(runner) << ", " << to_string(p));
  Picture in = Picture::of(p);
  in.fill(Fill::noise, 71);
  const Picture out = run(runner, p, in, options, timing);
  const std::vector<double> real = convolve(p, in);
  const double allowed = allowed_error(p, runner.family(), full_range(p.depth));
  double furthest = 0;
  for (int y = 0; y < p.out_height(); ++y) {
    for (int x = 0; x < p.out_width(); ++x) {
      double should_be = real[std::size_t(y) * p.out_width() + x];
      if (p.depth != Depth::f32) should_be = std::clamp(should_be, 0.0, full_range(p.depth));
      furthest = std::max(furthest, std::abs(out.get(x, y, 0) - should_be));
    }
  }
  CHECK(furthest <= allowed);
}

}  // namespace

/// An axis of overlap-add, in pieces of at most that many weights.
BlockAxis added(int block, int side, int held, int steps) {
  BlockAxis axis;
  axis.block = axis.apart = block;
  axis.part = axis.side = side;
  axis.held = std::min(held, side);
  axis.steps = steps;
  return axis;
}

TEST_CASE("blocks of a step never meet, and every product is added once") {
  for (int outputs : {1, 2, 5, 31, 64, 97}) {
    for (int side : {1, 2, 3, 5, 8, 17, 33, 64}) {
      for (int block : kBlocks) {
        for (int held : {1, 2, 3, 5, 8, side}) {
          for (int steps = 1; steps <= 5; ++steps) {
            const BlockAxis axis = added(block, side, held, steps);
            const Tally t = tally(axis, outputs);
            INFO("outputs " << outputs << ", w " << side << ", S " << block << ", held "
                            << axis.held << ", K " << steps);
            CHECK(std::ranges::all_of(t.taps, [&](int taps) { return taps == side; }));
            CHECK(t.taps_once);
            if (BlockSchedule{axis, {}}.disjoint(axis)) CHECK(t.writers <= 1);
          }
        }
      }
    }
  }
}

TEST_CASE("blocks of a step meet where the condition fails") {
  for (int block : kBlocks) {
    for (int steps = 1; steps <= 4; ++steps) {
      const int side = (steps - 1) * block + 2;
      const BlockAxis axis = added(block, side, side, steps);
      INFO("w " << side << ", S " << block << ", K " << steps);
      CHECK_FALSE(BlockSchedule{axis, {}}.disjoint(axis));
      CHECK(tally(axis, 3 * steps * block + side).writers == 2);
    }
  }
}

/// A picture of one row, whose outputs are all that a true convolution has.
Problem convolution(int samples, int weights) {
  return {samples, 1, 1, Depth::f32, Border::constant, 0, box_mask(weights, 1), Mode::full};
}

Tuning in_parts(Domain domain, int part, int block) {
  Tuning tuning;
  tuning[Setting::domain] = domain;
  tuning[Setting::part] = part;
  tuning[Setting::block] = block;
  return tuning;
}

TEST_CASE("the schedule of a mask of 36 over a signal of 60, L1 = 6, L2 = 12") {
  const Schedule expected = {
      {{0, 0}, {{0, 0}}},
      {{0, 18}, {{1, 1}, {3, 0}}},
      {{0, 36}, {{0, 3}, {2, 2}, {4, 1}}},
      {{0, 54}, {{1, 4}, {3, 3}, {5, 2}}},
      {{0, 72}, {{4, 4}}},
      {{1, 6}, {{1, 0}}},
      {{1, 24}, {{0, 2}, {2, 1}, {4, 0}}},
      {{1, 42}, {{1, 3}, {3, 2}, {5, 1}}},
      {{1, 60}, {{2, 4}, {4, 3}}},
      {{1, 78}, {{5, 4}}},
      {{2, 12}, {{0, 1}, {2, 0}}},
      {{2, 30}, {{1, 2}, {3, 1}, {5, 0}}},
      {{2, 48}, {{0, 4}, {2, 3}, {4, 2}}},
      {{2, 66}, {{3, 4}, {5, 3}}},
  };
  const Problem p = convolution(60, 36);
  for (Domain domain : {kFrequency, kSpatial}) {
    const BlockSchedule s = in_parts_schedule(p, in_parts(domain, 6, 12));
    CHECK(s.divided);
    CHECK(s.buffers() == 3);
    CHECK(by_kernels(divisions_of(s.x, p.out_width(), p.lead_x(), p.width), 0) == expected);
    CHECK(divisions_of(s.y, 1, 0, 1).count == 1);
  }
  CHECK(by_definition(36, 60, 6, 12, 0, 95) == expected);
}

TEST_CASE("schedules follow from the definition, and have the intervals that outputs need") {
  Random random(76);
  int checked = 0;
  while (checked < 400) {
    const int l1 = int(random.below(13)) + 1, l2 = l1 * (int(random.below(6)) + 1);
    Problem p = convolution(int(random.below(150)) + 1, int(random.below(60)) + 2);
    p.mode = kModes[checked % 3];
    if (p.mode != Mode::full) p.border = kBorders[int(random.below(5))];
    if (!mode_refuses(p).empty()) continue;
    ++checked;
    INFO(to_string(p) << ", L1 " << l1 << ", L2 " << l2);
    const BlockAxis axis = in_parts_schedule(p, in_parts(kFrequency, l1, l2)).x;
    const int w = p.mask.width;
    // Outside mode full, ghost cells are samples of the signal, of which all outputs need some.
    const int samples = p.mode == Mode::full ? p.width : p.out_width() + w - 1;
    const int first = p.mode == Mode::full ? 0 : w - 1, end = first + p.out_width();
    // A block is no larger than what parts need for all samples.
    const int block = std::min(l2, (samples + l1 - 1) / l1 * l1);
    CHECK(axis.part == l1);
    CHECK(axis.block == block);
    CHECK(axis.steps == block / l1 + 1);
    CHECK(BlockSchedule{axis, {}, false, false, true}.disjoint(axis));
    const Intervals on = divisions_of(axis, p.out_width(), p.lead_x(), p.width);
    const Schedule schedule = by_kernels(on, first);
    CHECK(schedule == by_definition(w, samples, l1, block, first, end));
    // In steps, one launch after the other takes a division.
    Schedule in_steps;
    for (int k = 0; k < axis.steps; ++k) {
      Intervals launch = intervals_of(axis, p.out_width(), p.lead_x(), p.width, {0, axis.weights()},
                                      axis.steps, k);
      launch.divisions = axis.steps;
      for (const auto& [interval, pairs] : by_kernels(launch, first)) {
        CHECK(interval.first == k);
        in_steps[interval] = pairs;
      }
    }
    CHECK(in_steps == schedule);
    // Intervals of a division are disjoint, and cover what the sum of its buffer is for.
    std::map<std::pair<int, int>, int> writers;
    for (const auto& [interval, pairs] : schedule)
      for (int o = 0; o < block + std::min(l1, w) - 1; ++o)
        CHECK(++writers[{interval.first, interval.second + o - first}] == 1);
    for (int k = 0; k < on.divisions; ++k)
      for (int x = 0; x < p.out_width(); ++x)
        REQUIRE(on.covers(k, x) == (writers.count({k, x}) > 0));
  }
}

TEST_CASE("the rules choose blocks that never meet") {
  for (int side = 1; side <= kMaxMaskSide; side += side < 140 ? 1 : 59) {
    Problem p{9000, 8000, 1, Depth::f32, Border::wrap, 0, box_mask(side, 1)};
    for (Domain domain : {kFrequency, kSpatial}) {
      for (int steps = 2; steps <= 6; ++steps) {
        INFO("w " << side << ", K " << steps << ", domain " << domain);
        const Tuning tuning = tuned(domain, kInSteps, 0, steps);
        CHECK(overlap_add_refuses(p, tuning).empty());
        const BlockSchedule s = overlap_add_schedule(p, tuning);
        CHECK(s.disjoint(s.x));
        CHECK(s.disjoint(s.y));
        CHECK(s.x.part == side);
        CHECK(s.x.held == (domain == kSpatial ? std::min(side, kMaxPartSide) : side));
        if (domain == kFrequency) CHECK(std::has_single_bit(unsigned(s.x.block + side - 1)));
      }
      for (int block : {0, 1, 6, 31, 32, 500}) {
        const BlockSchedule s = in_parts_schedule(p, tuned(domain, kInSteps, block));
        CHECK(s.disjoint(s.x));
        CHECK(s.x.block % s.x.part == 0);
        if (domain == kFrequency) CHECK((s.x.parts() == 1 || s.x.part == s.x.block));
        if (domain == kSpatial) CHECK(s.x.weights() <= s.x.held);
        if (domain == kSpatial) CHECK(s.x.held <= kMaxPartSide);
      }
    }
  }
}

TEST_CASE("the least work is claimed among transforms of which none takes less") {
  const auto note = [](const char* name, int side, int width, const Tuning& tuning = {}) {
    Problem p;
    p.width = p.height = width;
    p.mask = box_mask(side, side);
    const Strategy& strategy = *find_strategy(name);
    REQUIRE(strategy.refusal(p, tuning).empty());
    return strategy.geometry(p, tuning);
  };
  const std::string words = "least work an output among transforms of powers of two up to ";
  for (const auto& [name, side, longest] : {std::tuple{"in-parts", 101, 256},
                                            {"overlap-add", 101, 512},
                                            {"overlap-add", 300, 1024},
                                            {"in-parts", 5, 256},
                                            {"overlap-add", 5, 512},
                                            {"overlap-add", 31, 512}}) {
    INFO(name << ' ' << side);
    const Geometry g = note(name, side, 4000);
    CHECK(g.note.find(words + std::to_string(longest) + ".") != g.note.npos);
    const auto work = [&](int length) {
      return std::pow(double(length) / (length - side + 1), 2) * std::log2(length);
    };
    CHECK(std::has_single_bit(unsigned(g.out_columns)));
    CHECK(g.out_columns <= longest);
    for (int length = 16; length <= longest; length *= 2)
      if (length >= side) CHECK(work(g.out_columns) <= work(length));
  }
  // 220 samples are fewer than the 412 of the block with the least work.
  CHECK(note("overlap-add", 101, 120).note.find("least work") == std::string::npos);
  CHECK(note("overlap-add", 5, 4000, tuned(kFrequency, kInSteps, 40)).note.find("least work") ==
        std::string::npos);
  CHECK(note("in-parts", 300, 4000).note.find("is 128 here") != std::string::npos);
}

TEST_CASE("too few steps are refused, with the least that do") {
  Problem p{100, 80, 1, Depth::u8, Border::wrap, 0, box_mask(9, 5)};
  const Strategy& strategy = *find_strategy("overlap-add");
  CHECK(strategy.refusal(p, tuned(kFrequency, kInSteps, 4)) ==
        "2 steps an axis let blocks of 4x4 meet under a mask of 9x5; use --steps=3 or --block=8");
  CHECK(strategy.refusal(p, tuned(kSpatial, kInSteps, 4, 1)) ==
        "1 step an axis let blocks of 4x4 meet under a mask of 9x5; use --steps=3");
  CHECK(strategy.refusal(p, tuned(kFrequency, kInSteps, 4, 3)).empty());
  CHECK(strategy.refusal(p, tuned(kFrequency, kInSteps, 8)).empty());
  CHECK_FALSE(strategy.refusal(p, tuned(kFrequency, kInSteps, 7)).empty());
  CHECK(strategy.refusal(p, tuned(kFrequency, kAtomic, 4)).empty());
  CHECK_FALSE(strategy.refusal(p, tuned(kFrequency, kAtomic, 4, 3)).empty());
  p.mask = box_mask(1, 101);
  CHECK(
      strategy.refusal(p, tuned(kSpatial, kInSteps, 1)) ==
      "2 steps an axis let blocks of 1x1 meet under a mask of 1x31; use --steps=31 or --block=30");
  p.mask = box_mask(1, 1);
  CHECK(strategy.refusal(p, tuned(kFrequency, kInSteps, 3, 1)).empty());
}

TEST_CASE("blocks and parts of every size") {
  Random random(72);
  const std::vector<Mask> masks = {integer_mask(random, 9, 7, 9, 90, 100),
                                   anchored(normalised_mask(random, 1, 13), 0, 12),
                                   real_mask(random, 18, 1), normalised_mask(random, 33, 20)};
  for (const auto& [number, mask, block, domain, accumulate, depth] :
       combinations_where([](const Mask&mask, int block, Domain, Accumulate,
                             Depth) { return mask.width * mask.height <= 200 || block >= 6; },
                          masks, std::array{1, 3, 6, 8, 17}, kDomains,
                          std::array{kInSteps, kAtomic, kInDivisions}, kDepths)) {
    Problem p{41, 29, 1, depth, kBorders[number % 5], 0.5, mask, kModes[number / 3 % 3]};
    if (!mode_refuses(p).empty()) p.mode = Mode::same;
    for (const Runner& runner : runners_of("in-parts", tuned(domain, accumulate, block))) {
      if (runner.strategy->refusal(p, runner.tuning).empty()) check_against_oracle(runner, p);
    }
    const int steps = 1 + (std::max(mask.width, mask.height) + block - 2) / block;
    const Tuning tuning = tuned(domain, accumulate, block, accumulate == kAtomic ? 0 : steps);
    for (const Runner& runner : runners_of("overlap-add", tuning)) check_against_oracle(runner, p);
  }
}

TEST_CASE("in-parts against the oracle: parts that divide blocks, one dimension and two") {
  Random random(75);
  const std::vector<Mask> masks = {integer_mask(random, 9, 7, 9, 90, 100),
                                   anchored(normalised_mask(random, 1, 13), 0, 12),
                                   normalised_mask(random, 36, 1), normalised_mask(random, 33, 20)};
  constexpr std::pair<int, int> kSizes[] = {{6, 3},  {8, 2}, {8, 8},  {12, 6},
                                            {20, 4}, {0, 5}, {24, 12}};
  for (const auto& [number, mask, size, domain, mode, accumulate] :
       combinations(masks, kSizes, kDomains, kModes, numbers(0, 3))) {
    const auto [block, part] = size;
    const std::size_t turn = number / 4;  // the same in every way to accumulate
    Problem p{41, 29, 1, kDepths[turn % 3], kBorders[turn % 5], 0.5, mask, mode};
    if (mode == Mode::full && turn % 2 == 0) p.border_value = 0, p.border = Border::constant;
    Tuning tuning = in_parts(domain, part, block);
    tuning[Setting::accumulate] = accumulate;
    CHECK(find_strategy("in-parts")->refusal(p, tuning).empty());
    for (const Runner& runner : runners_of("in-parts", tuning)) check_against_oracle(runner, p);
  }
}

TEST_CASE("in-parts against the oracle: true convolutions, and signals shorter than a block") {
  Random random(77);
  for (auto [samples, weights, part, block] : {std::array{60, 36, 6, 12},
                                               {5, 36, 6, 12},
                                               {60, 5, 6, 12},
                                               {61, 7, 2, 10},
                                               {200, 100, 16, 64}}) {
    for (Domain domain : {kFrequency, kSpatial}) {
      for (Depth depth : kDepths) {
        Problem p = convolution(samples, weights);
        p.depth = depth;
        p.mask = flipped(normalised_mask(random, weights, 1));
        for (const Runner& runner : runners_of("in-parts", in_parts(domain, part, block)))
          check_against_oracle(runner, p);
        p.height = 19;
        p.mask = normalised_mask(random, weights, 3);
        for (const Runner& runner : runners_of("in-parts", in_parts(domain, part, block)))
          check_against_oracle(runner, p);
        for (const Runner& runner : runners_of("overlap-add", tuned(domain, kInSteps, 0)))
          check_against_oracle(runner, p);
      }
    }
  }
}

TEST_CASE("in-parts gives the same bytes in every run, with any number of threads") {
  Random random(78);
  for (Domain domain : {kFrequency, kSpatial}) {
    const Problem p{97, 61, 1, Depth::f32, Border::reflect, 0, normalised_mask(random, 17, 9)};
    Picture in = Picture::of(p);
    in.fill(Fill::noise, 79);
    for (const Runner& runner : runners_of("in-parts", in_parts(domain, 4, 12))) {
      PlanOptions options;
      options.threads = 1;
      const Picture one = run(runner, p, in, options);
      for (int threads : {2, 5, 2}) {
        options.threads = threads;
        const Picture other = run(runner, p, in, options);
        int different = 0;
        for (int y = 0; y < p.height; ++y)
          for (int x = 0; x < p.width; ++x) different += one.get(x, y, 0) != other.get(x, y, 0);
        CHECK(different == 0);
      }
    }
  }
}

TEST_CASE("in-parts: a part that does not divide the block, or is too large, is refused") {
  const Problem p{100, 80, 1, Depth::u8, Border::wrap, 0, box_mask(40, 40)};
  const Strategy& strategy = *find_strategy("in-parts");
  const auto refusal = [&](Domain domain, int block, int part) {
    Tuning tuning = tuned(domain, kInSteps, block);
    tuning[Setting::part] = part;
    return strategy.refusal(p, tuning);
  };
  CHECK(refusal(kFrequency, 16, 4).empty());
  CHECK(refusal(kFrequency, 18, 4) ==
        "--part=4 does not divide --block=18; use --block=20, or leave it out");
  CHECK(refusal(kSpatial, 0, 31).empty());
  CHECK(refusal(kSpatial, 0, 32).ends_with("use --part=31 or less"));
  CHECK(refusal(kSpatial, 96, 0).ends_with("use a smaller --block, or leave it out"));
  // The note says how parts and launches go together.
  const auto note = [&](Domain domain, int block, int part) {
    Tuning tuning = tuned(domain, kInSteps, block);
    tuning[Setting::part] = part;
    return strategy.geometry(p, tuning).note;
  };
  CHECK(note(kSpatial, 0, 20)
            .starts_with("Products of 2x2 parts of the mask with blocks are summed by intervals of "
                         "59x59 outputs, in "
                         "3x3 divisions. Intervals of one division lie 60x60 apart"));
  CHECK(note(kFrequency, 20, 20).find("transformed back once each, in 2x2 divisions") !=
        std::string::npos);
  CHECK(refusal(kSpatial, 37, 0).find("use --block=38") != std::string::npos);
}

TEST_CASE("a mask larger than the picture and than constant memory, in parts") {
  Random random(73);
  const Mask mask = normalised_mask(random, full_size() ? 301 : 70, full_size() ? 205 : 61);
  for (Depth depth : kDepths) {
    const Problem p{40, 23, 1, depth, Border::reflect, 0, mask};
    for (Domain domain : {kFrequency, kSpatial}) {
      for (int block : {0, 50}) {
        for (const Runner& runner : runners_of("in-parts", tuned(domain, kInSteps, block))) {
          check_against_oracle(runner, p);
        }
      }
    }
  }
}

TEST_CASE("sums of a constant picture, whose roundings all go one way") {
  for (int side : {31, 101, 128}) {
    for (Depth depth : kDepths) {
      const Problem p{9, 7, 1, depth, Border::replicate, 0, box_mask(side, side)};
      const double value = depth == Depth::f32 ? 0.3f : full_range(depth) - 2;
      Picture in = Picture::of(p);
      for (int y = 0; y < p.height; ++y) {
        for (int x = 0; x < p.width; ++x) in.set(x, y, 0, value);
      }
      for (const Runner& runner : runners()) {
        if (runner.has_number() || !runner.strategy->refusal(p, runner.tuning).empty()) continue;
        const Family family = runner.family();
        if (family != Family::reordered && family != Family::transform) continue;
        // Atomic additions, one a tap, are too slow for this side.
        if (side == 128 && family == Family::reordered) continue;
        INFO(to_string(runner) << ", " << to_string(p));
        const Picture out = run(runner, p, in);
        CHECK(std::abs(out.get(4, 3, 0) - value) <= allowed_error(p, family, value));
      }
    }
  }
}

TEST_CASE("blocks in windows: little device memory") {
  Random random(74);
  const Mask mask = anchored(integer_mask(random, 12, 9, 20, 300, 60), 1, 8);
  for (Depth depth : kDepths) {
    const Problem p{200, 150, 1, depth, Border::reflect101, 0, mask};
    for (const char* name : {"overlap-add", "in-parts"}) {
      for (const Runner& runner : runners_of(name, tuned(kFrequency, kInSteps, 11))) {
        PlanOptions options;
        options.memory_limit = 100000;
        Timing timing;
        check_against_oracle(runner, p, options, &timing);
        CHECK(timing.bands > 1);
      }
    }
  }
}

TEST_CASE("more blocks than an int counts are refused") {
  const Problem p{60000, 60000, 1, Depth::u8, Border::wrap, 0, box_mask(1, 1)};
  for (const char* name : {"overlap-save", "overlap-add", "in-parts"}) {
    for (Domain domain : {kFrequency, kSpatial}) {
      INFO(name << ", domain " << domain);
      Tuning tuning;
      tuning[Setting::domain] = domain;
      tuning[Setting::block] = 1;
      CHECK(find_strategy(name)->refusal(p, tuning).find("more than 2^31 blocks") !=
            std::string::npos);
      tuning[Setting::block] = 2;
      CHECK(find_strategy(name)->refusal(p, tuning).empty());
    }
  }
}

}  // namespace convfilt::test
