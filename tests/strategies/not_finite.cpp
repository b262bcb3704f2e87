// Float pictures with NaN, infinities and samples of very different size.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/plan/contrast.hpp"
#include "kernels/registry.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/pairs.hpp"

using namespace convfilt;
using namespace convfilt::test;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Picture noise_of(const Problem& p) {
  Picture in = Picture::of(p);
  in.fill(Fill::noise, 7);
  return in;
}

int count_not_finite(const Picture& picture) {
  int count = 0;
  for (int y = 0; y < picture.height(); ++y)
    for (int x = 0; x < picture.width(); ++x)
      for (int c = 0; c < picture.channels(); ++c) count += !std::isfinite(picture.get(x, y, c));
  return count;
}

/// The largest difference from the oracle, or infinity where one of the two is NaN or infinite and
/// the other is something else.
double off(const Problem& p, const Picture& in, const Picture& out) {
  const std::vector<double> truth = convolve(p, in);
  double most = 0;
  std::size_t k = 0;
  for (int y = 0; y < p.out_height(); ++y) {
    for (int x = 0; x < p.out_width(); ++x) {
      for (int c = 0; c < p.channels; ++c, ++k) {
        const double is = out.get(x, y, c), real = truth[k];
        if (std::isfinite(is) && std::isfinite(real))
          most = std::max(most, std::abs(is - real));
        else if (!(is == real || (std::isnan(is) && std::isnan(real))))
          return kInfinity;
      }
    }
  }
  return most;
}

/// Odd columns of the row are 0, and the corners of the column are.
Mask holey_mask(int width, int height) {
  Mask mask = box_mask(width, height);
  for (int j = 0; j < height; ++j)
    for (int i = 0; i < width; ++i)
      if (i % 2 == 1 || j == 0) mask.weights[std::size_t(j) * width + i] = 0;
  return mask;
}

/// The circle inside a square, whose parts are several.
Mask round_mask(int side) {
  Mask mask = box_mask(side, side);
  const int r = side / 2;
  for (int j = 0; j < side; ++j)
    for (int i = 0; i < side; ++i)
      if ((i - r) * (i - r) + (j - r) * (j - r) > r * r)
        mask.weights[std::size_t(j) * side + i] = 0;
  return mask;
}

/// Whether its transforms are for other pictures.
bool transforms(const Runner& runner) {
  return runner.family() == Family::transform;
}

}  // namespace

TEST_CASE("a NaN spreads as far as the weights that are not 0, by every strategy") {
  const Mask laplacian = make_mask("five", 3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0});
  const Mask sobel = make_mask("sobel", 3, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1});
  struct Case {
    Mask mask;
    int reached;
  };
  for (const auto& [mask, reached] :
       {Case{identity_mask(3), 1}, {laplacian, 5}, {sobel, 6}, {round_mask(35), 901}}) {
    const Problem p{60, 50, 1, Depth::f32, Border::replicate, 0, mask};
    Picture in = noise_of(p);
    in.set(30, 25, 0, kNaN);
    for (const Runner& runner : runners()) {
      if (transforms(runner) || !runner.strategy->refusal(p, runner.tuning).empty()) continue;
      INFO(to_string(runner) << ", " << to_string(p));
      const Picture out = run(runner, p, in);
      CHECK(count_not_finite(out) == reached);
      CHECK(off(p, in, out) <= 1e-5 * absolute_gain(mask));
    }
  }
}

TEST_CASE("NaN and infinities at borders, in modes and channels, are those of the oracle") {
  Random random(3);
  const Mask masks[] = {holey_mask(5, 3), anchored(holey_mask(4, 6), 3, 0), round_mask(33),
                        make_mask("terms", 3, 3, {2, 0, 1, 0, 1, 0, 1, 0, 1}),
                        make_mask("offset", 3, 1, {-1, 0, 1}, 2, 0.5)};
  struct Case {
    Runner runner;
    Problem problem;
    int mask;
    bool is_nan;
  };
  std::vector<Case> cases;
  int number = 0;
  for (const Mask& mask : masks) {
    for (const Mode mode : kModes) {
      for (const Border border : kBorders) {
        const Problem p{41, 38, 1 + number++ % 4, Depth::f32, border, 0.25, mask, mode};
        for (const Runner& runner : runners())
          if (!transforms(runner) && !runner.has_number() &&
              runner.strategy->refusal(p, runner.tuning).empty())
            cases.push_back({runner, p, int(&mask - masks), number % 2 == 1});
      }
    }
  }
  cases = by_pairs(std::move(cases), [](const Case& c) {
    const Levels runner = levels_of(c.runner);
    return Levels{runner[0], runner[1], c.mask, int(c.problem.mode), int(c.problem.border),
                  c.is_nan};
  });
  for (const auto& [runner, p, mask, is_nan] : cases) {
    Picture in = noise_of(p);
    for (const auto& [x, y] : {std::pair{0, 0}, {40, 37}, {20, 0}, {11, 17}})
      in.set(x, y, 0, is_nan ? kNaN : x == 11 ? -kInfinity : kInfinity);
    INFO(to_string(runner) << ", " << to_string(p));
    CHECK(off(p, in, run(runner, p, in)) <= 1e-5 * absolute_gain(p.mask));
  }
}

