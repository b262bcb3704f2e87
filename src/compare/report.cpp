#include "src/compare/report.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/base/suggest.hpp"
#include "src/compare/comparison.hpp"
#include "src/compare/table.hpp"
#include "src/mask/make.hpp"
#include "src/mask/random.hpp"

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
  return rows == 0 ? "" : ", " + std::to_string(rows) + (rows == 1 ? " row" : " rows");
}

/// Whether the row was measured on a piece of the picture.
bool is_piece(const Row& row, const Problem& whole) {
  return row.width != whole.width || row.height != whole.height;
}

/// 0.5 as "50.0 %".
std::string percent(double share) {
  return figure(100 * share) + " %";
}

/// What was held against the truth: "all", or "123 456, 8 rows".
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

/// A device, and the copy on it.
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

// The brief tables: one a picture and kind of masks, a line a strategy, a column a mask.

constexpr const char* kByAuto = "*";
constexpr const char* kBroken = "!";
constexpr const char* kPiece = "~";

/// Whether the name says what kind of mask it is, so that the sides say the rest.
bool is_of_a_kind(const Mask& mask) {
  return mask.name == kGaussianName ||
         std::any_of(std::begin(kWeights), std::end(kWeights),
                     [&](Weights weights) { return name_of(weights) == mask.name; });
}

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
  std::vector<std::string> titles;
  std::vector<Group> groups;
  for (const Comparison& comparison : comparisons) {
    const std::string title = title_of(comparison.problem);
    const auto found = std::find(titles.begin(), titles.end(), title);
    if (found == titles.end()) {
      titles.push_back(title);
      groups.push_back({&comparison});
    } else {
      groups[std::size_t(found - titles.begin())].push_back(&comparison);
    }
  }
  return groups;
}

/// A line of a table: a contender on a device.
struct Entry {
  std::string contender;
  Location location;

  bool operator==(const Entry&) const = default;
};

std::vector<Entry> entries_of(const Group& group) {
  std::vector<Entry> entries;
  for (const Comparison* comparison : group) {
    for (const Row& row : comparison->rows) {
      const Entry entry{row.contender, row.location};
      if (std::find(entries.begin(), entries.end(), entry) == entries.end())
        entries.push_back(entry);
    }
  }
  return entries;
}

const Row* row_of(const Comparison& comparison, const Entry& entry) {
  for (const Row& row : comparison.rows)
    if (Entry{row.contender, row.location} == entry) return &row;
  return nullptr;
}

/// The figure of a row that a cell shows; nothing where the row has none.
using FigureOf = std::optional<double> (*)(const Row&);

std::optional<double> copies_of(const Row& row) {
  return row.times ? std::optional(row.times->copies) : std::nullopt;
}

std::optional<double> reads_of(const Row& row) {
  return row.counted ? std::optional(row.counted->global_reads) : std::nullopt;
}

std::string marks_of(const Row& row, const Problem& problem) {
  std::string marks;
  if (row.by_auto) marks += kByAuto;
  if (!broken_bound(row, "").empty()) marks += kBroken;
  if (is_piece(row, problem)) marks += kPiece;
  return marks.empty() ? "" : " " + marks;
}

/// The worst over a line's masks, in the three columns that say how right the results are.
std::array<std::string, 3> judgement(const Group& group, const Entry& entry) {
  const Accuracy* fewest = nullptr;
  double largest = 0;
  std::optional<double> differing;
  int rows_compared = 0;
  for (const Comparison* comparison : group) {
    const Row* row = row_of(*comparison, entry);
    if (!row || !row->accuracy) continue;
    const Accuracy& a = *row->accuracy;
    largest = std::max(largest, a.largest);
    if (!fewest || double(a.samples) / double(a.of) < double(fewest->samples) / double(fewest->of))
      fewest = &a;
    if (a.differing) differing = std::max(differing.value_or(0), *a.differing);
    if (a.rows_compared > 0)
      rows_compared =
          rows_compared == 0 ? a.rows_compared : std::min(rows_compared, a.rows_compared);
  }
  if (!fewest) return {};
  return {figure(largest), checked_in(*fewest), bytes_as(differing, rows_compared)};
}

class BriefTable {
 public:
  BriefTable(const Group& group, const Style& style) : group_(group), style_(style) {
    if (style.markdown) return;
    for (const Comparison* comparison : group)
      for (const Row& row : comparison->rows)
        mark_width_ = std::max(mark_width_, marks_of(row, comparison->problem).size());
  }

