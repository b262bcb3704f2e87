#include "src/lab/explain/tile_picture.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "src/lab/explain/block_panels.hpp"
#include "src/lab/explain/block_trace.hpp"
#include "src/lab/explain/count_reads.hpp"
#include "src/lab/explain/panel.hpp"
#include "src/lab/explain/text.hpp"

namespace convfilt {
namespace {

/// Where a block's tiles lie, in samples of the image.
struct BlockBoxes {
  Box image;
  Box input;    ///< the input tile; empty where none is kept
  Box output;   ///< the whole output tile
  Box result;   ///< the part of it that the result has
  Box own;      ///< outputs of this block alone, where output tiles overlap
  Box touched;  ///< all samples under the mask
  bool overlap = false;

  /// The box around all of them but the image.
  Box extent() const { return united(united(input, output), touched); }
};

constexpr double kAround = 10;  // points of the image that show around a block
constexpr double kGap = 12;     // points between a block and its measures

/// The same along one axis.
struct Stretches {
  Stretch input, output, result, own, touched;
};

Stretches stretches_of(const TileAxis& axis, int t) {
  const double in = axis.first_input(t), out = axis.first_output(t) + axis.shift();
  const double first = std::max(axis.first_output(t), 0) + axis.shift();
  const double shared = axis.tile - axis.step;
  const Stretch input{in, in + axis.in_tile}, output{out, out + axis.tile};
  // If output tiles overlap, a sample is added to the outputs around it; otherwise an output takes
  // the samples around it.
  const Stretch around{output.from - axis.anchor, output.to + axis.side - 1 - axis.anchor};
  return {input,
          output,
          {first, first + axis.outputs_of(t)},
          {output.from + shared, output.to - shared},
          shared > 0 ? input : around};
}

void fill(Panel& panel, const Box& box, const CellKind& kind) {
  if (!empty(box)) panel.area(box, kind);
}

/// Measures from edge to edge, along x above the block or along y left of it. The tile, which comes
/// second, is named where there is room.
void measure(Panel& panel, const std::vector<double>& edges, double at, bool along_x) {
  for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
    const double from = edges[k], to = edges[k + 1], middle = (from + to) / 2;
    if (to <= from) continue;
    const std::string number = std::to_string(std::lround(to - from)), named = "tile " + number;
    if (along_x) {
      const bool fits = double(named.size()) * kWordPoints <= (to - from) * panel.scale_x();
      panel.measure(from, at, to, at);
      panel.words(middle, at - kGap / panel.scale_y(), k == 1 && fits ? named : number);
    } else {
      panel.measure(at, from, at, to);
      panel.words(at - kGap / 2 / panel.scale_x(), middle, number, Align::right);
    }
  }
}

/// Draws the part of the image's edge that is in sight.
void draw_image_edge(Panel& panel, const Box& seen, const Box& around, const Box& image) {
  const auto upright = [&](double x) { panel.line(x, seen.top, x, seen.bottom, kImageEdge); };
  const auto level = [&](double y) { panel.line(seen.left, y, seen.right, y, kImageEdge); };
  if (around.left < image.left) upright(image.left);
  if (around.right > image.right) upright(image.right);
  if (around.top < image.top) level(image.top);
  if (around.bottom > image.bottom) level(image.bottom);
}

/// Draws the mask over the output `at`, or over one in the middle. Where output tiles overlap, it
/// shows instead where one sample is added under the mask, or under its first part.
void draw_mask(Panel& panel, const Explanation& e, const BlockBoxes& boxes,
               std::optional<OutputAt> at) {
  const Mask& mask = e.problem.mask;
  const Geometry& g = *e.geometry;
  const Box from = boxes.overlap ? common(boxes.touched, boxes.image) : boxes.result;
  const double x =
      at ? std::max(from.left, std::min<double>(at->x + e.axes.x.shift(), from.right - 1))
         : std::floor((from.left + from.right) / 2);
  const double y =
      at ? std::max(from.top, std::min<double>(at->y + e.axes.y.shift(), from.bottom - 1))
         : std::floor((from.top + from.bottom) / 2);
  const int width = boxes.overlap ? g.out_columns - g.in_columns + 1 : mask.width;
  const int height = boxes.overlap ? g.out_rows - g.in_rows + 1 : mask.height;
  const double left = boxes.overlap ? width - 1 - mask.anchor_x : mask.anchor_x;
  const double above = boxes.overlap ? height - 1 - mask.anchor_y : mask.anchor_y;
  panel.outline({x - left, y - above, x - left + width, y - above + height}, kMaskEdge);
  panel.outline({x, y, x + 1, y + 1}, kMaskEdge);
}

/// Whether blocks add their outputs under several parts of the mask.
bool in_parts(const Geometry& g) {
  return g.adding_x.parts.size() * g.adding_y.parts.size() > 1;
}

BlockBoxes boxes_of(const Explanation& e, int tile_x, int tile_y) {
  const Stretches x = stretches_of(e.axes.x, tile_x), y = stretches_of(e.axes.y, tile_y);
  const auto box = [&](Stretch Stretches::*of) {
    return Box{(x.*of).from, (y.*of).from, (x.*of).to, (y.*of).to};
  };
  // Under the other parts of a mask in parts, neighbour blocks add to all of them.
  const bool shares_all = in_parts(*e.geometry);
  return {{0, 0, double(e.problem.width), double(e.problem.height)},
          box(&Stretches::input),
          box(&Stretches::output),
          box(&Stretches::result),
          shares_all ? Box{0, 0, 0, 0} : box(&Stretches::own),
          box(&Stretches::touched),
          e.axes.x.step < e.axes.x.tile || e.axes.y.step < e.axes.y.tile};
}

/// Fills the cells, and draws thin lines between them where they are not too small.
void draw_cells(Panel& panel, const BlockBoxes& boxes) {
  const Box extent = boxes.extent();
  if (boxes.overlap) {
    fill(panel, boxes.output, kIdleOutputCell);
    const auto& [left, top, right, bottom] = boxes.input;
    const Box inside = common(boxes.input, boxes.image);
    for (const Box& ghosts : {Box{left, top, right, inside.top},
                              {left, inside.bottom, right, bottom},
                              {left, inside.top, inside.left, inside.bottom},
                              {inside.right, inside.top, right, inside.bottom}})
      fill(panel, ghosts, kGhostCell);
    fill(panel, boxes.result, kSharedOutputCell);
    fill(panel, common(boxes.own, boxes.result), kOutputCell);
  } else {
    fill(panel, boxes.touched, kGhostCell);
    fill(panel, boxes.input, kGhostCell);
    fill(panel, common(boxes.touched, boxes.image), kTapCell);
    fill(panel, common(boxes.input, boxes.image), kHaloCell);
    fill(panel, boxes.output, kIdleOutputCell);
    fill(panel, boxes.result, kOutputCell);
  }
  panel.grid(extent);
}

/// The block with its measures, under a title.
std::string block_panel(const Explanation& e, const BlockBoxes& boxes, const Spot& spot,
                        std::optional<OutputAt> at, const std::string& title,
                        const std::string& below) {
  const Box extent = boxes.extent();
  Panel panel = Panel::around(spot, extent, {50, 66, 16, 40});
  const double beside = kAround / panel.scale_x(), above = kAround / panel.scale_y();
  const Box around{extent.left - beside, extent.top - above, extent.right + beside,
                   extent.bottom + above};
  fill(panel, common(around, boxes.image), kImageCell);
  draw_cells(panel, boxes);
  panel.outline(boxes.output, kTileEdge);

  draw_image_edge(panel, common(around, boxes.image), around, boxes.image);
  draw_mask(panel, e, boxes, at);

  const Box& inner = boxes.overlap ? boxes.touched : boxes.output;
  measure(panel, {extent.left, inner.left, inner.right, extent.right},
          extent.top - (kAround + 4) / panel.scale_y(), true);
  measure(panel, {extent.top, inner.top, inner.bottom, extent.bottom},
          extent.left - (kAround + 4) / panel.scale_x(), false);
  return panel.captioned(around, title, {below});
}

constexpr int kWordsPoints = 110;  // above and below a drawing
constexpr double kLetterPoints = 6.3;
constexpr Pen kBlockPen{"#000000", 1.2};

/// The tile nearest to the middle of the grid.
int middle_tile(const TileAxis& axis) {
  return axis.tiles() / 2 - (axis.tiles() > 2 && axis.tiles() % 2 == 0 ? 1 : 0);
}

/// Whether the tile's outputs all exist, and the samples under them lie in the image.
bool whole(const TileAxis& axis, int t) {
  const Stretch touched = stretches_of(axis, t).touched;
  return axis.outputs_of(t) == axis.tile && touched.from >= 0 && touched.to <= axis.inputs;
}

std::string title_of(const Explanation& e) {
  const Geometry& g = *e.geometry;
  const Mask &asked = e.asked.mask, &mask = e.problem.mask;
  std::string title = joined(e.strategy->name, ", mask ", asked.width, "x", asked.height);
  if (e.parts > 1)
    title += joined(" in ", e.parts, " parts, here one of ", mask.width, "x", mask.height);
  if (!e.middle.known()) return title;
  const std::int64_t reads = e.middle.value().global, outputs = outputs_of(g);
  title += joined(": ", plural(outputs, "output"), " from ", plural(reads, "load"));
  if (sums_by_library(*e.strategy, e.tuning)) return title;
  const std::int64_t adds = atomic_adds_of(e), accesses = reads + adds;
  if (adds > 0) title += joined(" and ", plural(adds, "atomic addition"));
  return joined(title, ", reuse ", outputs, " · ", mask.width * mask.height, " / ", accesses, " = ",
                short_number(double(taps_of(g, mask)) / double(accesses)));
}

bool is_within(const Box& box, const Box& around) {
  return box.left >= around.left && box.top >= around.top && box.right <= around.right &&
         box.bottom <= around.bottom;
}

/// The work of a block's threads. Where the result's edge cuts its output tile, only a trace tells
/// how many of them compute.
std::string threads_of(const Explanation& e, const BlockBoxes& block, const BlockTrace* trace) {
  const Geometry& g = *e.geometry;
  const int threads = g.block_columns * g.block_rows;
  if (threads == 0) return "";
  const bool is_cut = !block.overlap && !is_within(block.output, block.result);
  if (is_cut && !trace) return plural(threads, "thread");
  if (is_cut && g.loading_threads > 0)
    return plural(g.loading_threads, "thread") + " load, " +
           std::to_string(std::ranges::count_if(
               trace->threads, [](const ThreadUses& thread) { return thread.count > 0; })) +
           " compute";
  if (g.loading_threads == 0) return plural(threads, "thread");
  const std::string load = std::to_string(g.loading_threads),
                    rest = std::to_string(g.computing_threads);
  // A tile that is transformed may take several blocks of threads.
  if (sums_by_library(*e.strategy, e.tuning))
    return "of a block of " + plural(threads, "thread") + " " + load + " load, " + rest + " write";
  return plural(g.loading_threads, "thread") + " load, " + rest + " compute";
}

/// The image, the grid of output tiles over it, and the two blocks that are enlarged.
std::string image_panel(const Explanation& e, const BlockBoxes& corner, const BlockBoxes& middle,
                        const Spot& spot) {
  const TileAxis &x = e.axes.x, &y = e.axes.y;
  const int last_x = x.tiles() - 1, last_y = y.tiles() - 1;
  const Box last = boxes_of(e, last_x, last_y).output;
  const Box image = corner.image;
  const Box whole{std::min({0.0, corner.extent().left, corner.output.left}),
                  std::min({0.0, corner.extent().top, corner.output.top}),
                  std::max(image.right, last.right), std::max(image.bottom, last.bottom)};
  Panel panel = Panel::around(spot, whole, {16, 34, 16, 40});
  panel.area(image, kImageCell);
  for (const BlockBoxes* block : {&corner, &middle}) draw_cells(panel, *block);

  const double left = corner.output.left, top = corner.output.top;
  if (x.step * panel.scale_x() >= kLeastCell)
    for (int t = 0; t <= x.tiles(); ++t)
      panel.thin_line(left + t * x.step, top, left + t * x.step, last.bottom);
  if (y.step * panel.scale_y() >= kLeastCell)
    for (int t = 0; t <= y.tiles(); ++t)
      panel.thin_line(left, top + t * y.step, last.right, top + t * y.step);
  panel.outline(image, kImageEdge);
  panel.outline(corner.output, kBlockPen);
  panel.outline(middle.output, kBlockPen);
  // Where a block is too small for its letter, that stands beside it: A's before the picture.
  const auto name = [&](const BlockBoxes& block, std::string_view letter, bool first) {
    const Box& box = block.output;
    const double gap = 3 / panel.scale_x(), y = (box.top + box.bottom) / 2;
    if (box.width() * panel.scale_x() > 2 * kLetterPoints * double(letter.size()) &&
        box.height() * panel.scale_y() > 2 * kLetterPoints)
      panel.words((box.left + box.right) / 2, y, letter, Align::centre, true);
    else if (first)
      panel.words(box.left - gap, y, letter, Align::right, true);
    else
      panel.words(box.right + gap, y, letter, Align::left, true);
  };
  const bool one =
      corner.output.left == middle.output.left && corner.output.top == middle.output.top;
  name(corner, one ? "A, B" : "A", true);
  if (!one) name(middle, "B", false);
  return panel.captioned(whole,
                         joined("picture ", e.problem.width, " x ", e.problem.height, ", ",
                                x.tiles(), " x ", y.tiles(), " blocks"),
                         {});
}

std::string block_words(const Explanation& e, const std::string& name, int tile_x, int tile_y) {
  const Geometry& g = *e.geometry;
  if (g.in_columns == 0) return name;
  const std::int64_t inside =
      std::int64_t(e.axes.x.inputs_inside(tile_x)) * e.axes.y.inputs_inside(tile_y);
  const std::int64_t ghosts = std::int64_t(g.in_columns) * g.in_rows - inside;
  return name + ": " + plural(inside, "sample") +
         (ghosts > 0 ? ", " + plural(ghosts, "ghost cell") : "");
}

/// Swatches with words, in rows of the page's width.
class Legend {
 public:
  void cells(const CellKind& kind, const std::string& text) { add({kind, {}, text}); }
  void edge(const Pen& pen, const std::string& text) { add({{}, pen, text}); }

