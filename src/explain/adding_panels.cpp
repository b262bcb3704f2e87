#include "src/explain/adding_panels.hpp"

#include <algorithm>

#include "src/explain/cell_kinds.hpp"
#include "src/explain/text.hpp"

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
  return std::to_string(x) + (one_row(e) ? "" : " x " + std::to_string(y));
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

std::string launches_words(int launches) {
  return std::to_string(launches) + (launches == 1 ? " launch" : " launches");
}

/// Outputs from interval to interval of a schedule, which is L1.
int apart(const Adding& adding, int block) {
  return block / std::max(1, adding.sums);
}

void number(Panel& panel, const Box& box, int value) {
  panel.words((box.left + box.right) / 2, (box.top + box.bottom) / 2, std::to_string(value),
              Align::centre, true);
}

/// Blocks from the upper left corner on, in the colours of their launches, and what those of the
/// first launch write, or the intervals of the first division.
std::string launches_panel(const Explanation& e, PlotSize page, const Box& place, char letter) {
  const Geometry& g = *e.geometry;
  const bool divided = g.adding_x.divisions > 0;
  const auto shown = [](const Adding& adding, int tiles) {
    return std::min(tiles, std::max(3, 2 * adding.steps));
  };
  const int across = shown(g.adding_x, e.axes.x.tiles()),
            down = shown(g.adding_y, e.axes.y.tiles());
  const Box drawing = united(united(samples_of(g, 0, 0), samples_of(g, across - 1, down - 1)),
                             united(outputs_of(g, 0, 0), outputs_of(g, across - 1, down - 1)));
  Panel panel = Panel::around(page, place, drawing, kPanelMargins);
  for (int y = 0; y < down; ++y)
    for (int x = 0; x < across; ++x)
      panel.area(samples_of(g, x, y),
                 g.atomic || divided ? kImageCell : turn_kind(launch_of(g, x, y)));
  for (int y = 0; g.atomic && y < down; ++y) {
    for (int x = 0; x < across; ++x) {
      // The next blocks' outputs begin in this block's.
      const Box outputs = outputs_of(g, x, y);
      if (x + 1 < across) panel.area(common(outputs, outputs_of(g, x + 1, y)), kSharedOutputCell);
      if (y + 1 < down) panel.area(common(outputs, outputs_of(g, x, y + 1)), kSharedOutputCell);
    }
  }
  const int apart_x = g.adding_x.divisions * apart(g.adding_x, g.in_columns),
            apart_y = g.adding_y.divisions * apart(g.adding_y, g.in_rows);
  if (divided) {
    const Box first = outputs_of(g, 0, 0);
    for (double y = first.top; y < drawing.bottom; y += apart_y) {
      for (double x = first.left; x < drawing.right; x += apart_x) {
        const Box interval = common({x, y, x + g.out_columns, y + g.out_rows}, drawing);
        panel.area(interval, turn_kind(1));
        panel.outline(interval, kWritten);
        number(panel, interval, 1);
      }
    }
  }
  for (int y = 0; y < down; ++y) {
    for (int x = 0; x < across; ++x) {
      const Box outputs = outputs_of(g, x, y), samples = samples_of(g, x, y);
      panel.outline(samples, kBlockEdge);
      if (divided) continue;
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
      number(panel, {clear_x.from, clear_y.from, clear_x.to, clear_y.to}, launch_of(g, x, y));
    }
  }
  std::string title = std::string(1, letter) + ", ";
  std::vector<std::string> below;
  if (g.atomic) {
    title += "one launch: blocks add atomically";
    below = {"outlined: the outputs that each block adds to", "violet: shared with a neighbour"};
  } else if (divided) {
    title += times(e, g.adding_x.divisions, g.adding_y.divisions) + " divisions: the first one";
    below = {"outlined: its intervals, " + times(e, g.out_columns, g.out_rows) + " outputs each,",
             "which lie " + times(e, apart_x, apart_y) + " apart, so none meet"};
  } else {
    title += times(e, g.adding_x.steps, g.adding_y.steps) + " launches: blocks by launch";
    below = {"outlined: what launch 1 writes, " + times(e, g.out_columns, g.out_rows) +
                 " outputs a block",
             "its blocks lie " +
                 times(e, g.adding_x.steps * g.in_columns, g.adding_y.steps * g.in_rows) +
                 " apart, so none meet"};
  }
  caption(panel, drawing, title, below);
  return panel.script();
}

