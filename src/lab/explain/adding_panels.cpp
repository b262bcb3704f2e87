#include "src/lab/explain/block_panels.hpp"

#include <algorithm>

#include "src/lab/explain/schedule.hpp"
#include "src/lab/explain/text.hpp"

namespace convfilt {
namespace {

constexpr Pen kBlockEdge{"#606060", 1};
constexpr Pen kWritten{"#000000", 2.5};

/// Whether picture and mask have one dimension.
bool one_row(const Explanation& e) {
  return e.asked.height == 1 && e.asked.mask.height == 1;
}

/// "3 x 2", or "3" where all is in one dimension.
std::string times(const Explanation& e, int x, int y) {
  return one_row(e) ? std::to_string(x) : joined(x, " x ", y);
}

/// The samples of a block, where the first block's first one is at 0.
Box samples_of(const Geometry& g, int block_x, int block_y) {
  const double x = double(block_x) * g.in_columns, y = double(block_y) * g.in_rows;
  return {x, y, x + g.in_columns, y + g.in_rows};
}

/// The samples under the outputs of a block.
Box outputs_of(const Geometry& g, int block_x, int block_y) {
  const Box samples = samples_of(g, block_x, block_y);
  const double x = samples.left + g.lead_x, y = samples.top + g.lead_y;
  return {x, y, x + g.out_columns, y + g.out_rows};
}

/// Outputs from interval to interval of a schedule, which is L1.
int apart(const Adding& adding, int block) {
  return block / std::max(1, adding.sums);
}

/// A number along each axis that has several: "1,2", or "1" where only one has.
std::string numbers(int x, int across, int y, int down) {
  if (across > 1 && down > 1) return joined(x, ",", y);
  return std::to_string(across > 1 ? x : y);
}

/// How many blocks along an axis are drawn.
int shown(const Adding& adding, int tiles) {
  return std::min(tiles, std::max(3, 2 * adding.steps));
}

/// Blocks from the upper left corner on, and the intervals of the first division, by the numbers
/// that the schedule in words gives them.
std::string intervals_panel(const Explanation& e, const Spot& spot) {
  const Geometry& g = *e.geometry;
  const Problem& p = e.asked;
  const BothIntervals on = intervals_of(*e.strategy, p, e.tuning);
  // Intervals of division 0 along an axis: their places, counted from the first block's first
  // sample, and their first outputs as the schedule counts them.
  struct Numbered {
    Stretch place;
    int output;
  };
  const auto along = [](const transform::Intervals& axis, int shift, int end) {
    std::vector<Numbered> found;
    for (int n = 0; n < axis.count; ++n) {
      const int number = axis.interval(n), from = axis.output(number) + shift - axis.origin;
      if (axis.division(number) == 0 && from < end)
        found.push_back({{double(from), double(std::min(end, from + axis.axis.reach()))},
                         number * axis.axis.apart});
    }
    return found;
  };
  const int across = shown(g.adding_x, on.x.blocks()), down = shown(g.adding_y, on.y.blocks());
  const Box blocks = united(samples_of(g, 0, 0), samples_of(g, across - 1, down - 1));
  const auto columns = along(on.x, p.mask.anchor_x - p.lead_x(), int(blocks.right));
  const auto rows = along(on.y, p.mask.anchor_y - p.lead_y(), int(blocks.bottom));
  Box drawing = blocks;
  for (const Numbered& column : columns) drawing.left = std::min(drawing.left, column.place.from);
  for (const Numbered& row : rows) drawing.top = std::min(drawing.top, row.place.from);
  Panel panel = Panel::around(spot, drawing);
  panel.area(blocks, kImageCell);
  for (const Numbered& row : rows)
    for (const Numbered& column : columns) {
      const Box interval{column.place.from, row.place.from, column.place.to, row.place.to};
      panel.area(interval, turn_kind(1));
      panel.outline(interval, kWritten);
      panel.number(interval, numbers(column.output, on.x.divisions, row.output, on.y.divisions));
    }
  for (int y = 0; y < down; ++y)
    for (int x = 0; x < across; ++x) panel.outline(samples_of(g, x, y), kBlockEdge);
  return panel.captioned(
      drawing,
      joined("division ", numbers(0, on.x.divisions, 0, on.y.divisions), " of ",
             times(e, on.x.divisions, on.y.divisions)),
      {joined("outlined: its intervals of ", times(e, g.out_columns, g.out_rows),
              " outputs, by the first one,"),
       joined("which begin ",
              times(e, on.x.divisions * on.x.axis.apart, on.y.divisions * on.y.axis.apart),
              " apart, so none meet")});
}

/// Blocks from the upper left corner on, in the colours of their launches, and what those of the
/// first launch write.
std::string launches_panel(const Explanation& e, const Spot& spot) {
  const Geometry& g = *e.geometry;
  const int across = shown(g.adding_x, e.axes.x.tiles());
  const int down = shown(g.adding_y, e.axes.y.tiles());
  const Box drawing = united(united(samples_of(g, 0, 0), samples_of(g, across - 1, down - 1)),
                             united(outputs_of(g, 0, 0), outputs_of(g, across - 1, down - 1)));
  Panel panel = Panel::around(spot, drawing);
  for (int y = 0; y < down; ++y)
    for (int x = 0; x < across; ++x)
      panel.area(samples_of(g, x, y), g.atomic ? kImageCell : turn_kind(launch_of(g, x, y)));
  for (int y = 0; g.atomic && y < down; ++y)
    for (int x = 0; x < across; ++x) {
      // The next blocks' outputs begin in this block's.
      const Box outputs = outputs_of(g, x, y);
      if (x + 1 < across) panel.area(common(outputs, outputs_of(g, x + 1, y)), kSharedOutputCell);
      if (y + 1 < down) panel.area(common(outputs, outputs_of(g, x, y + 1)), kSharedOutputCell);
    }
  for (int y = 0; y < down; ++y) {
    for (int x = 0; x < across; ++x) {
      const Box outputs = outputs_of(g, x, y), samples = samples_of(g, x, y);
      panel.outline(samples, kBlockEdge);
      if (g.atomic || launch_of(g, x, y) == 1) panel.outline(outputs, kWritten);
      // Outlines lie alike in all blocks of a launch, and may reach the blocks behind.
      std::vector<double> columns, rows;
      for (const int back : {0, 1, 2}) {
        const Box near = outputs_of(g, x - back, y), above = outputs_of(g, x, y - back);
        columns.insert(columns.end(), {near.left, near.right});
        rows.insert(rows.end(), {above.top, above.bottom});
      }
      const Stretch clear_x = clear_of({samples.left, samples.right}, columns, panel.scale_x());
      const Stretch clear_y = clear_of({samples.top, samples.bottom}, rows, panel.scale_y());
      panel.number({clear_x.from, clear_y.from, clear_x.to, clear_y.to},
                   std::to_string(launch_of(g, x, y)));
    }
  }
  if (g.atomic)
    return panel.captioned(
        drawing, "one launch: blocks add atomically",
        {"outlined: the outputs that each block adds to", "violet: shared with a neighbour"});
  const int steps_x = g.adding_x.steps, steps_y = g.adding_y.steps;
  return panel.captioned(
      drawing, times(e, steps_x, steps_y) + " launches: blocks by launch",
      {joined("outlined: what launch 1 writes, ", times(e, g.out_columns, g.out_rows),
              " outputs a block"),
       joined("its blocks lie ", times(e, steps_x * g.in_columns, steps_y * g.in_rows),
              " apart, so none meet")});
}

/// Where intervals begin, in the colours of their divisions.
std::string divisions_panel(const Explanation& e, const Spot& spot) {
  const Geometry& g = *e.geometry;
  const int columns = apart(g.adding_x, g.in_columns), rows = apart(g.adding_y, g.in_rows);
  const int across = g.adding_x.divisions, down = g.adding_y.divisions;
  const auto repeated = [](int divisions) { return divisions == 1 ? 1 : divisions + 2; };
  const Box drawing{0, 0, double(repeated(across)) * columns, double(repeated(down)) * rows};
  Panel panel = Panel::around(spot, drawing);
  for (int y = 0; y < repeated(down); ++y) {
    for (int x = 0; x < repeated(across); ++x) {
      const Box begin{double(x) * columns, double(y) * rows, double(x + 1) * columns,
                      double(y + 1) * rows};
      panel.area(begin, turn_kind(y % down * across + x % across + 1));
      panel.outline(begin, kBlockEdge);
      panel.number(begin, numbers(x % across, across, y % down, down));
    }
  }
  return panel.captioned(
      drawing, "intervals by division, where they begin",
      {joined("one begins every ", times(e, columns, rows), " outputs, and is"),
       joined(times(e, g.out_columns, g.out_rows), " wide",
              g.private_sums > 1 ? "; each division has a private buffer" : "")});
}

/// Whether each part of the mask has launches of its own, and is numbered in their order.
bool is_launched_alone(const Explanation& e) {
  const Geometry& g = *e.geometry;
  return !e.strategy->has(Setting::part) || g.adding_x.sums * g.adding_y.sums == 0;
}

/// The parts of the mask, in the colours of the intervals that they reach from a block.
std::string parts_panel(const Explanation& e, const Spot& spot) {
  const Geometry& g = *e.geometry;
  const Mask& mask = e.asked.mask;
  const Box drawing{0, 0, double(mask.width), double(mask.height)};
  Panel panel = Panel::around(spot, drawing);
  const std::vector<int>&columns = g.adding_x.parts, &rows = g.adding_y.parts;
  const int across = int(columns.size()), down = int(rows.size());
  const int sums_x = std::min(across, g.adding_x.sums), sums_y = std::min(down, g.adding_y.sums);
  const bool alone = is_launched_alone(e);
  double top = 0;
  for (int y = 0; y < down; top += rows[std::size_t(y++)]) {
    double left = 0;
    for (int x = 0; x < across; left += columns[std::size_t(x++)]) {
      const Box part{left, top, left + columns[std::size_t(x)], top + rows[std::size_t(y)]};
      const int turn = alone ? y * across + x + 1
                             : (down - 1 - y) % sums_y * sums_x + (across - 1 - x) % sums_x + 1;
      panel.area(part, turn_kind(turn));
      panel.outline(part, kBlockEdge);
      panel.number(
          part, alone ? std::to_string(turn) : numbers(across - 1 - x, across, down - 1 - y, down));
    }
  }
  panel.grid(drawing);
  const std::string title = joined("mask of ", times(e, mask.width, mask.height), " in ",
                                   times(e, across, down), " parts");
  if (!alone)
    return panel.captioned(drawing, title,
                           {"numbered from the last part on; parts of one colour",
                            "reach the same intervals, from different blocks"});
  const int launches = g.adding_x.steps * g.adding_y.steps;
  return panel.captioned(
      drawing, title,
      {"one part after the other, by number,",
       joined("each in ", launches, launches == 1 ? " launch" : " launches", " of its own")});
}

}  // namespace

int launch_of(const Geometry& g, int block_x, int block_y) {
  return block_y % g.adding_y.steps * g.adding_x.steps + block_x % g.adding_x.steps + 1;
}

std::string number_of_first_part(const Explanation& e) {
  const int across = int(e.geometry->adding_x.parts.size());
  const int down = int(e.geometry->adding_y.parts.size());
  return is_launched_alone(e) ? "1" : numbers(across - 1, across, down - 1, down);
}

std::vector<DrawPanel> adding_panels(const Explanation& e) {
  const Geometry& g = *e.geometry;
  if (g.adding_x.steps == 0) return {};
  std::vector<DrawPanel> panels;
  const auto add = [&](auto draw) {
    panels.push_back([&e, draw](const Spot& spot) { return draw(e, spot); });
  };
  add(g.adding_x.divisions > 0 ? intervals_panel : launches_panel);
  if (g.adding_x.divisions * g.adding_y.divisions > 1) add(divisions_panel);
  if (g.adding_x.parts.size() * g.adding_y.parts.size() > 1) add(parts_panel);
  return panels;
}

}  // namespace convfilt
