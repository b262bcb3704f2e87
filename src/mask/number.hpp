/// Numbers as mask files write them, read and written without regard to the locale.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/mask/rational.hpp"

namespace convfilt {

/// A number from a file: the nearest double, and the number itself where a Rational can hold it.
struct Number {
  double value = 0;  ///< finite
  std::optional<Rational> exact;
};

/// Reads an integer, a decimal (1.5, .5, 5., 2e-3) or a fraction of integers (1/9, -2/3), with an
/// optional sign, from the whole of `word`. Nothing if it is none of these, divides by zero or lies
/// outside the range of a double; `why` then says so in words that follow the quoted word.
std::optional<Number> parse_number(std::string_view word, std::string& why);

/// The shortest text that parse_number reads back as exactly this double; whole numbers without an
/// exponent up to 2^53. `value` is finite.
std::string print_number(double value);

}  // namespace convfilt
