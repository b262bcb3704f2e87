#include "src/mask/exact.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace convfilt {
namespace {

// False, and the mask untouched, if integers over a divisor cannot hold the numbers.
bool set_exactly(Mask& mask, std::span<const Number> weights, const Number& scale,
                 const Number& offset) {
  if (!scale.exact || !offset.exact) return false;
  std::vector<Rational> quotients;
  quotients.reserve(weights.size());
  for (const Number& weight : weights) {
    if (!weight.exact) return false;
    const auto scaled = quotient(*weight.exact, *scale.exact);
    if (!scaled) return false;
    quotients.push_back(*scaled);
  }
  auto common = over_common_divisor(quotients, *offset.exact);
  if (!common) return false;
  mask.weights = std::move(common->weights);
  mask.divisor = static_cast<double>(common->divisor);
  mask.offset = static_cast<double>(common->offset) / mask.divisor;
  return true;
}

}  // namespace

std::optional<std::size_t> set_weights(Mask& mask, std::span<const Number> weights,
                                       const Number& scale, const Number& offset) {
  if (set_exactly(mask, weights, scale, offset)) return std::nullopt;
  std::vector<double> doubles;
  doubles.reserve(weights.size());
  for (const Number& weight : weights) {
    // Adding zero turns a negative zero into a positive one, which prints as it was.
    doubles.push_back(weight.value / scale.value + 0.0);
    if (!std::isfinite(doubles.back())) return doubles.size() - 1;
  }
  // A decimal may have more digits than 64 bits hold, and its double still be a short one; without
  // this second look a mask would change its form when it is printed and read again.
  std::vector<Number> short_ones;
  short_ones.reserve(doubles.size());
  for (double weight : doubles) {
    short_ones.push_back(number_of(weight));
    if (!short_ones.back().exact) break;
  }
  const bool all_short = short_ones.size() == doubles.size() && short_ones.back().exact;
  if (all_short && set_exactly(mask, short_ones, number_of(1), number_of(offset.value))) {
    return std::nullopt;
  }
  mask.weights = std::move(doubles);
  mask.divisor = 1;
  mask.offset = offset.value;
  return std::nullopt;
}

Number number_of(double value, double divisor) {
  if (const auto exact = multiple_of(value, divisor)) return {value, exact};
  std::string why;
  return parse_number(print_number(value), why).value_or(Number{value, std::nullopt});
}

}  // namespace convfilt
