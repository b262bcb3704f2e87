#include "src/mask/number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "src/base/numbers.hpp"
#include "src/base/suggest.hpp"

namespace convfilt {
namespace {

// Above this, products with 8-bit samples would leave the integer arithmetic of the kernels.
constexpr std::int64_t kExactLimit = std::int64_t{1} << 31;

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

constexpr std::string_view kRemedy = "write an integer, a decimal or a fraction such as 1/9";
constexpr std::int64_t kMostDigits = 18;  // 10^18 is the largest power of ten in 64 bits

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

bool is_zero(std::string_view digits) {
  return digits.find_first_of("123456789") == digits.npos;
}

// A decimal without a sign as a fraction, if 64 bits hold it.
std::optional<Rational> exact_decimal(std::string_view word) {
  const std::size_t end = std::min(word.find_first_of("eE"), word.size());
  std::string_view exponent = word.substr(std::min(end + 1, word.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  const auto power = exponent.empty() ? 0 : number_of_word<std::int64_t>(exponent);
  std::string digits(word.substr(0, end));
  const std::size_t dot = std::min(digits.find('.'), digits.size());
  const std::size_t decimals = digits.size() - std::min(dot + 1, digits.size());
  digits.erase(dot, 1);
  const std::size_t significant = digits.find_last_not_of('0') + 1;
  const auto mantissa = number_of_word<std::int64_t>(digits.substr(0, significant));
  if (!mantissa || !power || std::abs(*power) > 1'000'000) return std::nullopt;
  const std::int64_t shift =
      *power + std::int64_t(digits.size() - significant) - std::int64_t(decimals);
  if (std::abs(shift) > kMostDigits) return std::nullopt;
  std::int64_t ten_to_shift = 1;
  for (std::int64_t i = 0; i < std::abs(shift); ++i) ten_to_shift *= 10;
  return shift < 0 ? make_rational(*mantissa, ten_to_shift)
                   : make_rational(__int128{*mantissa} * ten_to_shift, 1);
}

// Puts the sign on. A negative zero becomes zero: it means the same, and prints better.
Number with_sign(bool negative, double value, std::optional<Rational> exact) {
  if (!negative || value == 0) return {value, exact};
  if (exact) exact->num = -exact->num;
  return {-value, exact};
}

std::string out_of_range() {
  return "is outside the range of a double, about 1e-308 to 1e308; scale the numbers";
}

std::optional<Number> parse_fraction(bool negative, std::string_view top, std::string_view bottom,
                                     std::string& why) {
  if (is_zero(bottom)) {
    why = "divides by zero";
    return std::nullopt;
  }
  if (is_zero(top)) return Number{0, Rational{}};
  const auto num = number_of_word<std::int64_t>(top), den = number_of_word<std::int64_t>(bottom);
  if (num && den) {
    const auto exact = make_rational(*num, *den);
    return with_sign(negative, double(exact->num) / double(exact->den), exact);
  }
  const auto num_double = number_of_word<double>(top), den_double = number_of_word<double>(bottom);
  const double value = num_double && den_double ? *num_double / *den_double : 0;
  if (value == 0 || !std::isfinite(value)) {
    why = out_of_range();
    return std::nullopt;
  }
  return with_sign(negative, value, std::nullopt);
}

// Says why a word does not have the form of a number.
std::string complaint(std::string_view unsigned_word) {
  const std::string lower = lower_case(std::string(unsigned_word));
  const std::string remedy = "; " + std::string(kRemedy);
  if (lower.starts_with("nan") || lower.starts_with("inf"))
    return "is not a finite number" + remedy;
  if (lower.starts_with("0x")) return "is hexadecimal" + remedy;
  return "is not a number" + remedy;
}

// Returns false and leaves the mask alone if integers over a divisor cannot hold the numbers.
bool set_exactly(Mask& mask, std::span<const Number> weights, const Number& scale,
                 const Number& offset) {
  if (!scale.exact || !offset.exact) return false;
  std::vector<Rational> fractions = {*offset.exact};
  fractions.reserve(weights.size() + 1);
  for (const Number& weight : weights) {
    const auto scaled = weight.exact ? quotient(*weight.exact, *scale.exact) : std::nullopt;
    if (!scaled) return false;
    fractions.push_back(*scaled);
  }
  // Below the limit, 128 bits hold the product of a divisor and any denominator.
  __int128 divisor = 1;
  for (const Rational& fraction : fractions) {
    if (divisor % fraction.den == 0) continue;
    divisor = divisor / common_divisor_of(divisor, fraction.den) * fraction.den;
    if (divisor >= kExactLimit) return false;
  }
  std::vector<double> integers;
  integers.reserve(fractions.size());
  for (const Rational& fraction : fractions) {
    const __int128 integer = fraction.num * (divisor / fraction.den);
    if (magnitude(integer) >= kExactLimit) return false;
    integers.push_back(static_cast<double>(integer));
  }
  mask.weights.assign(integers.begin() + 1, integers.end());
  mask.divisor = static_cast<double>(divisor);
  mask.offset = integers.front() / mask.divisor;
  return true;
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

std::optional<Number> parse_number(std::string_view word, std::string& why) {
  const auto is_sign = [](std::string_view text) {
    return text.starts_with('+') || text.starts_with('-');
  };
  const bool negative = word.starts_with('-');
  if (is_sign(word)) word.remove_prefix(1);
  if (const std::size_t slash = word.find('/'); slash != word.npos) {
    const std::string_view top = word.substr(0, slash), bottom = word.substr(slash + 1);
    if (is_digits(top) && is_digits(bottom)) return parse_fraction(negative, top, bottom, why);
    why = complaint(word);
    return std::nullopt;
  }
  double value = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  // Infinities, NaN and hexadecimal numbers are no weights.
  if (error == std::errc::invalid_argument || stop != end || is_sign(word) ||
      word.find_first_not_of("0123456789.eE+-") != word.npos) {
    why = complaint(word);
    return std::nullopt;
  }
  if (is_zero(word.substr(0, word.find_first_of("eE")))) return Number{0, Rational{}};
  if (error != std::errc() || value == 0 || !std::isfinite(value)) {
    why = out_of_range();
    return std::nullopt;
  }
  return with_sign(negative, value, exact_decimal(word));
}

std::string print_number(double value) {
  constexpr double kWhole = 9007199254740992;  // 2^53
  char text[64];
  const bool whole = std::abs(value) <= kWhole && value == std::trunc(value);
  const auto [end, error] =
      whole ? std::to_chars(text, text + sizeof text, static_cast<std::int64_t>(value))
            : std::to_chars(text, text + sizeof text, value);
  return error == std::errc{} ? std::string(text, end) : "0";
}

std::optional<std::size_t> set_weights(Mask& mask, std::span<const Number> weights,
                                       const Number& scale, const Number& offset) {
  if (set_exactly(mask, weights, scale, offset)) return std::nullopt;
  std::vector<double> doubles;
  doubles.reserve(weights.size());
  for (const Number& weight : weights) {
    // The added zero turns a negative zero into a positive one, as parse_number() gives it.
    doubles.push_back(weight.value / scale.value + 0.0);
    if (!std::isfinite(doubles.back())) return doubles.size() - 1;
  }
  // A decimal may have more digits than 64 bits hold although its double prints short. Without this
  // second look, a mask would change its form when it is printed and read again.
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
