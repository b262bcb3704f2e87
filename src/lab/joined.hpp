#pragma once

#include <concepts>
#include <string>

namespace convfilt {

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