  int height() const { return 16 + kRowPoints * (entries_.back().row + 1); }

  /// At this place, which must be as wide as the page.
  std::string script(PlotSize page, const Box& place) const {
    Panel panel({page, place}, {0, 0, kTilePageWidth, double(height())});
    for (const Entry& entry : entries_) {
      const double y = 8 + kRowPoints * entry.row;
      const Box box{entry.x, y, entry.x + kSide, y + kSide};
      const bool cell = !entry.kind.colour.empty();
      if (cell) panel.area(box, entry.kind);
      panel.outline(box, cell ? Pen{"#7f7f7f", 0.5} : entry.pen);
      panel.words(entry.x + kSide + 8, y + kSide / 2, entry.text, Align::left);
    }
    return panel.script();
  }

 private:
  struct Entry {
    CellKind kind;  ///< without a colour it is an edge
    Pen pen;
    std::string text;
    double x = 0;
    int row = 0;
  };

  static constexpr double kLeft = 30, kSide = 14;
  static constexpr int kRowPoints = 24;

  void add(Entry entry) {
    const double length = kSide + 8 + kLetterPoints * double(entry.text.size()) + 18;
    if (end_ + length > kTilePageWidth - kLeft) end_ = kLeft, ++row_;
    entry.x = end_;
    entry.row = row_;
    end_ += length;
    entries_.push_back(std::move(entry));
  }

