#include "src/lab/compare/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/base/suggest.hpp"
#include "src/base/table.hpp"
#include "src/lab/compare/comparison.hpp"

namespace convfilt {
namespace {

inline constexpr double kGiga = 1e9;

/// Either text or Markdown.
struct Style {
  bool markdown;
  std::size_t width = 0;  ///< the text's, in columns

  std::string table(const Table& t) const { return markdown ? as_markdown(t) : as_text(t, width); }
  std::string heading(const std::string& text) const {
    return (markdown ? "## " : "") + shown(text) + "\n\n";
  }
  /// A line of its own, which is a bullet in Markdown.
  std::string note(const std::string& text) const {
    return (markdown ? "- " : "  ") + shown(text) + "\n";
  }
  std::string shown(const std::string& text) const {
    return markdown ? escaped_markdown(text) : text;
  }
};

/// ", 8 rows"; "" for none.
std::string and_rows(int rows) {
  return rows == 0 ? "" : ", " + plural(std::uint64_t(rows), "row");
}

bool is_piece(const Row& row, const Problem& whole) {
  return row.width != whole.width || row.height != whole.height;
}

/// 0.5 as "50.0 %".
std::string percent(double share) {
  return figure(100 * share) + " %";
}

/// The samples that were held against the truth: "all", or "123 456, 8 rows".
std::string checked_in(const Accuracy& accuracy) {
  if (accuracy.samples == accuracy.of) return "all";
  return grouped(accuracy.samples) + and_rows(accuracy.rows);
}

/// "yes" or how many samples differ; with how many rows, where those are not all; "" where nothing
/// was compared.
std::string bytes_as(std::optional<double> differing, int rows_compared) {
  if (!differing) return "";
  return (*differing == 0 ? "yes" : percent(*differing) + " differ") + and_rows(rows_compared);
}

std::string device_line(const DeviceFacts& facts) {
  std::string text = name_of(facts.location) + ": " + facts.peak.name;
  if (facts.peak.threads > 0) text += ", " + plural(std::uint64_t(facts.peak.threads), "thread");
  if (facts.location.kind == DeviceKind::emulator) return text + "; counts reads, tells no time";
  text += "; a copy of as many bytes: " + figure(facts.copy_ms) + " ms, " +
          figure(facts.bytes_per_second / kGiga) + " GB/s; fp32 peak ";
  return text + (facts.peak.fp32 > 0 ? figure(facts.peak.fp32 / kGiga) + " GFLOP/s" : "not known");
}

// The brief tables: one a picture and kind of masks, a line a strategy, a column a mask.

constexpr const char* kByAuto = "*";
constexpr const char* kBroken = "!";
constexpr const char* kPiece = "~";

/// The problem without what a table's columns say: "640x480x1 u8, 16bit masks, border wrap".
std::string title_of(const Problem& problem) {
  std::string title = to_string(problem);
  const std::string mask = ", mask " + mask_label(problem.mask);
  if (const std::size_t at = title.find(mask); at != title.npos)
    title.replace(at, mask.size(),
                  is_of_a_kind(problem.mask) ? ", " + problem.mask.name + " masks" : "");
  return title;
}

/// Comparisons that share a table.
using Group = std::vector<const Comparison*>;

std::vector<Group> groups_of(std::span<const Comparison> comparisons) {
  std::vector<Group> groups;
  for (const Comparison& comparison : comparisons) {
    auto found = std::ranges::find(groups, title_of(comparison.problem), [](const Group& group) {
      return title_of(group.front()->problem);
    });
    if (found == groups.end()) found = groups.insert(found, Group());
    found->push_back(&comparison);
  }
  return groups;
}

/// As figure(), but no wider than five letters below 1, and in thousands from 100,000 on.
std::string narrow(double value) {
  if (value >= 1e5) return figure(std::round(value / 1e3)) + "k";
  return value < 0.1 ? figure(std::round(value * 1000) / 1000).substr(0, 5) : figure(value);
}

/// A figure of rows, in a column a mask; nothing where a row has none.
struct Quantity {
  const char* name;
  std::optional<double> (*of)(const Row&);
};

constexpr Quantity kQuantities[] = {
    {"time in copies",
     [](const Row& row) { return row.times ? std::optional(row.times->copies) : std::nullopt; }},
    {"reads an output",
     [](const Row& row) {
       return row.counted ? std::optional(reads_of(*row.counted)) : std::nullopt;
     }},
    {"sectors an output",
     [](const Row& row) { return row.counted ? row.counted->sectors : std::nullopt; }},
};

std::string marks_of(const Row& row, const Problem& problem) {
  std::string marks;
  if (row.by_auto) marks += kByAuto;
  if (!broken_bound(row, "").empty()) marks += kBroken;
  if (row.times && is_piece(row, problem)) marks += kPiece;
  return marks;
}

/// How many times as long the choice of auto takes as the fastest of its family on its device.
std::optional<double> auto_over_best(const Comparison& comparison) {
  const auto& rows = comparison.rows;
  const auto chosen =
      std::ranges::find_if(rows, [](const Row& row) { return row.by_auto && row.times; });
  if (chosen == rows.end()) return std::nullopt;
  double most = chosen->times->pixels_per_second;
  for (const Row& row : rows)
    if (row.times && row.family == chosen->family && row.location == chosen->location)
      most = std::max(most, row.times->pixels_per_second);
  return most / chosen->times->pixels_per_second;
}

/// The lines of a brief table. Of many strategies they are those that lectures compare, auto's
/// choice, the fastest, and what went wrong, so that the report fits a screen.
std::vector<const Row*> brief_entries(const Group& group) {
  constexpr std::size_t kMany = 12;
  constexpr std::array kLectures = {"basic", "tiled-in", "tiled-out", "cached", "in-parts"};
  std::vector<const Row*> entries = distinct_rows(group);
  if (entries.size() <= kMany) return entries;
  std::erase_if(entries, [&](const Row* entry) {
    return std::ranges::count(kLectures, entry->contender) == 0 &&
           std::ranges::none_of(group, [&](const Comparison* comparison) {
             const Row* row = row_like(*comparison, *entry);
             return row &&
                    (row->by_auto || (row->times && row->times->best == 1) ||
                     !broken_bound(*row, "").empty() || (!row->refusal.empty() && !row->refused));
           });
  });
  return entries;
}

Table brief_table(const Group& group, const std::vector<const Row*>& entries, const Style& style) {
  std::size_t mark_width = 0;  // the text's, where columns are aligned
  for (const Comparison* comparison : group)
    for (const Row& row : comparison->rows)
      if (!style.markdown)
        mark_width = std::max(mark_width, marks_of(row, comparison->problem).size());
  // Marks stand right of the digits, so that the digits stay below each other.
  const auto aligned = [&](const std::string& text, const std::string& marks) {
    const std::string between = style.markdown && !marks.empty() ? " " : "";
    return text + between + marks +
           std::string(mark_width - std::min(mark_width, marks.size()), ' ');
  };
  Table table;
  table.head = {"strategy", "device"};
  table.groups.resize(table.words = 2);
  Table::Line best{{"auto / family best", ""}, ""};
  std::vector<Table::Line> lines;
  for (const Row* entry : entries)
    lines.push_back({{entry->contender, name_of(entry->location)}, ""});
  std::vector<bool> shown(entries.size());
  for (const Quantity& quantity : kQuantities) {
    // A row is marked beside the first figure that it has.
    const bool timed = &quantity == kQuantities;
    const bool is_first = table.head.size() == table.words;
    const auto has = [&](const Row& row) { return quantity.of(row).has_value(); };
    if (std::ranges::none_of(
            group, [&](const Comparison* c) { return std::ranges::any_of(c->rows, has); }))
      continue;
    const std::vector<bool> before = shown;
    for (const Comparison* comparison : group) {
      const Problem& problem = comparison->problem;
      table.head.push_back(short_label(problem.mask));
      table.groups.emplace_back(quantity.name);
      for (std::size_t k = 0; k < entries.size(); ++k) {
        const Row* row = row_like(*comparison, *entries[k]);
        std::string cell;
        if (row && has(*row)) {
          cell = narrow(*quantity.of(*row));
          if (!before[k]) cell = aligned(cell, marks_of(*row, problem));
          shown[k] = true;
        } else if (row && !row->refusal.empty() && is_first) {
          cell = row->refused ? "refused" : "failed";
        }
        lines[k].cells.push_back(std::move(cell));
      }
      const auto ratio = timed ? auto_over_best(*comparison) : std::nullopt;
      best.cells.push_back(ratio ? aligned(figure(*ratio), "") : "");
    }
  }
  for (std::size_t k = 0; k < entries.size(); ++k)
    if (shown[k]) table.lines.push_back(std::move(lines[k]));
  const bool any_best = std::ranges::any_of(best.cells.begin() + 2, best.cells.end(),
                                            [](const std::string& cell) { return !cell.empty(); });
  if (any_best && table.lines.size() > 1) table.lines.push_back(std::move(best));
  return table;
}

/// Why lines or cells have no figure. Of many refusals just the strategies and masks are told.
std::string reasons_of(const Group& group, const std::vector<const Row*>& entries,
                       const Style& style) {
  constexpr std::size_t kMostReasons = 2;
  Lists refusals, refused, failures;
  for (const Row* entry : entries) {
    for (const Comparison* comparison : group) {
      const Row* row = row_like(*comparison, *entry);
      if (!row || row->refusal.empty()) continue;
      const std::string who = entry->contender + " on " + name_of(entry->location);
      const std::string mask = short_label(comparison->problem.mask);
      (row->refused ? refusals : failures).add(who + ": " + row->refusal, mask);
      if (row->refused) refused.add(who, mask);
    }
  }
  std::string text;
  for (const Lists* lists : {&refusals, &failures}) {
    if (lists == &refusals && lists->size() > kMostReasons) {
      text += style.note("refused: " + refused.text(" at ") + "; --table full says why");
      continue;
    }
    for (const auto& [reason, masks] : lists->all())
      text += style.note(reason + (masks.size() == group.size() ? "" : ", at " + listed(masks)));
  }
  return text;
}

std::string devices_of(const Group& group, const Style& style) {
  std::string text;
  std::set<std::string> known;
  for (const Comparison* comparison : group)
    for (const DeviceFacts& facts : comparison->devices)
      if (facts.location.kind != DeviceKind::emulator &&
          known.insert(name_of(facts.location)).second)
        text += style.note(device_line(facts));
  return text;
}

/// Features of a report's rows that its legend explains.
struct Seen {
  bool by_auto = false, broken = false, judged = false, pieces = false, basic = false;
  bool counted = false, textures = false, additions = false, library = false;
  int runs = 0;  ///< up to how many a time is the median of; 0 where nothing is timed

