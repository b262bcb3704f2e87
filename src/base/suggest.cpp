#include "src/base/suggest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "src/base/source_text.hpp"

namespace convfilt {
namespace {

// Names are short; a longer word is no misspelling, and its table would only cost time.
constexpr std::size_t kLongestWord = 64;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
}

bool begins(std::string_view word, std::string_view candidate) {
  return word.size() <= candidate.size() &&
         std::equal(word.begin(), word.end(), candidate.begin(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

struct Scored {
  std::size_t distance;
  std::string word;
};

std::vector<Scored> scored(std::string_view word, const std::vector<std::string>& candidates) {
  std::vector<Scored> near;
  if (word.empty() || word.size() > kLongestWord) return near;
  const std::size_t limit = 1 + word.size() / 4;
  for (const std::string& candidate : candidates) {
    if (candidate.empty() || candidate.size() > kLongestWord) continue;
    const std::size_t distance = edit_distance(word, candidate);
    // Any two words are at most as many edits apart as the longer one has letters, so that means
    // nothing.
    if (distance <= limit && distance < std::max(word.size(), candidate.size())) {
      near.push_back({distance, candidate});
    } else if (word.size() >= 3 && begins(word, candidate)) {
      near.push_back({limit, candidate});
    }
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const Scored& a, const Scored& b) { return a.distance < b.distance; });
  return near;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table: the current one, the one above it, and the one above that for swaps.
  std::vector<std::size_t> two_up(b.size() + 1), up(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(two_up, up);
    std::swap(up, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], two_up[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::vector<Scored> near = scored(word, candidates);
  return near.empty() ? "" : near.front().word;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kShown = 3;
  std::vector<Scored> near = scored(word, candidates);
  std::size_t ties = 0;
  while (ties < near.size() && near[ties].distance == near[0].distance) ++ties;
  near.resize(std::min(ties, kShown));
  if (near.empty()) return "";
  std::vector<std::string> words;
  for (const Scored& candidate : near) words.push_back('\'' + candidate.word + '\'');
  return "; did you mean " + listed(words, "or") + '?';
}

std::string unknown_name(std::string_view kind, std::string_view word,
                         const std::vector<std::string>& candidates) {
  std::string text = "unknown " + std::string(kind) + " " + in_quotes(word) + "; ";
  const std::string near = nearest(word, candidates);
  return near.empty() ? text + "there are " + listed(candidates)
                      : text + "did you mean '" + near + "'?";
}

std::string lower_case(std::string text) {
  for (char& c : text) c = lower(c);
  return text;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    if (&word != &words.front()) text += between;
    text += word;
  }
  return text;
}

std::string listed(const std::vector<std::string>& words, std::string_view last) {
  if (words.size() < 2) return joined(words, "");
  return joined({words.begin(), words.end() - 1}, ", ") + " " + std::string(last) + " " +
         words.back();
}

std::string replaced(std::string text, std::string_view word, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at += by.size())
    text.replace(at, word.size(), by);
  return text;
}

}  // namespace convfilt
