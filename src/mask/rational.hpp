/// Exact fractions, and a mask's weights brought over one common divisor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace convfilt {

/// num / den in lowest terms, den > 0. Made by make_rational, which is where overflow is noticed.
struct Rational {
  std::int64_t num = 0, den = 1;

  bool operator==(const Rational&) const = default;
};

/// num / den in lowest terms; nothing if den is 0 or the result does not fit 64 bits.
std::optional<Rational> make_rational(__int128 num, __int128 den);

/// a / b; nothing if b is 0 or the result does not fit 64 bits.
std::optional<Rational> quotient(const Rational& a, const Rational& b);

/// The fraction k / divisor that rounds to `value`, if there is one: how an offset that was stored
/// as a double is turned back into the exact number it was. `divisor` is positive.
std::optional<Rational> multiple_of(double value, double divisor);

/// Integers over a common divisor. Every one of them, and offset, is below kExactLimit in
/// magnitude.
struct CommonDivisor {
  std::vector<double> weights;  ///< whole numbers
  std::int64_t divisor = 1;     ///< positive; the smallest that makes all of them whole
  std::int64_t offset = 0;      ///< the mask's offset times divisor
};

/// Above this, products with 8-bit samples would leave the integer arithmetic of the kernels.
inline constexpr std::int64_t kExactLimit = std::int64_t{1} << 31;

/// Brings weights and offset over their smallest common divisor; nothing if a number reaches
/// kExactLimit on the way. {1/9, 1/9}, 0 becomes {1, 1} over 9.
std::optional<CommonDivisor> over_common_divisor(std::span<const Rational> weights,
                                                 const Rational& offset);

}  // namespace convfilt
