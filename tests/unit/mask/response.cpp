/// Frequency responses against closed forms.
#include "src/mask/response.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "src/mask/make.hpp"

namespace convfilt::test {
namespace {

using doctest::Approx;
constexpr double kPi = std::numbers::pi;

}  // namespace

TEST_CASE("a single weight passes all frequencies alike, wherever it lies") {
  const Mask mask = make_mask("shift", 3, 2, {0, 0, 0, 0, 0, -3}, 2);
  for (const double u : {-0.5, 0.0, 0.3})
    for (const double v : {0.0, 0.25, 0.5}) CHECK(response_at(mask, u, v) == Approx(1.5));
}

TEST_CASE("a box has Dirichlet's kernel") {
  // |sin(3 pi u) / (3 sin(pi u))| along x, and the product of two of them anywhere.
  const auto dirichlet = [](double u) {
    return std::abs(std::sin(3 * kPi * u) / (3 * std::sin(kPi * u)));
  };
  const Mask box = box_mask(3);
  CHECK(response_at(box, 0, 0) == Approx(1));
  CHECK(response_at(box, 0.1, 0) == Approx(dirichlet(0.1)));
  CHECK(response_at(box, 0.5, 0) == Approx(1.0 / 3));
  CHECK(response_at(box, 0.2, 0.4) == Approx(dirichlet(0.2) * dirichlet(0.4)));
  CHECK(response_at(box, 1.0 / 3, 0.1) == Approx(0).epsilon(1e-12));
}

TEST_CASE("derivatives pass along their axis; the offset counts for nothing") {
  // -1 0 1 is 2i sin(2 pi u); 1 2 1 is 4 cos^2(pi v).
  const Mask sobel = make_mask("sobel", 3, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1}, 1, 128);
  CHECK(response_at(sobel, 0, 0) == Approx(0));
  CHECK(response_at(sobel, 0.25, 0) == Approx(8));
  CHECK(response_at(sobel, 0.1, 0.2) ==
        Approx(2 * std::sin(0.2 * kPi) * 4 * std::pow(std::cos(0.2 * kPi), 2)));
  CHECK(response_at(sobel, 0.25, 0.5) == Approx(0).epsilon(1e-12));
  CHECK(response_at(sobel, -0.1, 0.2) == Approx(response_at(sobel, 0.1, 0.2)));
}

TEST_CASE("waves along the two diagonals differ") {
  // 1 + exp(2 pi i (u + v)) is of magnitude 2 |cos(pi (u + v))|.
  const Mask diagonal = make_mask("diagonal", 2, 2, {1, 0, 0, 1});
  CHECK(response_at(diagonal, 0.2, 0.1) == Approx(2 * std::cos(0.3 * kPi)));
  CHECK(response_at(diagonal, 0.2, -0.1) == Approx(2 * std::cos(0.1 * kPi)));
}

TEST_CASE("a grid has the middle at frequency 0, and its ends at half a cycle a pixel") {
  const Mask mask = make_mask("any", 2, 3, {1, 2, 3, -4, 5, 6}, 3);
  const std::vector<double> grid = response_grid(mask, 5);
  REQUIRE(grid.size() == 25);
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 5; ++x)
      CHECK(grid[std::size_t(y * 5 + x)] ==
            Approx(response_at(mask, (x - 2) / 4.0, (y - 2) / 4.0)));
  CHECK(grid[12] == Approx(13.0 / 3));
  CHECK_THROWS_AS(response_grid(mask, 4), std::invalid_argument);
  CHECK_THROWS_AS(response_grid(mask, 1), std::invalid_argument);
}

}  // namespace convfilt::test