  /// The table of those lines that have this figure; empty where none has.
  std::string of(FigureOf figure_of, bool with_best) const {
    Table table;
    table.head = {"strategy", "device"};
    table.words = 2;
    for (const Comparison* comparison : group_) {
      const Mask& mask = comparison->problem.mask;
      const std::string sides = std::to_string(mask.width) + "x" + std::to_string(mask.height);
      table.head.push_back(is_of_a_kind(mask) ? sides : mask_label(mask));
    }
    for (const char* head : {"difference", "checked", "bytes as cpu"}) table.head.push_back(head);
    for (const Entry& entry : entries_of(group_)) {
      if (std::none_of(group_.begin(), group_.end(), [&](const Comparison* comparison) {
            const Row* row = row_of(*comparison, entry);
            return row && figure_of(*row);
          }))
        continue;
      Table::Line line{{entry.contender, name_of(entry.location)}, ""};
      for (const Comparison* comparison : group_)
        line.cells.push_back(cell(row_of(*comparison, entry), comparison->problem, figure_of));
      for (std::string& text : judgement(group_, entry)) line.cells.push_back(std::move(text));
      table.lines.push_back(std::move(line));
    }
    if (table.lines.empty()) return "";
    if (with_best) add_best(table);
    return style_.table(table) + "\n";
  }

  /// Why lines or cells have no figure.
  std::string reasons() const {
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
    for (const Entry& entry : entries_of(group_)) {
      for (const Comparison* comparison : group_) {
        const Row* row = row_of(*comparison, entry);
        if (!row || row->refusal.empty()) continue;
        const std::string what =
            entry.contender + " on " + name_of(entry.location) + ": " + row->refusal;
        if (reasons.empty() || reasons.back().first != what) reasons.push_back({what, {}});
        reasons.back().second.push_back(mask_label(comparison->problem.mask));
      }
    }
    std::string text;
    for (const auto& [what, masks] : reasons) {
      std::string at;
      for (const std::string& mask : masks) at += (at.empty() ? "" : ", ") + mask;
      text += style_.note(what + (masks.size() == group_.size() ? "" : " (" + at + ")"));
    }
    return text.empty() ? "" : text + "\n";
  }

 private:
  std::string cell(const Row* row, const Problem& problem, FigureOf figure_of) const {
    if (!row) return "";
    if (!row->refusal.empty()) return aligned(row->refused ? "refused" : "failed", "");
    const std::optional<double> value = figure_of(*row);
    return value ? aligned(figure(*value), marks_of(*row, problem)) : "";
  }

  /// Marks stand right of the digits, so that the digits stay below each other.
  std::string aligned(const std::string& text, const std::string& marks) const {
    return text + marks + std::string(mark_width_ - std::min(mark_width_, marks.size()), ' ');
  }

  /// Adds a line that says how many times as long auto's choice takes as the fastest on its device.
  void add_best(Table& table) const {
    Table::Line line{{"auto / best", ""}, ""};
    bool any = false;
    for (const Comparison* comparison : group_) {
      const auto by_auto =
          std::find_if(comparison->rows.begin(), comparison->rows.end(),
                       [](const Row& row) { return row.by_auto && row.times && row.times->best; });
      const bool there = by_auto != comparison->rows.end();
      any = any || there;
      line.cells.push_back(there ? aligned(figure(*by_auto->times->best), "") : "");
    }
    if (any && table.lines.size() > 1) table.lines.push_back(std::move(line));
  }

  const Group& group_;
  const Style& style_;
  std::size_t mark_width_ = 0;  ///< the text's, where columns are aligned
};

std::string devices_of(const Group& group, const Style& style) {
  std::string text;
  std::set<std::string> known;
  for (const Comparison* comparison : group)
    for (const DeviceFacts& facts : comparison->devices)
      if (known.insert(name_of(facts.location)).second) text += style.note(device_line(facts));
  return text;
}

bool any(std::span<const Comparison> comparisons, auto holds) {
  return std::any_of(comparisons.begin(), comparisons.end(), [&](const Comparison& c) {
    return std::any_of(c.rows.begin(), c.rows.end(),
                       [&](const Row& row) { return holds(row, c.problem); });
  });
}

