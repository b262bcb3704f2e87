#include "src/explain/tile_picture.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "src/explain/count_reads.hpp"
#include "src/explain/panel.hpp"
#include "src/explain/text.hpp"

namespace convfilt {
namespace {

/// Kinds of cells, in the colours of Okabe and Ito, which the colour-blind can tell apart.
struct CellKind {
  std::string_view colour;
  Fill fill = Fill::solid;
};
inline constexpr CellKind kImageCell{"#e4e4e4"};
inline constexpr CellKind kOutputCell{"#56b4e9"};
inline constexpr CellKind kIdleOutputCell{"#cfe6f5"};    ///< in the tile, but not in the result
inline constexpr CellKind kSharedOutputCell{"#cc79a7"};  ///< neighbour blocks add to it too
inline constexpr CellKind kHaloCell{"#e69f00"};
inline constexpr CellKind kTapCell{"#f7e3b5"};  ///< read from global memory, tap by tap
inline constexpr CellKind kGhostCell{"#707070", Fill::hatched};

inline constexpr Pen kImageEdge{"#0072b2", 2.5};
inline constexpr Pen kMaskEdge{"#000000", 2};

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
  Box extent() const;
};

/// The output of a block that the mask is drawn over.
enum class Sample { first, middle };

constexpr double kLeastCell = 4;     // points; a smaller cell would be nothing but its lines
constexpr double kMargin = 0.13;     // of the extent, for the measures
constexpr double kWordPoints = 6.6;  // an average letter of the labels

bool empty(const Box& box) {
  return box.width() <= 0 || box.height() <= 0;
}

Box common(const Box& a, const Box& b) {
  Box box{std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
          std::min(a.bottom, b.bottom)};
  box.right = std::max(box.right, box.left);
  box.bottom = std::max(box.bottom, box.top);
  return box;
}

Box united(const Box& a, const Box& b) {
  if (empty(a)) return b;
  if (empty(b)) return a;
  return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right),
          std::max(a.bottom, b.bottom)};
}

/// A range on one axis.
struct Span {
  double from = 0, to = 0;
};

Span output_span(const TileAxis& axis, int t) {
  const double from = axis.first_output(t) + axis.shift();
  return {from, from + axis.tile};
}

Span result_span(const TileAxis& axis, int t) {
  const double from = std::max(axis.first_output(t), 0) + axis.shift();
  return {from, from + axis.outputs_of(t)};
}

Span input_span(const TileAxis& axis, int t) {
  const double from = axis.first_input(t);
  return {from, from + axis.in_tile};
}

/// The samples under the mask. If output tiles overlap, a sample is added to the outputs around it;
/// otherwise an output takes the samples around it.
Span touched_span(const TileAxis& axis, int t) {
  const Span output = output_span(axis, t);
  if (axis.step < axis.tile) return input_span(axis, t);
  return {output.from - axis.anchor, output.to + axis.side - 1 - axis.anchor};
}

Span own_span(const TileAxis& axis, int t) {
  const Span output = output_span(axis, t);
  const double shared = axis.tile - axis.step;
  return {output.from + shared, output.to - shared};
}

template <class F>
Box box_of(const Explanation& e, int tile_x, int tile_y, F span) {
  const Span x = span(e.axes.x, tile_x), y = span(e.axes.y, tile_y);
  return {x.from, y.from, x.to, y.to};
}

void fill(Panel& panel, const Box& box, const CellKind& kind) {
  if (!empty(box)) panel.area(box, kind.colour, kind.fill);
}

/// "r = 2" where there is room, else the number.
std::string measure_text(const std::string& name, double length, double points) {
  const std::string number = std::to_string(std::lround(length));
  const std::string whole = name.empty() ? number : name + " " + number;
  return double(whole.size()) * kWordPoints <= points ? whole : number;
}

