/// The numeric contract's own functions: the integer finish, fixed point, prepared masks, parts.
#include "kernels/contract/arithmetic.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/oracle.hpp"

namespace convfilt::test {
namespace {

constexpr std::uint32_t kMaxDivisor = 1u << 22;

std::int64_t finished(std::int64_t sum, std::int64_t offset, std::int64_t divisor, std::int64_t low,
                      std::int64_t high) {
  const Wide value = divide_half_to_even(Wide(sum) + offset, divisor);
  return value < low ? low : value > high ? high : std::int64_t(value);
}

/// Counts the sums that the finish gets wrong, and prints the first.
struct FinishCheck {
  std::int32_t offset, low, high;
  std::uint32_t divisor;
  IntegerFinish finish = integer_finish(offset, divisor, low, high);
  long wrong = 0;

  void sum(std::int64_t value) {
    constexpr std::int64_t kLimit = 1 << 30;
    if (value <= -kLimit || value >= kLimit) return;
    const std::int64_t expected = finished(value, offset, divisor, low, high);
    if (finish(std::int32_t(value)) == expected) return;
    if (wrong++ == 0) {
      FAIL_CHECK("sum " << value << " offset " << offset << " divisor " << divisor << ": "
                        << finish(std::int32_t(value)) << ", should be " << expected);
    }
  }
};

/// Checks the sums whose quotient is about to change, around every multiple of half the divisor.
void check_around_ties(FinishCheck& check, std::int64_t first_quotient,
                       std::int64_t last_quotient) {
  for (std::int64_t q = first_quotient; q <= last_quotient; ++q) {
    const std::int64_t whole = q * check.divisor - check.offset;
    for (std::int64_t d = -1; d <= 1; ++d) {
      check.sum(whole + d);
      check.sum(whole + check.divisor / 2 + d);
    }
  }
}

/// The largest |sum(fixed * in) / 2^shift - sum(real * in)| that samples of 0..range can bring
/// about.
double worst_error(const std::vector<double>& reals, const std::vector<std::int32_t>& fixed,
                   int shift, double range) {
  double above = 0, below = 0;
  for (std::size_t k = 0; k < reals.size(); ++k) {
    const double excess = std::ldexp(double(fixed[k]), -shift) - reals[k];
    (excess > 0 ? above : below) += std::abs(excess) * range;
  }
  return std::max(above, below);
}

double error_of(const Mask& mask) {
  return prepare_mask<std::uint8_t>(mask).error;
}

}  // namespace

TEST_CASE("integer finish: every sum for small divisors") {
  for (std::uint32_t divisor = 1; divisor <= 300u; ++divisor) {
    for (std::int32_t offset : {0, 1, -7, 128 * int(divisor), -3 * int(divisor) - 1}) {
      FinishCheck check{offset, 0, 255, divisor};
      const std::int64_t span = 258 * std::int64_t(divisor);
      for (std::int64_t s = -offset - 3 * std::int64_t(divisor); s <= span - offset; ++s)
        check.sum(s);
    }
  }
}

TEST_CASE("integer finish: large divisors around ties, saturation at both ends") {
  Random random(11);
  for (int k = 0; k < 4000; ++k) {
    const auto divisor = k < 20   ? kMaxDivisor - std::uint32_t(k)
                         : k < 43 ? 1u << (k - 20)
                                  : std::uint32_t(random.integer(1, int(kMaxDivisor)));
    const double room = (1 << 30) - 256.0 * divisor - 1;
    const int offset = int(std::floor(random.real(-room, room)));
    FinishCheck check{offset, 0, 255, divisor};
    check_around_ties(check, -2, 257);
    for (int n = 0; n < 200; ++n) check.sum(random.integer(-(1 << 30) + 1, (1 << 30) - 1));
    check.sum((1 << 30) - 1);
    check.sum(-(1 << 30) + 1);
  }
}

TEST_CASE("integer finish: the 16-bit range of the plane between two passes") {
  for (int log2 = 0; log2 <= 14; ++log2) {
    const int bias = 2 * 1234;
    FinishCheck check{-(bias << log2), -32768, 32767, 1u << log2};
    check_around_ties(check, -32770, 32769);
  }
}

TEST_CASE("fixed point keeps the sum and proves its error") {
  Random random(12);
  for (int k = 0; k < 500; ++k) {
    const int count = random.integer(1, 400), shift = random.integer(0, 20);
    std::vector<double> reals(count);
    double sum = 0;
    for (double& r : reals) sum += r = random.real(-1, k % 2 ? 1 : 0.2);
    const FixedPoint fixed = fixed_point(reals, shift, 255);
    std::int64_t fixed_sum = 0;
    for (std::int32_t w : fixed.weights) fixed_sum += w;
    CHECK(std::abs(double(fixed_sum) - std::ldexp(sum, shift)) <= 0.5 + 1e-6);
    const double worst = worst_error(reals, fixed.weights, shift, 255);
    CHECK(worst <= fixed.error + 1e-9);
    CHECK(fixed.error <= worst + 1e-9);  // and not more than what can happen
    double furthest = 0;
    for (int n = 0; n < count; ++n) {
      furthest = std::max(furthest, std::abs(fixed.weights[n] - std::ldexp(reals[n], shift)));
    }
    CHECK(furthest <= 1);
  }
  // All nine weights are rounded the same way, so a grey picture would grow brighter if the sum
  // were not kept.
  const FixedPoint thirds = fixed_point(std::vector<double>(9, 1.0 / 9), 15, 255);
  std::int64_t sum = 0;
  for (std::int32_t w : thirds.weights) sum += w;
  CHECK(sum == 1 << 15);
}

TEST_CASE("8-bit masks of integers over an integer are exact") {
  Random random(13);
  for (const Mask& mask :
       {box_mask(3, 3), box_mask(31, 31), identity_mask(7), integer_mask(random, 5, 5, 1000, 7, 3),
        make_mask("edge", 3, 1, {-1, 0, 1}, 2, 127.5),
        integer_mask(random, 33, 33, 100, 4194304)}) {
    INFO(mask.name);
    const auto prepared = prepare_mask<std::uint8_t>(mask);
    CHECK(prepared.error == 0);
    CHECK(std::equal(mask.weights.begin(), mask.weights.end(), prepared.weights.begin(),
                     prepared.weights.end()));
  }
}

TEST_CASE("8-bit masks: the proven error is true") {
  for (const Mask& mask : varied_masks()) {
    INFO(mask.name);
    if (!arithmetic_refuses({9, 9, 1, Depth::u8, Border::replicate, 0, mask}).empty()) continue;
    const auto prepared = prepare_mask<std::uint8_t>(mask);
    if (prepared.error == 0) continue;
    std::vector<double> reals;
    for (double w : mask.weights) reals.push_back(w / mask.divisor);
    const int shift = int(std::lround(std::log2(prepared.finish.divisor)));
    CHECK(std::ldexp(1.0, shift) == prepared.finish.divisor);
    CHECK(worst_error(reals, prepared.weights, shift, 255) <= prepared.error + 1e-9);
  }
}

TEST_CASE("8-bit normalised masks up to 15x15 err by 0.02 of a step at most") {
  Random random(14);
  for (int side = 1; side <= 15; side += 2) {
    CHECK(error_of(gaussian_mask(side, side, 0.2 * side + 0.3)) <= 0.02);
    for (int k = 0; k < 20; ++k) CHECK(error_of(normalised_mask(random, side, side)) <= 0.02);
    for (double amount : {0.1, 0.5, 1.0, 2.0, 3.0}) {
      CHECK(error_of(sharpen_mask(side, amount, 0.2 * side + 0.3)) <= 0.02);
    }
    // Stronger sharpening takes the bits that the sum has; the error grows with the sum of
    // |weights|.
    const Mask strong = sharpen_mask(side, 20, 0.2 * side + 0.3);
    CHECK(error_of(strong) <= 0.02 * absolute_gain(strong));
  }
}

TEST_CASE("8-bit box as decimals is as good as the box") {
  for (int digits : {3, 6, 15}) {
    const double unit = std::pow(10.0, digits);
    const double decimal = std::nearbyint(unit / 9) / unit;
    CHECK(error_of(make_mask("decimals", 3, 3, std::vector<double>(9, decimal))) <= 0.02);
  }
}

TEST_CASE("8-bit masks that are too large are refused, others not") {
  const auto refusal = [](const Mask& mask, Depth depth) {
    return arithmetic_refuses({5, 5, 1, depth, Border::replicate, 0, mask});
  };
  const Mask huge = make_mask("huge", 1, 1, {4.3e6});
  CHECK_FALSE(refusal(huge, Depth::u8).empty());
  CHECK_THROWS_AS(prepare_mask<std::uint8_t>(huge), std::invalid_argument);
  CHECK(refusal(huge, Depth::u16).empty());
  CHECK(refusal(huge, Depth::f32).empty());
  CHECK(refusal(make_mask("large", 1, 1, {4.1e6}), Depth::u8).empty());
  // Large weights over a large divisor are an ordinary mask.
  CHECK(refusal(make_mask("scaled", 2, 1, {1e9, 1e9}, 2e9), Depth::u8).empty());
  // An offset beyond all sums only saturates.
  CHECK(refusal(make_mask("white", 1, 1, {0.3}, 1, 1e300), Depth::u8).empty());
}

TEST_CASE("float masks keep integers and apply the divisor at the end") {
  const Mask mask = make_mask("thirds", 3, 1, {1, 1, 1}, 3, 5);
  for (float w : prepare_mask<std::uint16_t>(mask).weights) CHECK(w == 1.0f);
  CHECK(prepare_mask<float>(mask).finish.scale == float(1.0 / 3));
  CHECK(prepare_mask<float>(mask).finish.offset == 5.0f);
  const Mask reals = make_mask("reals", 2, 1, {0.5, 0.25}, 2);
  CHECK(prepare_mask<float>(reals).finish.scale == 1.0f);
  CHECK(prepare_mask<float>(reals).weights == std::vector<float>{0.25f, 0.125f});
}

TEST_CASE("finish: 16-bit and float ends") {
  const auto end16 = [](float value) {
    std::uint16_t out;
    finish(FloatFinish{1, 0}, value, out);
    return int(out);
  };
  CHECK(end16(0.5f) == 0);
  CHECK(end16(1.5f) == 2);
  CHECK(end16(2.5f) == 2);
  CHECK(end16(-3) == 0);
  CHECK(end16(65535.5f) == 65535);
  CHECK(end16(1e30f) == 65535);
  CHECK(end16(std::numeric_limits<float>::quiet_NaN()) == 0);
  float out = 0;
  finish(FloatFinish{1, 0}, -std::numeric_limits<float>::quiet_NaN(), out);
  CHECK((std::isnan(out) && !std::signbit(out)));
}

TEST_CASE("the border value as a sample") {
  Problem p{1, 1, 1, Depth::u8, Border::constant, 0, identity_mask(1)};
  const auto ghost = [&](double value) {
    p.border_value = value;
    return int(ghost_sample<std::uint8_t>(p));
  };
  CHECK(ghost(-4) == 0);
  CHECK(ghost(2.5) == 2);
  CHECK(ghost(3.5) == 4);
  CHECK(ghost(1e9) == 255);
  CHECK(ghost_sample<std::uint16_t>(p) == 65535);
  p.border_value = -0.25;
  CHECK(ghost_sample<float>(p) == -0.25f);
}

TEST_CASE("parts cover the mask once, in row-major order") {
  Random random(15);
  for (auto [width, height] : {std::pair{1, 1},
                               {31, 31},
                               {32, 31},
                               {33, 33},
                               {101, 1},
                               {3, 70},
                               {64, 95},
                               {1025, 1},
                               {1, 1025}}) {
    const Mask mask = anchored(integer_mask(random, width, height, 99), width - 1, height / 3);
    const auto prepared = prepare_mask<float>(mask);
    const auto parts = prepared.parts();
    std::vector<int> seen(mask.weights.size());
    int misplaced = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const auto& part = parts[k];
      CHECK((part.width >= 1 && part.width <= kMaxPartSide));
      CHECK((part.height >= 1 && part.height <= kMaxPartSide));
      CHECK(bool(part.first) == (k == 0));
      CHECK(bool(part.last) == (k + 1 == parts.size()));
      if (k > 0) {
        CHECK((part.dy > parts[k - 1].dy ||
               (part.dy == parts[k - 1].dy && part.dx > parts[k - 1].dx)));
      }
      for (int j = 0; j < part.height; ++j) {
        for (int i = 0; i < part.width; ++i) {
          const int column = part.dx + mask.anchor_x + i, row = part.dy + mask.anchor_y + j;
          if (part.weight(i, j) != float(mask.weight(column, row))) ++misplaced;
          ++seen[std::size_t(row) * width + column];
        }
      }
    }
    CHECK(misplaced == 0);
    CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
  }
}

}  // namespace convfilt::test
