#include "src/lab/explain/schedule.hpp"
#include "src/base/suggest.hpp"

#include <algorithm>

#include "kernels/transform/block_schedule.hpp"

namespace convfilt {
namespace {

using transform::Intervals;

constexpr int kMostDivisions = 16, kMostIntervals = 12, kMostPairs = 12;
constexpr std::size_t kWidest = 76;  // text of a line that no terminal of 100 columns breaks

/// "36: (0,3) (2,2) (4,1)" for interval p, which begins at its first output.
std::string interval_text(const Intervals& on, int p) {
  std::string text = std::to_string(p * on.axis.apart) + ":";
  const transform::Interval blocks = on.blocks_of(p);
  const int shown = std::min(blocks.count, kMostPairs);
  for (int n = 0; n < shown; ++n) {
    const int j = blocks.first + blocks.count - 1 - n;
    text += " (" + std::to_string(p - on.axis.ratio() * j) + "," + std::to_string(j) + ")";
  }
  return text + (shown < blocks.count ? " and " + std::to_string(blocks.count - shown) + " more"
                                      : std::string());
}

/// Adds a division's intervals in lines that end between two of them.
void add_division(const Intervals& on, int division, ScheduleText& text) {
  std::vector<std::string> intervals;
  int found = 0;
  for (int n = 0; n < on.count; ++n)
    if (const int p = on.interval(n); on.division(p) == division && ++found <= kMostIntervals)
      intervals.push_back(interval_text(on, p));
  if (found > kMostIntervals)
    intervals.push_back("and " + plural(found - kMostIntervals, "more interval"));
  if (intervals.empty()) intervals.push_back("no interval that an output needs");
  text.lines.emplace_back("division " + std::to_string(division), intervals[0]);
  for (std::size_t k = 1; k < intervals.size(); ++k) {
    std::string& line = text.lines.back().second;
    line += ";";
    if (line.size() + intervals[k].size() < kWidest)
      line += " " + intervals[k];
    else
      text.lines.emplace_back("", intervals[k]);
  }
}

ScheduleText text_of(const Intervals& on, const std::string& along, int outputs, bool divided) {
  const transform::BlockAxis& axis = on.axis;
  ScheduleText text{"Schedule along " + along +
                        ": the first output of each interval, and its pairs (part, block)",
                    {}};
  const auto cut = [](int count, const char* noun, int pieces, const char* piece, int side,
                      const char* name) {
    return plural(count, noun) + " in " + plural(pieces, piece) + " of " + name + " = " +
           std::to_string(side);
  };
  text.lines = {
      {"mask", cut(axis.side, "weight", axis.parts(), "part", axis.part, "L1") +
                   ", counted from the end of the mask that is applied, as true convolution does"},
      {"picture", cut(on.samples, "sample", on.blocks(), "block", axis.block, "L2") +
                      (axis.bare ? "" : ", ghost cells included")},
      {"intervals", plural(axis.reach(), "output") + " each; those of a division begin " +
                        std::to_string(on.divisions * axis.apart) + " apart and run at once" +
                        (divided ? ", and each division has a private buffer"
                                 : ", one division after the other")}};
  if (const int first = -on.output(0); first > 0)
    text.lines.emplace_back("outputs", "the picture's are " + std::to_string(first) + " to " +
                                           std::to_string(first + outputs - 1));
  for (int k = 0; k < std::min(on.divisions, kMostDivisions); ++k) add_division(on, k, text);
  if (on.divisions > kMostDivisions)
    text.lines.emplace_back("", "and " + plural(on.divisions - kMostDivisions, "more division"));
  return text;
}

}  // namespace

BothIntervals intervals_of(const Strategy& strategy, const Problem& p, const Tuning& tuning) {
  const transform::BlockSchedule schedule = strategy.has(Setting::part)
                                                ? transform::in_parts_schedule(p, tuning)
                                                : transform::overlap_add_schedule(p, tuning);
  return {divisions_of(schedule.x, p.out_width(), p.lead_x(), p.width),
          divisions_of(schedule.y, p.out_height(), p.lead_y(), p.height), schedule.divided};
}

std::vector<ScheduleText> schedule_texts(const Strategy& strategy, const Problem& p,
                                         const Tuning& tuning) {
  const BothIntervals on = intervals_of(strategy, p, tuning);
  std::vector<ScheduleText> texts;
  if (on.x.divisions > 1) texts.push_back(text_of(on.x, "a row", p.out_width(), on.divided));
  if (on.y.divisions > 1) texts.push_back(text_of(on.y, "a column", p.out_height(), on.divided));
  return texts;
}

}  // namespace convfilt
