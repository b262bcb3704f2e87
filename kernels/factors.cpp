// The factors of masks of rank 1.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "separable.hpp"

namespace convfilt {
namespace {

std::optional<Factors> integer_factors(const Mask& mask) {
  for (double w : mask.weights) {
    if (std::trunc(w) != w || std::abs(w) > 2147483647.0) return std::nullopt;
  }
  const auto first =
      std::find_if(mask.weights.begin(), mask.weights.end(), [](double w) { return w != 0; });
  if (first == mask.weights.end()) return std::nullopt;
  const auto pivot = first - mask.weights.begin();
  const int pivot_i = int(pivot % mask.width), pivot_j = int(pivot / mask.width);

  Factors f;
  f.integers = true;
  f.divisor = mask.divisor;
  // The row without its common divisor: every other row is an integer multiple, or the rank is
  // higher.
  std::int64_t common = 0;
  for (int i = 0; i < mask.width; ++i) {
    common = std::gcd(common, std::int64_t(mask.weight(i, pivot_j)));
  }
  for (int i = 0; i < mask.width; ++i) f.row.push_back(mask.weight(i, pivot_j) / double(common));
  for (int j = 0; j < mask.height; ++j) {
    const double multiple = mask.weight(pivot_i, j) / f.row[pivot_i];
    if (std::trunc(multiple) != multiple) return std::nullopt;
    f.column.push_back(multiple);
    for (int i = 0; i < mask.width; ++i) {
      if (mask.weight(i, j) != multiple * f.row[i]) return std::nullopt;
    }
  }
  return f;
}

// Cross approximation: the row and the column through the largest weight.
std::optional<Factors> real_factors(const Mask& mask, double tolerance) {
  const auto largest =
      std::max_element(mask.weights.begin(), mask.weights.end(),
                       [](double a, double b) { return std::abs(a) < std::abs(b); });
  if (*largest == 0) return std::nullopt;
  const auto pivot = largest - mask.weights.begin();
  const int pivot_i = int(pivot % mask.width), pivot_j = int(pivot / mask.width);

  Factors f;
  for (int i = 0; i < mask.width; ++i) f.row.push_back(mask.weight(i, pivot_j));
  double unit = 0;
  for (double r : f.row) unit += std::abs(r);
  for (double& r : f.row) r /= unit;
  for (int j = 0; j < mask.height; ++j) {
    f.column.push_back(mask.weight(pivot_i, j) / f.row[pivot_i] / mask.divisor);
  }
  double residue = 0;
  for (int j = 0; j < mask.height; ++j) {
    for (int i = 0; i < mask.width; ++i) {
      residue += std::abs(mask.weight(i, j) / mask.divisor - f.row[i] * f.column[j]);
    }
  }
  if (residue > tolerance * absolute_gain(mask)) return std::nullopt;
  return f;
}

}  // namespace

std::optional<Factors> factorise(const Mask& mask, double tolerance) {
  if (auto exact = integer_factors(mask)) return exact;
  return real_factors(mask, tolerance);
}

double rank_tolerance(Depth depth) {
  // A mask of gain 1 errs by at most tolerance * half the range: 0.005 of 255 steps, of 65535
  // steps.
  return depth == Depth::u8 ? 4e-5 : 1.5e-7;
}

}  // namespace convfilt
