#include "kernels/contract/fixed_point.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace convfilt {

FixedPoint fixed_point(const std::vector<double>& reals, int shift, double sample_range) {
  const double one = std::ldexp(1.0, shift);
  FixedPoint fixed;
  fixed.weights.resize(reals.size());
  std::vector<double> excess(reals.size());  // fixed - real, in units of 2^-shift
  double sum = 0;
  std::int64_t fixed_sum = 0;
  for (std::size_t k = 0; k < reals.size(); ++k) {
    const double exact = reals[k] * one;
    fixed.weights[k] = std::int32_t(std::nearbyint(exact));
    excess[k] = fixed.weights[k] - exact;
    sum += exact;
    fixed_sum += fixed.weights[k];
  }
  // To keep the sum, weights move back by one unit, those first that rounding has moved furthest.
  std::int64_t surplus = fixed_sum - std::int64_t(std::nearbyint(sum));
  const int direction = surplus > 0 ? 1 : -1;
  std::vector<std::size_t> order(reals.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return direction * excess[a] > direction * excess[b];
  });
  for (std::size_t k = 0; surplus != 0 && k < order.size(); ++k, surplus -= direction) {
    fixed.weights[order[k]] -= direction;
    excess[order[k]] -= direction;
  }
  double above = 0, below = 0;
  for (double e : excess) (e > 0 ? above : below) += std::abs(e);
  fixed.error = sample_range * std::max(above, below) / one;
  return fixed;
}

}  // namespace convfilt
