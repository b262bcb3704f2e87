#include "src/lab/compare/report.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "src/base/suggest.hpp"
#include "src/base/table.hpp"

namespace convfilt {
namespace {

using Comparisons = std::span<const Comparison* const>;

double speed_of(const Row& row) {
  return row.times->pixels_per_second;
}

std::string full_name(const Row& row) {
  const std::string device = name_of(row.location);
  return row.contender == device ? device : row.contender + " on " + device;
}

std::string limit_of(const Times& times) {
  if (times.roofline > 1) return "fewer or cheaper operations";
  return std::string(times.memory_bound ? "memory" : "arithmetic") + " bounds it, and allows " +
         figure(1 / times.roofline) + " times that";
}

std::string winners(Comparisons group) {
  Lists winners;
  for (const Comparison* comparison : group) {
    std::vector<const Row*> rows;
    for (const Row& row : comparison->rows) {
      if (!row.times || !broken_bound(row, "").empty()) continue;
      rows.push_back(&row);
    }
    if (rows.empty()) continue;
    std::ranges::stable_sort(rows, std::ranges::greater(),
                             [](const Row* row) { return speed_of(*row); });
    std::string where = short_label(comparison->problem.mask) + " (";
    if (rows.size() > 1)
      where += figure(speed_of(*rows[0]) / speed_of(*rows[1])) + " times as fast as " +
               full_name(*rows[1]) + "; ";
    winners.add(full_name(*rows[0]), where + limit_of(*rows[0]->times) + ")");
  }
  if (winners.size() == 0) return "";
  return "Fastest: " + winners.text(" at ") + ".";
}

/// A kernel without tiles beside the best that has them.
struct Pair {
  const Row *basic = nullptr, *tiled = nullptr;
};

/// The best is the fastest, or where nothing was timed, the one that asks for the fewest sectors.
Pair pair_of(const Comparison& comparison) {
  Pair pair;
  for (const Row& row : comparison.rows)
    if (row.contender == kBaseline && row.counted && row.counted->sectors) pair.basic = &row;
  if (!pair.basic) return {};
  const auto cost = [&](const Row& row) {
    return row.times ? 1 / speed_of(row) : *row.counted->sectors;
  };
  for (const Row& row : comparison.rows)
    if (row.tile_columns > 0 && row.location == pair.basic->location && row.counted &&
        row.counted->sectors && row.times.has_value() == pair.basic->times.has_value() &&
        (!pair.tiled || cost(row) < cost(*pair.tiled)))
      pair.tiled = &row;
  return pair.tiled ? pair : Pair();
}

std::string accesses_of(const Counted& c) {
  return figure(reads_of(c)) + " reads an output in " + figure(*c.sectors) + " sectors";
}

/// A tiled kernel's accesses to shared memory, which basic does without.
std::string shared_of(const Counted& c) {
  return figure(c.shared_reads) + " reads and " + figure(c.shared_writes.value_or(0)) +
         " writes of shared memory";
}

std::string tiles(Comparisons group) {
  std::vector<std::string> pay, lose;
  std::pair<Pair, std::string> paying, losing, counted;  // the last with its mask
  for (const Comparison* comparison : group) {
    const Pair pair = pair_of(*comparison);
    const std::string mask = short_label(comparison->problem.mask);
    if (!pair.basic) continue;
    if (!pair.basic->times) {
      counted = {pair, mask};
      continue;
    }
    const bool pays = speed_of(*pair.tiled) > speed_of(*pair.basic);
    (pays ? pay : lose).push_back(mask);
    (pays ? paying : losing) = {pair, mask};
  }
  std::string text;
  const auto add = [&](const std::string& sentence) {
    text += (text.empty() ? "" : " ") + sentence;
  };
  if (!lose.empty()) {
    const auto& [basic, tiled] = losing.first;
    add("Tiles do not pay at " + listed(lose) + ": at " + losing.second + " basic is " +
        figure(speed_of(*basic) / speed_of(*tiled)) + " times as fast as " + tiled->contender +
        ", the best of them. Caches answer its " + accesses_of(*basic->counted) + "; " +
        tiled->contender + " asks for " + accesses_of(*tiled->counted) + ", but adds " +
        shared_of(*tiled->counted) + ", no faster than a cache.");
  }
  if (!pay.empty()) {
    const auto& [basic, tiled] = paying.first;
    add("Tiles pay at " + listed(pay) + ": at " + paying.second + " " + tiled->contender + " is " +
        figure(speed_of(*tiled) / speed_of(*basic)) + " times as fast as basic, with " +
        accesses_of(*tiled->counted) + " where basic has " + accesses_of(*basic->counted) + ".");
  }
  if (counted.first.basic) {
    const auto& [basic, tiled] = counted.first;
    add("Kernels were counted, not timed: at " + counted.second + " basic asks for " +
        accesses_of(*basic->counted) + ", " + tiled->contender + " for " +
        figure(reads_of(*tiled->counted)) + " in " + figure(*tiled->counted->sectors) + " and " +
        shared_of(*tiled->counted) + "; a GPU's caches decide which is faster.");
  }
  return text;
}

/// Whether tiles are equal, since others make another race.
std::string tile_sizes(Comparisons group) {
  std::map<std::string, Lists> tiles;  // of each strategy, and the masks under which it has them
  for (const Comparison* comparison : group)
    for (const Row& row : comparison->rows)
      if (row.tile_columns > 0)
        tiles[row.contender].add(size_text(row.tile_columns, row.tile_rows),
                                 short_label(comparison->problem.mask));
  Lists sizes;
  for (const auto& [strategy, of] : tiles)
    for (const auto& [size, masks] : of.all())
      sizes.add(size, strategy + (of.size() > 1 ? " at " + listed(masks) : ""));
  if (sizes.size() == 0) return "";
  return (sizes.size() == 1 ? "Tiles are equal, in outputs: " : "Tiles differ, in outputs: ") +
         sizes.text(" in ") + ".";
}

std::string rightness(Comparisons group) {
  Lists wrong;
  bool judged = false;
  for (const Comparison* comparison : group) {
    for (const Row& row : comparison->rows) {
      judged = judged || row.accuracy;
      if (!broken_bound(row, "").empty())
        wrong.add(full_name(row), short_label(comparison->problem.mask));
    }
  }
  if (wrong.size() > 0) return "Wrong: " + wrong.text(" at ") + ".";
  return judged ? "Every result keeps its family's bound." : "";
}

}  // namespace

std::string summary_of(Comparisons group) {
  std::string text;
  for (const auto& part : {winners(group), tiles(group), tile_sizes(group), rightness(group)})
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
  return text;
}

}  // namespace convfilt
