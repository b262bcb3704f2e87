/// The border as an index function: which sample stands in for a ghost cell.
#pragma once

#include "kernels/contract/plane_view.hpp"
#include "kernels/problem.hpp"

namespace convfilt {

/// i modulo n, in 0..n-1 for any i.
CONVFILT_HD inline int floor_modulo(int i, int n) {
  const int m = i % n;
  return m < 0 ? m + n : m;
}

/// The index in 0..n-1 that a border gives for any index i, n >= 1; -1 means the border value.
template <Border B>
CONVFILT_HD inline int border_index(int i, int n) {
  if (i >= 0 && i < n) return i;
  if constexpr (B == Border::constant) {
    return -1;
  } else if constexpr (B == Border::replicate) {
    return i < 0 ? 0 : n - 1;
  } else if constexpr (B == Border::wrap) {
    return floor_modulo(i, n);
  } else if constexpr (B == Border::reflect) {
    const int m = floor_modulo(i, 2 * n);
    return m < n ? m : 2 * n - 1 - m;
  } else {
    if (n == 1) return 0;
    const int m = floor_modulo(i, 2 * n - 2);
    return m < n ? m : 2 * n - 2 - m;
  }
}

/// The same for a border that is known only at run time. It serves a picture's edges in kernels
/// where five times as many instances would cost more than the choice.
CONVFILT_HD inline int border_index(Border border, int i, int n) {
  if (i >= 0 && i < n) return i;  // nearly always
  switch (border) {
    case Border::constant: return border_index<Border::constant>(i, n);
    case Border::reflect: return border_index<Border::reflect>(i, n);
    case Border::reflect101: return border_index<Border::reflect101>(i, n);
    case Border::wrap: return border_index<Border::wrap>(i, n);
    case Border::replicate: break;
  }
  return border_index<Border::replicate>(i, n);
}

/// The same for a row of `width` samples in which the `channels` samples of a pixel lie side by
/// side. It gives the sample that stands in for any x, or -1 for the border value.
CONVFILT_HD inline int border_sample(Border border, int x, int width, int channels) {
  const int pixel = (x >= 0 ? x : x - channels + 1) / channels;  // rounded down
  const int inside = border_index(border, pixel, width / channels);
  return inside < 0 ? -1 : inside * channels + x - pixel * channels;
}

}  // namespace convfilt
