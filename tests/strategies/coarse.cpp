/// Strategy coarse: its bound on the host against kernels written out, against the worst pictures
/// there are, and against the oracle on all borders, modes, sizes and depths.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kernels/coarse/mask.hpp"
#include "kernels/registry.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {
namespace {

using Line = std::vector<double>;

/// The weights that the coarse line gives the samples from `from` on for output x, less the line's
/// own. They are summed by the formula in mask.hpp, term by term.
Line error_kernel(const coarse::Axis& axis, int x, int from, int count) {
  Line weights(static_cast<std::size_t>(count));
  const auto at = [&](int sample) -> double& { return weights.at(std::size_t(sample - from)); };
  const int d = axis.step, support = int(axis.back.size());
  for (int node = 0; node <= x / d + 2; ++node) {
    const int place = x - (node - 2) * d;  // node 2 begins with output 0
    if (place < 0 || place >= support) continue;
    for (int m = 0; m < int(axis.coarse.size()); ++m) {
      for (int t = 0; t < support; ++t) {
        at(axis.first + (node + m) * d + t) += double(axis.back[std::size_t(place)]) *
                                               axis.coarse[std::size_t(m)] *
                                               axis.down[std::size_t(t)];
      }
    }
  }
  for (int i = 0; i < int(axis.line.size()); ++i) at(x + i) -= axis.line[std::size_t(i)];
  return weights;
}

double magnitude(const Line& line) {
  double sum = 0;
  for (double v : line) sum += std::abs(v);
  return sum;
}

std::vector<Runner> coarse_runners() {
  std::vector<Runner> all;
  for (const Runner& runner : runners())
    if (runner.strategy->name == "coarse") all.push_back(runner);
  return all;
}

/// How far an output may be from the real-valued one.
double allowed(const Problem& p, const Picture& in) {
  const coarse::FittedMask mask = coarse::fit_mask(p);
  if (p.depth != Depth::f32) return mask.error + 0.5 + 1e-9;
  double largest = p.border == Border::constant ? std::abs(p.border_value) : 0;
  for (int y = 0; y < p.height; ++y)
    for (int x = 0; x < p.width; ++x)
      for (int c = 0; c < p.channels; ++c) largest = std::max(largest, std::abs(in.get(x, y, c)));
  return mask.error * mask.scale * largest;
}

/// The largest difference from the real-valued, saturated result; everything must have been
/// written.
double furthest(const Problem& p, const std::vector<double>& real, const Picture& out) {
  double most = 0;
  std::size_t k = 0;
  for (int y = 0; y < p.out_height(); ++y) {
    for (int x = 0; x < p.out_width(); ++x) {
      for (int c = 0; c < p.channels; ++c, ++k) {
        const double should_be =
            p.depth == Depth::f32 ? real[k] : std::clamp(real[k], 0.0, full_range(p.depth));
        const double is = out.get(x, y, c);
        if (!(std::abs(is - should_be) <= most)) most = std::abs(is - should_be);  // NaN too
      }
    }
  }
  return most;
}

void check_bound(const Problem& p, Fill fill, std::uint64_t seed, const PlanOptions& options = {}) {
  INFO(to_string(p) << ", anchor " << p.mask.anchor_x << ' ' << p.mask.anchor_y);
  REQUIRE(coarse::refuses(p) == "");
  Picture in = Picture::of(p);
  in.fill(fill, seed);
  const double bound = allowed(p, in);
  const std::vector<double> real = convolve(p, in);
  for (const Runner& runner : coarse_runners()) {
    INFO(to_string(runner));
    CHECK(furthest(p, real, run(runner, p, in, options)) <= bound);
  }
}

/// A mask that is smooth enough for every depth.
Mask smooth_mask(int width = 101, int height = 89) {
  return gaussian_mask(width, height, std::min(width, height) / 5.5);
}

}  // namespace

