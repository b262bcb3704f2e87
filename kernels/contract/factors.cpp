// The factors of masks of rank 1, and of sums of a few such masks.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kernels/contract/mask_memo.hpp"
#include "kernels/contract/separable.hpp"

namespace convfilt {
namespace {

bool all_integers(const std::vector<double>& weights) {
  return std::all_of(weights.begin(), weights.end(),
                     [](double w) { return std::trunc(w) == w && std::abs(w) <= 2147483647.0; });
}

std::optional<Factors> integer_factors(const Mask& mask) {
  if (!all_integers(mask.weights)) return std::nullopt;
  const auto first =
      std::find_if(mask.weights.begin(), mask.weights.end(), [](double w) { return w != 0; });
  if (first == mask.weights.end()) return std::nullopt;
  const auto pivot = first - mask.weights.begin();
  const int pivot_i = int(pivot % mask.width), pivot_j = int(pivot / mask.width);

  Factors f;
  f.integers = true;
  f.divisor = mask.divisor;
  // The row is divided by its common divisor. Every other row is then an integer multiple of it, or
  // the rank is higher.
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

// The place of the largest |weight| that is in neither the row nor the column of `without`.
std::size_t largest_of(const std::vector<double>& weights, std::size_t width,
                       std::optional<std::size_t> without = {}) {
  std::size_t largest = 0;
  double most = -1;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (without && (k / width == *without / width || k % width == *without % width)) continue;
    if (std::abs(weights[k]) <= most) continue;
    most = std::abs(weights[k]);
    largest = k;
  }
  return largest;
}

// The row and the column through a weight that is not 0.
Factors cross(const std::vector<double>& weights, std::size_t width, std::size_t pivot) {
  const std::size_t pivot_i = pivot % width;
  Factors f;
  for (std::size_t i = 0; i < width; ++i) f.row.push_back(weights[pivot - pivot_i + i]);
  const double unit = magnitude(f.row);
  for (double& r : f.row) r /= unit;
  for (std::size_t k = pivot_i; k < weights.size(); k += width) {
    f.column.push_back(weights[k] / f.row[pivot_i]);
  }
  return f;
}

constexpr double kNoise = 1e-14;  // times the largest weight: what roundings leave of 0

// Finds terms by cross approximation (Bebendorf 2000). The first goes through `pivot`, and each of
// the others through the largest weight that is left. A singular value decomposition leaves less,
// but its terms cancel each other more, and its last bits depend on the machine.
std::vector<Factors> real_terms(const Mask& mask, int most, double tolerance, std::size_t pivot) {
  const std::size_t width = std::size_t(mask.width);
  std::vector<double> left = mask.weights;
  const double noise = kNoise * std::abs(left[largest_of(left, width)]);
  double residue = magnitude(left);
  const double enough = tolerance * residue;
  std::vector<Factors> terms;
  while (residue > enough) {
    if (int(terms.size()) == most || left[pivot] == 0) return {};
    const Factors& f = terms.emplace_back(cross(left, width, pivot));
    for (std::size_t j = 0, k = 0; j < f.column.size(); ++j) {
      for (std::size_t i = 0; i < width; ++i, ++k) left[k] -= f.row[i] * f.column[j];
    }
    residue = magnitude(left);
    for (double& w : left) w = std::abs(w) <= noise ? 0 : w;
    pivot = largest_of(left, width);
  }
  for (Factors& f : terms) {
    for (double& c : f.column) c /= mask.divisor;
  }
  return terms;
}

// Makes each row a term, or each column where there are fewer of them.
std::vector<Factors> lines_of(const Mask& mask) {
  const bool rows = mask.height <= mask.width;
  const bool integers = all_integers(mask.weights);
  std::vector<Factors> terms;
  for (int k = 0; k < std::min(mask.width, mask.height); ++k) {
    Factors f;
    f.integers = integers;
    f.divisor = mask.divisor;
    for (int i = 0; i < mask.width; ++i) f.row.push_back(rows ? mask.weight(i, k) : i == k);
    for (int j = 0; j < mask.height; ++j) f.column.push_back(rows ? j == k : mask.weight(k, j));
    terms.push_back(std::move(f));
  }
  return terms;
}

// The number of weights in all rows and columns that are not 0.
std::ptrdiff_t taps_of(const std::vector<Factors>& terms) {
  std::ptrdiff_t taps = 0;
  const auto is_tap = [](double w) { return w != 0; };
  for (const Factors& f : terms) {
    taps += std::count_if(f.row.begin(), f.row.end(), is_tap) +
            std::count_if(f.column.begin(), f.column.end(), is_tap);
  }
  return taps;
}

std::vector<Factors> find_terms(const Mask& mask, int most, double tolerance) {
  if (const auto exact = integer_factors(mask)) return {*exact};
  const std::size_t width = std::size_t(mask.width), largest = largest_of(mask.weights, width);
  auto terms = real_terms(mask, most, tolerance, largest);
  if (terms.size() < 2) return terms;
  if (int(terms.size()) == std::min(mask.width, mask.height)) return lines_of(mask);
  // A single large weight, such as that of a sharpening mask, may get a term of one tap if the
  // first term is taken beside it.
  auto beside = real_terms(mask, most, tolerance, largest_of(mask.weights, width, largest));
  return !beside.empty() && taps_of(beside) < taps_of(terms) ? beside : terms;
}

}  // namespace

std::vector<Factors> terms_of(const Mask& mask, int most, double tolerance) {
  static auto& memo = *new MaskMemo<std::pair<int, double>, std::vector<Factors>>;
  return *memo.find(mask, {most, tolerance}, [&] { return find_terms(mask, most, tolerance); });
}

std::optional<Factors> factorise(const Mask& mask, double tolerance) {
  const auto terms = terms_of(mask, 1, tolerance);
  return terms.empty() ? std::nullopt : std::optional(terms.front());
}

double rank_tolerance(Depth depth) {
  // A mask of gain 1 errs by at most the tolerance times half the range of 255 or 65535 steps,
  // which is 0.005 of a step.
  return depth == Depth::u8 ? 4e-5 : 1.5e-7;
}

bool cancel(const Mask& mask, const std::vector<Factors>& terms) {
  // Rounding errors may be twice those of a mask of rank 1. Sharpening masks, differences of
  // Gaussians and Laplacians of Gaussians stay below 1.3.
  constexpr double kMostCancelled = 2;
  double sum = 0;
  for (const Factors& f : terms) {
    sum += magnitude(f.row) * magnitude(f.column) / f.divisor;
  }
  return sum > kMostCancelled * absolute_gain(mask);
}

double excess_of(const Mask& mask, const std::vector<Factors>& terms) {
  double above = 0, below = 0;
  for (int j = 0; j < mask.height; ++j) {
    for (int i = 0; i < mask.width; ++i) {
      double sum = 0;
      for (const Factors& f : terms) sum += f.row[i] * f.column[j] / f.divisor;
      const double excess = sum - mask.weight(i, j) / mask.divisor;
      (excess > 0 ? above : below) += std::abs(excess);
    }
  }
  return std::max(above, below);
}

}  // namespace convfilt
