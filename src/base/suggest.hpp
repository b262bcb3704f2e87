/// What to say about a word that is not in a list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convfilt {

/// "unknown border 'relect'; did you mean 'reflect'?", or the whole list where nothing is near.
std::string unknown_name(std::string_view kind, std::string_view word,
                         const std::vector<std::string>& candidates);

/// "a, b and c"; `last` is the word before the last one.
std::string listed(const std::vector<std::string>& words, std::string_view last = "and");

}  // namespace convfilt