TEST_CASE("the error of an axis is the largest of its places on the grid, and its sum is kept") {
  for (const auto& [side, sigma] : {std::pair{101, 16.8}, {135, 16.8}, {64, 9.0}, {37, 11.0}}) {
    Line line;
    for (int i = 0; i < side; ++i) {
      const double t = (i - 0.5 * side + 3) / sigma;
      line.push_back(std::exp(-0.5 * t * t) * (1 + 0.3 * t));
    }
    const double sum = magnitude(line);
    for (double& v : line) v /= sum;
    for (int step : {4, 8, 12, 24}) {
      for (int gap : {0, 5, 15}) {
        const coarse::Axis axis = coarse::fit_axis(line, step, gap);
        INFO("side " << side << ", step " << step << ", gap " << gap);
        CHECK(axis.first % step == -gap % step);
        double worst = 0, moved = 0;
        for (int x = 0; x < 3 * step; ++x) {
          const int count = 3 * step + (int(axis.coarse.size()) + 8) * step;
          const Line error = error_kernel(axis, x, axis.first, count);
          worst = std::max(worst, magnitude(error));
          double total = 0;
          for (double v : error) total += v;
          moved = std::max(moved, std::abs(total));
        }
        CHECK(worst == doctest::Approx(axis.error).epsilon(1e-12));
        CHECK(moved < 1e-6);
      }
    }
  }
}

// Only here do all errors have one sign, since the picture is light where a weight is too large.
TEST_CASE("the worst pictures stay within the bound, and come near it") {
  for (Depth depth : kDepths) {
    Problem p{150, 140, 1, depth, Border::replicate, 0, smooth_mask(), Mode::valid};
    REQUIRE(coarse::refuses(p) == "");
    const coarse::FittedMask mask = coarse::fit_mask(p);
    for (const auto& [x, y] : {std::pair{0, 0}, {13, 22}, {26, 7}, {49, 51}}) {
      // The kernels cover the whole picture. Weights beyond it belong to other outputs' nodes and
      // are 0.
      const Line of_x = error_kernel(mask.x, x, mask.x.first, 400);
      const Line of_y = error_kernel(mask.y, y, mask.y.first, 400);
      double reached = 0;
      for (const double sign : {1.0, -1.0}) {
        Picture in = Picture::of(p);
        const double low = depth == Depth::f32 ? -1 : 0, high = full_range(depth);
        double expected = 0;
        for (int v = 0; v < p.height; ++v) {
          for (int u = 0; u < p.width; ++u) {
            const double error =
                of_x[std::size_t(u - mask.x.first)] * of_y[std::size_t(v - mask.y.first)];
            in.set(u, v, 0, sign * error > 0 ? high : low);
            expected -= error * (in.get(u, v, 0) - mask.centre);
          }
        }
        const std::vector<double> real = convolve(p, in);
        const double should_be = real[std::size_t(y) * std::size_t(p.out_width()) + std::size_t(x)];
        for (const Runner& runner : coarse_runners()) {
          INFO(to_string(runner) << ", " << name_of(depth) << ", output " << x << ' ' << y);
          const Picture out = run(runner, p, in);
          CHECK(furthest(p, real, out) <= allowed(p, in));
          if (depth != Depth::f32) continue;
          // Floats are not rounded to steps, so the error itself can be seen.
          const double is = out.get(x, y, 0) - should_be;
          CHECK(std::abs(is - expected) <= mask.error - mask.x.error * mask.y.error);
          reached = std::max(reached, std::abs(is));
        }
      }
      if (depth == Depth::f32 && !coarse_runners().empty())
        CHECK(reached > 0.25 * magnitude(of_x) * magnitude(of_y));
    }
  }
}

TEST_CASE("every border, depth, mode and size, from one sample on") {
  const Mask whole = smooth_mask();
  constexpr std::pair<int, int> kSizes[] = {{1, 1},  {2, 3},   {5, 4},   {1, 40},
                                            {37, 2}, {64, 17}, {131, 95}};
  for (const auto& [k, mask, size, border, depth, mode] : combinations_where(
           [](const Mask&mask, auto size, Border border, Depth depth, Mode mode) {
             const auto [width, height] = size;
             const bool large = width * height > 600;
             if (mode == Mode::valid && (width < mask.width || height < mask.height)) return false;
             return !large || (mode != Mode::full && (int(border) + int(depth)) % 4 == 0);
           },
           std::array{whole, anchored(whole, 3, 88), anchored(whole, 100, 0)}, kSizes, kBorders,
           kDepths, kModes)) {
    const Problem p{size.first, size.second, 1 + int(k / 5 % 3), depth, border, 200, mask, mode};
    check_bound(p, k % 5 == 0 ? Fill::checkerboard : Fill::noise, k);
  }
}

// Rows of such grids are read in strips.
TEST_CASE("nodes that lie far apart") {
  const Mask mask = gaussian_mask(701, 701, 117);
  for (const auto& [k, depth, channels, border] :
       combinations(kDepths, std::array{1, 3}, kBorders)) {
    const Problem p{channels == 1 ? 19 : 11, 7, channels, depth, border, 200, mask};
    const std::size_t sample = size_of(depth);
    CHECK(std::size_t(coarse::fit_mask(p).x.step) * sample * std::size_t(channels) >= 64);
    check_bound(p, Fill::noise, k);
  }
}

