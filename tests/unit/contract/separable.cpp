/// Two passes of 8 bits: their proven error, their ends, and what is refused for it.
#include "kernels/contract/separable.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "src/mask/make.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/oracle.hpp"

namespace convfilt::test {
namespace {

Problem problem_of(const Mask& mask, Depth depth = Depth::u8) {
  return {20, 20, 1, depth, Border::replicate, 0, mask};
}

/// The sample that two passes give where the picture under the mask is `samples`, straight from the
/// definition in separable.hpp. Counts in `overflows` the sums that leave their range, which
/// saturation would hide.
int two_passes(const SeparableMask<std::uint8_t>& s, const std::vector<int>& samples,
               int& overflows) {
  std::int64_t total = 0;
  for (const auto& [row, column] : s.terms) {
    for (int j = 0; j < column.height; ++j) {
      std::int64_t sum = 0;
      for (int i = 0; i < row.width; ++i) {
        sum += std::int64_t(row.weights[i]) * samples[std::size_t(j) * row.width + i];
      }
      if (sum < row.finish.lowest_sum || sum > row.finish.highest_sum) ++overflows;
      std::int16_t row_sum;
      finish(row.finish, std::int32_t(sum), row_sum);
      total += std::int64_t(column.weights[j]) * row_sum;
    }
    if (std::abs(double(total)) >= 2147483648.0) ++overflows;
  }
  std::uint8_t out;
  finish(s.terms.back().column.finish, std::int32_t(total), out);
  return out;
}

/// Pictures that bring a pass to its ends: dark under one sign of the weights and bright under the
/// other, the opposite, plain ones, and noise.
std::vector<std::vector<int>> pictures_for(const Mask& mask, Random& random) {
  const std::size_t n = mask.weights.size();
  std::vector<std::vector<int>> pictures(4, std::vector<int>(n, 255));
  for (std::size_t k = 0; k < n; ++k) {
    pictures[0][k] = mask.weights[k] > 0 ? 255 : 0;
    pictures[1][k] = mask.weights[k] > 0 ? 0 : 255;
    pictures[2][k] = 0;
  }
  for (int rounds = 200; rounds > 0; --rounds) {
    std::vector<int> noise(n);
    for (int& v : noise) v = rounds % 2 ? random.integer(0, 255) : 255 * random.integer(0, 1);
    pictures.push_back(std::move(noise));
  }
  return pictures;
}

/// The largest distance of two passes from the real value, in steps, less the half that rounding
/// takes.
double measured_error(const Mask& mask, const SeparableMask<std::uint8_t>& prepared) {
  Random random(21);
  double largest = 0;
  int overflows = 0;
  for (const auto& picture : pictures_for(mask, random)) {
    double real = 0;
    for (std::size_t k = 0; k < picture.size(); ++k) real += mask.weights[k] * picture[k];
    real = std::clamp(real / mask.divisor + mask.offset, 0.0, 255.0);
    largest = std::max(largest, std::abs(two_passes(prepared, picture, overflows) - real));
  }
  CHECK_MESSAGE(overflows == 0, mask.name << ": sums leave their range");
  return largest - 0.5;
}

}  // namespace

TEST_CASE("terms of 8 bits share one scale and one end") {
  const auto prepared = prepare_separable<std::uint8_t>(sharpen_mask(21, 2, 3));
  REQUIRE(prepared.terms.size() == 2);
  const IntegerFinish &first = prepared.terms[0].column.finish,
                      &second = prepared.terms[1].column.finish;
  CHECK(first.divisor == second.divisor);
  CHECK(first.lowest_sum == second.lowest_sum);
}

TEST_CASE("separable 8-bit: the proven error is true, and within one step of the truth") {
  Random random(26);
  std::vector<Mask> masks = {gaussian_mask(5, 5, 1),
                             gaussian_mask(31, 31, 5),
                             gaussian_mask(241, 241, 40),
                             box_mask(5, 5),
                             box_mask(200, 3),
                             box_mask(300, 300),
                             make_mask("sobel", 3, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1}, 1, 128),
                             make_mask("negative", 5, 1, {-0.9, -0.8, -0.31, -0.2, -0.1}, 1, 255),
                             make_mask("gain", 1, 3, {30.7, -60.2, 30.1}, 1, 40),
                             make_mask("white", 3, 1, {0.3, 0.3, 0.3}, 1, 1e9)};
  for (int k = 0; k < 60; ++k) {
    Mask mask = real_rank_one_mask(random, random.integer(1, 20), random.integer(1, 20));
    mask.offset = random.real(-20, 200);
    if (k % 4 == 0) mask.divisor = 0.01;  // 100 times as much
    masks.push_back(mask);
    masks.push_back(integer_rank_one_mask(random, random.integer(1, 9), random.integer(1, 9), 9,
                                          random.integer(1, 400)));
  }
  for (const double amount : {0.3, 1.0, 8.0}) {
    for (const int side : {5, 15, 31, 101}) masks.push_back(sharpen_mask(side, amount, side / 6.0));
  }
  for (int k = 0; k < 60; ++k) {
    Mask mask =
        real_mask(random, random.integer(2, 3), random.integer(2, 20), random.real(-20, 200));
    if (k % 2) std::swap(mask.width, mask.height);
    masks.push_back(mask);
  }
  std::size_t of_terms[kMostTerms + 1] = {};
  for (const Mask& mask : masks) {
    if (!separable_refuses(problem_of(mask)).empty()) continue;
    INFO(mask.name << " divisor " << mask.divisor << " offset " << mask.offset);
    const auto prepared = prepare_separable<std::uint8_t>(mask);
    ++of_terms[prepared.terms.size()];
    CHECK(prepared.error <= 0.5);  // and 0.5 by rounding: one step
    CHECK(measured_error(mask, prepared) <= prepared.error + 1e-9);
  }
  for (int terms = 1; terms <= kMostTerms; ++terms) CHECK(of_terms[terms] > 10);
}