  std::vector<Entry> entries_;
  double end_ = kLeft;
  int row_ = 0;
};

Legend legend_of(const Explanation& e, const BlockBoxes& corner, bool threads, bool idle,
                 const std::string& turns) {
  const Geometry& g = *e.geometry;
  const std::string border(name_of(e.problem.border));
  Legend legend;
  if (!corner.overlap)
    legend.cells(kOutputCell, "output tile");
  else if (!in_parts(g))
    legend.cells(kOutputCell, "outputs of this block alone");
  if (corner.overlap) {
    legend.cells(kSharedOutputCell, "outputs that neighbour blocks add to as well");
    legend.cells(kIdleOutputCell, "not in the result");
    if (!empty(corner.input) && !is_within(corner.input, corner.image))
      legend.cells(kGhostCell, "ghost cells: border " + border);
  } else {
    const bool moved = g.lead_x != 0 || g.lead_y != 0;
    if (g.in_columns > 0 && (g.in_columns > g.out_columns || g.in_rows > g.out_rows || moved))
      legend.cells(kHaloCell, "halo: real neighbours, loaded too");
    if (g.in_columns == 0 || g.loads > double(g.in_columns) * g.in_rows)
      legend.cells(kTapCell, g.wide_columns > 0 ? "neighbours read in whole loads, not kept"
                                                : "neighbours read tap by tap, not kept");
    if (e.problem.mode != Mode::valid) legend.cells(kGhostCell, "ghost cells: border " + border);
  }
  if (!turns.empty()) legend.cells(turn_kind(1), "colour and number: " + turns);
  if (idle) legend.cells(kIdleThread, "threads without a sample or an output");
  legend.edge(kMaskEdge, !corner.overlap ? "one output, and the mask over it"
                         : in_parts(g)   ? "one sample, and where it is added under part " +
                                             number_of_first_part(e)
                                       : "one sample, and where it is added");
  legend.edge(kImageEdge, "edge of the image");
  if (threads) legend.edge(kThreadsEdge, "block of threads, thread (0, 0) marked");
  return legend;
}

/// Columns of outputs for each row of a block whose drawings need the page's width.
constexpr int kWideBlock = 8;

/// Rows of drawings on a page, from top to bottom, in points.
constexpr int kTitleRow = 45, kImageRow = 365, kThreadsRow = 400, kLineRow = 136;

/// The height of a row of drawings of threads, each of that width; wide blocks need less.
int row_of_threads(const Explanation& e, double width) {
  const double columns = e.geometry->out_columns + e.problem.mask.width - 1;
  const double rows = e.geometry->out_rows + e.problem.mask.height - 1;
  return std::min(kThreadsRow, int(kWordsPoints + width * rows / columns));
}

/// Whether a thread has no output, or no sample in the step that the drawing shows.
bool idles(const BlockTrace& trace) {
  const auto idle = [](const ThreadUses& thread) { return thread.count == 0; };
  if (std::ranges::any_of(trace.threads, idle)) return true;
  if (trace.loads.empty() || trace.numbered) return false;
  const int most = std::ranges::max(trace.loads, {}, &LoadStep::loads).loads;
  return most < trace.block_columns * trace.block_rows;
}

}  // namespace

