// The CPU strategies against the plain loops of reference.hpp, byte by byte, on every instruction
// set that this machine has.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#include "kernels/cpu/plans.hpp"
#include "tests/support/reference.hpp"
#include "tests/support/vector_targets.hpp"

namespace convfilt {
namespace {

/// Rows with a gap between them, poisoned, so that writing beyond a row shows.
struct TestPicture {
  TestPicture(const Problem& p, std::size_t gap)
      : row_bytes(std::size_t(p.width) * std::size_t(p.channels) * size_of(p.depth)),
        pitch((row_bytes + gap + 3) / 4 * 4),
        bytes(pitch * std::size_t(p.height) + 8, std::byte{0xa5}) {}

  PictureView<std::byte> view(const Problem& p) {
    return {bytes.data(), p.width, p.height, p.channels, std::ptrdiff_t(pitch)};
  }

  std::size_t row_bytes, pitch;
  std::vector<std::byte> bytes;
};

class Cases {
 public:
  explicit Cases(unsigned seed) : random_(seed) {}

  int any(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

  Mask mask(int width, int height) {
    const int kind = any(0, 5);
    std::vector<double> weights(std::size_t(width) * std::size_t(height));
    for (double& w : weights) {
      w = kind == 0 ? any(-3, 5) : kind == 1 ? real(-1, 1) : kind == 2 ? any(0, 1) : real(0, 1);
    }
    // One weight needs more than 16 bits.
    if (kind == 3) weights[std::size_t(any(0, int(weights.size()) - 1))] = any(-90, 90);
    if (kind == 4) {
      for (double& w : weights) w = any(-10, 10);
      weights[0] = any(-100000, 100000);
    }
    double sum = 0;
    for (double w : weights) sum += std::abs(w);
    const bool integers = kind == 0 || kind == 2 || kind == 4;
    const double divisor = any(0, 3) == 0 ? 1 : integers ? std::max(1.0, sum) : std::max(0.1, sum);
    Mask m = make_mask("random", width, height, weights, divisor, offset());
    place_anchor(m);
    return m;
  }

  /// A mask of rank 1 to 3.
  Mask separable_mask(int width, int height) {
    const bool integers = any(0, 1) == 0;
    std::vector<double> weights(std::size_t(width) * height);
    double sum = 0;
    for (int terms = any(1, 3); terms > 0; --terms) {
      std::vector<double> row(width, 0.0), column(height, 0.0);
      for (double& w : row) w = integers ? any(-2, 3) : real(-0.2, 1);
      for (double& w : column) w = integers ? any(-2, 3) : real(-0.2, 1);
      row[0] = 1;
      column[0] = 1;
      for (std::size_t k = 0; k < weights.size(); ++k) {
        weights[k] += row[k % row.size()] * column[k / row.size()];
      }
    }
    for (double w : weights) sum += std::abs(w);
    Mask m = make_mask("separable", width, height, weights, any(0, 3) ? sum : 1, offset());
    place_anchor(m);
    return m;
  }

  Problem problem(int width, int height, int channels, Mask m) {
    Problem p;
    p.width = width;
    p.height = height;
    p.channels = channels;
    p.depth = kDepths[any(0, 2)];
    p.border = kBorders[any(0, 4)];
    p.border_value = p.depth == Depth::f32 ? 0.3 : 77;
    p.mask = std::move(m);
    return p;
  }

  TestPicture picture(const Problem& p) {
    TestPicture picture(p, std::size_t(any(0, 9)));
    // Extremes are saturated samples, and zeros of both signs, infinities and NaN.
    const bool extremes = any(0, 3) == 0;
    for (int y = 0; y < p.height; ++y) {
      std::byte* row = picture.view(p).row(y);
      for (int s = 0; s < p.width * p.channels; ++s) {
        if (p.depth == Depth::u8) {
          row[s] = std::byte(extremes ? 255 * any(0, 1) : any(0, 255));
        } else if (p.depth == Depth::u16) {
          reinterpret_cast<std::uint16_t*>(row)[s] =
              std::uint16_t(extremes ? 65535 * any(0, 1) : any(0, 65535));
        } else {
          reinterpret_cast<float*>(row)[s] = extremes ? extreme() : float(real(-0.5, 1.5));
        }
      }
    }
    return picture;
  }

 private:
  // No offset, one within the range of samples, or one that saturates whatever the sum.
  double offset() {
    const int kind = any(0, 5);
    return kind < 3 ? 0 : kind < 5 ? any(-40, 200) : any(-3000000, 3000000);
  }

  void place_anchor(Mask& m) {
    if (any(0, 1)) return;
    m.anchor_x = any(0, m.width - 1);
    m.anchor_y = any(0, m.height - 1);
  }

  float extreme() {
    const float values[] = {0.0f,
                            -0.0f,
                            1.0f,
                            -1e30f,
                            1e-45f,
                            std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()};
    return values[any(0, 30) < 28 ? any(0, 4) : any(5, 6)];
  }

  std::mt19937 random_;
};

using Prepare = std::unique_ptr<Plan> (*)(const Problem&, const PlanOptions&);
using Reference = void (*)(const Problem&, PictureView<const std::byte>, PictureView<std::byte>);

/// Runs the plan on every instruction set and with 1 and 3 threads, twice on the same plan.
void check(Cases& cases, const Problem& p, Prepare prepare, Reference reference) {
  CAPTURE(to_string(p));
  CAPTURE(p.mask.anchor_x);
  CAPTURE(p.mask.anchor_y);
  TestPicture in = cases.picture(p);
  TestPicture want(p, 5);
  reference(p, in.view(p), want.view(p));
  with_each_target([&] {
    for (const int threads : {1, 3}) {
      const auto plan = prepare(p, PlanOptions{.threads = threads});
      for (int run = 0; run < 2; ++run) {
        TestPicture got(p, 5);
        plan->run(in.view(p), got.view(p));
        CHECK(std::memcmp(got.bytes.data(), want.bytes.data(), want.bytes.size()) == 0);
      }
    }
  });
}

void check_direct(Cases& cases, const Problem& p) {
  REQUIRE(arithmetic_refuses(p) == "");
  check(cases, p, prepare_cpu_direct, reference::direct);
}

/// Returns false where random products cancel each other, since that is refused.
bool check_separable(Cases& cases, const Problem& p) {
  if (!separable_refuses(p).empty()) return false;
  check(cases, p, prepare_cpu_separable, reference::separable);
  return true;
}

/// Checks a picture under any mask and under a separable one of the same size. Returns what
/// check_separable() does.
bool check_both(Cases& cases, int width, int height, int channels, int mask_width,
                int mask_height) {
  const auto problem = [&](const Mask& mask) {
    return cases.problem(width, height, channels, mask);
  };
  check_direct(cases, problem(cases.mask(mask_width, mask_height)));
  return check_separable(cases, problem(cases.separable_mask(mask_width, mask_height)));
}

TEST_CASE("cpu: direct and separable give the reference's bytes on small pictures") {
  Cases cases(1);
  int separable = 0;
  for (int round = 0; round < 500; ++round) {
    const int width = cases.any(1, 12), height = cases.any(1, 12), channels = cases.any(1, 5);
    const int mask_width = cases.any(1, 9), mask_height = cases.any(1, 9);
    separable += check_both(cases, width, height, channels, mask_width, mask_height);
  }
  CHECK(separable >= 400);
}

TEST_CASE("cpu: sizes around vectors, tiles and bands") {
  Cases cases(2);
  int separable = 0;
  for (int round = 0; round < 40; ++round) {
    const int channels = cases.any(1, 4);
    const int width = cases.any(1, 2400) / channels + 1, height = cases.any(1, 60);
    const int mask_width = cases.any(1, 6), mask_height = cases.any(1, 6);
    separable += check_both(cases, width, height, channels, mask_width, mask_height);
  }
  CHECK(separable >= 30);
}

TEST_CASE("cpu: masks of more than one part, and of one row or column") {
  Cases cases(3);
  int separable = 0;
  const int sides[][2] = {{32, 33}, {63, 20}, {20, 70}, {64, 1}, {1, 64}, {2, 31}, {33, 2}};
  for (int round = 0; round < 3; ++round) {
    for (const auto& side : sides) {
      const int width = cases.any(1, 60), height = cases.any(1, 40), channels = cases.any(1, 3);
      separable += check_both(cases, width, height, channels, side[0], side[1]);
    }
  }
  CHECK(separable >= 15);
}

TEST_CASE("cpu: the longest masks") {
  Cases cases(4);
  int separable = 0;
  const int sides[][2] = {{1025, 1}, {1, 1025}, {1025, 3}, {2, 1024}};
  for (const auto& side : sides) {
    for (int round = 0; round < 3; ++round) {
      const int width = cases.any(1, 50), height = cases.any(1, 30);
      check_direct(cases, cases.problem(width, height, 1, cases.mask(side[0], side[1])));
      separable += check_separable(
          cases, cases.problem(width, height, 3, cases.separable_mask(side[0], side[1])));
    }
  }
  separable += check_separable(cases, cases.problem(20, 30, 1, cases.separable_mask(1025, 1025)));
  CHECK(separable >= 10);
}

TEST_CASE("cpu: every divisor's rounding, on all sums") {
  Cases cases(5);
  for (const int divisor :
       {1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 16, 25, 48, 255, 256, 273, 1003, 65536}) {
    Problem p =
        cases.problem(256, 4, 1, make_mask("wide", 2, 1, {double(divisor) - 1, 1}, divisor));
    p.depth = Depth::u8;
    check_direct(cases, p);
  }
}

TEST_CASE("cpu: very tall and very wide pictures") {
  Cases cases(6);
  int separable = 0;
  for (const bool tall : {false, true}) {
    const int width = tall ? 1 : 20000, height = tall ? 20000 : 1;
    check_direct(cases, cases.problem(width, height, 1, cases.mask(9, 7)));
    separable +=
        check_separable(cases, cases.problem(width, height, 1, cases.separable_mask(25, 23)));
  }
  CHECK(separable >= 1);
}

TEST_CASE("cpu: refusals are exceptions") {
  Problem p;
  p.width = p.height = 4;
  p.mask = make_mask("rank 4", 4, 4, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  CHECK_THROWS_AS(prepare_cpu_separable(p, {}), std::invalid_argument);
  p.mask = make_mask("large", 1, 1, {1e9});
  CHECK_THROWS_AS(prepare_cpu_direct(p, {}), std::invalid_argument);
}

}  // namespace
}  // namespace convfilt