/// Measures from edge to edge, along x above the block or along y left of it.
void measure(Panel& panel, const std::vector<double>& edges, const std::vector<std::string>& names,
             double at, double gap, bool along_x) {
  for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
    const double from = edges[k], to = edges[k + 1], middle = (from + to) / 2;
    if (to <= from) continue;
    const std::string text = measure_text(names[k], to - from, (to - from) * panel.scale());
    if (along_x) {
      panel.measure(from, at, to, at);
      panel.words(middle, at - gap, text);
    } else {
      panel.measure(at, from, at, to);
      panel.words(at - gap / 2, middle, measure_text("", to - from, 0), Align::right);
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

/// Draws the mask over one output; with overlapping outputs, it shows where one sample is added.
void draw_mask(Panel& panel, const Mask& mask, const BlockBoxes& boxes, Sample at) {
  const Box from = boxes.overlap ? common(boxes.touched, boxes.image) : boxes.result;
  const bool first = at == Sample::first;
  const double x = first ? from.left : std::floor((from.left + from.right) / 2);
  const double y = first ? from.top : std::floor((from.top + from.bottom) / 2);
  const double left = boxes.overlap ? mask.width - 1 - mask.anchor_x : mask.anchor_x;
  const double above = boxes.overlap ? mask.height - 1 - mask.anchor_y : mask.anchor_y;
  panel.outline({x - left, y - above, x - left + mask.width, y - above + mask.height}, kMaskEdge);
  panel.outline({x, y, x + 1, y + 1}, kMaskEdge);
}

Box BlockBoxes::extent() const {
  return united(united(input, output), touched);
}

/// The boxes of block (tile_x, tile_y) of the grid.
BlockBoxes boxes_of(const Explanation& e, int tile_x, int tile_y) {
  BlockBoxes boxes;
  boxes.image = {0, 0, double(e.problem.width), double(e.problem.height)};
  boxes.input = box_of(e, tile_x, tile_y, input_span);
  boxes.output = box_of(e, tile_x, tile_y, output_span);
  boxes.result = box_of(e, tile_x, tile_y, result_span);
  boxes.touched = box_of(e, tile_x, tile_y, touched_span);
  boxes.own = box_of(e, tile_x, tile_y, own_span);
  boxes.overlap = e.axes.x.step < e.axes.x.tile || e.axes.y.step < e.axes.y.tile;
  return boxes;
}

/// Fills the cells, and draws thin lines between them where they are not too small.
void draw_cells(Panel& panel, const BlockBoxes& boxes) {
  const Box extent = boxes.extent();
  if (boxes.overlap) {
    fill(panel, boxes.output, kIdleOutputCell);
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
  if (panel.scale() < kLeastCell) return;
  for (double x = extent.left; x <= extent.right; ++x)
    panel.thin_line(x, extent.top, x, extent.bottom);
  for (double y = extent.top; y <= extent.bottom; ++y)
    panel.thin_line(extent.left, y, extent.right, y);
}

/// The block with its measures, under a title.
std::string block_panel(const Explanation& e, const BlockBoxes& boxes, const Box& place,
                        Sample sample, const std::string& title, const std::string& below) {
  const Box extent = boxes.extent();
  const double unit = kMargin * std::max(extent.width(), extent.height());
  const Box view{extent.left - unit, extent.top - 1.6 * unit, extent.right + 0.3 * unit,
                 extent.bottom + 0.9 * unit};
  Panel panel(kTilePage, place, view);
  // The image shows a little beyond the block.
  const Box around{extent.left - 0.25 * unit, extent.top - 0.25 * unit, extent.right + 0.25 * unit,
                   extent.bottom + 0.25 * unit};
  fill(panel, common(around, boxes.image), kImageCell);
  draw_cells(panel, boxes);
  panel.outline(boxes.output, {"#003f5c", 1.5});

  draw_image_edge(panel, common(around, boxes.image), around, boxes.image);
  draw_mask(panel, e.problem.mask, boxes, sample);

  const Box& inner = boxes.overlap ? boxes.touched : boxes.output;
  const double gap = 0.32 * unit;
  measure(panel, {extent.left, inner.left, inner.right, extent.right}, {"", "tile", ""},
          extent.top - gap, gap, true);
  measure(panel, {extent.top, inner.top, inner.bottom, extent.bottom}, {"", "tile", ""},
          extent.left - gap, gap, false);
  panel.words((view.left + view.right) / 2, extent.top - 1.35 * unit, title, Align::centre, true);
  panel.words((view.left + view.right) / 2, extent.bottom + 0.6 * unit, below);
  return panel.script();
}

constexpr int kMostTiles = 160;  // of an axis: more would be a grey area
constexpr double kLetterPoints = 6.3;
constexpr Pen kGridPen{"#7f7f7f", 0.5};
constexpr Pen kBlockPen{"#000000", 1.2};

/// The tile nearest to the middle of the grid.
int middle_tile(const TileAxis& axis) {
  return axis.tiles() / 2 - (axis.tiles() > 2 && axis.tiles() % 2 == 0 ? 1 : 0);
}

std::string title_of(const Explanation& e) {
  const Geometry& g = *e.geometry;
  std::string title = std::string(e.strategy->name) + ", mask " +
                      std::to_string(e.problem.mask.width) + "x" +
                      std::to_string(e.problem.mask.height);
  if (!e.middle.known()) return title;
  const std::int64_t reads = e.middle.value().global, outputs = outputs_of(g);
  const std::int64_t taps = taps_of(g, e.problem.mask);
  title += ": " + plural(outputs, "output") + " from " + plural(reads, "load");
  if (sums_by_library(*e.strategy, e.tuning)) return title;
  const std::int64_t adds = atomic_adds_of(e), accesses = reads + adds;
  if (adds > 0) title += " and " + plural(adds, "atomic addition");
  return title + ", reuse " + std::to_string(outputs) + " · " +
         std::to_string(e.problem.mask.width * e.problem.mask.height) + " / " +
         std::to_string(accesses) + " = " + short_number(double(taps) / double(accesses));
}

std::string threads_of(const Geometry& g) {
  const int threads = g.block_columns * g.block_rows;
  if (threads == 0) return "";
  if (g.loading_threads == 0) return plural(threads, "thread");
  return plural(g.loading_threads, "thread") + " load, " + std::to_string(g.computing_threads) +
         " compute";
}

/// The image, the grid of output tiles over it, and the two blocks that are enlarged.
std::string image_panel(const Explanation& e, const BlockBoxes& corner, const BlockBoxes& middle) {
  const TileAxis &x = e.axes.x, &y = e.axes.y;
  const int last_x = x.tiles() - 1, last_y = y.tiles() - 1;
  const Box last = boxes_of(e, last_x, last_y).output;
  const Box image = corner.image;
  const Box whole{std::min({0.0, corner.extent().left, corner.output.left}),
                  std::min({0.0, corner.extent().top, corner.output.top}),
                  std::max(image.right, last.right), std::max(image.bottom, last.bottom)};
  const double unit = 0.1 * std::max(whole.width(), whole.height());
  Panel panel(
      kTilePage, {0.015, 0.10, 0.42, 0.84},
      {whole.left - 0.1 * unit, whole.top - unit, whole.right + 0.1 * unit, whole.bottom + unit});
  panel.area(image, kImageCell.colour);
  for (const BlockBoxes* block : {&corner, &middle}) draw_cells(panel, *block);

  if (x.tiles() <= kMostTiles && y.tiles() <= kMostTiles) {
    const double left = corner.output.left, top = corner.output.top;
    for (int t = 0; t <= x.tiles(); ++t)
      panel.line(left + t * x.step, top, left + t * x.step, last.bottom, kGridPen);
    for (int t = 0; t <= y.tiles(); ++t)
      panel.line(left, top + t * y.step, last.right, top + t * y.step, kGridPen);
  }
  panel.outline(image, kImageEdge);
  panel.outline(corner.output, kBlockPen);
  panel.outline(middle.output, kBlockPen);
  const auto name = [&](const BlockBoxes& block, const char* letter) {
    const bool inside = block.output.width() * panel.scale() > 2 * kLetterPoints &&
                        block.output.height() * panel.scale() > 2 * kLetterPoints;
    const double beside = inside ? 0 : 1.2 * kLetterPoints / panel.scale();
    panel.words((block.output.left + block.output.right) / 2 + beside +
                    (inside ? 0 : block.output.width() / 2),
                (block.output.top + block.output.bottom) / 2 + beside, letter, Align::centre, true);
  };
  name(corner, "A");
  name(middle, "B");

  const double centre = (whole.left + whole.right) / 2;
  panel.words(centre, whole.top - 0.6 * unit,
              "picture " + std::to_string(e.problem.width) + " x " +
                  std::to_string(e.problem.height) + ", " + std::to_string(x.tiles()) + " x " +
                  std::to_string(y.tiles()) + " blocks",
              Align::centre, true);
  return panel.script();
}

std::string block_words(const Explanation& e, const char* name, int tile_x, int tile_y) {
  const Geometry& g = *e.geometry;
  if (g.in_columns == 0) return name;
  const std::int64_t inside =
      std::int64_t(e.axes.x.inputs_inside(tile_x)) * e.axes.y.inputs_inside(tile_y);
  const std::int64_t ghosts = std::int64_t(g.in_columns) * g.in_rows - inside;
  return std::string(name) + ": " + plural(inside, "sample") +
         (ghosts > 0 ? ", " + plural(ghosts, "ghost cell") : "");
}

/// Swatches with words, in rows.
class Legend {
 public:
  Legend() : panel_(kTilePage, {0, 0.86, 1, 1}, {0, 0, kWidth, kTilePage.height * 0.14}) {}

  void cells(const CellKind& kind, const std::string& text) {
    const Box box = next(text);
    panel_.area(box, kind.colour, kind.fill);
    panel_.outline(box, {"#7f7f7f", 0.5});
  }
  void edge(const Pen& pen, const std::string& text) { panel_.outline(next(text), pen); }
  std::string script() const { return panel_.script(); }

 private:
  static constexpr double kWidth = kTilePage.width, kLeft = 30, kSide = 14, kRow = 24;

  Box next(const std::string& text) {
    const double length = kSide + 8 + kLetterPoints * double(text.size()) + 18;
    if (x_ + length > kWidth - kLeft) {
      x_ = kLeft;
      y_ += kRow;
    }
    const Box box{x_, y_, x_ + kSide, y_ + kSide};
    panel_.words(x_ + kSide + 8, y_ + kSide / 2, text, Align::left);
    x_ += length;
    return box;
  }

  Panel panel_;
  double x_ = kLeft, y_ = 16;
};

std::string legend(const Explanation& e, const BlockBoxes& corner) {
  const Geometry& g = *e.geometry;
  const std::string border(name_of(e.problem.border));
  Legend legend;
  legend.cells(kOutputCell, corner.overlap ? "outputs of this block alone" : "output tile");
  if (corner.overlap) {
    legend.cells(kSharedOutputCell, "outputs that neighbour blocks add to as well");
    legend.cells(kIdleOutputCell, "not in the result");
  } else {
    if (g.in_columns > g.out_columns || g.in_rows > g.out_rows)
      legend.cells(kHaloCell, "halo: real neighbours, loaded too");
    if (g.in_columns == 0 || g.loads > double(g.in_columns) * g.in_rows)
      legend.cells(kTapCell, "neighbours read tap by tap, not kept");
    if (e.problem.mode != Mode::valid) legend.cells(kGhostCell, "ghost cells: border " + border);
  }
  legend.edge(kMaskEdge, corner.overlap ? "one sample, and where it is added"
                                        : "one output, and the mask over it");
  legend.edge(kImageEdge, "edge of the image");
  return legend.script();
}

}  // namespace

void check_drawable(const Strategy& strategy) {
  if (!strategy.geometry)
    throw UsageError("there are no blocks of " + std::string(strategy.name) +
                     " to draw; leave out --picture");
}

std::string tile_picture(const Explanation& e) {
  check_drawable(*e.strategy);
  const int middle_x = middle_tile(e.axes.x), middle_y = middle_tile(e.axes.y);
  const BlockBoxes corner = boxes_of(e, 0, 0), middle = boxes_of(e, middle_x, middle_y);
  Panel title(kTilePage, {0, 0, 1, 0.09}, {0, 0, 1, 0.09 * kTilePage.height / kTilePage.width});
  title.words(0.5, 0.5 * 0.09 * kTilePage.height / kTilePage.width, title_of(e), Align::centre,
              true);
  const std::string threads = threads_of(*e.geometry);
  return page_of(title.script() + image_panel(e, corner, middle) +
                 block_panel(e, corner, {0.43, 0.10, 0.71, 0.84}, Sample::first,
                             block_words(e, "A, corner", 0, 0), threads) +
                 block_panel(e, middle, {0.715, 0.10, 0.995, 0.84}, Sample::middle,
                             block_words(e, "B, middle", middle_x, middle_y), threads) +
                 legend(e, corner));
}

}  // namespace convfilt
