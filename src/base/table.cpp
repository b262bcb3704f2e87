#include "src/base/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "src/base/suggest.hpp"
#include "src/base/terminal.hpp"

namespace convfilt {
namespace {

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string padded(const std::string& cell, std::size_t width, bool left) {
  const std::string blanks(width - std::min(width, width_of(cell)), ' ');
  return left ? cell + blanks : blanks + cell;
}

/// The groups' names above the columns `from` to `to`, behind so many columns of words.
std::string groups_line(const Table& table, const std::vector<std::size_t>& widths,
                        std::size_t words, std::size_t from, std::size_t to) {
  std::string line;
  for (std::size_t i = from, start = words; i < to; start += 2 + widths[i++]) {
    if (i > from && table.groups[i] == table.groups[i - 1]) continue;
    line.resize(std::max(line.size(), start), ' ');
    line += "  " + table.groups[i];
  }
  return trimmed(std::move(line)) + "\n";
}

/// Widens the first column of each group whose name is wider than its columns.
void fit_groups(const Table& table, std::vector<std::size_t>& widths) {
  for (std::size_t first = 0, last; first < table.groups.size(); first = last) {
    std::size_t used = 0;
    for (last = first; last < table.groups.size(); used += 2 + widths[last++])
      if (table.groups[last] != table.groups[first]) break;
    const std::size_t needed = table.groups[first].empty() ? 0 : 2 + table.groups[first].size();
    widths[first] += std::max(needed, used) - used;
  }
}

}  // namespace

void Lists::add(const std::string& name, const std::string& word) {
  const auto found = std::ranges::find(lists_, name, &List::first);
  auto& words = found == lists_.end() ? lists_.emplace_back(name, Words()).second : found->second;
  if (std::ranges::find(words, word) == words.end()) words.push_back(word);
}

std::string Lists::text(const std::string& at) const {
  std::string text;
  for (const auto& [name, words] : lists_)
    text += (text.empty() ? "" : "; ") + name + at + listed(words);
  return text;
}

std::string as_text(const Table& table, std::size_t width) {
  std::vector<std::size_t> widths;
  const auto measure = [&](const std::vector<std::string>& cells) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], width_of(cells[i]));
  };
  measure(table.head);
  for (const Table::Line& line : table.lines) measure(line.cells);
  fit_groups(table, widths);

  std::size_t words = 0;  // columns of text, and how wide they are
  for (std::size_t i = 0; i < std::min(table.words, widths.size()); ++i) words += 2 + widths[i];

  std::string text;
  for (std::size_t from = table.words, to; text.empty() || from < widths.size(); from = to) {
    std::size_t used = words;
    for (to = from; to < widths.size() && (to == from || used + 2 + widths[to] <= width); ++to)
      used += 2 + widths[to];
    const auto text_of = [&](const Table::Line& line) {
      std::string shown;
      for (std::size_t i = 0; i < std::min(to, line.cells.size()); ++i)
        if (i < table.words || i >= from)
          shown += "  " + padded(line.cells[i], widths[i], i < table.words);
      if (!line.remark.empty()) shown += "  " + line.remark;
      return trimmed(std::move(shown)) + "\n";
    };
    const bool first = text.empty();
    if (!first && std::ranges::none_of(table.lines, &std::string::empty, &Table::Line::remark))
      break;  // Remarks stand in the first piece alone.
    if (!first) text += "\n";
    if (!table.groups.empty()) text += groups_line(table, widths, words, from, to);
    if (!table.head.empty()) text += text_of({table.head, ""});
    for (const Table::Line& line : table.lines)
      if (first || line.remark.empty()) text += text_of(line);
    if (text.empty()) break;
  }
  return text;
}

std::string escaped_markdown(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("\\|_*`<", at)) != text.npos; at += 2)
    text.insert(at, "\\");
  return text;
}

std::string as_markdown(const Table& table) {
  std::string text = "|", rule = "|";
  for (std::size_t i = 0; i < table.head.size(); ++i) {
    const std::string group = table.groups.empty() ? "" : table.groups[i];
    text += " " + escaped_markdown(group + (group.empty() ? "" : " ") + table.head[i]) + " |";
    rule += i < table.words ? "---|" : "---:|";
  }
  text += "\n" + rule + "\n";
  for (const Table::Line& line : table.lines) {
    text += "|";
    for (const std::string& cell : line.cells) text += " " + escaped_markdown(cell) + " |";
    if (!line.remark.empty()) text += " " + escaped_markdown(line.remark) + " |";
    text += "\n";
  }
  return text;
}

std::string figure(double value) {
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return "infinite";
  if (value == 0) return "0";
  const int magnitude = int(std::floor(std::log10(std::abs(value))));
  const int digits = std::clamp(2 - magnitude, 0, 12);
  char text[64];
  // printf takes a half, which doubles hold exactly, to the even digit. The next double is beyond
  // it.
  const double beyond_half = std::nextafter(value, std::copysign(INFINITY, value));
  std::snprintf(text, sizeof text, "%.*f", digits, beyond_half);
  return text;
}

std::string grouped(std::size_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, " ");
  return digits;
}

}  // namespace convfilt