std::string brief_legend(std::span<const Comparison> comparisons, const Style& style) {
  std::string text;
  int runs = 0;
  for (const Comparison& comparison : comparisons)
    for (const Row& row : comparison.rows)
      if (row.times) runs = std::max(runs, row.times->runs);
  if (runs > 0)
    text += style.note("times: in copies of as many bytes on that device, median of up to " +
                       std::to_string(runs) + " runs with the pixels already there");
  if (any(comparisons, [](const Row& row, const Problem&) { return row.by_auto; }))
    text += style.note("*: what auto takes; auto / best: its time as a multiple of the fastest's");
  if (any(comparisons,
          [](const Row& row, const Problem&) { return !broken_bound(row, "").empty(); }))
    text += style.note("!: wrong, beyond what its family promises");
  if (any(comparisons, [](const Row& row, const Problem& problem) {
        return row.accuracy && is_piece(row, problem);
      }))
    text += style.note("~: on a piece from the middle of the picture; the whole takes too long");
  std::set<std::string> units;
  for (const Comparison& comparison : comparisons)
    if (any({&comparison, 1},
            [](const Row& row, const Problem&) { return row.accuracy.has_value(); }))
      units.insert(std::string(name_of(comparison.problem.depth)) + " in " +
                   difference_unit(comparison.problem));
  if (units.empty()) return text;
  std::string in;
  for (const std::string& unit : units) in += (in.empty() ? "" : "; ") + unit;
  return text + style.note("difference: the largest from the convolution in double precision, " +
                           in + "; checked: so many samples at least");
}

std::string brief_report(std::span<const Comparison> comparisons, const ReportHead& head,
                         const Style& style) {
  std::string text;
  for (const Group& group : groups_of(comparisons)) {
    text += style.heading(head.input + ": " + title_of(group.front()->problem));
    text += devices_of(group, style) + "\n";
    const BriefTable table(group, style);
    text += table.of(copies_of, true);
    const std::string reads = table.of(reads_of, false);
    if (!reads.empty())
      text += style.note("global reads per sample of the result, counted in the emulator") + "\n" +
              reads;
    text += table.reasons();
  }
  return text + brief_legend(comparisons, style);
}

// The full tables: one a comparison, a line a strategy and device.

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
  const bool textures =
      std::any_of(comparison.rows.begin(), comparison.rows.end(),
                  [](const Row& row) { return row.counted && row.counted->texture_fetches > 0; });
  if (textures) table.head.push_back("texture fetches");
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
    if (textures) line.cells.push_back(figure(r.texture_fetches));
    append(line.cells, judgement(row));
    table.lines.push_back(std::move(line));
  }
  return table;
}

bool any_row(std::span<const Comparison> comparisons, auto has) {
  return std::any_of(comparisons.begin(), comparisons.end(), [&](const Comparison& c) {
    return std::any_of(c.rows.begin(), c.rows.end(), [&](const Row& row) { return has(row); });
  });
}

std::string legend(std::span<const Comparison> comparisons, const Style& style) {
  std::string text;
  if (any_row(comparisons, [](const Row& row) { return row.by_auto; }))
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
    if (any_row(comparisons, [](const Row& row) { return row.times && row.times->basic; }))
      text += style.note("x basic: times as fast as basic on that device");
  }
  const bool counted = any_row(comparisons, [](const Row& row) { return row.counted.has_value(); });
  if (counted) {
    std::vector<std::string> accesses{"global reads"};
    if (any_row(comparisons,
                [](const Row& row) { return row.counted && row.counted->texture_fetches > 0; }))
      accesses.emplace_back("texture fetches");
    if (any_row(comparisons,
                [](const Row& row) { return row.counted && row.counted->atomic_adds > 0; }))
      accesses.emplace_back("atomic additions");
    const bool by_library =
        any_row(comparisons, [](const Row& row) { return row.counted && row.counted->reuse == 0; });
    text += style.note(
        "reads, additions, ghost cells: counted in the emulator, per sample of the result; reuse: "
        "taps in the image over " +
        listed(accesses) + (by_library ? ", blank where a library does the work" : ""));
  }
  if (counted || pieces)
    text +=
        style.note("picture: what the row was measured on, the whole or a piece from its middle");
  if (!any_row(comparisons, [](const Row& row) { return row.accuracy.has_value(); })) return text;
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
    for (const DeviceFacts& facts : comparison.devices) text += style.note(device_line(facts));
    text += style.note("auto takes " + comparison.auto_choice) + "\n";
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

std::string text_report(std::span<const Comparison> comparisons, const ReportHead& head,
                        std::size_t width) {
  return report(comparisons, head, {false, width});
}

std::string markdown_report(std::span<const Comparison> comparisons, const ReportHead& head) {
  return report(comparisons, head, {true});
}

}  // namespace convfilt
