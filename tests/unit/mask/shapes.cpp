#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "kernels/problem.hpp"
#include "src/base/errors.hpp"
#include "src/mask/shapes.hpp"

using namespace convfilt;

namespace {

/// Compares each weight with the share of N x N points of the pixel for which `is_inside(x, y)`
/// holds. A straight or nearly straight rim crosses at most 2 N + 1 of the points' cells, half of
/// which may be counted wrong, and a weight is rounded by half of 1/255.
template <class Inside>
void check_shares(const Mask& mask, Inside is_inside) {
  constexpr int kPoints = 64;
  CHECK(std::accumulate(mask.weights.begin(), mask.weights.end(), 0.0) == mask.divisor);
  std::vector<double> shares;
  for (int j = 0; j < mask.height; ++j)
    for (int i = 0; i < mask.width; ++i) {
      int inside = 0;
      for (int b = 0; b < kPoints; ++b)
        for (int a = 0; a < kPoints; ++a)
          inside += is_inside(i - mask.anchor_x - 0.5 + (a + 0.5) / kPoints,
                              j - mask.anchor_y - 0.5 + (b + 0.5) / kPoints);
      shares.push_back(double(inside) / kPoints / kPoints);
    }
  const double area = std::accumulate(shares.begin(), shares.end(), 0.0);
  double worst = 0;
  for (std::size_t k = 0; k < shares.size(); ++k)
    worst = std::max(worst, std::abs(mask.weights[k] / mask.divisor * area - shares[k]));
  CHECK(worst < 2.5 / kPoints);
}

bool is_symmetric(const Mask& mask) {
  return flipped(mask).weights == mask.weights;
}

}  // namespace

TEST_CASE("disk: shares of pixels, area, symmetry") {
  for (const double radius : {0.5, 0.8, 1.0, 1.5, 2.3, 5.0, 7.49, 20.0}) {
    CAPTURE(radius);
    const Mask mask = disk_mask(radius);
    CHECK(mask.width == 2 * int(std::ceil(radius - 0.5)) + 1);
    CHECK(mask.height == mask.width);
    CHECK(is_symmetric(mask));
    for (int j = 0; j < mask.height; ++j)
      for (int i = 0; i < mask.width; ++i) CHECK(mask.weight(i, j) == mask.weight(j, i));
    check_shares(mask, [&](double x, double y) { return x * x + y * y <= radius * radius; });
  }
  // 255 for each whole pixel: the middle's weight is its share of the area.
  const Mask mask = disk_mask(20);
  CHECK(mask.width == 41);
  CHECK(mask.weight(20, 20) / mask.divisor ==
        doctest::Approx(1 / (std::numbers::pi * 400)).epsilon(1e-4));
  CHECK(disk_mask(512).width == kMaxMaskSide);
}

TEST_CASE("motion: shares of pixels at any angle, exact along rows, columns and diagonals") {
  for (const double length : {1.0, 2.0, 3.5, 9.0, 25.0})
    for (const double degrees : {0.0, 10.0, 30.0, 45.0, 72.5, 90.0, 135.0, -20.0}) {
      CAPTURE(length);
      CAPTURE(degrees);
      const Mask mask = motion_mask(length, degrees);
      CHECK(is_symmetric(mask));
      const double angle = degrees * std::numbers::pi / 180;
      check_shares(mask, [&](double x, double y) {
        const double along = x * std::cos(angle) - y * std::sin(angle);
        const double aside = x * std::sin(angle) + y * std::cos(angle);
        return std::abs(along) <= length / 2 && std::abs(aside) <= 0.5;
      });
    }
  const Mask row = motion_mask(9, 0);
  CHECK(row.width == 9);
  CHECK(row.height == 1);
  CHECK(row.weights == std::vector<double>(9, 1));
  CHECK(row.divisor == 9);
  CHECK(motion_mask(9, 180).weights == row.weights);
  CHECK(motion_mask(9, 90).height == 9);
  CHECK(motion_mask(9, -90).weights == row.weights);
  CHECK(motion_mask(4, 0).weights == std::vector<double>{128, 255, 255, 255, 128});
  // Upwards to the right at 45 degrees.
  const Mask diagonal = motion_mask(9, 45);
  CHECK(diagonal.weight(0, diagonal.height - 1) > 0);
  CHECK(diagonal.weight(0, 0) == 0);
  CHECK(motion_mask(kMaxMotion, 45).width <= kMaxMaskSide);
  CHECK(motion_mask(kMaxMotion, 0).width <= kMaxMaskSide);
}

TEST_CASE("shapes: impossible sizes have messages") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double radius : {0.0, 0.49, -1.0, 512.1, nan})
    CHECK_THROWS_AS(disk_mask(radius), UsageError);
  for (const double length : {0.0, 0.9, 725.0, nan})
    CHECK_THROWS_AS(motion_mask(length, 0), UsageError);
  CHECK_THROWS_AS(motion_mask(5, nan), UsageError);
  CHECK_THROWS_WITH(disk_mask(600),
                    "a disk of radius 600 is impossible; give one from 0.5 to 512 pixels");
}