TEST_CASE("separable 8-bit: integer factors with sums of 16 bits give the bytes of direct") {
  Random random(27);
  for (const Mask& mask :
       {box_mask(3, 3), box_mask(15, 15), box_mask(250, 9), identity_mask(3),
        make_mask("sobel", 3, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1}, 1, 128),
        make_mask("binomial", 5, 1, {1, 4, 6, 4, 1}, 16), integer_mask(random, 40, 3, 9, 300, 20),
        integer_mask(random, 2, 17, 9, 60, -20)}) {
    INFO(mask.name);
    const auto prepared = prepare_separable<std::uint8_t>(mask);
    CHECK(prepared.error == 0);
    const auto direct = prepare_mask<std::uint8_t>(mask);
    int different = 0, overflows = 0;
    for (const auto& picture : pictures_for(mask, random)) {
      std::int32_t sum = 0;
      for (std::size_t k = 0; k < picture.size(); ++k) sum += direct.weights[k] * picture[k];
      std::uint8_t out;
      finish(direct.finish, sum, out);
      if (out != two_passes(prepared, picture, overflows)) ++different;
    }
    CHECK(different == 0);
    CHECK(overflows == 0);
  }
}

TEST_CASE("separable: a mask whose passes cannot stay within one step is refused") {
  CHECK_FALSE(separable_refuses(problem_of(make_mask("huge", 2, 1, {5e6, 1.5e6}))).empty());
  CHECK_FALSE(
      separable_refuses(problem_of(make_mask("steep", 2, 2, {900.5, 1801, 900.5, 1801}))).empty());
  CHECK(separable_refuses(problem_of(make_mask("huge", 2, 1, {5e6, 1.5e6}), Depth::f32)).empty());
}

TEST_CASE("separable: the row pass of a row outside the picture") {
  const Mask mask = make_mask("mean", 3, 3, {1, 2, 1, 2, 4, 2, 1, 2, 1}, 16);
  const auto prepared = prepare_separable<std::uint8_t>(mask);
  for (int ghost : {0, 1, 77, 255}) {
    int overflows = 0;
    CHECK(two_passes(prepared, std::vector<int>(9, ghost), overflows) == ghost);
    std::int16_t row_sum;
    finish(prepared.terms[0].row.finish, 4 * ghost, row_sum);
    CHECK(prepared.terms[0].ghost_row_result(std::uint8_t(ghost)) == row_sum);
  }
  CHECK(prepare_separable<float>(mask).terms[0].ghost_row_result(0.5f) == 2.0f);
}

}  // namespace convfilt::test
