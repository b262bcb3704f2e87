/// The border as an argument, for slow paths: as a template argument it would make five of each
/// kernel, and it costs time at the picture's edges alone.
#pragma once

#include "launch.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// As border_index().
CONVFILT_DEVICE inline int any_index(Border border, int i, int n) {
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

}  // namespace convfilt::CONVFILT_BACKEND
