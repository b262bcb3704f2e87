#include "src/explain/block_panel.hpp"

#include <algorithm>
#include <cmath>

#include "src/explain/tile_picture.hpp"

namespace convfilt {
namespace {

constexpr double kLeastCell = 4;     // points: smaller ones would be nothing but their lines
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

/// Of one axis: from, to.
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

/// Where output tiles overlap, a sample is added to the outputs around it; else an output takes the
/// samples around it.
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

/// As far as it is in sight.
void draw_image_edge(Panel& panel, const Box& seen, const Box& around, const Box& image) {
  const auto upright = [&](double x) { panel.line(x, seen.top, x, seen.bottom, kImageEdge); };
  const auto level = [&](double y) { panel.line(seen.left, y, seen.right, y, kImageEdge); };
  if (around.left < image.left) upright(image.left);
  if (around.right > image.right) upright(image.right);
  if (around.top < image.top) level(image.top);
  if (around.bottom > image.bottom) level(image.bottom);
}

/// Over one output; or, with overlapping outputs, where one sample is added.
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

}  // namespace

Box BlockBoxes::extent() const {
  return united(united(input, output), touched);
}

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

std::string block_panel(const Explanation& e, const BlockBoxes& boxes, const Box& place,
                        Sample sample, const std::string& title, const std::string& below) {
  const Box extent = boxes.extent();
  const double unit = kMargin * std::max(extent.width(), extent.height());
  const Box view{extent.left - unit, extent.top - 1.6 * unit, extent.right + 0.3 * unit,
                 extent.bottom + 0.9 * unit};
  Panel panel(kTilePage, place, view);
  // The image under it, fading into the page.
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

}  // namespace convfilt
