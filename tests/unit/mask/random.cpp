/// Random masks are what they are called, and the same everywhere.
#include "src/mask/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/separable.hpp"
#include "src/base/errors.hpp"

namespace convfilt::test {
namespace {

/// By elimination with full pivots.
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
      CHECK(mask.name == name_of(weights));
      CHECK(rank_of(mask) == std::min(width, height));
      CHECK(prepare_mask<std::uint8_t>(mask).error == 0);
      CHECK(std::log2(mask.divisor) == std::floor(std::log2(mask.divisor)));
      CHECK(gain(mask) > 0.5);
      CHECK(gain(mask) <= 1);
      CHECK(absolute_gain(mask) <= 4);
      double largest = 0, lowest = 0;
      for (const double w : mask.weights) {
        CHECK(w == std::trunc(w));
        largest = std::max(largest, std::abs(w));
        lowest = std::min(lowest, w);
      }
      if (weights == Weights::bits8) CHECK(largest <= 127);
      if (weights == Weights::bits16) CHECK(largest <= 32639);
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
    const Mask mask = random_mask(Weights::rank1, width, height);
    CHECK(factorise(mask, rank_tolerance(Depth::u8)).has_value());
    const Mask sum = random_mask(Weights::rank2, width, height);
    CHECK(gain(sum) == doctest::Approx(1));
    for (const Depth depth : kDepths) {
      const std::size_t terms = std::min({width, height, 2});
      CHECK(terms_of(sum, kMostTerms, rank_tolerance(depth)).size() == terms);
      CHECK(separable_refuses({64, 64, 1, depth, Border::replicate, 0, sum}) == "");
    }
    CHECK(gain(mask) == doctest::Approx(1));
    CHECK(*std::min_element(mask.weights.begin(), mask.weights.end()) > 0);
  }
  CHECK_FALSE(factorise(random_mask(Weights::bits16, 2, 2), 1e-3).has_value());
}

TEST_CASE("the same mask every time, others for other sides") {
  CHECK(random_mask(Weights::bits16, 5, 7).weights == random_mask(Weights::bits16, 5, 7).weights);
  CHECK(random_mask(Weights::bits16, 5, 7).weights != random_mask(Weights::bits16, 7, 5).weights);
  CHECK(random_mask(Weights::bits16, 3, 3).weights ==
        std::vector<double>{17402, 26809, -15941, 2679, 7254, 11297, 29736, -3351, 31980});
  CHECK_THROWS_AS(random_mask(Weights::bits8, 0, 3), UsageError);
  CHECK_THROWS_AS(random_mask(Weights::rank1, 3, 1026), UsageError);
  CHECK(random_mask(Weights::bits16, 1025, 1025).weights.size() == 1025 * 1025);
}

}  // namespace convfilt::test
