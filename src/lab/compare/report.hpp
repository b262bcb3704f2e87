/// Comparisons as people read them, aligned text, Markdown and a summary in words; as programs read
/// them, JSON and CSV; and JSON read back.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/lab/compare/comparison.hpp"

namespace convfilt {

/// The kind of table that a report shows.
enum class TableKind {
  full,   ///< a table a comparison, a line a strategy, with all that is known of it
  brief,  ///< a table a picture, a line a strategy and a column a mask: times in copies
};

inline constexpr TableKind kTableKinds[] = {TableKind::full, TableKind::brief};

std::string_view name_of(TableKind kind);

/// Facts that all comparisons of a report share.
struct ReportHead {
  std::string version;  ///< convfilt's
  std::string input;    ///< what was filtered, e.g. "photo.jpg"
  TableKind table = TableKind::full;
};

/// Aligned tables of head.table's kind, in pieces where they are wider than `width` columns, with
/// what the columns mean below. Lines of prose are not broken.
std::string text_report(std::span<const Comparison> comparisons, const ReportHead& head,
                        std::size_t width = std::size_t(-1));

std::string markdown_report(std::span<const Comparison> comparisons, const ReportHead& head);

/// Every figure of the tables in full precision, its unit in its name; null where there is none.
std::string json_report(std::span<const Comparison> comparisons, const ReportHead& head);

/// The figures of json_report(), one line a row below the columns' names (RFC 4180).
std::string csv_report(std::span<const Comparison> comparisons, const ReportHead& head);

/// Reads what json_report() wrote; all but the masks' weights comes back. Throws IoError, with
/// `path` in the message, where it is something else.
std::vector<Comparison> read_json_report(const std::string& text, const std::string& path,
                                         ReportHead& head);

/// A paragraph on one picture under several masks: which strategy is fastest, by how much, and what
/// bounds it; what tiles bring, by the counters that show it; whether results are right. Counts are
/// never spoken of as times.
std::string summary_of(std::span<const Comparison* const> group);

}  // namespace convfilt
