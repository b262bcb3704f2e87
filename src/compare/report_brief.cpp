// The brief tables of a report: one a picture and kind of masks, a line a strategy, a column a
// mask.

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/compare/plot.hpp"
#include "src/compare/report_style.hpp"
#include "src/mask/make.hpp"
#include "src/mask/random.hpp"

namespace convfilt {
namespace {

constexpr const char* kByAuto = "*";
constexpr const char* kBroken = "!";
constexpr const char* kPiece = "~";

/// Whether the name says what kind of mask it is, and the sides all else.
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

/// What a cell says of a row, where it says something.
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
  if (!broken_promise(row, "").empty()) marks += kBroken;
  if (is_piece(row, problem)) marks += kPiece;
  return marks.empty() ? "" : " " + marks;
}

/// The worst of a line's masks, in the three columns that say how right its results are.
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

  /// Marks stand right of the digits, which stay below each other.
  std::string aligned(const std::string& text, const std::string& marks) const {
    return text + marks + std::string(mark_width_ - std::min(mark_width_, marks.size()), ' ');
  }

  /// How much slower than the fastest on its device what auto takes is.
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
  std::size_t mark_width_ = 0;  ///< of text, where columns are aligned
};

std::string devices_of(const Group& group, const Style& style) {
  std::string text;
  std::set<std::string> known;
  for (const Comparison* comparison : group)
    for (const DeviceFacts& facts : comparison->devices)
      if (known.insert(name_of(facts.location)).second) text += style.line(device_line(facts));
  return text;
}

bool any(std::span<const Comparison> comparisons, auto holds) {
  return std::any_of(comparisons.begin(), comparisons.end(), [&](const Comparison& c) {
    return std::any_of(c.rows.begin(), c.rows.end(),
                       [&](const Row& row) { return holds(row, c.problem); });
  });
}

std::string legend(std::span<const Comparison> comparisons, const Style& style) {
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
          [](const Row& row, const Problem&) { return !broken_promise(row, "").empty(); }))
    text += style.note("!: wrong, beyond what its family promises");
  if (any(comparisons, [](const Row& row, const Problem& problem) {
        return row.accuracy && is_piece(row, problem);
      }))
    text += style.note("~: on a piece from the middle of the picture; the whole takes too long");
  std::set<std::string> units;
  for (const Comparison& comparison : comparisons)
    units.insert(std::string(name_of(comparison.problem.depth)) + " in " +
                 difference_unit(comparison.problem));
  std::string in;
  for (const std::string& unit : units) in += (in.empty() ? "" : "; ") + unit;
  return text + style.note("difference: the largest from the convolution in double precision, " +
                           in + "; checked: so many samples at least");
}

}  // namespace

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
      text += style.line("global reads per sample of the result, counted in the emulator") + "\n" +
              reads;
    text += table.reasons();
  }
  return text + legend(comparisons, style);
}

}  // namespace convfilt
