#include "src/lab/explain/panel.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "src/base/suggest.hpp"

namespace convfilt {
namespace {

// Grey, since librsvg draws no line whose colour gnuplot writes with a transparency.
constexpr std::string_view kThinLine = "#9a9a9a";
constexpr double kLeastSide = 26;  // points; a drawing with less is stretched

std::string plain(double value) {
  return with_format("%.6g", value);
}

std::string point(double x, double y) {
  return plain(x) + "," + plain(y);
}

std::string colour_of(std::string_view colour) {
  return "rgb '" + std::string(colour) + "'";
}

std::string rectangle(const Box& box) {
  return "set object rectangle from " + point(box.left, box.top) + " to " +
         point(box.right, box.bottom);
}

/// The size of letters with which a text fits into so many points.
double letter_size(std::size_t letters, double width, double height) {
  return std::min({1.0, (width - 3) / (kWordPoints * double(letters)), height / (0.8 * kRow)});
}

}  // namespace

Box common(const Box& a, const Box& b) {
  const double left = std::max(a.left, b.left), top = std::max(a.top, b.top);
  return {left, top, std::max(left, std::min(a.right, b.right)),
          std::max(top, std::min(a.bottom, b.bottom))};
}

Box united(const Box& a, const Box& b) {
  if (empty(a)) return b;
  if (empty(b)) return a;
  return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right),
          std::max(a.bottom, b.bottom)};
}

const CellKind& turn_kind(int turn) {
  static constexpr CellKind kTurns[] = {
      {"#f0e442"}, {"#5fc7a7"}, {"#d99bbd"}, {"#ec9a5f"}, {"#a9b8cc"}};
  return kTurns[std::size_t(turn - 1) % std::size(kTurns)];
}

double readable_size(std::size_t letters, double width, double height) {
  const double size = letter_size(letters, width, height);
  return size < 0.6 ? 0 : size;
}

Stretch clear_of(Stretch whole, std::vector<double> edges, double scale) {
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

Panel::Panel(const Spot& spot, const Box& view)
    : spot_(spot),
      view_(view),
      scale_x_(spot.place.width() * spot.page.width / view.width()),
      scale_y_(spot.place.height() * spot.page.height / view.height()) {}

Panel Panel::around(const Spot& spot, const Box& drawing, const Margins& margins) {
  const double all_x = spot.place.width() * spot.page.width;
  const double all_y = spot.place.height() * spot.page.height;
  const double width = all_x - margins.left - margins.right;
  const double height = all_y - margins.top - margins.bottom;
  const double scale = std::min(width / drawing.width(), height / drawing.height());
  const double x = std::max(scale, std::min(kLeastSide, width) / drawing.width());
  const double y = std::max(scale, std::min(kLeastSide, height) / drawing.height());
  const double beside = (width - drawing.width() * x) / 2;
  const double left = drawing.left - (margins.left + beside) / x;
  const double top = drawing.top - margins.top / y;
  return Panel(spot, {left, top, left + all_x / x, top + all_y / y});
}

void Panel::area(const Box& box, const CellKind& kind) {
  if (kind.fill != Fill::solid) area(box, {"#ffffff"});
  objects_ += rectangle(box) + " back fillcolor " + colour_of(kind.colour) + " fillstyle " +
              (kind.fill == Fill::solid     ? "solid 1"
               : kind.fill == Fill::hatched ? "pattern 4"
                                            : "pattern 2") +
              " noborder\n";
}

void Panel::thin_line(double x0, double y0, double x1, double y1) {
  thin_lines_ += plain(x0) + " " + plain(y0) + "\n" + plain(x1) + " " + plain(y1) + "\n\n";
}

void Panel::grid(const Box& box) {
  if (scale_x_ >= kLeastCell)
    for (double x = box.left; x <= box.right; ++x) thin_line(x, box.top, x, box.bottom);
  if (scale_y_ >= kLeastCell)
    for (double y = box.top; y <= box.bottom; ++y) thin_line(box.left, y, box.right, y);
}

void Panel::outline(const Box& box, const Pen& pen) {
  objects_ += rectangle(box) + " front fillstyle empty border " + colour_of(pen.colour) +
              " linewidth " + plain(pen.points) + "\n";
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
    objects_ += std::string(" font sprintf('") + (bold ? ":Bold" : "") + ",%.1f', " + plain(size) +
                " * letter)";
  else if (bold)
    objects_ += " font ':Bold'";
  objects_ += " textcolor " + colour_of(Pen().colour) + "\n";
}

void Panel::number(const Box& box, const std::string& text) {
  const double size = readable_size(text.size(), box.width() * scale_x_, box.height() * scale_y_);
  if (size > 0)
    words((box.left + box.right) / 2, (box.top + box.bottom) / 2, text, Align::centre, true, size);
}

std::string Panel::captioned(const Box& drawing, const std::string& title,
                             const std::vector<std::string>& below) {
  const double middle = (drawing.left + drawing.right) / 2;
  const double room = 2 * std::min(middle - view_.left, view_.right - middle) * scale_x_;
  const auto write = [&](double y, const std::string& text, bool bold) {
    const double letters = double(text.size()) * (bold ? 1.1 : 1);
    words(middle, y, text, Align::centre, bold, letter_size(std::size_t(letters), room, kRow));
  };
  const std::string letter = spot_.letter ? std::string(1, spot_.letter) + ", " : "";
  write(view_.top + 0.6 * kRow / scale_y_, letter + title, true);
  for (std::size_t k = 0; k < below.size(); ++k)
    write(drawing.bottom + (0.9 + double(k)) * kRow / scale_y_, below[k], false);
  return script();
}

std::string Panel::script() const {
  const Box& place = spot_.place;
  std::string script = "unset object\nunset label\nunset arrow\n" + objects_;
  script += "set lmargin at screen " + plain(place.left) + "\nset rmargin at screen " +
            plain(place.right) + "\nset tmargin at screen " + plain(1 - place.top) +
            "\nset bmargin at screen " + plain(1 - place.bottom) + "\nset xrange [" +
            plain(view_.left) + ":" + plain(view_.right) + "]\nset yrange [" + plain(view_.bottom) +
            ":" + plain(view_.top) + "]\n";
  if (thin_lines_.empty()) return script + "plot NaN\n";
  return script + "plot '-' with lines linewidth 0.6 linecolor " + colour_of(kThinLine) + "\n" +
         thin_lines_ + "e\n";
}

std::string page_of(std::string_view panels) {
  return "set multiplot\nunset border\nunset tics\nunset key\n" + std::string(panels) +
         "unset multiplot\n";
}

}  // namespace convfilt
