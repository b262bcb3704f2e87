#include "src/mask/random.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "src/base/splitmix.hpp"
#include "src/mask/make.hpp"

namespace convfilt {
namespace {

constexpr int kMost16 = 127 * 257, kMost8 = 127;

/// The most that limit * number of weights may be, so that 8-bit sums stay exact.
constexpr int kMostTogether = 1 << 22;

Mask integer_mask(Weights weights, int width, int height, SplitMix& random) {
  const int count = width * height;
  const int limit = std::min(weights == Weights::bits16 ? kMost16 : kMost8, kMostTogether / count);
  std::vector<double> values;
  double sum = 0, magnitudes = 0;
  for (int k = 0; k < count; ++k) {
    values.push_back(random.below(std::uint32_t(limit + limit / 2 + 1)) - limit / 2);
    sum += values.back();
    magnitudes += std::abs(values.back());
  }
  // A few weights may cancel each other.
  for (double& value : values) {
    if (sum > magnitudes / 4) break;
    if (value == 0) {
      value = 1;
      sum += 1;
      magnitudes += 1;
    } else if (value < 0) {
      value = -value;
      sum += 2 * value;
    }
  }
  const double divisor = std::exp2(std::ceil(std::log2(sum)));
  return make_mask(std::string(name_of(weights)), width, height, std::move(values), divisor);
}

std::vector<double> factors(int count, SplitMix& random) {
  std::vector<double> values;
  double sum = 0;
  for (int k = 0; k < count; ++k) {
    values.push_back(0.25 + 0.75 * double(random.next() >> 11) * 0x1p-53);
    sum += values.back();
  }
  for (double& value : values) value /= sum;
  return values;
}

std::vector<double> product(int width, int height, SplitMix& random) {
  const std::vector<double> row = factors(width, random);
  return outer_product(factors(height, random), row);
}

Mask low_rank_mask(Weights weights, int width, int height, SplitMix& random) {
  std::vector<double> values = product(width, height, random);
  if (weights == Weights::rank2) {
    const std::vector<double> other = product(width, height, random);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = 2 * values[k] - other[k];
  }
  return make_mask(std::string(name_of(weights)), width, height, std::move(values));
}

}  // namespace

std::string_view name_of(Weights weights) {
  constexpr std::string_view kNames[] = {"16bit", "8bit", "rank1", "rank2"};
  return kNames[int(weights)];
}

Mask random_mask(Weights weights, int width, int height) {
  check_mask_sides(width, height);
  SplitMix random(std::uint64_t(width) * (kMaxMaskSide + 1) + std::uint64_t(height));
  return weights == Weights::rank1 || weights == Weights::rank2
             ? low_rank_mask(weights, width, height, random)
             : integer_mask(weights, width, height, random);
}

}  // namespace convfilt
