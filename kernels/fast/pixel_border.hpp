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

/// Sample x of row y, of which the border has already made one of the image, or -1: the border is a
/// rule for pixels, and the channel stays.
template <class T>
CONVFILT_DEVICE inline T load_in_row(const PlaneView<const T>& in, Border border, int channels,
                                     int x, int y, T ghost) {
  if (y >= 0 && x >= 0 && x < in.width) return load(in, x, y);
  const int channel = floor_modulo(x, channels);
  const int pixel = index_by_border(border, (x - channel) / channels, in.width / channels);
  if (y < 0 || pixel < 0) {
    count_ghost_cell();
    return ghost;
  }
  return load(in, pixel * channels + channel, y);
}

}  // namespace convfilt::CONVFILT_BACKEND
