/// A drawing of rectangles, lines and words in a part of a page, to scale, as gnuplot's script.
#pragma once

#include <string>
#include <string_view>

#include "src/base/plot.hpp"

namespace convfilt {

/// A rectangle: on a page in 0..1 from the upper left corner, or in a drawing in its own units. In
/// both, y points downwards.
struct Box {
  double left = 0, top = 0, right = 1, bottom = 1;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

/// How a rectangle is filled; a hatched one has lines on white.
enum class Fill { solid, hatched };

/// How a line looks.
struct Pen {
  std::string_view colour = "#202020";
  double points = 1;
};

enum class Align { left, centre, right };

/// Draws what lies in `view` into the part `place` of the page, as large as fits, both axes alike.
/// Areas lie at the back, then thin lines, then outlines and lines, and words and measures in
/// front; each kind is drawn in the order of the calls.
class Panel {
 public:
  Panel(PlotSize page, const Box& place, const Box& view);

  void area(const Box& box, std::string_view colour, Fill fill = Fill::solid);
  void thin_line(double x0, double y0, double x1, double y1);
  void outline(const Box& box, const Pen& pen);
  /// Draws a level or upright line; a slanting one would need more than a thin rectangle.
  void line(double x0, double y0, double x1, double y1, const Pen& pen);
  /// A line with an arrow head at both ends.
  void measure(double x0, double y0, double x1, double y1);
  void words(double x, double y, std::string_view text, Align align = Align::centre,
             bool bold = false);

  /// Points of the page per unit of the drawing.
  double scale() const { return scale_; }

  /// The panel as a part of page_of().
  std::string script() const;

 private:
  Box view_, fitted_;  ///< fitted: in the page
  double scale_;
  std::string objects_, thin_lines_;
};

/// The whole script of a page of panels.
std::string page_of(std::string_view panels);

}  // namespace convfilt
