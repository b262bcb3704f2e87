#include "src/lab/explain/panel.hpp"

#include <algorithm>
#include <cstdio>

namespace convfilt {
namespace {

// Grey, since librsvg draws no line whose colour gnuplot writes with a transparency.
constexpr std::string_view kThinLine = "#9a9a9a";
constexpr double kLeastSide = 26;  // points; a drawing with less is stretched

/// The number of gnuplot's fill pattern.
int pattern_of(Fill fill) {
  return fill == Fill::hatched ? 4 : 2;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string point(double x, double y) {
  return number(x) + "," + number(y);
}

std::string colour_of(std::string_view colour) {
  return "rgb '" + std::string(colour) + "'";
}

std::string rectangle(const Box& box) {
  return "set object rectangle from " + point(box.left, box.top) + " to " +
         point(box.right, box.bottom);
}

}  // namespace

Panel::Panel(PlotSize page, const Box& place, const Box& view)
    : place_(place),
      view_(view),
      scale_x_(place.width() * page.width / view.width()),
      scale_y_(place.height() * page.height / view.height()) {}

Panel Panel::around(PlotSize page, const Box& place, const Box& drawing, const Margins& margins) {
  const double width = place.width() * page.width - margins.left - margins.right;
  const double height = place.height() * page.height - margins.top - margins.bottom;
  const double scale = std::min(width / drawing.width(), height / drawing.height());
  const double x = std::max(scale, std::min(kLeastSide, width) / drawing.width());
  const double y = std::max(scale, std::min(kLeastSide, height) / drawing.height());
  const double beside = (width - drawing.width() * x) / 2;
  const double left = drawing.left - (margins.left + beside) / x;
  const double top = drawing.top - margins.top / y;
  return Panel(
      page, place,
      {left, top, left + place.width() * page.width / x, top + place.height() * page.height / y});
}

void Panel::area(const Box& box, const CellKind& kind) {
  if (kind.fill != Fill::solid) area(box, {"#ffffff"});
  objects_ +=
      rectangle(box) + " back fillcolor " + colour_of(kind.colour) + " fillstyle " +
      (kind.fill == Fill::solid ? "solid 1" : "pattern " + std::to_string(pattern_of(kind.fill))) +
      " noborder\n";
}

void Panel::thin_line(double x0, double y0, double x1, double y1) {
  thin_lines_ += number(x0) + " " + number(y0) + "\n" + number(x1) + " " + number(y1) + "\n\n";
}

void Panel::outline(const Box& box, const Pen& pen) {
  objects_ += rectangle(box) + " front fillstyle empty border " + colour_of(pen.colour) +
              " linewidth " + number(pen.points) + "\n";
}

void Panel::line(double x0, double y0, double x1, double y1, const Pen& pen) {
  const double half_x = pen.points / 2 / scale_x_, half_y = pen.points / 2 / scale_y_;
  const Box box{x0 - half_x, y0 - half_y, x1 + half_x, y1 + half_y};
  objects_ += rectangle(box) + " front fillcolor " + colour_of(pen.colour) +
              " fillstyle solid 1 noborder\n";
}

void Panel::measure(double x0, double y0, double x1, double y1) {
  objects_ += "set arrow from " + point(x0, y0) + " to " + point(x1, y1) +
              " heads front size screen 0.005,20 linecolor " + colour_of(Pen().colour) + "\n";
}

void Panel::words(double x, double y, std::string_view text, Align align, bool bold, double size) {
  const char* where = align == Align::left ? " left" : align == Align::right ? " right" : " centre";
  objects_ += "set label " + in_gnuplot(text) + " at " + point(x, y) + where + " front";
  if (size != 1)
    objects_ += std::string(" font sprintf('") + (bold ? ":Bold" : "") + ",%.1f', " + number(size) +
                " * letter)";
  else if (bold)
    objects_ += " font ':Bold'";
  objects_ += " textcolor " + colour_of(Pen().colour) + "\n";
}

std::string Panel::script() const {
  std::string script = "unset object\nunset label\nunset arrow\n" + objects_;
  script += "set lmargin at screen " + number(place_.left) + "\nset rmargin at screen " +
            number(place_.right) + "\nset tmargin at screen " + number(1 - place_.top) +
            "\nset bmargin at screen " + number(1 - place_.bottom) + "\nset xrange [" +
            number(view_.left) + ":" + number(view_.right) + "]\nset yrange [" +
            number(view_.bottom) + ":" + number(view_.top) + "]\n";
  if (thin_lines_.empty()) return script + "plot NaN\n";
  return script + "plot '-' with lines linewidth 0.6 linecolor " + colour_of(kThinLine) + "\n" +
         thin_lines_ + "e\n";
}

std::string page_of(std::string_view panels) {
  return "set multiplot\nunset border\nunset tics\nunset key\n" + std::string(panels) +
         "unset multiplot\n";
}

}  // namespace convfilt
