/// Short ends of 8-bit sums, of which each GPU kernel has its own, against IntegerFinish.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/bytes.hpp"
#include "kernels/contract/sum_ends.hpp"
#include "kernels/separable_tensor/mask.hpp"
#include "tests/support/masks/sample_masks.hpp"

namespace convfilt::test {
namespace {

constexpr std::int32_t kLimit = 1 << 30;  // which no sum reaches

/// Calls check(sum) where quotients are whole, half-way between, and next to that; below 0, up to
/// 255 and above.
template <class F>
void for_sums_near_roundings(std::int64_t divisor, std::int64_t offset, F check) {
  for (std::int64_t quotient = -3; quotient <= 300; ++quotient) {
    for (int near = -2; near <= 2; ++near) {
      const std::int64_t whole = quotient * divisor - offset + near;
      check(whole);
      check(whole + divisor / 2);
    }
  }
}

/// How many sums end otherwise than by IntegerFinish. Sums near roundings are tried, the least and
/// the largest, and random ones.
template <class F>
long wrong_ends(Random& random, const IntegerFinish& finish, F end) {
  long wrong = 0;
  const auto check = [&](std::int64_t sum) {
    if (sum <= -kLimit || sum >= kLimit) return;
    wrong += end(std::int32_t(sum)) != finish(std::int32_t(sum));
  };
  for_sums_near_roundings(finish.divisor, -finish.lowest_sum, check);
  for (int n = 0; n < 2000; ++n) check(random.integer(-kLimit + 1, kLimit - 1));
  check(kLimit - 1);
  check(-kLimit + 1);
  return wrong;
}

}  // namespace

TEST_CASE("half to even in few operations gives what IntegerFinish gives") {
  Random random(82);
  for (int log2 = 0; log2 <= 22; ++log2) {
    const std::int32_t divisor = 1 << log2, room = kLimit - 256 * divisor;
    for (const std::int32_t offset : {0, 1, -divisor / 2, std::min(128 * divisor, room), room,
                                      -room, random.integer(-room, room)}) {
      const IntegerFinish finish = integer_finish(offset, std::uint32_t(divisor), 0, 255);
      const HalfToEven end = half_to_even(finish);
      REQUIRE(end.usable);
      INFO("divisor " << divisor << ", offset " << offset);
      CHECK(wrong_ends(random, finish, [&](std::int32_t sum) {
              return std::clamp(end(sum + end.start), 0, 255);
            }) == 0);
    }
  }
  const HalfToEven unusable = half_to_even(integer_finish(100, 9, 0, 255));
  CHECK(unusable.usable == 0);
  CHECK(unusable.start == 0);  // so that sums begun there are as good as any
}

TEST_CASE("samples are saturated two and four at once") {
  for (const int a : {-2147483647, -1, 0, 1, 128, 255, 256, 2147483647}) {
    for (const int b : {-300, 0, 7, 254, 300}) {
      const int first = std::clamp(a, 0, 255), second = std::clamp(b, 0, 255);
      CHECK(saturated_pair(a, b) == (first | second << 8));
      CHECK(saturated_four(a, b, 9, 300) == (first | second << 8 | 9u << 16 | 255u << 24));
      CHECK(saturated_four(-1, 9, a, b) ==
            (9u << 8 | unsigned(first) << 16 | unsigned(second) << 24));
    }
  }
}

TEST_CASE("an odd quotient is what IntegerFinish gives, once it is saturated") {
  Random random(94);
  for (const std::uint32_t divisor :
       {3u, 5u, 81u, 225u, 961u, 3969u, 4095u, 4097u, 16129u, 999999u, 4194303u}) {
    const std::int32_t whole = std::int32_t(divisor), room = kLimit - 256 * whole;
    for (const std::int32_t offset : {0, whole, -7 * whole + 1, room, -room}) {
      const IntegerFinish finish = integer_finish(offset, divisor, 0, 255);
      const separable_tensor::OddQuotient end = separable_tensor::odd_quotient(finish);
      const std::int64_t start = start_of(finish);
      INFO("divisor " << divisor << ", offset " << offset);
      CHECK(wrong_ends(random, finish, [&](std::int32_t sum) {
              return std::clamp(end(std::int32_t(sum + start)), 0, 255);
            }) == 0);
    }
  }
}

TEST_CASE("what lies between the passes: its upper 16 bits, of every sum that can be") {
  for (int log2 = 0; log2 <= 14; ++log2) {
    const std::int32_t divisor = 1 << log2, bias = 2 * (log2 * 1000 - 3000);
    const IntegerFinish finish =
        integer_finish(-(bias << log2), std::uint32_t(divisor), -32768, 32767);
    const HalfToEven end = half_to_even(finish);
    long wrong = 0;
    for (std::int64_t mid = -32768; mid <= 32767; ++mid) {
      for (const int near : {-1, 0, 1}) {
        for (const std::int64_t part : {0, divisor / 4, divisor / 2}) {
          const std::int64_t sum = (mid + bias) * divisor + part + near;
          if (sum < finish.lowest_sum || sum > finish.highest_sum) continue;
          const std::uint32_t ended = end.unshifted(std::uint32_t(sum + end.start)) << (16 - log2);
          wrong += std::int16_t(ended >> 16) != finish(std::int32_t(sum));
        }
      }
    }
    CHECK_MESSAGE(wrong == 0, "divisor " << divisor);
  }
}

TEST_CASE("the end in floats gives what IntegerFinish gives, for all sums that the weights allow") {
  Random random(85);
  long usable = 0;
  for (int digits = 1; digits <= 2; ++digits) {
    for (int n = 0; n < 400; ++n) {
      const int count = random.integer(1, 81), log2 = random.integer(0, digits == 1 ? 14 : 16);
      const int limit = digits == 1 ? 127 : std::min(32767, 2 * (1 << log2) / count + 130);
      std::vector<std::int32_t> weights;
      for (int k = 0; k < count; ++k) {
        weights.push_back(random.integer(n % 3 == 0 ? 0 : -limit, limit));
      }
      const unsigned divisor = n % 2 ? 1u << log2 : unsigned(random.integer(0, 511) * 2 + 1);
      const int offset = random.integer(-100, 100) * int(divisor) / 2;
      const IntegerFinish finish = integer_finish(offset, divisor, 0, 255);
      const FloatEnd end = float_end(finish, weights.data(), count, digits);
      if (!end.usable) continue;
      ++usable;
      std::int64_t low = 0, high = 0, most_low = 0;
      for (const std::int32_t w : weights) {
        (w < 0 ? low : high) += 255 * w;
        most_low += digits == 1 ? 0 : 255 * (w & 255);
      }
      long wrong = 0;
      const auto check = [&](std::int64_t sum) {
        if (sum < low || sum > high) return;
        const int expected = finish(std::int32_t(sum));
        std::int32_t is;
        if (digits == 1) {
          is = end(end.start + std::int32_t(sum));
        } else {
          // Any sum of low digits may come with it that leaves a whole number for the top.
          const auto rest = std::int32_t(sum & 255);
          const auto more = most_low > 512 ? std::int32_t(random.below(most_low / 256)) * 256 : 0;
          const std::int32_t low_sum = rest + more;
          const auto top = std::int32_t((sum - low_sum) / 256);
          if (end.start + top < 0) return;
          is = end(end.start + top, low_sum);
        }
        wrong += saturated_pair(is, 7) != (expected | 7 << 8);
      };
      for_sums_near_roundings(divisor, offset, check);
      for (int k = 0; k < 500; ++k) check(low + std::int64_t(random.below(high - low + 1)));
      check(low);
      check(high);
      INFO("digits " << digits << ", divisor " << divisor << ", offset " << offset);
      CHECK(wrong == 0);
    }
  }
  CHECK(usable > 20);
  const std::int32_t one = 1;
  CHECK(float_end(integer_finish(0, 6, 0, 255), &one, 1, 1).usable ==
        0);  // ties, but no power of 2
  CHECK(float_end(integer_finish(0, 4, 0, 255), &one, 1, 3).usable == 0);
}

}  // namespace convfilt::test
