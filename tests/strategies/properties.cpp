/// What must hold of any convolution, and of the ways to run one.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/compare.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {
namespace {

/// A mask of rank 1, so that every strategy takes it, with weights of both signs.
Mask two_sided_mask() {
  return make_mask("two-sided", 3, 3, {1, 2, -1, 2, 4, -2, 0, 0, 0}, 1, 128);
}

/// Calls f(runner, problem) for every runner, depth and border that the mask can be asked of, or
/// for pairs of them.
template <class F>
void for_each_problem(int width, int height, int channels, const Mask& mask, F f) {
  struct Case {
    Runner runner;
    Problem problem;
  };
  std::vector<Case> cases;
  for (const Runner& runner : runners()) {
    for (Depth depth : kDepths) {
      for (Border border : kBorders) {
        const Problem problem{width, height, channels, depth, border, 40, mask};
        if (!runner.strategy->refusal(problem, runner.tuning).empty()) continue;
        if (!runner.bytes_are_defined(depth)) continue;
        cases.push_back({runner, problem});
      }
    }
  }
  cases = by_pairs(std::move(cases), [](const Case& c) {
    const Levels runner = levels_of(c.runner);
    return Levels{runner[0], runner[1], int(c.problem.depth), int(c.problem.border)};
  });
  for (const auto& [runner, problem] : cases) {
    INFO(to_string(runner) << ", " << to_string(problem));
    f(runner, problem);
  }
}

Picture noise(const Problem& problem, std::uint64_t seed = 1) {
  Picture picture = Picture::of(problem);
  picture.fill(Fill::noise, seed);
  return picture;
}

/// A picture whose sample (x, y, c) is f(x, y, c).
template <class F>
Picture made_of(const Problem& problem, F f) {
  Picture picture = Picture::of(problem);
  for (int y = 0; y < problem.height; ++y) {
    for (int x = 0; x < problem.width; ++x) {
      for (int c = 0; c < problem.channels; ++c) picture.set(x, y, c, f(x, y, c));
    }
  }
  return picture;
}

/// Integers of 0..limit at any depth: float sums of them are exact.
Picture small_integers(const Problem& problem, int limit, std::uint64_t seed) {
  Random random(seed);
  return made_of(problem, [&](int, int, int) { return random.integer(0, limit); });
}

Picture turned(const Problem& p, const Picture& in) {
  return made_of(p,
                 [&](int x, int y, int c) { return in.get(p.width - 1 - x, p.height - 1 - y, c); });
}

/// Checks that the same bytes come out of a plan with other options.
void check_same_bytes(const Runner& runner, const Problem& problem, const PlanOptions& options,
                      int* bands = nullptr) {
  const Picture in = noise(problem);
  Timing timing;
  const Picture usual = run(runner, problem, in);
  const Picture other = run(runner, problem, in, options, &timing);
  const Place at = first_difference(usual, other);
  CHECK_MESSAGE(same_samples(usual, other),
                "first difference at (" << at.x << ", " << at.y << ") channel " << at.c);
  if (bands) *bands = timing.bands;
}

}  // namespace

TEST_CASE("identity leaves the bytes unchanged") {
  Mask sevens = identity_mask(3);
  for (double& w : sevens.weights) w *= 7;
  sevens.divisor = 7;
  for (const Mask& mask : {identity_mask(1), identity_mask(5), sevens}) {
    for_each_problem(37, 21, 2, mask, [](const Runner& runner, const Problem& problem) {
      // Seven times a float, over seven, is not always that float.
      if (problem.mask.divisor != 1 && problem.depth == Depth::f32) return;
      const Picture in = noise(problem);
      CHECK(same_samples(run(runner, problem, in), in));
    });
  }
}

TEST_CASE("a single one among zeros shifts the picture") {
  for (int place = 0; place < 15; place += 2) {
    Mask mask = make_mask("shift", 5, 3, std::vector<double>(15));
    mask.weights[place] = 1;
    for_each_problem(9, 6, 1, mask, [&](const Runner& runner, const Problem& p) {
      const Picture in = noise(p);
      const Picture shifted = made_of(p, [&](int x, int y, int c) {
        const int from_x = walk_border(p.border, x + place % 5 - 2, p.width);
        const int from_y = walk_border(p.border, y + place / 5 - 1, p.height);
        return from_x < 0 || from_y < 0 ? p.border_value : in.get(from_x, from_y, c);
      });
      CHECK(same_samples(run(runner, p, in), shifted));
    });
  }
}

TEST_CASE("linear: the sum of two pictures, and a multiple of one") {
  for_each_problem(35, 19, 1, two_sided_mask(), [](const Runner& runner, Problem p) {
    p.border_value = 0;
    const Picture a = small_integers(p, 4, 1), b = small_integers(p, 4, 2);
    const auto combine = [&](const Picture& u, const Picture& v, double offset) {
      return made_of(p,
                     [&](int x, int y, int c) { return u.get(x, y, c) + v.get(x, y, c) - offset; });
    };
    const Picture of_a = run(runner, p, a), of_b = run(runner, p, b);
    CHECK(same_samples(run(runner, p, combine(a, b, 0)), combine(of_a, of_b, p.mask.offset)));
    CHECK(same_samples(run(runner, p, combine(a, a, 0)), combine(of_a, of_a, p.mask.offset)));
  });
}