// Cells of 24, 40 and 56 pixels, of which a warp has 40, 24 and 16 nodes, do not end with what is
// copied at once. A warp without nodes of its own would read on beyond that.
TEST_CASE("strips whose last warp has all nodes but one") {
  int pictures = 0;
  for (int side = 201; side <= 601; side += 50) {
    const Mask mask = gaussian_mask(side, side, side / 6.0);
    const auto problem = [&](int width) {
      return Problem{width, 3, 3, Depth::u8, Border::reflect, 0, mask};
    };
    const coarse::Axis x = coarse::fit_mask(problem(100)).x;
    const int nodes = x.step == 24 ? 40 : x.step == 40 ? 24 : x.step == 56 ? 16 : 0;
    if (nodes == 0) continue;
    int width = 1;
    while (x.in_nodes(width) % nodes != nodes - 1) ++width;
    check_bound(problem(width), Fill::noise, std::uint64_t(++pictures));
  }
  CHECK(pictures > 0);
}

TEST_CASE("lines of other shapes, offsets, weights below 0 and sums that are not 1") {
  for (Depth depth : kDepths) {
    for (int kind = 0; kind < 3; ++kind) {
      const int width = 240, height = 193;
      Line row, column, weights;
      for (int i = 0; i < width; ++i) {
        const double t = (i - 111.0) / 35;
        row.push_back(kind == 0 ? std::exp(-0.5 * t * t) * t : 1 + std::cos(0.025 * (i - 119)));
      }
      for (int j = 0; j < height; ++j)
        column.push_back((kind == 2 ? -3 : 1) / std::cosh((j - 100.0) / 20));
      for (double c : column)
        for (double r : row) weights.push_back(r * c);
      const double unit = magnitude(weights) / (kind == 1 ? 1.5 : 1);
      for (double& w : weights) w /= unit;
      Mask mask = make_mask("shape", width, height, weights, 1, depth == Depth::f32 ? 0.5 : 99.5);
      const Problem p{64, 37, 1, depth, kBorders[kind + 1], 3, mask};
      check_bound(p, Fill::noise, 7);
    }
  }
}

TEST_CASE("rows that are not aligned, and pieces of a picture") {
  Problem p{133, 90, 2, Depth::u8, Border::reflect, 0, gaussian_mask(41, 47, 8)};
  check_bound(p, Fill::noise, 3, {.padded_pitch = false});
  p.channels = 3;
  check_bound(p, Fill::noise, 5, {.padded_pitch = false});
  Picture in = Picture::of(p);
  in.fill(Fill::noise, 4);
  const std::vector<double> real = convolve(p, in);
  for (const Runner& runner : coarse_runners()) {
    INFO(to_string(runner));
    Timing timing;
    const Picture out = run(runner, p, in, {.memory_limit = 200000}, &timing);
    // The limit is one of device memory. Plans for the CPU use none, and tell host_bytes() instead.
    CHECK((timing.bands > 1) == (runner.device != DeviceKind::cpu));
    CHECK(furthest(p, real, out) <= allowed(p, in));
  }
}

TEST_CASE("the largest mask, where sums are longest") {
  const Mask mask = gaussian_mask(kMaxMaskSide, kMaxMaskSide, kMaxMaskSide / 6.0);
  for (Depth depth : kDepths) {
    for (Fill fill : {Fill::noise, Fill::constant}) {
      if (!full_size() && (depth != Depth::u16 || fill != Fill::noise)) continue;
      const Problem p{kMaxMaskSide + 5, kMaxMaskSide + 3, 1, depth, Border::replicate, 0, mask,
                      Mode::valid};
      check_bound(p, fill, 11);
    }
  }
}

TEST_CASE("coarse on the CPU: threads change no byte, and share none") {
  for (Depth depth : kDepths) {
    const Problem p{1300, 200, 3, depth, Border::reflect, 0, smooth_mask()};
    Picture in = Picture::of(p);
    in.fill(Fill::noise, 12);
    const Runner runner{find_strategy("coarse"), DeviceKind::cpu};
    const Picture one = run(runner, p, in, {.threads = 1});
    for (int again = 0; again < 5; ++again)
      CHECK(same_samples(run(runner, p, in, {.threads = 7}), one));
  }
}

}  // namespace convfilt::test
