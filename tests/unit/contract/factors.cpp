/// Masks of rank 1 to 3: their terms, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "kernels/contract/separable.hpp"
#include "src/mask/make.hpp"
#include "tests/support/masks/sample_masks.hpp"

namespace convfilt::test {
namespace {

constexpr double kTight = 1e-12;

/// Sum of |mask - sum of row x column / divisor|, as a share of the sum of |weights|.
double residue(const Mask& mask, const std::vector<Factors>& terms) {
  double sum = 0;
  for (int j = 0; j < mask.height; ++j) {
    for (int i = 0; i < mask.width; ++i) {
      double left = mask.weight(i, j) / mask.divisor;
      for (const Factors& f : terms) left -= f.row[i] * f.column[j] / f.divisor;
      sum += std::abs(left);
    }
  }
  return sum / absolute_gain(mask);
}
double residue(const Mask& mask, const Factors& f) {
  return residue(mask, std::vector{f});
}

Problem problem_of(const Mask& mask, Depth depth = Depth::u8) {
  return {20, 20, 1, depth, Border::replicate, 0, mask};
}

}  // namespace

TEST_CASE("factorise: integers of rank 1 exactly") {
  Random random(22);
  for (int k = 0; k < 300; ++k) {
    const int width = random.integer(1, 9), height = random.integer(1, 9);
    Mask mask = integer_rank_one_mask(random, width, height, 12, random.integer(1, 50));
    if (k % 3 == 0) {
      for (double& w : mask.weights) w *= 6;  // a common divisor
    }
    const auto f = factorise(mask, 0);
    REQUIRE(f);
    CHECK(f->integers);
    CHECK(residue(mask, *f) == 0);
    for (double v : f->row) CHECK(v == std::floor(v));
    for (double v : f->column) CHECK(v == std::floor(v));
  }
}

TEST_CASE("factorise: zero rows and columns, permuted rows") {
  const Mask holes = make_mask("holes", 3, 4, {0, 0, 0, 0, 2, -4, 0, 0, 0, 0, -1, 2});
  REQUIRE(factorise(holes, 0));
  CHECK(residue(holes, *factorise(holes, 0)) == 0);

  Random random(23);
  Mask shuffled = gaussian_mask(7, 7, 1.3);
  for (int k = 0; k < 10; ++k) {
    const auto a = random.below(7), b = random.below(7);
    std::swap_ranges(shuffled.weights.begin() + a * 7, shuffled.weights.begin() + a * 7 + 7,
                     a == b ? shuffled.weights.begin() + a * 7 : shuffled.weights.begin() + b * 7);
  }
  REQUIRE(factorise(shuffled, kTight));
  CHECK(residue(shuffled, *factorise(shuffled, kTight)) <= kTight);
}

TEST_CASE("factorise: Gaussians and other reals of rank 1") {
  Random random(24);
  for (int side : {1, 3, 7, 15, 31, 241}) {
    const Mask gaussian = gaussian_mask(side, side, side / 6.0 + 0.2);
    for (Depth depth : kDepths) {
      const auto f = factorise(gaussian, rank_tolerance(depth));
      REQUIRE(f);
      CHECK(residue(gaussian, *f) <= kTight);
      CHECK(separable_refuses(problem_of(gaussian, depth)).empty());
    }
  }
  for (int k = 0; k < 100; ++k) {
    const Mask mask = real_rank_one_mask(random, random.integer(1, 12), random.integer(1, 12));
    REQUIRE(factorise(mask, kTight));
    CHECK(residue(mask, *factorise(mask, kTight)) <= kTight);
  }
}

TEST_CASE("factorise: nothing above rank 1") {
  Random random(25);
  for (const Mask& mask :
       {make_mask("laplacian", 3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0}), sharpen_mask(5, 1, 1),
        make_mask("zeros", 2, 2, {0, 0, 0, 0}), integer_mask(random, 4, 3, 50),
        normalised_mask(random, 6, 6), make_mask("nearly", 2, 2, {1000, 1000, 1000, 1001}, 4000)}) {
    INFO(mask.name);
    for (Depth depth : kDepths) CHECK_FALSE(factorise(mask, rank_tolerance(depth)));
  }
}