TEST_CASE("a constant picture stays constant under a normalised mask") {
  for (const Mask& mask :
       {gaussian_mask(7, 7, 1.5), gaussian_mask(15, 3, 4), box_mask(5, 5), sharpen_mask(5, 1, 1)}) {
    for_each_problem(34, 9, 1, mask, [](const Runner& runner, Problem p) {
      for (double value : {0.0, 1.0, 100.0, 254.0, 255.0}) {
        p.border_value = value;
        const Picture in = made_of(p, [&](int, int, int) { return value; });
        const Picture out = run(runner, p, in);
        double furthest = 0;
        for (int y = 0; y < p.height; ++y) {
          for (int x = 0; x < p.width; ++x) {
            furthest = std::max(furthest, std::abs(out.get(x, y, 0) - value));
          }
        }
        CHECK(furthest <= (p.depth == Depth::f32 ? 3e-6 * value : 0));
      }
    });
  }
}

TEST_CASE("a turned mask on a turned picture gives the turned result") {
  Random random(31);
  for (const Mask& mask : {anchored(integer_mask(random, 4, 3, 5, 8, 20), 0, 2),
                           anchored(integer_rank_one_mask(random, 3, 6, 3, 5), 2, 1)}) {
    for_each_problem(33, 18, 1, mask, [](const Runner& runner, const Problem& p) {
      Problem other = p;
      other.mask = flipped(p.mask);
      const Picture in = small_integers(p, 200, 3);
      CHECK(same_samples(run(runner, other, turned(p, in)), turned(p, run(runner, p, in))));
    });
  }
}

void check_bands(const Mask& mask, int channels) {
  const int height = full_size() ? 150 : 90;
  for_each_problem(70, height, channels, mask, [](const Runner& runner, const Problem& p) {
    PlanOptions options;
    options.memory_limit = Picture::of(p).samples() * size_of(p.depth) / 2;
    int bands = 0;
    check_same_bytes(runner, p, options, &bands);
    if (runner.device != DeviceKind::cpu) CHECK(bands > 1);
  });
}

TEST_CASE("bands: little device memory, the same bytes: of integers") {
  Random random(32);
  check_bands(integer_mask(random, 5, 9, 20, 200, 60), 2);
}

TEST_CASE("bands: little device memory, the same bytes: of reals") {
  check_bands(gaussian_mask(7, 7, 1.5), 2);
}

TEST_CASE("bands: little device memory, the same bytes: of a mask in parts") {
  check_bands(anchored(box_mask(34, 5), 33, 0), 1);
}

TEST_CASE("bands: not even whole rows fit") {
  const Mask mask = anchored(gaussian_mask(4, 9, 2), 0, 8);
  for_each_problem(600, 5, 1, mask, [](const Runner& runner, const Problem& p) {
    if (p.depth != Depth::u8) return;
    PlanOptions options;
    options.memory_limit = 4000;
    int bands = 0;
    check_same_bytes(runner, p, options, &bands);
    if (runner.device != DeviceKind::cpu) CHECK(bands > p.height);
  });
}

TEST_CASE("tiles: the inside of a crop equals the whole") {
  const Mask mask = gaussian_mask(7, 5, 1.3);
  constexpr int kLeft = 13, kTop = 9, kMargin = 3;
  for_each_problem(80, 70, 1, mask, [&](const Runner& runner, const Problem& whole) {
    Problem part = whole;
    part.width = 45;
    part.height = 40;
    const Picture in = noise(whole);
    const Picture crop =
        made_of(part, [&](int x, int y, int c) { return in.get(x + kLeft, y + kTop, c); });
    const Picture of_whole = run(runner, whole, in), of_crop = run(runner, part, crop);
    int different = 0;
    for (int y = kMargin; y < part.height - kMargin; ++y) {
      for (int x = kMargin; x < part.width - kMargin; ++x) {
        different += of_crop.get(x, y, 0) != of_whole.get(x + kLeft, y + kTop, 0);
      }
    }
    CHECK(different == 0);
  });
}

TEST_CASE("pitch: packed device rows, the same bytes") {
  for (int channels : {1, 3}) {
    for_each_problem(67, 23, channels, gaussian_mask(5, 5, 1),
                     [](const Runner& runner, const Problem& p) {
                       PlanOptions packed;
                       packed.padded_pitch = false;
                       check_same_bytes(runner, p, packed);
                     });
  }
}

TEST_CASE("threads: any number, the same bytes") {
  for (const Mask& mask : {gaussian_mask(5, 5, 1), two_sided_mask()}) {
    for_each_problem(97, 41, 1, mask, [](const Runner& runner, const Problem& p) {
      if (runner.device == DeviceKind::cuda) return;
      for (int threads : {1, 2, 3, 7, 64}) {
        if (!full_size() && threads != 3 && threads != 64) continue;
        PlanOptions options;
        options.threads = threads;
        check_same_bytes(runner, p, options);
      }
    });
  }
}

}  // namespace convfilt::test
