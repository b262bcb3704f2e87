/// Numbers of masks: exact fractions, numbers in mask files, and weights over a common divisor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/problem.hpp"

namespace convfilt {

/// num / den in lowest terms, den > 0. make_rational() makes it, and notices overflow.
struct Rational {
  std::int64_t num = 0, den = 1;

  bool operator==(const Rational&) const = default;
};

/// num / den in lowest terms; nothing if den is 0 or the result does not fit 64 bits.
std::optional<Rational> make_rational(__int128 num, __int128 den);

/// a / b; nothing if b is 0 or the result does not fit 64 bits.
std::optional<Rational> quotient(const Rational& a, const Rational& b);

/// The fraction k / divisor that rounds to `value`, if there is one. It recovers the exact number
/// of an offset that was stored as a double. `divisor` is positive.
std::optional<Rational> multiple_of(double value, double divisor);

/// A number from a file: the nearest double, and the exact number if a Rational can hold it.
struct Number {
  double value = 0;  ///< finite
  std::optional<Rational> exact;
};

/// Reads an integer, a decimal (1.5, .5, 5., 2e-3) or a fraction of integers (1/9, -2/3), with an
/// optional sign, from the whole of `word`. Nothing if it is none of these, divides by zero or lies
/// outside the range of a double; then `why` is the reason, worded to follow the quoted word.
std::optional<Number> parse_number(std::string_view word, std::string& why);

/// The shortest text that parse_number reads back as exactly this double; whole numbers without an
/// exponent up to 2^53. `value` is finite.
std::string print_number(double value);

/// Gives `mask` the weights `weights[i] / scale` and the offset.
///   - Integers over the smallest common divisor of weights and offset, if all of the weights, the
///     divisor and offset * divisor are then below 2^31. Nine 1/9 are nine 1s over 9; nine
///     1s with scale 1 stay nine 1s over 1.
///   - Otherwise doubles over 1.
/// A negative scale negates the weights. Returns the index of the first weight whose quotient no
/// double holds, if there is one. `scale` is not 0.
std::optional<std::size_t> set_weights(Mask& mask, std::span<const Number> weights,
                                       const Number& scale, const Number& offset);

/// The number behind a mask's weight or offset: exact if it is a multiple of 1/divisor or a short
/// decimal.
Number number_of(double value, double divisor = 1);

}  // namespace convfilt
