#include "src/compare/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

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

}  // namespace

std::size_t width_of(std::string_view text) {
  return std::size_t(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

std::string as_text(const Table& table) {
  std::vector<std::size_t> widths;
  const auto measure = [&](const std::vector<std::string>& cells) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], width_of(cells[i]));
  };
  measure(table.head);
  for (const Table::Line& line : table.lines) measure(line.cells);

  const auto text_of = [&](const Table::Line& line) {
    std::string text;
    for (std::size_t i = 0; i < line.cells.size(); ++i)
      text += "  " + padded(line.cells[i], widths[i], i < table.words);
    if (!line.remark.empty()) text += "  " + line.remark;
    return trimmed(std::move(text)) + "\n";
  };
  std::string text = table.head.empty() ? "" : text_of({table.head, ""});
  for (const Table::Line& line : table.lines) text += text_of(line);
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
    text += " " + escaped_markdown(table.head[i]) + " |";
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
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string grouped(std::size_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, " ");
  return digits;
}

}  // namespace convfilt
