/// Which known word a misspelt one was meant to be, and what to say about a word that is not in a
/// list.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convfilt {

/// Damerau-Levenshtein distance (optimal string alignment), ASCII case ignored: how many letters
/// must be added, dropped, changed or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidates that `word` may have been meant to be, the nearest first and ties in the order
/// given. A candidate is near if it takes at most one edit, and one more for every four letters of
/// the word, or if it begins with the word and the word has at least three letters. The list is
/// empty when nothing is near.
std::vector<std::string> near_words(std::string_view word,
                                    std::span<const std::string_view> candidates);
std::vector<std::string> near_words(std::string_view word,
                                    const std::vector<std::string>& candidates);

/// The first of near_words, or "" when nothing is near.
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean 'a' or 'b'?" with the nearest words, three at most where several are equally
/// near; "" when nothing is near. It ends an error's first clause.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// "unknown border 'relect'; did you mean 'reflect'?", or the whole list where nothing is near.
std::string unknown_name(std::string_view kind, std::string_view word,
                         const std::vector<std::string>& candidates);

/// "a, b and c"; `last` is the word before the last one.
std::string listed(const std::vector<std::string>& words, std::string_view last = "and");

}  // namespace convfilt
