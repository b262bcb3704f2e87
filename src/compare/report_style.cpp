#include "src/compare/report_style.hpp"

#include <algorithm>

namespace convfilt {
namespace {

constexpr std::size_t kNoteWidth = 116;  // of a line of notes under a table

/// ", 8 rows"; "" for none.
std::string and_rows(int rows) {
  return rows == 0 ? "" : ", " + std::to_string(rows) + (rows == 1 ? " row" : " rows");
}

}  // namespace

std::string Style::note(const std::string& text) const {
  if (markdown) return "- " + shown(text) + "\n";
  std::string lines = "  ";
  std::size_t width = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find(' ', from), text.size());
    const std::size_t word = width_of(text.substr(from, end - from));
    if (width > 0) lines += width + 1 + word > kNoteWidth ? "\n  " : " ";
    width = width == 0 || width + 1 + word > kNoteWidth ? word : width + 1 + word;
    lines += text.substr(from, end - from);
    from = end + 1;
  }
  return lines + "\n";
}

bool is_piece(const Row& row, const Problem& whole) {
  return row.width != whole.width || row.height != whole.height;
}

std::string percent(double share) {
  return figure(100 * share) + " %";
}

std::string checked_in(const Accuracy& accuracy) {
  if (accuracy.samples == accuracy.of) return "all";
  return grouped(accuracy.samples) + and_rows(accuracy.rows);
}

std::string bytes_as(std::optional<double> differing, int rows_compared) {
  if (!differing) return "";
  return (*differing == 0 ? "yes" : percent(*differing) + " differ") + and_rows(rows_compared);
}

std::string device_line(const DeviceFacts& facts) {
  std::string text = name_of(facts.location) + ": " + facts.peak.name;
  if (facts.peak.threads > 0)
    text += ", " + std::to_string(facts.peak.threads) +
            (facts.peak.threads == 1 ? " thread" : " threads");
  if (facts.location.kind == DeviceKind::emulator) return text + "; counts reads, tells no time";
  text += "; a copy of as many bytes takes " + figure(facts.copy_ms) + " ms, " +
          figure(facts.bytes_per_second / kGiga) + " GB/s; fp32 peak ";
  return text + (facts.peak.fp32 > 0 ? figure(facts.peak.fp32 / kGiga) + " GFLOP/s" : "not known");
}

}  // namespace convfilt
