#include "src/base/suggest.hpp"

#include "src/base/nearest.hpp"
#include "src/base/source_text.hpp"

namespace convfilt {

std::string unknown_name(std::string_view kind, std::string_view word,
                         const std::vector<std::string>& candidates) {
  std::string text = "unknown " + std::string(kind) + " " + quoted(word) + "; ";
  const std::string near = nearest(word, candidates);
  return near.empty() ? text + "there are " + listed(candidates)
                      : text + "did you mean '" + near + "'?";
}

std::string listed(const std::vector<std::string>& words, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " " + std::string(last) + " " : std::string(", ");
    text += words[i];
  }
  return text;
}

}  // namespace convfilt
