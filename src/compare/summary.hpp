/// What comparisons found, in words.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/compare/comparison.hpp"

namespace convfilt {

/// Names, each with the words that belong to it, in the order of their first words.
class Lists {
 public:
  void add(const std::string& name, const std::string& word);
  /// "a at 1 and 2", "b at 3", where `before` is " at ".
  std::vector<std::string> lines(const std::string& before, const std::string& after = "") const;
  /// These in one line.
  std::string text(const std::string& before) const;
  std::size_t size() const { return lists_.size(); }

 private:
  using Words = std::vector<std::string>;
  using List = std::pair<std::string, Words>;
  std::vector<List> lists_;
};

/// A paragraph on one picture under several masks: which strategy is fastest, by how much, and what
/// bounds it; what tiles bring, by the counters that show it; whether results are right. Counts are
/// never spoken of as times.
std::string summary_of(std::span<const Comparison* const> group);

}  // namespace convfilt
