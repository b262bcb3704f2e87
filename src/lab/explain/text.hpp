/// An explanation in words, and as data.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "src/base/suggest.hpp"
#include "src/lab/explain/explain.hpp"

namespace convfilt {

/// Lines under headings, numbers with the sums they come from; differences of formula and count
/// last, in capitals.
std::string to_text(const Explanation& explanation);

/// The same as one object of JSON, with units in its names. A number that is found in two ways is
/// an object of both: {"formula": 400, "count": 400}. What a strategy has not is null.
std::string to_json(const Explanation& explanation, std::string_view version);

/// The family's bound for the depths of which the strategy takes the problem.
std::string bound_of(const Explanation& explanation);

/// Why there is no block of the strategy, in half a sentence.
std::string why_no_block(const Explanation& explanation);

/// A number as text: whole ones as they are, others with four decimals at most.
std::string short_number(double value);

/// The atomic additions of a block in the middle, as the emulator counted them; 0 where there is no
/// such block.
std::int64_t atomic_adds_of(const Explanation& e);

/// Words and whole numbers, one after the other.
template <class... Words>
std::string joined(const Words&... words) {
  std::string text;
  const auto add = [&](const auto& word) {
    if constexpr (std::integral<std::decay_t<decltype(word)>>)
      text += std::to_string(word);
    else
      text += word;
  };
  (add(words), ...);
  return text;
}

}  // namespace convfilt
