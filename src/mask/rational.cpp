#include "src/mask/rational.hpp"

#include <cmath>
#include <limits>

namespace convfilt {
namespace {

__int128 magnitude(__int128 n) {
  return n < 0 ? -n : n;
}

// std::gcd takes no 128-bit numbers when extensions are off.
__int128 common_divisor_of(__int128 a, __int128 b) {
  while (b != 0) {
    const __int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// The least common multiple, or 0 if it reaches the limit. Both are below it, so nothing overflows.
std::int64_t multiple_below_limit(std::int64_t a, std::int64_t b) {
  const __int128 multiple = __int128{a} / common_divisor_of(a, b) * b;
  return multiple < kExactLimit ? static_cast<std::int64_t>(multiple) : 0;
}

// `value` times a multiple of its denominator: exact; nothing at or above the limit.
std::optional<std::int64_t> whole(const Rational& value, std::int64_t divisor) {
  const __int128 product = __int128{value.num} * (divisor / value.den);
  if (magnitude(product) >= kExactLimit) return std::nullopt;
  return static_cast<std::int64_t>(product);
}

}  // namespace

std::optional<Rational> make_rational(__int128 num, __int128 den) {
  constexpr __int128 kMost = std::numeric_limits<std::int64_t>::max();
  if (den == 0) return std::nullopt;
  const __int128 common = common_divisor_of(magnitude(num), magnitude(den));
  num = (den < 0 ? -num : num) / common;
  den = magnitude(den) / common;
  if (magnitude(num) > kMost || den > kMost) return std::nullopt;
  return Rational{static_cast<std::int64_t>(num), static_cast<std::int64_t>(den)};
}

std::optional<Rational> quotient(const Rational& a, const Rational& b) {
  // 64 by 64 bits fit 127 bits and a sign, so the products below cannot overflow.
  return make_rational(__int128{a.num} * b.den, __int128{a.den} * b.num);
}

std::optional<Rational> multiple_of(double value, double divisor) {
  constexpr double kWhole = 9007199254740992;  // 2^53: up to here every whole number is a double
  const double multiple = std::nearbyint(value * divisor);
  const bool is_whole = std::abs(multiple) <= kWhole && divisor <= kWhole &&
                        divisor == std::nearbyint(divisor) && multiple / divisor == value;
  if (!is_whole) return std::nullopt;
  return make_rational(static_cast<std::int64_t>(multiple), static_cast<std::int64_t>(divisor));
}

std::optional<CommonDivisor> over_common_divisor(std::span<const Rational> weights,
                                                 const Rational& offset) {
  CommonDivisor common;
  if (offset.den >= kExactLimit) return std::nullopt;
  common.divisor = offset.den;
  for (const Rational& weight : weights) {
    if (common.divisor % weight.den == 0) continue;
    if (weight.den >= kExactLimit) return std::nullopt;
    common.divisor = multiple_below_limit(common.divisor, weight.den);
    if (common.divisor == 0) return std::nullopt;
  }
  common.weights.reserve(weights.size());
  for (const Rational& weight : weights) {
    const auto integer = whole(weight, common.divisor);
    if (!integer) return std::nullopt;
    common.weights.push_back(static_cast<double>(*integer));
  }
  const auto integer_offset = whole(offset, common.divisor);
  if (!integer_offset) return std::nullopt;
  common.offset = *integer_offset;
  return common;
}

}  // namespace convfilt
