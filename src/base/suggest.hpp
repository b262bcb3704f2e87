/// Words of messages: suggestions for misspelt ones, lists, plurals and numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace convfilt {

/// Damerau-Levenshtein distance (optimal string alignment), without regard to ASCII case: the
/// number of letters to add, drop, change or swap with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, the first of several; "" when none is near. A candidate is near
/// if it is at most one edit away, plus one for every four letters of the word; or if it begins
/// with the word, which then has at least three letters.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean 'a' or 'b'?" with up to three equally near words; "" when nothing is near. It
/// ends an error's first clause.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// "unknown border 'relect'; did you mean 'reflect'?", or the whole list when nothing is near.
std::string unknown_name(std::string_view kind, std::string_view word,
                         const std::vector<std::string>& candidates);

/// "a, b and c"; `last` is the word before the last one.
std::string listed(const std::vector<std::string>& words, std::string_view last = "and");

/// "a, b, c" for ", " between the words.
std::string joined(const std::vector<std::string>& words, std::string_view between);

/// The text with `by` in each place of `word`.
std::string replaced(std::string text, std::string_view word, std::string_view by);

/// ASCII letters in lower case.
std::string lower_case(std::string text);

/// "144 rows", "1 row".
inline std::string plural(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// "640x480".
inline std::string size_text(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

/// Values in that format of printf(), up to 255 letters.
template <class... Values>
std::string with_format(const char* format, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace convfilt
