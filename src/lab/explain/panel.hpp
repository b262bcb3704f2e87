/// A drawing of rectangles, lines and words in a part of a page, to scale, as gnuplot's script.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "src/lab/plot.hpp"

namespace convfilt {

/// A rectangle: on a page in 0..1 from the upper left corner, or in a drawing in its own units. In
/// both, y points downwards.
struct Box {
  double left = 0, top = 0, right = 1, bottom = 1;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

/// Where on a page a drawing stands, and the letter that its title begins with.
struct Spot {
  PlotSize page;
  Box place;
  char letter;
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

enum class Align { left, centre, right };

/// Points that stay free around a drawing, for words.
struct Margins {
  double left = 0, top = 0, right = 0, bottom = 0;
};

/// Draws what lies in `view` into the part `place` of the page, which it fills.
/// Areas lie at the back, then thin lines, then outlines and lines, and words and measures in
/// front; each kind is drawn in the order of the calls.
class Panel {
 public:
  Panel(PlotSize page, const Box& place, const Box& view);

  /// Shows `drawing` at the upper margin, as large as the margins allow. Both axes are alike,
  /// unless it would be too low or too narrow to be seen.
  static Panel around(PlotSize page, const Box& place, const Box& drawing, const Margins& margins);

  void area(const Box& box, const CellKind& kind);
  void thin_line(double x0, double y0, double x1, double y1);
  void outline(const Box& box, const Pen& pen);
  /// Draws a level or upright line; a slanting one would need more than a thin rectangle.
  void line(double x0, double y0, double x1, double y1, const Pen& pen);
  /// A line with an arrow head at both ends.
  void measure(double x0, double y0, double x1, double y1);
  /// `size` is that of the letters, 1 for the page's own.
  void words(double x, double y, std::string_view text, Align align = Align::centre,
             bool bold = false, double size = 1);

  /// Points of the page per unit of the drawing.
  double scale_x() const { return scale_x_; }
  double scale_y() const { return scale_y_; }

  const Box& view() const { return view_; }

  /// The panel as a part of page_of().
  std::string script() const;

 private:
  Box place_, view_;
  double scale_x_, scale_y_;
  std::string objects_, thin_lines_;
};

/// The whole script of a page of panels.
std::string page_of(std::string_view panels);

}  // namespace convfilt
