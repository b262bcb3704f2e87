#include "src/explain/adding_panels.hpp"

#include <algorithm>
#include <numeric>

#include "src/explain/cell_kinds.hpp"
#include "src/explain/text.hpp"

namespace convfilt {
namespace {

constexpr Pen kBlockEdge{"#606060", 1};
constexpr Pen kWritten{"#000000", 2.5};

int count(const std::vector<int>& lengths) {
  return std::max(1, int(lengths.size()));
}

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

/// A stretch of a box: division (dx, dy) of its columns and rows.
Box stretch_of(const Box& box, const std::vector<int>& columns, const std::vector<int>& rows,
               int dx, int dy) {
  const double x = box.left + std::accumulate(columns.begin(), columns.begin() + dx, 0);
  const double y = box.top + std::accumulate(rows.begin(), rows.begin() + dy, 0);
  return {x, y, x + columns[std::size_t(dx)], y + rows[std::size_t(dy)]};
}

int launches_of(const Adding& adding) {
  return adding.steps * count(adding.divisions);
}

std::string launches_words(int launches) {
  return std::to_string(launches) + (launches == 1 ? " launch" : " launches");
}

void number(Panel& panel, const Box& box, int value) {
  panel.words((box.left + box.right) / 2, (box.top + box.bottom) / 2, std::to_string(value),
              Align::centre, true);
}

/// Blocks from the upper left corner on, in the colours of their launches, and what those of the
/// first launch write.
std::string launches_panel(const Explanation& e, PlotSize page, const Box& place, char letter) {
  const Geometry& g = *e.geometry;
  const bool divided = count(g.adding_x.divisions) * count(g.adding_y.divisions) > 1;
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
  for (int y = 0; y < down; ++y) {
    for (int x = 0; x < across; ++x) {
      const Box outputs = outputs_of(g, x, y);
      if (g.atomic) {
        // The next blocks' outputs begin in this block's.
        if (x + 1 < across) panel.area(common(outputs, outputs_of(g, x + 1, y)), kSharedOutputCell);
        if (y + 1 < down) panel.area(common(outputs, outputs_of(g, x, y + 1)), kSharedOutputCell);
      } else if (divided) {
        panel.area(stretch_of(outputs, g.adding_x.divisions, g.adding_y.divisions, 0, 0),
                   turn_kind(1));
      }
    }
  }
  for (int y = 0; y < down; ++y) {
    for (int x = 0; x < across; ++x) {
      const Box outputs = outputs_of(g, x, y), samples = samples_of(g, x, y);
      panel.outline(samples, kBlockEdge);
      if (divided) {
        const Box written = stretch_of(outputs, g.adding_x.divisions, g.adding_y.divisions, 0, 0);
        panel.outline(written, kWritten);
        number(panel, written, 1);
      } else {
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
  }
  std::string title = std::string(1, letter) + ", ";
  std::vector<std::string> below;
  if (g.atomic) {
    title += "one launch: blocks add atomically";
    below = {"outlined: the outputs that each block adds to", "violet: shared with a neighbour"};
  } else if (divided) {
    title += times(e, launches_of(g.adding_x), launches_of(g.adding_y)) +
             " launches: one division of every block";
    below = {
        "outlined: what launch 1 writes for each block of " + times(e, g.in_columns, g.in_rows),
        "no two stretches meet"};
  } else {
    title +=
        times(e, launches_of(g.adding_x), launches_of(g.adding_y)) + " launches: blocks by launch";
    below = {"outlined: what launch 1 writes, " + times(e, g.out_columns, g.out_rows) +
                 " outputs a block",
             "its blocks lie " +
                 times(e, g.adding_x.steps * g.in_columns, g.adding_y.steps * g.in_rows) +
                 " apart, so none meet"};
  }
  caption(panel, drawing, title, below);
  return panel.script();
}

/// The divisions of one block's outputs, with the launches that add them.
std::string divisions_panel(const Explanation& e, PlotSize page, const Box& place, char letter) {
  const Geometry& g = *e.geometry;
  const Box outputs = outputs_of(g, 0, 0), samples = samples_of(g, 0, 0);
  const Box drawing = united(outputs, samples);
  Panel panel = Panel::around(page, place, drawing, kPanelMargins);
  const int across = count(g.adding_x.divisions), down = count(g.adding_y.divisions);
  for (int y = 0; y < down; ++y) {
    for (int x = 0; x < across; ++x) {
      const Box stretch = stretch_of(outputs, g.adding_x.divisions, g.adding_y.divisions, x, y);
      if (empty(stretch)) continue;
      panel.area(stretch, turn_kind(launch_of(g, 0, 0, x, y)));
      panel.outline(stretch, kBlockEdge);
      number(panel, stretch, launch_of(g, 0, 0, x, y));
    }
  }
  panel.outline(samples, kTileEdge);
  caption(
      panel, drawing,
      std::string(1, letter) + ", one block: " + times(e, across, down) + " divisions, by launch",
      {"outlined: its " + times(e, g.in_columns, g.in_rows) + " samples, which reach",
       times(e, g.out_columns, g.out_rows) + " outputs, in divisions of up to " +
           times(e, *std::ranges::max_element(g.adding_x.divisions),
                 *std::ranges::max_element(g.adding_y.divisions))});
  return panel.script();
}

/// The parts of the mask, in the colours of their private sums.
std::string parts_panel(const Explanation& e, PlotSize page, const Box& place, char letter) {
  const Geometry& g = *e.geometry;
  const Mask& mask = e.asked.mask;
  const Box drawing{0, 0, double(mask.width), double(mask.height)};
  Panel panel = Panel::around(page, place, drawing, kPanelMargins);
  const int across = count(g.adding_x.parts), down = count(g.adding_y.parts);
  const int sums_x = std::min(across, g.adding_x.sums), sums_y = std::min(down, g.adding_y.sums);
  const bool alone = sums_x == 0;
  const int launches = launches_of(g.adding_x) * launches_of(g.adding_y);
  for (int y = 0; y < down; ++y) {
    for (int x = 0; x < across; ++x) {
      const Box part = stretch_of(drawing, g.adding_x.parts, g.adding_y.parts, x, y);
      const int turn = alone ? y * across + x + 1 : y % sums_y * sums_x + x % sums_x + 1;
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
            {"parts with one number share a private sum",
             plural(sums_x * sums_y, "sum") + ", each added in " + launches_words(launches)});
  return panel.script();
}

}  // namespace

int launch_of(const Geometry& g, int block_x, int block_y, int division_x, int division_y) {
  const int x = division_x * g.adding_x.steps + block_x % g.adding_x.steps;
  const int y = division_y * g.adding_y.steps + block_y % g.adding_y.steps;
  return y * launches_of(g.adding_x) + x + 1;
}

std::vector<DrawAdding> adding_panels(const Explanation& e) {
  const Geometry& g = *e.geometry;
  if (g.adding_x.steps == 0) return {};
  std::vector<DrawAdding> panels{launches_panel};
  if (count(g.adding_x.divisions) * count(g.adding_y.divisions) > 1)
    panels.push_back(divisions_panel);
  if (count(g.adding_x.parts) * count(g.adding_y.parts) > 1) panels.push_back(parts_panel);
  return panels;
}

}  // namespace convfilt