  explicit Seen(std::span<const Comparison> comparisons) {
    for (const Comparison& comparison : comparisons)
      for (const Row& row : comparison.rows) {
        by_auto |= row.by_auto;
        broken |= !broken_bound(row, "").empty();
        judged |= row.accuracy.has_value();
        if (row.times) {
          pieces |= is_piece(row, comparison.problem);
          basic |= row.times->basic.has_value();
          runs = std::max(runs, row.times->runs);
        }
        if (!row.counted) continue;
        counted = true;
        textures |= row.counted->texture_fetches > 0;
        additions |= row.counted->atomic_adds > 0;
        library |= row.counted->reuse == 0;
      }
  }
};

std::string brief_legend(const Seen& seen, const Style& style) {
  std::string text;
  if (seen.runs > 0)
    text += style.note("time: in copies of as many bytes there, the median of up to " +
                       std::to_string(seen.runs) + " runs, pixels already there");
  if (seen.counted)
    text += style.note(
        "reads, and sectors of 32 bytes: what threads ask for, counted in the emulator, caches or "
        "not");
  std::string marks;
  for (const auto& [is_there, mark] :
       {std::pair{seen.by_auto, "*: what auto takes, in its family"},
        {seen.broken, "!: wrong, beyond what its family promises"},
        {seen.pieces, "~: on a piece of the picture, as the whole takes too long"}})
    if (is_there) marks += (marks.empty() ? "" : "; ") + std::string(mark);
  return marks.empty() ? text : text + style.note(marks);
}

std::string brief_report(std::span<const Comparison> comparisons, const ReportHead& head,
                         const Style& style) {
  std::string text;
  for (const Group& group : groups_of(comparisons)) {
    text += style.heading(head.input + ": " + title_of(group.front()->problem));
    if (!style.markdown) text.pop_back();  // a screen has few lines
    const std::string gap = style.markdown ? "\n" : "";
    const std::vector<const Row*> entries = brief_entries(group);
    text += devices_of(group, style) + gap;
    if (const Table table = brief_table(group, entries, style); !table.lines.empty())
      text += style.table(table) + gap;
    text += reasons_of(group, entries, style);
    if (const std::size_t more = distinct_rows(group).size() - entries.size(); more > 0)
      text += style.note(std::to_string(more) +
                         " more, slower, just counted or refused here, are in --table full");
  }
  return text + brief_legend(Seen(comparisons), style);
}

// The full tables: one a comparison, a line a strategy and device.

std::string name_in(const Row& row) {
  return row.contender + (row.by_auto ? " *" : "");
}

std::string piece_in(const Row& row, const Problem& whole) {
  return is_piece(row, whole) ? size_text(row.width, row.height) : "whole";
}

/// The three columns that say how right a result is.
std::vector<std::string> judgement(const Row& row) {
  const Accuracy& a = *row.accuracy;
  return {figure(a.largest), checked_in(a), bytes_as(a.differing, a.rows_compared)};
}

std::vector<std::string> judgement_head() {
  return {"difference", "checked", "bytes as cpu"};
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

Table::Line refused(const Row& row) {
  return {{name_in(row), std::string(name_of(row.family)), name_of(row.location)}, row.refusal};
}

/// Rows with times, and those that have neither times nor counts.
Table timed_table(const Comparison& comparison) {
  const Seen seen({&comparison, 1});
  Table table;
  table.head = {"strategy", "family", "device", "kernel ms", "spread",
                "GPixel/s", "GB/s",   "x copy", "of roof",   "bound"};
  if (seen.basic) table.head.push_back("x basic");
  if (seen.pieces) table.head.push_back("picture");
  append(table.head, judgement_head());
  table.words = 3;
  for (const Row& row : comparison.rows) {
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
    if (seen.basic) line.cells.push_back(t.basic ? figure(*t.basic) : "");
    if (seen.pieces) line.cells.push_back(piece_in(row, comparison.problem));
    append(line.cells, judgement(row));
    table.lines.push_back(std::move(line));
  }
  return table;
}

Table counted_table(const Comparison& comparison) {
  Table table;
  table.head = {"strategy",    "family",        "device",         "global reads", "shared reads",
                "atomic adds", "reuse",         "barriers/block", "ghost cells",  "picture",
                "tile",        "shared writes", "sectors"};
  const bool textures = Seen({&comparison, 1}).textures;
  if (textures) table.head.push_back("texture fetches");
  append(table.head, judgement_head());
  table.words = 3;
  for (const Row& row : comparison.rows) {
    if (!row.counted) continue;
    const Counted& r = *row.counted;
    Table::Line line{
        {name_in(row), std::string(name_of(row.family)), name_of(row.location),
         figure(r.global_reads), figure(r.shared_reads), figure(r.atomic_adds),
         r.reuse > 0 ? figure(r.reuse) : "", figure(r.barriers), figure(r.ghost_cells),
         row.times ? "block" : piece_in(row, comparison.problem),
         row.tile_columns == 0 ? "" : size_text(row.tile_columns, row.tile_rows),
         r.shared_writes ? figure(*r.shared_writes) : "", r.sectors ? figure(*r.sectors) : ""},
        ""};
    if (textures) line.cells.push_back(figure(r.texture_fetches));
    if (!row.times) append(line.cells, judgement(row));
    table.lines.push_back(std::move(line));
  }
  return table;
}

std::string legend(std::span<const Comparison> comparisons, const Style& style) {
  const Seen seen(comparisons);
  std::string text;
  if (seen.by_auto) text += style.note("* is what auto takes");
  if (seen.runs > 0) {
    text += style.note("kernel ms: median of up to " + std::to_string(seen.runs) +
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
    if (seen.basic) text += style.note("x basic: times as fast as basic on that device");
  }
  if (seen.counted) {
    std::vector<std::string> accesses{"global reads"};
    if (seen.textures) accesses.emplace_back("texture fetches");
    if (seen.additions) accesses.emplace_back("atomic additions");
    text += style.note(
        "reads, writes, additions, ghost cells, sectors of 32 bytes: counted in the emulator, per "
        "sample of the result; reuse: taps in the image over " +
        listed(accesses) + (seen.library ? ", blank where a library does the work" : ""));
  }
  if (seen.counted || seen.pieces)
    text += style.note(
        "picture: what the row was measured on, the whole, a piece from its middle, or a block "
        "there");
  if (!seen.judged) return text;
  return text + style.note("difference: the largest from the convolution in double precision, in " +
                           difference_unit(comparisons.front().problem) +
                           "; at that many samples, whole rows among them");
}

/// A paragraph for each picture, with its name where there are several.
std::string summaries(std::span<const Comparison> comparisons, const Style& style) {
  std::string text;
  const std::vector<Group> groups = groups_of(comparisons);
  for (const Group& group : groups) {
    const std::string summary = summary_of(group);
    if (summary.empty()) continue;
    const std::string name = groups.size() > 1 ? title_of(group.front()->problem) + ": " : "";
    text += "\n" + style.note(name + summary);
  }
  return text;
}

std::string full_report(std::span<const Comparison> comparisons, const ReportHead& head,
                        const Style& style) {
  std::string text;
  for (const Comparison& comparison : comparisons) {
    text += style.heading(head.input + ": " + to_string(comparison.problem));
    for (const DeviceFacts& facts : comparison.devices) text += style.note(device_line(facts));
    text += style.note("auto takes " + comparison.auto_choice) + "\n";
    for (const Table& table : {timed_table(comparison), counted_table(comparison)})
      if (!table.lines.empty()) text += style.table(table) + "\n";
  }
  return text + legend(comparisons, style);
}

std::string report(std::span<const Comparison> comparisons, const ReportHead& head,
                   const Style& style) {
  if (comparisons.empty()) return "";
  const auto tables = head.table == TableKind::brief ? brief_report : full_report;
  return tables(comparisons, head, style) + summaries(comparisons, style);
}

}  // namespace

std::string_view name_of(TableKind kind) {
  return kind == TableKind::full ? "full" : "brief";
}

std::string text_report(std::span<const Comparison> comparisons, const ReportHead& head,
                        std::size_t width) {
  return report(comparisons, head, {false, width});
}

std::string markdown_report(std::span<const Comparison> comparisons, const ReportHead& head) {
  return report(comparisons, head, {true});
}

}  // namespace convfilt
