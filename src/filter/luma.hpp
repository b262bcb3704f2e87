/// Luma of a pixel.
#pragma once

namespace convfilt {

/// Of blue, green and red, by the weights of ITU-R BT.709.
template <class T>
double luma_of(const T* pixel) {
  return 0.0722 * double(pixel[0]) + 0.7152 * double(pixel[1]) + 0.2126 * double(pixel[2]);
}

}  // namespace convfilt
