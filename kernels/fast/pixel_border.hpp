/// The border where it is no template argument and channels lie side by side: for kernels with many
/// instances, in which the edges are a small part.
#pragma once

#include "launch.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// border_index() of a border that only the launch knows.
CONVFILT_DEVICE inline int index_by_border(Border border, int i, int n) {
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
