#include "src/lab/explain/block_panels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/lab/explain/text.hpp"

namespace convfilt {
namespace {

Box box_of(const SampleGrid& grid) {
  return {double(grid.left), double(grid.top), double(grid.left + grid.columns),
          double(grid.top + grid.rows)};
}

Box block_at(const BlockTrace& trace, double x, double y) {
  return {x, y, x + trace.block_columns, y + trace.block_rows};
}

Box output_tile(const Explanation& e) {
  return {0, 0, double(e.geometry->out_columns), double(e.geometry->out_rows)};
}

/// The cells of a grid with one number, as few rectangles: runs of a row, joined with equal ones of
/// the rows below.
std::vector<std::pair<Box, int>> rectangles(const SampleGrid& grid) {
  std::vector<std::pair<Box, int>> all;
  std::vector<std::size_t> open;  // rectangles that end at the row before
  for (int y = 0; y < grid.rows; ++y) {
    std::vector<std::size_t> still_open;
    for (int x = 0, end = 0; x < grid.columns; x = end) {
      const int value = grid.at(x, y);
      while (end < grid.columns && grid.at(end, y) == value) ++end;
      const Box run{double(grid.left + x), double(grid.top + y), double(grid.left + end),
                    double(grid.top + y + 1)};
      const auto above = std::ranges::find_if(open, [&](std::size_t k) {
        return all[k].second == value && all[k].first.left == run.left &&
               all[k].first.right == run.right;
      });
      if (above == open.end()) {
        still_open.push_back(all.size());
        all.emplace_back(run, value);
      } else {
        all[*above].first.bottom = run.bottom;
        still_open.push_back(*above);
      }
    }
    open = still_open;
  }
  return all;
}

double area_of(const Box& box) {
  return box.width() * box.height();
}

/// Fills each cell in the colour of its turn, and writes each turn's number once, where it has the
/// most room, clear of the edges of this box if it can.
void draw_turns(Panel& panel, const SampleGrid& turns, const Box& line) {
  std::vector<std::pair<int, Box>> largest;  // in the order of their first cells
  for (const auto& [box, turn] : rectangles(turns)) {
    panel.area(box, turn > 0 ? turn_kind(turn) : kGhostCell);
    if (turn == 0) continue;
    const auto same = std::ranges::find(largest, turn, &std::pair<int, Box>::first);
    if (same == largest.end())
      largest.emplace_back(turn, box);
    else if (area_of(box) > area_of(same->second))
      same->second = box;
  }
  for (const auto& [turn, box] : largest) {
    const std::string number = std::to_string(turn);
    const Stretch x = clear_of({box.left, box.right}, {line.left, line.right}, panel.scale_x());
    const Stretch y = clear_of({box.top, box.bottom}, {line.top, line.bottom}, panel.scale_y());
    const bool fits = readable_size(number.size(), x.length() * panel.scale_x(),
                                    y.length() * panel.scale_y()) > 0;
    panel.number(fits ? Box{x.from, y.from, x.to, y.to} : box, number);
  }
}

/// Outlines the block of threads, with a mark at thread (0, 0).
void draw_block(Panel& panel, const Box& block) {
  constexpr double kMark = 7;  // points
  panel.outline(block, kThreadsEdge);
  const double width = std::min(1.0, kMark / panel.scale_x());
  const double height = std::min(1.0, kMark / panel.scale_y());
  const double middle = block.top + height / 2;
  panel.line(block.left + width / 2, middle, block.left + width / 2, middle,
             {kThreadsEdge.colour, kMark});
}

int sum(const SampleGrid& grid) {
  return std::accumulate(grid.values.begin(), grid.values.end(), 0);
}

int threads_in(const BlockTrace& trace) {
  return trace.block_columns * trace.block_rows;
}

std::string loading_words(const BlockTrace& trace) {
  const int threads = threads_in(trace), steps = trace.steps_count();
  int loads = 0;
  for (const LoadStep& step : trace.loads) loads += step.loads;
  if (loads == steps * threads)
    return joined("each thread loads one sample", steps > 1 ? " in each step" : "");
  return joined(steps > 1 ? "on average " : "",
                std::lround(100.0 * loads / (double(steps) * threads)),
                " % of the threads load a sample of the picture");
}

std::string loading_panel(const Explanation& e, const BlockTrace& trace, const Spot& spot) {
  // The block's outline is drawn at the first step of those that load most.
  const auto shown = std::ranges::max_element(trace.loads, {}, &LoadStep::loads);
  const Box tile = box_of(trace.steps), block = block_at(trace, shown->x, shown->y);
  const bool by_taps = sum(trace.direct) > 0;
  const Box samples = by_taps ? united(tile, box_of(trace.uses)) : tile;
  const Box drawing = trace.numbered ? samples : united(samples, block);
  Panel panel = Panel::around(spot, drawing);
  if (!trace.numbered) panel.area(block, kIdleThread);
  if (by_taps) panel.area(box_of(trace.uses), kTapCell);
  draw_turns(panel, trace.steps, output_tile(e));
  panel.grid(samples);
  if (!trace.numbered)
    for (const auto& [box, turn] : rectangles(trace.steps)) panel.outline(box, {"#606060", 0.7});
  if (e.axes.x.step == e.axes.x.tile) panel.outline(output_tile(e), kTileEdge);
  if (!trace.numbered) draw_block(panel, block);

  std::vector<std::string> below{loading_words(trace)};
  if (by_taps)
    below.push_back(joined(sum(trace.direct), " taps of the halo follow, most from the caches"));
  else if (trace.numbered)
    below.push_back("threads and samples are numbered along their rows");
  else if (trace.steps_count() > 1)
    below.push_back(
        joined("outlined: where the block loads in step ", shown - trace.loads.begin() + 1));
  return panel.captioned(drawing,
                         joined("loading: ", plural(trace.steps_count(), "step"), " of ",
                                plural(threads_in(trace), "thread")),
                         below);
}

std::string computing_panel(const Explanation& e, const BlockTrace& trace, const Spot& spot) {
  const Geometry& g = *e.geometry;
  const Box outputs{0, 0, double(trace.out_columns), double(trace.out_rows)};
  const Box samples = box_of(trace.uses);
  // The first thread with an output has the tile's first one.
  const auto first = std::ranges::find_if(
      trace.threads, [](const ThreadUses& thread) { return thread.count > 0; });
  const int before = int(first - trace.threads.begin());
  const int left = -(before % trace.block_columns), top = -(before / trace.block_columns);
  const Box block = block_at(trace, left, top);
  const Mask& mask = e.problem.mask;
  const Box mask_box{double(-mask.anchor_x), double(-mask.anchor_y),
                     double(mask.width - mask.anchor_x), double(mask.height - mask.anchor_y)};
  const Box drawing = united(united(output_tile(e), samples), united(mask_box, block));
  Panel panel = Panel::around(spot, drawing);
  const bool by_taps = sum(trace.direct) > 0;
  panel.area(samples, by_taps ? kTapCell : kHaloCell);

  SampleGrid turns{0, 0, trace.out_columns, trace.out_rows, {}};
  for (int row = 0; row < trace.out_rows; ++row)
    for (int col = 0; col < trace.out_columns; ++col)
      turns.values.push_back(turn_of_output(g, trace, col, row));
  const int most = *std::ranges::max_element(turns.values);
  if (most > 1)
    draw_turns(panel, turns, mask_box);
  else
    panel.area(outputs, kOutputCell);
  SampleGrid idle{left, top, trace.block_columns, trace.block_rows, {}};
  for (const ThreadUses& thread : trace.threads) idle.values.push_back(thread.count == 0);
  for (const auto& [box, is_idle] : rectangles(idle))
    if (is_idle) panel.area(box, kIdleThread);
  panel.grid(samples);
  panel.grid(block);
  draw_block(panel, block);
  panel.outline(mask_box, kMaskEdge);
  panel.outline({0, 0, 1, 1}, kMaskEdge);

  const int idle_threads = sum(idle);
  std::vector<std::string> below{joined("each output sums ", mask.width, " x ", mask.height, " = ",
                                        plural(mask.width * mask.height, "sample"))};
  if (most > 1)
    below.push_back(joined("a thread computes ", most, " outputs, whose order is numbered"));
  return panel.captioned(drawing,
                         joined("computing: ", plural(threads_in(trace) - idle_threads, "thread"),
                                idle_threads > 0 ? joined(", ", idle_threads, " idle") : ""),
                         below);
}

/// Threads whose outputs lie side by side, and what the first of them loads.
std::string side_by_side_panel(const Explanation& e, const BlockTrace& trace, const Spot& spot) {
  const Geometry& g = *e.geometry;
  const Mask& mask = e.problem.mask;
  const int outputs_each = g.out_columns / g.block_columns;
  const Box outputs = output_tile(e), samples = box_of(trace.uses);
  const Box drawing = united(outputs, samples);
  Panel panel = Panel::around(spot, drawing);
  panel.area(samples, kTapCell);
  panel.area(outputs, kOutputCell);
  panel.grid(samples);
  for (int row = 0; row < g.block_rows; ++row)
    for (int x = 0; x < g.out_columns; x += outputs_each)
      panel.outline({double(x), double(row), double(x + outputs_each), row + 1.0},
                    {kTileEdge.colour, 1});
  draw_block(panel, outputs);
  for (int j = 0; j < mask.height; ++j)
    for (int i = 0; i < g.wide_columns; i += outputs_each) {
      const double x = i - mask.anchor_x, y = j - mask.anchor_y;
      panel.outline({x, y, x + outputs_each, y + 1}, kMaskEdge);
    }
  return panel.captioned(
      drawing,
      joined("computing: ", plural(threads_in(trace), "thread"), ", ",
             plural(outputs_each, "output"), " each"),
      {joined("outlined: the ", plural(outputs_each, "output"), " side by side of each thread,"),
       joined("and the ", mask.height, " x ", g.wide_columns / outputs_each, " loads of ",
              plural(outputs_each, "sample"), " of thread (0, 0)")});
}

/// From nearly white to a blue on which letters can be read.
std::string shade(double share) {
  const auto channel = [&](int light, int dark) {
    return int(std::lround(light + share * (dark - light)));
  };
  return with_format("#%02x%02x%02x", channel(0xf7, 0x5a), channel(0xfb, 0xa9),
                     channel(0xff, 0xdf));
}

/// "1 2 3 4 5 5 ... 5 4 3 2 1", with as many numbers as there is room for.
std::string uses_words(const std::vector<int>& uses) {
  constexpr std::size_t kMost = 7;  // numbers at each end
  const int most = *std::ranges::max_element(uses);
  const std::size_t rise = std::size_t(std::ranges::find(uses, most) - uses.begin());
  std::string text;
  for (std::size_t k = 0; k < uses.size(); ++k) {
    const std::size_t from_end = uses.size() - 1 - k, nearer = std::min(k, from_end);
    const bool shown = uses.size() <= 2 * kMost || nearer < std::min(rise + 2, kMost) ||
                       (rise + 2 > kMost && (nearer < 3 || k == uses.size() / 2));
    if (shown)
      text += (text.empty() ? "" : " ") + std::to_string(uses[k]);
    else if (!text.ends_with("…"))
      text += " …";
  }
  return text;
}

std::string uses_panel(const Explanation& e, const BlockTrace& trace, const Spot& spot) {
  const SampleGrid& uses = trace.uses;
  const Box outputs{0, 0, double(trace.out_columns), double(trace.out_rows)};
  const Box drawing = united(box_of(uses), outputs);
  Panel panel = Panel::around(spot, drawing, {44, 52, 16, 44});
  const int most = *std::ranges::max_element(uses.values);
  std::vector<int> along_x, along_y;  // the first row and column have one output across
  for (int x = 0; x < uses.columns; ++x) along_x.push_back(uses.at(x, 0));
  for (int y = 0; y < uses.rows; ++y) along_y.push_back(uses.at(0, y));

  for (const auto& [box, value] : rectangles(uses))
    panel.area(box, {shade(most == 1 ? 0 : double(std::max(value, 1) - 1) / (most - 1))});
  panel.grid(drawing);
  panel.outline(outputs, kTileEdge);
  const double inside =
      readable_size(std::to_string(most).size(), panel.scale_x(), panel.scale_y());
  for (int y = 0; y < uses.rows && inside > 0; ++y)
    for (int x = 0; x < uses.columns; ++x)
      panel.words(uses.left + x + 0.5, uses.top + y + 0.5, std::to_string(uses.at(x, y)),
                  Align::centre, false, inside);
  const auto digits = [](const std::vector<int>& numbers) {
    return std::to_string(*std::ranges::max_element(numbers)).size();
  };
  // Beside the drawing there is room for wider numbers, one below the other.
  const double above = readable_size(digits(along_x), panel.scale_x(), kRow);
  const double beside = readable_size(digits(along_y), 30, panel.scale_y());
  for (int x = 0; x < uses.columns && above > 0 && (uses.rows > 1 || inside == 0); ++x)
    panel.words(uses.left + x + 0.5, drawing.top - 0.6 * kRow / panel.scale_y(),
                std::to_string(along_x[std::size_t(x)]), Align::centre, true, above);
  for (int y = 0; y < uses.rows && beside > 0 && uses.rows > 1; ++y)
    panel.words(drawing.left - 0.4 * kRow / panel.scale_x(), uses.top + y + 0.5,
                std::to_string(along_y[std::size_t(y)]), Align::right, true, beside);
  std::vector<std::string> below{"along a row: " + uses_words(along_x)};
  if (uses.rows > 1) below.push_back("down a column: " + uses_words(along_y));
  // A thread that reads whole loads uses its samples for several outputs, which nobody counts.
  return panel.captioned(
      drawing,
      joined(e.geometry->wide_columns > 0 ? "reads" : "uses", " of each sample: up to ", most),
      below);
}

}  // namespace

int turn_of_output(const Geometry& g, const BlockTrace& trace, int column, int row) {
  const int across = (g.out_columns + trace.block_columns - 1) / trace.block_columns;
  return row / trace.block_rows * across + column / trace.block_columns + 1;
}

std::vector<DrawPanel> thread_panels(const Explanation& e, const BlockTrace& trace) {
  std::vector<DrawPanel> panels;
  const auto add = [&](auto draw) {
    panels.push_back([&e, &trace, draw](const Spot& spot) { return draw(e, trace, spot); });
  };
  const bool wide = e.geometry->wide_columns > 0;
  if (!trace.steps.empty() && !wide) add(loading_panel);
  // Where output tiles overlap, a thread computes shares of outputs, and all samples are used
  // alike.
  if (e.axes.x.step < e.axes.x.tile || e.axes.y.step < e.axes.y.tile) return panels;
  if (!wide && sum(trace.uses) != trace.taps) return panels;
  add(wide ? side_by_side_panel : computing_panel);
  add(uses_panel);
  return panels;
}

}  // namespace convfilt
