#include "src/explain/tile_picture.hpp"

#include <algorithm>
#include <cmath>

#include "src/base/errors.hpp"
#include "src/explain/block_panel.hpp"
#include "src/explain/count_reads.hpp"
#include "src/explain/panel.hpp"
#include "src/explain/text.hpp"

namespace convfilt {
namespace {

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
