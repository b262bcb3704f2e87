#include "tests/support/masks/mask_facts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace convfilt::test {
namespace {

// The place of the largest outside the row and the column of `without`, which may be no place at
// all.
std::size_t largest_at(const std::vector<long double>& weights, std::size_t width,
                       std::size_t without) {
  std::size_t at = 0;
  long double most = -1;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const bool crossed =
        without < weights.size() && (k / width == without / width || k % width == without % width);
    if (crossed || std::abs(weights[k]) <= most) continue;
    most = std::abs(weights[k]);
    at = k;
  }
  return at;
}

long double sum_of_magnitudes(const std::vector<long double>& weights) {
  long double sum = 0;
  for (const long double w : weights) sum += std::abs(w);
  return sum;
}

}  // namespace

double magnitude_of(const Mask& mask) {
  long double sum = 0;
  for (const double w : mask.weights) sum += std::abs(static_cast<long double>(w));
  return double(sum / mask.divisor);
}

bool integer_weights(const Mask& mask) {
  return std::ranges::all_of(mask.weights, [](double w) { return std::floor(w) == w; });
}

std::size_t largest_weight(const Mask& mask) {
  const std::vector<long double> weights(mask.weights.begin(), mask.weights.end());
  return largest_at(weights, std::size_t(mask.width), weights.size());
}

std::size_t largest_beside(const Mask& mask) {
  const std::vector<long double> weights(mask.weights.begin(), mask.weights.end());
  return largest_at(weights, std::size_t(mask.width), largest_weight(mask));
}

Products products_through(const Mask& mask, std::size_t first) {
  constexpr int kMost = 4;
  const std::size_t width = std::size_t(mask.width), height = std::size_t(mask.height);
  std::vector<long double> left(mask.weights.begin(), mask.weights.end());
  const long double whole = sum_of_magnitudes(left);
  const long double noise = 1e-14L * std::abs(left[largest_weight(mask)]);
  Products found{{1}, {0}};
  std::size_t at = first;
  while (int(found.left.size()) <= kMost && left[at] != 0) {
    const std::size_t i0 = at % width, j0 = at / width;
    const long double pivot = left[at];
    std::vector<long double> row(width), column(height);
    for (std::size_t i = 0; i < width; ++i) row[i] = left[j0 * width + i];
    for (std::size_t j = 0; j < height; ++j) column[j] = left[j * width + i0] / pivot;
    for (std::size_t k = 0; k < left.size(); ++k) left[k] -= row[k % width] * column[k / width];
    for (long double& w : left) w = std::abs(w) <= noise ? 0 : w;
    const long double product = sum_of_magnitudes(row) * sum_of_magnitudes(column);
    found.left.push_back(double(sum_of_magnitudes(left) / whole));
    found.sums.push_back(found.sums.back() + double(product / whole));
    at = largest_at(left, width, left.size());
  }
  return found;
}

IntegerLines integer_lines(const Mask& mask) {
  constexpr double kLargest = 2147483647;
  const auto first = std::ranges::find_if(mask.weights, [](double w) { return w != 0; });
  const bool usable = std::ranges::all_of(
      mask.weights, [](double w) { return std::floor(w) == w && std::abs(w) <= kLargest; });
  if (!usable || first == mask.weights.end()) return {};
  const int j0 = int(first - mask.weights.begin()) / mask.width;
  const int i0 = int(first - mask.weights.begin()) % mask.width;
  std::int64_t common = 0;
  for (int i = 0; i < mask.width; ++i) common = std::gcd(common, std::int64_t(mask.weight(i, j0)));
  IntegerLines lines;
  for (int i = 0; i < mask.width; ++i) lines.row.push_back(mask.weight(i, j0) / double(common));
  for (int j = 0; j < mask.height; ++j) {
    // All minors of two rows vanish, and the numbers of lines.row have no common divisor, so the
    // division below leaves no rest.
    for (int i = 0; i < mask.width; ++i) {
      __extension__ typedef __int128 Wide;
      const Wide one = Wide(std::int64_t(mask.weight(i, j))) * std::int64_t(mask.weight(i0, j0));
      const Wide other = Wide(std::int64_t(mask.weight(i0, j))) * std::int64_t(mask.weight(i, j0));
      if (one != other) return {};
    }
    lines.column.push_back(mask.weight(i0, j) / lines.row[std::size_t(i0)]);
  }
  return lines;
}

}  // namespace convfilt::test
