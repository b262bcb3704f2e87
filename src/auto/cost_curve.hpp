/// Costs that were measured with some masks, and those between.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/problem.hpp"

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

/// What strategies cost that multiply by all weights of square masks of these sides.
template <std::size_t N>
constexpr std::array<CostPoint, N> squares(const int (&sides)[N], const double (&costs)[N]) {
  std::array<CostPoint, N> points{};
  for (std::size_t k = 0; k < N; ++k) points[k] = {taps_of(sides[k]), costs[k]};
  return points;
}

/// Likewise of those that multiply by their rows and columns.
template <std::size_t N>
constexpr std::array<CostPoint, N> lines(const int (&sides)[N], const double (&costs)[N]) {
  std::array<CostPoint, N> points{};
  for (std::size_t k = 0; k < N; ++k) points[k] = {line_taps_of(sides[k]), costs[k]};
  return points;
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

/// One strategy at one depth, for grey pictures or for those in colour.
struct CostCurve {
  std::string_view strategy;
  Depth depth;
  bool colour;
  std::span<const CostPoint> points;    ///< by rising taps
  std::optional<bool> warpgroups = {};  ///< for kernels of these, or for all others alone
};

/// Of the first curve that is of these; nothing where there is none.
constexpr std::optional<double> cost_at(std::span<const CostCurve> curves,
                                        std::string_view strategy, Depth depth, bool colour,
                                        bool warpgroups, double taps) {
  for (const CostCurve& curve : curves) {
    if (curve.strategy == strategy && curve.depth == depth && curve.colour == colour &&
        curve.warpgroups.value_or(warpgroups) == warpgroups)
      return cost_at(curve.points, taps);
  }
  return {};
}

}  // namespace convfilt
