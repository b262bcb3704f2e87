/// Drawings of rectangles, lines and words in a part of a page, to scale, as gnuplot's script; and
/// the colours and lines of the drawings of tiles, in the colours of Okabe and Ito, which the
/// colour-blind can tell apart.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/lab/plot.hpp"

namespace convfilt {

/// A rectangle: on a page in 0..1 from the upper left corner, or in a drawing in its own units. In
/// both, y points downwards.
struct Box {
  double left = 0, top = 0, right = 1, bottom = 1;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

inline bool empty(const Box& box) {
  return box.width() <= 0 || box.height() <= 0;
}

Box common(const Box& a, const Box& b);
Box united(const Box& a, const Box& b);

/// Where on a page a drawing stands, and the letter that its title begins with; 0 = none.
struct Spot {
  PlotSize page;
  Box place;
  char letter = 0;
};

/// Draws into its spot, and gives a part of page_of().
using DrawPanel = std::function<std::string(const Spot&)>;

/// How a rectangle is filled; a hatched or crossed one has lines on white.
enum class Fill { solid, hatched, crossed };

/// The look of cells of one kind.
struct CellKind {
  std::string_view colour;
  Fill fill = Fill::solid;
};

/// How a line looks.
struct Pen {
  std::string_view colour = "#202020";
  double points = 1;
};

inline constexpr CellKind kImageCell{"#e4e4e4"};
inline constexpr CellKind kOutputCell{"#56b4e9"};
inline constexpr CellKind kIdleOutputCell{"#cfe6f5"};    ///< in the tile, but not in the result
inline constexpr CellKind kSharedOutputCell{"#cc79a7"};  ///< neighbour blocks add to it too
inline constexpr CellKind kHaloCell{"#e69f00"};
inline constexpr CellKind kTapCell{"#f7e3b5"};  ///< read from global memory, tap by tap
inline constexpr CellKind kGhostCell{"#707070", Fill::hatched};
inline constexpr CellKind kIdleThread{"#909090", Fill::crossed};

/// Steps, launches and sums take five colours in turns, from 1 on; a number stands in each.
const CellKind& turn_kind(int turn);

inline constexpr Pen kImageEdge{"#0072b2", 2.5};
inline constexpr Pen kMaskEdge{"#000000", 2};
inline constexpr Pen kTileEdge{"#003f5c", 1.5};
inline constexpr Pen kThreadsEdge{"#d55e00", 2.5};

enum class Align { left, centre, right };

/// Points that stay free around a drawing, for words.
struct Margins {
  double left = 0, top = 0, right = 0, bottom = 0;
};

inline constexpr double kRow = 16;                       // points from line to line of words
inline constexpr Margins kPanelMargins{30, 34, 30, 44};  // for a title, and two lines below
inline constexpr double kLeastCell = 4;     // points; a smaller cell would be nothing but its lines
inline constexpr double kWordPoints = 6.6;  // an average letter of the labels

/// The size of letters with which a text fits into so many points; 0 where they would be too small
/// to be read.
double readable_size(std::size_t letters, double width, double height);

/// A part of an axis.
struct Stretch {
  double from = 0, to = 0;

  double middle() const { return (from + to) / 2; }
  double length() const { return to - from; }
};

/// Where along an axis a number may stand that no edge goes through: the whole stretch, or what the
/// edges leave at most of it. `scale` is that of the axis.
Stretch clear_of(Stretch whole, std::vector<double> edges, double scale);

/// Draws what lies in `view` into its spot, which it fills.
/// Areas lie at the back, then thin lines, then outlines and lines, and words and measures in
/// front; each kind is drawn in the order of the calls.
class Panel {
 public:
  Panel(const Spot& spot, const Box& view);

  /// Shows `drawing` at the upper margin, as large as the margins allow. Both axes are alike,
  /// unless it would be too low or too narrow to be seen.
  static Panel around(const Spot& spot, const Box& drawing, const Margins& margins = kPanelMargins);

  void area(const Box& box, const CellKind& kind);
  void thin_line(double x0, double y0, double x1, double y1);
  /// Thin lines between the cells of a box where cells are not too small.
  void grid(const Box& box);
  void outline(const Box& box, const Pen& pen);
  /// Draws a level or upright line; a slanting one would need more than a thin rectangle.
  void line(double x0, double y0, double x1, double y1, const Pen& pen);
  /// A line with an arrow head at both ends.
  void measure(double x0, double y0, double x1, double y1);
  /// `size` is that of the letters, 1 for the page's own.
  void words(double x, double y, std::string_view text, Align align = Align::centre,
             bool bold = false, double size = 1);
  /// A bold number in the middle of a box where it can be read.
  void number(const Box& box, const std::string& text);

  /// Points of the page per unit of the drawing.
  double scale_x() const { return scale_x_; }
  double scale_y() const { return scale_y_; }

  const Box& view() const { return view_; }

  /// The panel as a part of page_of().
  std::string script() const;

  /// The same with a title at its top, behind the spot's letter, and lines below the drawing, in
  /// letters with which they stay in the panel.
  std::string captioned(const Box& drawing, const std::string& title,
                        const std::vector<std::string>& below);

 private:
  Spot spot_;
  Box view_;
  double scale_x_, scale_y_;
  std::string objects_, thin_lines_;
};

/// The whole script of a page of panels.
std::string page_of(std::string_view panels);

}  // namespace convfilt
