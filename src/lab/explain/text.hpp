/// An explanation in words.
#pragma once

#include <string>

#include "src/base/suggest.hpp"
#include "src/lab/explain/explain.hpp"
#include "src/lab/joined.hpp"

namespace convfilt {

/// Lines under headings, numbers with the sums they come from; differences of formula and count
/// last, in capitals.
std::string to_text(const Explanation& explanation);

/// A number as text: whole ones as they are, others with four decimals at most.
std::string short_number(double value);

/// The atomic additions of a block in the middle, as the emulator counted them; 0 where there is no
/// such block.
std::int64_t atomic_adds_of(const Explanation& e);

}  // namespace convfilt
