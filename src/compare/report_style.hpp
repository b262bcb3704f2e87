/// What the full and the brief tables of a report share.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "src/compare/measure.hpp"
#include "src/compare/report.hpp"
#include "src/compare/table.hpp"

namespace convfilt {

inline constexpr double kGiga = 1e9;

/// Either text or Markdown.
struct Style {
  bool markdown;

  std::string table(const Table& t) const { return markdown ? as_markdown(t) : as_text(t); }
  std::string heading(const std::string& text) const {
    return (markdown ? "## " : "") + shown(text) + "\n\n";
  }
  /// A bullet of Markdown; of text a line, or more where it is long.
  std::string note(const std::string& text) const;
  std::string line(const std::string& text) const {
    return markdown ? note(text) : "  " + text + "\n";
  }
  std::string shown(const std::string& text) const {
    return markdown ? escaped_markdown(text) : text;
  }
};

/// Whether the row was measured on a piece of the picture.
bool is_piece(const Row& row, const Problem& whole);

/// 0.5 as "50.0 %".
std::string percent(double share);

/// What was held against the truth: "all", or "123 456, 8 rows".
std::string checked_in(const Accuracy& accuracy);

/// "yes" or how many samples differ; with how many rows, where those are not all; "" where nothing
/// was compared.
std::string bytes_as(std::optional<double> differing, int rows_compared);

/// A device, and the copy on it.
std::string device_line(const DeviceFacts& facts);

/// A table a picture, strategies by masks.
std::string brief_report(std::span<const Comparison> comparisons, const ReportHead& head,
                         const Style& style);

}  // namespace convfilt
