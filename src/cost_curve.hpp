/// Costs that were measured with some masks, and those between.
#pragma once

#include <span>

namespace convfilt {

/// Of a mask with so many multiply-adds a sample.
struct CostPoint {
  double taps, cost;
};

constexpr double taps_of(int side) {
  return double(side) * side;
}
constexpr double line_taps_of(int side) {
  return 2.0 * side;
}

/// Linear between the points, which have rising taps; beyond the last in proportion to these. One
/// point: the same whatever the mask.
constexpr double cost_at(std::span<const CostPoint> points, double taps) {
  if (taps <= points.front().taps) return points.front().cost;
  for (std::size_t k = 1; k < points.size(); ++k) {
    const CostPoint &low = points[k - 1], &high = points[k];
    if (taps > high.taps) continue;
    const double share = (taps - low.taps) / (high.taps - low.taps);
    return low.cost + share * (high.cost - low.cost);
  }
  return points.size() == 1 ? points.front().cost : points.back().cost * taps / points.back().taps;
}

}  // namespace convfilt