TEST_CASE("terms: as few as the rank, and they add up to the mask") {
  Random random(28);
  const auto ring = [](int side, double sigma) {
    Mask mask = gaussian_mask(side, side, sigma);
    const Mask wide = gaussian_mask(side, side, 1.6 * sigma);
    for (std::size_t k = 0; k < mask.weights.size(); ++k) mask.weights[k] -= wide.weights[k];
    return mask;
  };
  std::vector<std::pair<Mask, std::size_t>> masks = {
      {box_mask(7, 3), 1},
      {gaussian_mask(101, 97, 17), 1},
      {sharpen_mask(9, 1, 1.5), 2},
      {sharpen_mask(63, 8, 10), 2},
      {ring(31, 3), 2},
      {ring(6, 1), 2},
      {convfilt::log_mask(4), 3},  // a constant makes its sum 0
      {make_mask("laplacian", 3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0}, 8), 2},
      {real_mask(random, 3, 40), 3},
      {real_mask(random, 2, 2), 2}};
  for (const auto& [mask, rank] : masks) {
    INFO(mask.name);
    for (Depth depth : kDepths) {
      const double tolerance = rank_tolerance(depth);
      const auto terms = terms_of(mask, kMostTerms, tolerance);
      REQUIRE(terms.size() == rank);
      CHECK(residue(mask, terms) <= tolerance);
      if (rank > 1) CHECK(terms_of(mask, int(rank) - 1, tolerance).empty());
    }
    CHECK(separable_taps(problem_of(mask, Depth::f32)) == int(rank) * (mask.width + mask.height));
  }
}

TEST_CASE("terms: one tap for the large weight of a sharpening mask, so that bits suffice") {
  const auto taps = [](const std::vector<double>& line) {
    return std::count_if(line.begin(), line.end(), [](double w) { return w != 0; });
  };
  for (const int side : {9, 21, 31, 101}) {
    const Mask mask = sharpen_mask(side, 1, side / 6.0);
    const auto terms = terms_of(mask, kMostTerms, rank_tolerance(Depth::u8));
    REQUIRE(terms.size() == 2);
    CHECK(taps(terms[0].row) == side);
    CHECK(taps(terms[1].row) == 1);
    CHECK(taps(terms[1].column) == 1);
    CHECK(prepare_separable<std::uint8_t>(mask).error < 0.1);
  }
}

TEST_CASE("terms: 8-bit results of a small gain need no third term") {
  const Mask mask = convfilt::log_mask(4);
  CHECK(prepare_separable<float>(mask).terms.size() == 3);
  const auto prepared = prepare_separable<std::uint8_t>(mask);
  CHECK(prepared.terms.size() == 2);
  CHECK(prepared.error < 0.02);
}

TEST_CASE("terms: a mask that is of rank 2 up to less than the tolerance gets 2") {
  Random random(29);
  Mask mask = sharpen_mask(9, 1, 1.5);
  for (double& w : mask.weights) w += random.real(-1, 1) * 1e-7;
  CHECK(terms_of(mask, kMostTerms, rank_tolerance(Depth::u8)).size() == 2);
  CHECK(terms_of(mask, kMostTerms, rank_tolerance(Depth::f32)).empty());
}

TEST_CASE("separable: refused are a rank above 3, zeros, and terms that cancel each other") {
  const auto reason = [](const Mask& mask, Depth depth) {
    return separable_refuses(problem_of(mask, depth));
  };
  Random random(30);
  // The first term of this cross, whose middle is its largest weight, fills the four corners.
  std::vector<double> cross(41 * 41);
  for (int i = 0; i < 41; ++i) cross[20 * 41 + i] = cross[i * 41 + 20] = i == 20 ? 2 : 1;
  for (Depth depth : kDepths) {
    CHECK(reason(normalised_mask(random, 6, 6), depth).find("rank is above 3") < 200);
    CHECK(reason(make_mask("zeros", 2, 2, {0, 0, 0, 0}), depth).find("all 0") < 200);
    CHECK(reason(make_mask("cross", 41, 41, cross, 81), depth).find("cancel") < 200);
  }
  CHECK_THROWS_AS(prepare_separable<std::uint8_t>(normalised_mask(random, 4, 4)),
                  std::invalid_argument);
  CHECK_THROWS_AS(prepare_separable<float>(normalised_mask(random, 4, 4)), std::invalid_argument);
}

TEST_CASE("separable 8-bit: the factors' own error is part of the proven one") {
  // The mask has rank 2, but within the tolerance: what the factors leave out must be in the bound.
  Mask mask = gaussian_mask(9, 9, 1.6);
  mask.weights[0] += 3e-5;
  mask.weights[80] -= 9e-6;
  REQUIRE(separable_refuses(problem_of(mask)).empty());
  const auto f = factorise(mask, rank_tolerance(Depth::u8));
  REQUIRE(f);
  REQUIRE(residue(mask, *f) > 1e-5);
  const auto exact = prepare_separable<std::uint8_t>(gaussian_mask(9, 9, 1.6));
  CHECK(prepare_separable<std::uint8_t>(mask).error >= exact.error + 0.003);
}

}  // namespace convfilt::test
