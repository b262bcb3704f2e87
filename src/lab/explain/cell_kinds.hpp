/// Colours and lines of the drawings of tiles, in the colours of Okabe and Ito, which the
/// colour-blind can tell apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "src/lab/explain/panel.hpp"

namespace convfilt {

inline constexpr CellKind kImageCell{"#e4e4e4"};
inline constexpr CellKind kOutputCell{"#56b4e9"};
inline constexpr CellKind kIdleOutputCell{"#cfe6f5"};    ///< in the tile, but not in the result
inline constexpr CellKind kSharedOutputCell{"#cc79a7"};  ///< neighbour blocks add to it too
inline constexpr CellKind kHaloCell{"#e69f00"};
inline constexpr CellKind kTapCell{"#f7e3b5"};  ///< read from global memory, tap by tap
inline constexpr CellKind kGhostCell{"#707070", Fill::hatched};
inline constexpr CellKind kIdleThread{"#909090", Fill::crossed};

/// Steps, launches and sums take these in turns; a number stands in each.
inline constexpr CellKind kTurns[] = {
    {"#f0e442"}, {"#5fc7a7"}, {"#d99bbd"}, {"#ec9a5f"}, {"#a9b8cc"}};
inline const CellKind& turn_kind(int turn) {
  return kTurns[std::size_t(turn - 1) % std::size(kTurns)];
}

inline constexpr Pen kImageEdge{"#0072b2", 2.5};
inline constexpr Pen kMaskEdge{"#000000", 2};
inline constexpr Pen kTileEdge{"#003f5c", 1.5};
inline constexpr Pen kThreadsEdge{"#d55e00", 2.5};

inline constexpr double kLeastCell = 4;     // points; a smaller cell would be nothing but its lines
inline constexpr double kWordPoints = 6.6;  // an average letter of the labels

inline bool empty(const Box& box) {
  return box.width() <= 0 || box.height() <= 0;
}

inline Box common(const Box& a, const Box& b) {
  Box box{std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
          std::min(a.bottom, b.bottom)};
  box.right = std::max(box.right, box.left);
  box.bottom = std::max(box.bottom, box.top);
  return box;
}

inline Box united(const Box& a, const Box& b) {
  if (empty(a)) return b;
  if (empty(b)) return a;
  return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right),
          std::max(a.bottom, b.bottom)};
}

inline constexpr double kRow = 16;                       // points from line to line of words
inline constexpr Margins kPanelMargins{30, 34, 30, 44};  // for a title, and two lines below

/// The size of letters with which a text fits into so many points.
inline double letter_size(std::size_t letters, double width, double height) {
  return std::min({1.0, (width - 3) / (kWordPoints * double(letters)), height / (0.8 * kRow)});
}

/// The same, but 0 where letters would be too small to be read.
inline double readable_size(std::size_t letters, double width, double height) {
  const double size = letter_size(letters, width, height);
  return size < 0.6 ? 0 : size;
}

/// Ends a panel: writes a title at its top, and lines below the drawing, in letters with which they
/// stay in the panel.
inline std::string captioned(Panel& panel, const Box& drawing, const std::string& title,
                             const std::vector<std::string>& below) {
  const double middle = (drawing.left + drawing.right) / 2;
  const Box& view = panel.view();
  const double room = 2 * std::min(middle - view.left, view.right - middle) * panel.scale_x();
  const auto write = [&](double y, const std::string& text, bool bold) {
    const double letters = double(text.size()) * (bold ? 1.1 : 1);
    panel.words(middle, y, text, Align::centre, bold,
                letter_size(std::size_t(letters), room, kRow));
  };
  write(view.top + 0.6 * kRow / panel.scale_y(), title, true);
  for (std::size_t k = 0; k < below.size(); ++k)
    write(drawing.bottom + (0.9 + double(k)) * kRow / panel.scale_y(), below[k], false);
  return panel.script();
}

/// A part of an axis.
struct Stretch {
  double from = 0, to = 0;

  double middle() const { return (from + to) / 2; }
  double length() const { return to - from; }
};

/// Where along an axis a number may stand that no edge goes through: the whole stretch, or what the
/// edges leave at most of it. `scale` is that of the axis.
inline Stretch clear_of(Stretch whole, std::vector<double> edges, double scale) {
  const bool hit = std::ranges::any_of(
      edges, [&](double edge) { return std::abs(edge - whole.middle()) * scale < kRow / 2; });
  if (!hit) return whole;
  edges.push_back(whole.to);
  std::ranges::sort(edges);
  Stretch best{whole.from, whole.from};
  double from = whole.from;
  for (const double edge : edges) {
    if (edge < from || edge > whole.to) continue;
    if (edge - from > best.length()) best = {from, edge};
    from = edge;
  }
  return best;
}

/// Draws thin lines between the cells of a box where cells are not too small.
inline void draw_lines(Panel& panel, const Box& box) {
  if (panel.scale_x() >= kLeastCell)
    for (double x = box.left; x <= box.right; ++x) panel.thin_line(x, box.top, x, box.bottom);
  if (panel.scale_y() >= kLeastCell)
    for (double y = box.top; y <= box.bottom; ++y) panel.thin_line(box.left, y, box.right, y);
}

}  // namespace convfilt