TEST_CASE("contrast: at least that of the picture under the mask, and 1 where it is flat") {
  Random random(11);
  for (int number = 0; number < 200; ++number) {
    const int width = random.integer(1, 9), height = random.integer(1, 9);
    Mask mask = box_mask(width, height);
    mask.anchor_x = random.integer(0, width - 1);
    mask.anchor_y = random.integer(0, height - 1);
    Problem p{random.integer(9, 30),
              random.integer(9, 30),
              1 + 2 * random.integer(0, 1),
              Depth::f32,
              kBorders[random.below(5)],
              random.real(-1, 1),
              mask,
              kModes[random.below(3)]};
    INFO(to_string(p));
    Picture in = Picture::of(p);
    for (int y = 0; y < p.height; ++y)
      for (int x = 0; x < p.width; ++x)
        for (int c = 0; c < p.channels; ++c)
          in.set(x, y, c, random.real(-1, 1) * std::pow(10.0, random.integer(-4, 0)));
    // The largest magnitude under the mask, wherever it lies, in each channel.
    double largest = p.border == Border::constant ? std::abs(float(p.border_value)) : 0;
    double least = kInfinity;
    for (int y = 0; y < p.out_height(); ++y) {
      for (int x = 0; x < p.out_width(); ++x) {
        for (int c = 0; c < p.channels; ++c) {
          double most = 0;
          for (int j = 0; j < height; ++j) {
            for (int i = 0; i < width; ++i) {
              const int column = walk_border(p.border, x + i - p.lead_x(), p.width);
              const int row = walk_border(p.border, y + j - p.lead_y(), p.height);
              const bool outside = column < 0 || row < 0;
              most = std::max(most, std::abs(outside ? p.border_value : in.get(column, row, c)));
            }
          }
          largest = std::max(largest, most);
          least = std::min(least, most);
        }
      }
    }
    const double found = contrast_of(p, in.view(), 1);
    CHECK(found >= largest / least * (1 - 1e-6));
    CHECK(std::exp2(std::round(std::log2(found))) == found);
    CHECK(contrast_of(p, in.view(), 3) == found);
    in.fill(Fill::constant, 5);
    if (p.border != Border::constant) CHECK(contrast_of(p, in.view(), 1) == 1);
    in.set(p.width - 1, p.height - 1, 0, number % 2 ? kNaN : 1e31);
    CHECK(contrast_of(p, in.view(), 1) == kInfinity);
  }
}

TEST_CASE(
    "up to the contrast that transforms take, results keep the bound of what lies under the mask") {
  const int height = full_size() ? 200 : 80;
  for (const int side : {5, 31}) {
    Problem p{300, height, 1, Depth::f32, Border::constant, 0.125, round_mask(side)};
    if (side == 5) p.mask = gaussian_mask(3, 3, 1);
    Picture in = noise_of(p);
    for (int y = 0; y < p.height; ++y)
      for (int x = 0; x < p.width; ++x)
        in.set(x, y, 0, float(x < 150 ? 0.125 : in.get(x, y, 0) > 0.5 ? 1 : -1));
    p.contrast = contrast_of(p, in.view(), 1);
    REQUIRE(p.contrast == 8);
    const std::vector<double> truth = convolve(p, in);
    for (const Runner& runner : runners()) {
      if (!transforms(runner) || !runner.strategy->refusal(p, runner.tuning).empty()) continue;
      INFO(to_string(runner) << ", " << to_string(p));
      const Picture out = run(runner, p, in);
      double most = 0;  // left of the bright half, where samples are 1/8
      for (int y = 0; y < p.height; ++y)
        for (int x = 0; x < 150 - side; ++x)
          most = std::max(most, std::abs(out.get(x, y, 0) - truth[std::size_t(y) * 300 + x]));
      CHECK(most <= 1e-5 * absolute_gain(p.mask) * 0.125);
    }
    p.contrast = 16;
    for (const char* name : {"fft", "overlap-save", "overlap-add", "in-parts", "winograd"})
      CHECK(!find_strategy(name)->refusal(p).empty());
  }
}
