/// Random masks are what they are called, and the same everywhere.
#include "src/mask/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/contract/separable.hpp"
#include "src/base/errors.hpp"
#include "tests/support/contract.hpp"

namespace convfilt::test {
namespace {

/// The rank of the weights, by elimination with full pivots.
int rank_of(const Mask& mask) {
  std::vector<double> m = mask.weights;
  const auto at = [&](int row, int column) -> double& {
    return m[std::size_t(row) * mask.width + column];
  };
  int rank = 0;
  for (; rank < std::min(mask.width, mask.height); ++rank) {
    int row = rank, column = rank;
    for (int j = rank; j < mask.height; ++j)
      for (int i = rank; i < mask.width; ++i)
        if (std::abs(at(j, i)) > std::abs(at(row, column))) row = j, column = i;
    if (std::abs(at(row, column)) < 1e-9 * std::abs(mask.weights[0])) break;
    for (int i = 0; i < mask.width; ++i) std::swap(at(rank, i), at(row, i));
    for (int j = 0; j < mask.height; ++j) std::swap(at(j, rank), at(j, column));
    for (int j = rank + 1; j < mask.height; ++j) {
      const double factor = at(j, rank) / at(rank, rank);
      for (int i = rank; i < mask.width; ++i) at(j, i) -= factor * at(rank, i);
    }
  }
  return rank;
}

constexpr struct {
  int width, height;
} kSides[] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 3}, {5, 7}, {9, 9}, {15, 15}, {31, 31}, {63, 3}};

}  // namespace

TEST_CASE("whole weights are exact in 8-bit pictures, of full rank, and neither dark nor bright") {
  for (const Weights weights : {Weights::bits16, Weights::bits8}) {
    for (const auto [width, height] : kSides) {
      const Mask mask = random_mask(weights, width, height);
      CAPTURE(mask.name);
      CAPTURE(width);
      CAPTURE(height);
      CHECK(mask.name == (weights == Weights::bits8 ? "8bit" : "16bit"));
      CHECK(rank_of(mask) == std::min(width, height));
      CHECK(exact_in_one_pass(mask));
      double largest = 0, lowest = 0, sum = 0, magnitudes = 0;
      for (const double w : mask.weights) {
        CHECK(w == std::trunc(w));
        largest = std::max(largest, std::abs(w));
        lowest = std::min(lowest, w);
        sum += w;
        magnitudes += std::abs(w);
      }
      const int limit =
          std::min(weights == Weights::bits8 ? 127 : 32639, 4194304 / (width * height));
      CHECK(largest <= limit);
      CHECK(lowest >= -limit / 2);
      CHECK(4 * sum > magnitudes);
      // The divisor is the smallest power of two that is not below the sum.
      CHECK(std::log2(mask.divisor) == std::floor(std::log2(mask.divisor)));
      CHECK(mask.divisor >= sum);
      CHECK(mask.divisor / 2 < sum);
      if (width * height < 9) continue;
      CHECK(lowest < 0);
      CHECK(largest > (weights == Weights::bits8 ? 100 : 1000));
    }
  }
  const Mask small = random_mask(Weights::bits16, 7, 7);
  CHECK(*std::max_element(small.weights.begin(), small.weights.end()) > 30'000);
}

TEST_CASE("rank1 and rank2 have that rank, are separable, and keep a constant picture") {
  for (const auto [width, height] : kSides) {
    CAPTURE(width);
    CAPTURE(height);
    const Mask mask = random_mask(Weights::rank1, width, height);
    const Mask sum = random_mask(Weights::rank2, width, height);
    CHECK(mask.name == "rank1");
    CHECK(sum.name == "rank2");
    CHECK(rank_of(mask) == 1);
    CHECK(rank_of(sum) == std::min({width, height, 2}));
    for (const Mask& each : {mask, sum}) {
      for (const Depth depth : kDepths)
        CHECK(separable_refuses({64, 64, 1, depth, Border::replicate, 0, each}) == "");
      CHECK(gain(each) == doctest::Approx(1));
    }
    // Products of factors of 0.25 to 1 differ by 16 at the most.
    const auto [least, most] = std::ranges::minmax(mask.weights);
    CHECK(least > 0);
    CHECK(most < 16 * least);
  }
  CHECK(rank_of(random_mask(Weights::bits16, 2, 2)) == 2);
}

// The expected weights come from another program: splitmix64 and the head comment of random.hpp,
// written down once more in another language.
TEST_CASE("the same mask on every machine, others for other sides") {
  using Values = std::vector<double>;
  CHECK(random_mask(Weights::bits16, 5, 7).weights != random_mask(Weights::bits16, 7, 5).weights);
  CHECK(random_mask(Weights::bits16, 3, 3).weights ==
        Values{17402, 26809, -15941, 2679, 7254, 11297, 29736, -3351, 31980});
  CHECK(random_mask(Weights::bits16, 3, 3).divisor == 131072);
  CHECK(random_mask(Weights::bits16, 1, 2).weights == Values{27220, 9150});
  CHECK(random_mask(Weights::bits8, 3, 2).weights == Values{102, -41, 51, 0, -5, 11});
  CHECK(random_mask(Weights::bits8, 3, 2).divisor == 128);
  CHECK(random_mask(Weights::rank1, 2, 2).weights ==
        Values{0.14430589466438085, 0.21000699461185626, 0.26297789046451403, 0.38270922025924903});
  CHECK(random_mask(Weights::rank2, 2, 2).weights ==
        Values{0.1356312038634475, 0.34285444497977347, 0.01420837802229391, 0.5073059731344856});
  CHECK_THROWS_AS(random_mask(Weights::bits8, 0, 3), UsageError);
  CHECK_THROWS_AS(random_mask(Weights::rank1, 3, 1026), UsageError);
  CHECK(random_mask(Weights::bits16, 1025, 1025).weights.size() == 1025 * 1025);
}

}  // namespace convfilt::test
