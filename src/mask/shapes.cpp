#include "src/mask/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "src/mask/number.hpp"

namespace convfilt {
namespace {

constexpr double kSteps = 255;  // of a pixel's share

void check(double value, double least, double most, const std::string& what) {
  if (!(value >= least && value <= most))
    throw UsageError(what + " " + print_number(value) + " is impossible; give one from " +
                     print_number(least) + " to " + print_number(most) + " pixels");
}

/// A mask of the pixels up to `reach_x` and `reach_y` from the middle. `share(x, y)` is the part of
/// the pixel there that the shape covers. The shape stays as it is when turned by 180 degrees; one
/// half is computed, so that no rounding makes the other unlike it. Rows and columns without
/// weights are left out.
template <class Share>
Mask covered(std::string name, int reach_x, int reach_y, Share share) {
  const auto steps = [&](int x, int y) {
    const int side = y < 0 || (y == 0 && x < 0) ? -1 : 1;
    return std::round(kSteps * share(side * x, side * y));
  };
  const auto is_empty = [&](int from_x, int to_x, int from_y, int to_y) {
    for (int y = from_y; y <= to_y; ++y)
      for (int x = from_x; x <= to_x; ++x)
        if (steps(x, y) > 0) return false;
    return true;
  };
  while (reach_x > 0 && is_empty(reach_x, reach_x, -reach_y, reach_y)) --reach_x;
  while (reach_y > 0 && is_empty(-reach_x, reach_x, reach_y, reach_y)) --reach_y;

  std::vector<Number> weights;
  double sum = 0;
  for (int y = -reach_y; y <= reach_y; ++y)
    for (int x = -reach_x; x <= reach_x; ++x) {
      weights.push_back(number_of(steps(x, y)));
      sum += weights.back().value;
    }
  const int width = 2 * reach_x + 1, height = 2 * reach_y + 1;
  Mask mask = make_mask(std::move(name), width, height, std::vector<double>(weights.size()));
  set_weights(mask, weights, number_of(sum), {0, Rational{}});
  return mask;
}

/// The area of the circle's quarter x, y >= 0 left of x and below y; negative for one negative
/// argument, so that differences give the area in any rectangle.
double quarter_area(double radius, double x, double y) {
  const double sign = (x < 0) == (y < 0) ? 1 : -1;
  x = std::min(std::abs(x), radius);
  y = std::min(std::abs(y), radius);
  if (x * x + y * y <= radius * radius) return sign * x * y;
  // Below the circle's arc: a rectangle up to where the arc is y high, then the arc.
  const double level = std::sqrt(radius * radius - y * y);
  const auto under_arc = [&](double t) {
    return 0.5 * (t * std::sqrt(std::max(0.0, radius * radius - t * t)) +
                  radius * radius * std::asin(std::min(1.0, t / radius)));
  };
  return sign * (y * level + under_arc(x) - under_arc(level));
}

struct Point {
  double x, y;
};

/// The part of a convex polygon where a * x + b * y <= c (Sutherland and Hodgman, 1974).
std::vector<Point> cut(const std::vector<Point>& polygon, double a, double b, double c) {
  std::vector<Point> kept;
  for (std::size_t k = 0; k < polygon.size(); ++k) {
    const Point p = polygon[k], q = polygon[(k + 1) % polygon.size()];
    const double from = a * p.x + b * p.y - c, to = a * q.x + b * q.y - c;
    if (from <= 0) kept.push_back(p);
    if ((from < 0 && to > 0) || (from > 0 && to < 0)) {
      const double t = from / (from - to);
      kept.push_back({p.x + t * (q.x - p.x), p.y + t * (q.y - p.y)});
    }
  }
  return kept;
}

double area(const std::vector<Point>& polygon) {
  double twice = 0;
  for (std::size_t k = 0; k < polygon.size(); ++k) {
    const Point p = polygon[k], q = polygon[(k + 1) % polygon.size()];
    twice += p.x * q.y - q.x * p.y;
  }
  return std::abs(twice) / 2;
}

}  // namespace

Mask disk_mask(double radius) {
  check(radius, 0.5, kMaxDiskRadius, "a disk of radius");
  const int reach = std::min(int(std::ceil(radius - 0.5)), (kMaxMaskSide - 1) / 2);
  return covered("disk " + print_number(radius), reach, reach, [&](int x, int y) {
    const double left = x - 0.5, right = x + 0.5, top = y - 0.5, bottom = y + 0.5;
    return quarter_area(radius, right, bottom) - quarter_area(radius, left, bottom) -
           quarter_area(radius, right, top) + quarter_area(radius, left, top);
  });
}

Mask motion_mask(double length, double degrees) {
  check(length, 1, kMaxMotion, "a motion of length");
  if (!std::isfinite(degrees)) throw UsageError("an angle is a number of degrees");
  // Multiples of a right angle are exact.
  const double turned = std::remainder(degrees, 180), angle = turned * std::numbers::pi / 180;
  const double across = std::abs(turned) == 90 ? 0 : std::cos(angle);
  const double down = -(std::abs(turned) == 90 ? 1 : std::sin(angle));
  const double half_x = length / 2 * across, half_y = length / 2 * down;
  const double side_x = -down / 2, side_y = across / 2;
  const std::vector<Point> line = {{half_x + side_x, half_y + side_y},
                                   {half_x - side_x, half_y - side_y},
                                   {-half_x - side_x, -half_y - side_y},
                                   {-half_x + side_x, -half_y + side_y}};
  const auto reach = [](double half, double side) {
    return std::max(0, int(std::ceil(std::abs(half) + std::abs(side) - 0.5)));
  };
  const std::string name =
      "motion " + print_number(length) + (turned == 0 ? "" : "@" + print_number(degrees));
  return covered(name, reach(half_x, side_x), reach(half_y, side_y), [&](int x, int y) {
    const std::vector<Point> left = cut(cut(line, 1, 0, x + 0.5), -1, 0, 0.5 - x);
    return area(cut(cut(left, 0, 1, y + 0.5), 0, -1, 0.5 - y));
  });
}

}  // namespace convfilt
