#include "src/compare/report.hpp"

#include <algorithm>

#include "src/compare/report_style.hpp"

namespace convfilt {
namespace {

std::string name_in(const Row& row) {
  return row.contender + (row.by_auto ? " *" : "");
}

std::string piece_in(const Row& row, const Problem& whole) {
  return is_piece(row, whole) ? std::to_string(row.width) + "x" + std::to_string(row.height)
                              : "whole";
}

/// The three columns that say how right a result is.
std::vector<std::string> judgement(const Row& row) {
  const Accuracy& a = *row.accuracy;
  return {figure(a.largest), checked_in(a), bytes_as(a.differing, a.rows_compared)};
}

const std::vector<std::string> kJudgement = {"difference", "checked", "bytes as cpu"};

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

Table::Line refused(const Row& row) {
  return {{name_in(row), std::string(name_of(row.family)), name_of(row.location)}, row.refusal};
}

bool has_baseline(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const Row& row) { return row.times && row.times->basic; });
}

/// Rows with times, and those that have neither times nor counts.
Table timed_table(const Comparison& comparison) {
  const auto& rows = comparison.rows;
  const bool pieces = std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    return row.times && is_piece(row, comparison.problem);
  });
  const bool baseline = has_baseline(rows);
  Table table;
  table.head = {"strategy", "family", "device", "kernel ms", "spread",
                "GPixel/s", "GB/s",   "x copy", "of roof",   "bound"};
  if (baseline) table.head.push_back("x basic");
  if (pieces) table.head.push_back("picture");
  append(table.head, kJudgement);
  table.words = 3;
  for (const Row& row : rows) {
    if (!row.times) {
      if (!row.counted) table.lines.push_back(refused(row));
      continue;
    }
    const Times& t = *row.times;
    Table::Line line{
        {name_in(row), std::string(name_of(row.family)), name_of(row.location), figure(t.ms.median),
         figure(t.ms.iqr), figure(t.pixels_per_second / kGiga), figure(t.bytes_per_second / kGiga),
         figure(t.copies), percent(t.roofline), t.memory_bound ? "memory" : "fp32"},
        ""};
    if (baseline) line.cells.push_back(t.basic ? figure(*t.basic) : "");
    if (pieces) line.cells.push_back(piece_in(row, comparison.problem));
    append(line.cells, judgement(row));
    table.lines.push_back(std::move(line));
  }
  return table;
}

Table counted_table(const Comparison& comparison) {
  Table table;
  table.head = {"strategy",    "family", "device",         "global reads", "shared reads",
                "atomic adds", "reuse",  "barriers/block", "ghost cells",  "picture"};
  append(table.head, kJudgement);
  table.words = 3;
  for (const Row& row : comparison.rows) {
    if (!row.counted) continue;
    const Counted& r = *row.counted;
    Table::Line line{{name_in(row), std::string(name_of(row.family)), name_of(row.location),
                      figure(r.global_reads), figure(r.shared_reads), figure(r.atomic_adds),
                      r.reuse > 0 ? figure(r.reuse) : "", figure(r.barriers), figure(r.ghost_cells),
                      piece_in(row, comparison.problem)},
                     ""};
    append(line.cells, judgement(row));
    table.lines.push_back(std::move(line));
  }
  return table;
}

bool any(std::span<const Comparison> comparisons, auto has) {
  return std::any_of(comparisons.begin(), comparisons.end(), [&](const Comparison& c) {
    return std::any_of(c.rows.begin(), c.rows.end(), [&](const Row& row) { return has(row); });
  });
}

std::string legend(std::span<const Comparison> comparisons, const Style& style) {
  std::string text;
  if (any(comparisons, [](const Row& row) { return row.by_auto; }))
    text += style.note("* is what auto takes");
  int runs = 0;
  bool pieces = false;
  for (const Comparison& comparison : comparisons)
    for (const Row& row : comparison.rows)
      if (row.times) {
        runs = std::max(runs, row.times->runs);
        pieces = pieces || is_piece(row, comparison.problem);
      }
  if (runs > 0) {
    text += style.note("kernel ms: median of up to " + std::to_string(runs) +
                       " runs, with the pixels already on the device, in its caches where they "
                       "fit, and colour planes taken apart and put together; spread: between the "
                       "quartiles");
    text += style.note(
        "GB/s: picture read once, result written once; x copy: the time, in copies of as many "
        "bytes on that device");
    text += style.note(
        "of roof: the least time for the direct method, by bandwidth of the copy or by fp32 peak "
        "at 2 operations a tap, whichever binds, as a share of the time; above 100 % what needs "
        "fewer or cheaper operations");
    if (any(comparisons, [](const Row& row) { return row.times && row.times->basic; }))
      text += style.note("x basic: times as fast as basic on that device");
  }
  const bool counted = any(comparisons, [](const Row& row) { return row.counted.has_value(); });
  if (counted)
    text += style.note(
        "reads, additions, ghost cells: counted in the emulator, per sample of the result; reuse: "
        "taps in the image over global reads and atomic additions, blank where a library does the "
        "work");
  if (counted || pieces)
    text +=
        style.note("picture: what the row was measured on, the whole or a piece from its middle");
  return text + style.note("difference: the largest from the convolution in double precision, in " +
                           difference_unit(comparisons.front().problem) +
                           "; at that many samples, whole rows among them");
}

std::string report(std::span<const Comparison> comparisons, const ReportHead& head,
                   const Style& style) {
  if (comparisons.empty()) return "";
  if (head.table == TableKind::brief) return brief_report(comparisons, head, style);
  std::string text;
  for (const Comparison& comparison : comparisons) {
    text += style.heading(head.input + ": " + to_string(comparison.problem));
    for (const DeviceFacts& facts : comparison.devices) text += style.line(device_line(facts));
    text += style.line("auto takes " + comparison.auto_choice) + "\n";
    for (const Table& table : {timed_table(comparison), counted_table(comparison)})
      if (!table.lines.empty()) text += style.table(table) + "\n";
  }
  return text + legend(comparisons, style);
}

}  // namespace

std::string_view name_of(TableKind kind) {
  return kind == TableKind::full ? "full" : "brief";
}

std::string difference_unit(const Problem& problem) {
  return problem.depth == Depth::f32 ? "1e-6 * sum|w| * max|in|" : "steps";
}

std::string text_report(std::span<const Comparison> comparisons, const ReportHead& head) {
  return report(comparisons, head, {false});
}

std::string markdown_report(std::span<const Comparison> comparisons, const ReportHead& head) {
  return report(comparisons, head, {true});
}

}  // namespace convfilt