void check_drawable(const Strategy& strategy) {
  if (!strategy.geometry)
    throw UsageError("there are no blocks of " + std::string(strategy.name) +
                     " to draw; leave out --picture");
}

bool shows_middle(const Explanation& e) {
  check_drawable(*e.strategy);
  return whole(e.axes.x, middle_tile(e.axes.x)) && whole(e.axes.y, middle_tile(e.axes.y));
}

void check_output(OutputAt at, const Problem& problem) {
  const int width = problem.out_width(), height = problem.out_height();
  if (at.x >= 0 && at.y >= 0 && at.x < width && at.y < height) return;
  throw UsageError("--at: there is no output at " + std::to_string(at.x) + "," +
                   std::to_string(at.y) + "; this result has those from 0,0 to " +
                   std::to_string(width - 1) + "," + std::to_string(height - 1));
}

Drawing tile_picture(const Explanation& e, std::optional<OutputAt> at) {
  check_drawable(*e.strategy);
  const BlockIndex index = at ? BlockIndex{e.axes.x.tile_of(at->x), e.axes.y.tile_of(at->y)}
                              : BlockIndex{middle_tile(e.axes.x), middle_tile(e.axes.y)};
  const BlockBoxes corner = boxes_of(e, 0, 0), other = boxes_of(e, index.x, index.y);
  const auto trace =
      trace_block(*e.strategy, e.problem, e.tuning, at ? std::optional(index) : std::nullopt);
  std::vector<DrawPanel> drawings = trace ? thread_panels(e, *trace) : std::vector<DrawPanel>();
  const bool threads_drawn = !drawings.empty();
  const std::vector<DrawPanel> of_adding = adding_panels(e);
  drawings.insert(drawings.end(), of_adding.begin(), of_adding.end());
  const bool steps = trace && !trace->steps.empty();
  std::string turns = steps && of_adding.empty() ? "the step of a load or an output"
                      : steps                    ? "the step of a load"
                                                 : "";
  for (const auto& [is_drawn, what] :
       {std::pair{!of_adding.empty() && e.geometry->adding_x.divisions > 0, "the division"},
        {!of_adding.empty() && e.geometry->adding_x.divisions == 0, "the launch"},
        {in_parts(*e.geometry), "the part"}})
    if (is_drawn) turns += (turns.empty() ? "" : ", ") + std::string(what);
  const std::string name = at                ? joined("at ", at->x, ",", at->y)
                           : shows_middle(e) ? "middle"
                                             : "edge";
  const bool idle = threads_drawn && idles(*trace);
  const Legend legend = legend_of(e, corner, threads_drawn, idle, turns);

  // Blocks of few rows lie below each other, so that their cells are wide enough.
  const int count = int(drawings.size());
  const bool lines = e.geometry->out_rows == 1;
  const bool wide = lines || e.geometry->out_columns >= kWideBlock * e.geometry->out_rows;
  const int columns = wide ? 1 : count == 4 ? 2 : std::clamp(count, 1, 3);
  const int rows = (count + columns - 1) / columns;
  const double width = double(kTilePageWidth) / (wide ? 1 : std::max(columns, 2));
  const int row_height = lines               ? kLineRow
                         : of_adding.empty() ? row_of_threads(e, width)
                                             : kThreadsRow;
  const int below = kTitleRow + kImageRow + rows * row_height;
  const PlotSize page{kTilePageWidth, below + legend.height()};

  const auto place = [&](double left, double top, double right, double bottom) {
    return Box{left / page.width, top / page.height, right / page.width, bottom / page.height};
  };
  Panel title({page, place(0, 0, page.width, kTitleRow)}, {0, 0, double(page.width), kTitleRow});
  title.words(page.width / 2.0, kTitleRow / 2.0, title_of(e), Align::centre, true);
  const int bottom = kTitleRow + kImageRow;
  const auto spot = [&](double left, double right, char letter) {
    return Spot{page, place(left, kTitleRow, right, bottom), letter};
  };
  std::string script =
      title.script() + image_panel(e, corner, other, spot(15, 470, 0)) +
      block_panel(e, corner, spot(475, 795, 'A'), OutputAt{0, 0}, block_words(e, "corner", 0, 0),
                  threads_of(e, corner, nullptr)) +
      block_panel(e, other, spot(800, 1115, 'B'), at, block_words(e, name, index.x, index.y),
                  threads_of(e, other, at && trace ? &*trace : nullptr));
  for (int k = 0; k < count; ++k) {
    const double left = (page.width - columns * width) / 2 + k % columns * width;
    const double y = bottom + k / columns * row_height;
    script += drawings[std::size_t(k)](
        {page, place(left, y, left + width, y + row_height), char('C' + k)});
  }
  script += legend.script(page, place(0, below, page.width, page.height));
  return {page_of(script), page};
}

}  // namespace convfilt
