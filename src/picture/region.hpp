/// Parts of a picture.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

namespace convfilt {

/// Pixels of a row: first..end-1.
struct Span {
  int first = 0, end = 0;
};

/// The pixels of a box, or of the ellipse that touches the box's sides. A pixel is in the ellipse
/// if its middle is. The box begins with its upper left corner.
struct Region {
  int x = 0, y = 0, width = 0, height = 0;
  bool is_ellipse = false;

  auto operator<=>(const Region&) const = default;

  std::string text() const {
    std::string text = is_ellipse ? "ellipse:" : "";
    for (const int number : {x, y, width, height}) text += std::to_string(number) + ",";
    text.pop_back();
    return text;
  }

  /// Its pixels in a row of the picture, none where it is empty.
  Span in_row(int row) const {
    if (row < y || row >= y + height) return {};
    if (!is_ellipse) return {x, x + width};
    // Twice the distance from the middle row, and then the width of the ellipse there. Both are
    // exact where the ellipse meets the middle of a pixel.
    const std::int64_t off = std::abs(2 * std::int64_t{row - y} + 1 - height);
    const double chord = width * std::sqrt(double((height - off) * (height + off))) / height;
    const int wide = int(chord);
    return {x + (width - wide) / 2, x + (width + 1 + wide) / 2};
  }
};

/// The pixels of all regions in a row, from left to right, with a gap between any two spans.
inline std::vector<Span> spans_in_row(std::span<const Region> regions, int row) {
  std::vector<Span> spans, joined;
  for (const Region& region : regions)
    if (const Span span = region.in_row(row); span.first < span.end) spans.push_back(span);
  std::ranges::sort(spans, {}, &Span::first);
  for (const Span& span : spans) {
    if (joined.empty() || span.first > joined.back().end)
      joined.push_back(span);
    else
      joined.back().end = std::max(joined.back().end, span.end);
  }
  return joined;
}

}  // namespace convfilt