/// Where intervals begin, in the colours of their divisions.
std::string divisions_panel(const Explanation& e, PlotSize page, const Box& place, char letter) {
  const Geometry& g = *e.geometry;
  const int columns = apart(g.adding_x, g.in_columns), rows = apart(g.adding_y, g.in_rows);
  const int across = g.adding_x.divisions, down = g.adding_y.divisions;
  const auto shown = [](int divisions) { return divisions == 1 ? 1 : divisions + 2; };
  const Box drawing{0, 0, double(shown(across)) * columns, double(shown(down)) * rows};
  Panel panel = Panel::around(page, place, drawing, kPanelMargins);
  for (int y = 0; y < shown(down); ++y) {
    for (int x = 0; x < shown(across); ++x) {
      const Box begin{double(x) * columns, double(y) * rows, double(x + 1) * columns,
                      double(y + 1) * rows};
      const int division = y % down * across + x % across + 1;
      panel.area(begin, turn_kind(division));
      panel.outline(begin, kBlockEdge);
      number(panel, begin, division);
    }
  }
  caption(panel, drawing, std::string(1, letter) + ", intervals by division, where they begin",
          {"one begins every " + times(e, columns, rows) + " outputs, and is",
           times(e, g.out_columns, g.out_rows) + " wide" +
               std::string(g.private_sums > 1 ? "; each division has a private buffer" : "")});
  return panel.script();
}

/// The parts of the mask, in the colours of the intervals that they reach.
std::string parts_panel(const Explanation& e, PlotSize page, const Box& place, char letter) {
  const Geometry& g = *e.geometry;
  const Mask& mask = e.asked.mask;
  const Box drawing{0, 0, double(mask.width), double(mask.height)};
  Panel panel = Panel::around(page, place, drawing, kPanelMargins);
  const std::vector<int>&columns = g.adding_x.parts, &rows = g.adding_y.parts;
  const int across = int(columns.size()), down = int(rows.size());
  const int sums_x = std::min(across, g.adding_x.sums), sums_y = std::min(down, g.adding_y.sums);
  const bool alone = sums_x == 0;
  const int launches = g.adding_x.steps * g.adding_y.steps;
  double top = 0;
  for (int y = 0; y < down; top += rows[std::size_t(y++)]) {
    double left = 0;
    for (int x = 0; x < across; left += columns[std::size_t(x++)]) {
      const Box part{left, top, left + columns[std::size_t(x)], top + rows[std::size_t(y)]};
      const int turn = alone ? y * across + x + 1
                             : (down - 1 - y) % sums_y * sums_x + (across - 1 - x) % sums_x + 1;
      panel.area(part, turn_kind(turn));
      panel.outline(part, kBlockEdge);
      number(panel, part, turn);
    }
  }
  draw_lines(panel, drawing);
  const std::string title = std::string(1, letter) + ", mask of " +
                            times(e, mask.width, mask.height) + " in " + times(e, across, down) +
                            " parts";
  if (alone)
    caption(panel, drawing, title,
            {"one part after the other, by number,",
             "each in " + launches_words(launches) + " of its own"});
  else
    caption(panel, drawing, title,
            {"counted from the last part on; parts with one number",
             "reach the same intervals, from different blocks"});
  return panel.script();
}

}  // namespace

int launch_of(const Geometry& g, int block_x, int block_y) {
  return block_y % g.adding_y.steps * g.adding_x.steps + block_x % g.adding_x.steps + 1;
}

std::vector<DrawAdding> adding_panels(const Explanation& e) {
  const Geometry& g = *e.geometry;
  if (g.adding_x.steps == 0) return {};
  std::vector<DrawAdding> panels{launches_panel};
  if (g.adding_x.divisions * g.adding_y.divisions > 1) panels.push_back(divisions_panel);
  if (g.adding_x.parts.size() * g.adding_y.parts.size() > 1) panels.push_back(parts_panel);
  return panels;
}

}  // namespace convfilt
