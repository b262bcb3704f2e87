/// Tables for people: aligned text and Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace convfilt {

struct Table {
  struct Line {
    std::vector<std::string> cells;
    std::string remark;  ///< instead of the cells that are left out
  };

  std::vector<std::string> head;  ///< may be empty
  std::size_t words = 0;          ///< how many columns come first, aligned left; numbers follow,
                                  ///< aligned right
  std::vector<Line> lines;
  std::vector<std::string> groups{};  ///< what stands above the heads of neighbours that share it;
                                      ///< empty, or one for each head
};

/// Names, each with the words that belong to it, in the order of their first words.
class Lists {
 public:
  void add(const std::string& name, const std::string& word);

  /// "a at 1 and 2; b at 3", where `at` is " at ".
  std::string text(const std::string& at) const;

  std::size_t size() const { return lists_.size(); }
  const auto& all() const { return lists_; }

 private:
  using Words = std::vector<std::string>;
  using List = std::pair<std::string, Words>;
  std::vector<List> lists_;
};

/// Columns are as wide as their widest cell, with two blanks before each; no line ends in blanks. A
/// table wider than `width` comes in pieces one below the other, each with the columns of words. A
/// remark stands in the first piece alone, and is not broken.
std::string as_text(const Table& table, std::size_t width = std::size_t(-1));

std::string as_markdown(const Table& table);

/// The text with a backslash before what Markdown would take as its own.
std::string escaped_markdown(std::string text);

/// The number with about three significant digits, never with an exponent: 0.00123, 1.23, 1230. A
/// half is rounded away from zero, as tables in books have it: 20.25 is 20.3.
std::string figure(double value);

/// 12345678 as "12 345 678".
std::string grouped(std::size_t count);

}  // namespace convfilt
