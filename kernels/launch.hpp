/// What a kernel file stands on: the CUDA runtime, or the emulator that gives its words a meaning
/// on the CPU. A kernel file is compiled once for each, in the namespace CONVFILT_BACKEND.
///
/// Both give: dim3, launch(grid, block, stream, kernel, args...), SharedTile<T, rows, columns>,
/// load(in, x, y), tex2D, and the owners DeviceBuffer, Stream, Event, Texture.
#pragma once

#ifdef CONVFILT_EMULATE
#define CONVFILT_BACKEND emulator
#include "emulator/backend.hpp"
#else
#define CONVFILT_BACKEND cuda
#include "cuda/backend.hpp"
#endif

#include "accumulate.hpp"
#include "border.hpp"

namespace convfilt::CONVFILT_BACKEND {

inline int ceil_div(int a, int b) {
  return (a + b - 1) / b;
}

/// The sample at (x, y), or what the border makes up for it when that lies outside the image.
template <Border B, class T>
CONVFILT_DEVICE inline T load(const PlaneView<const T>& in, int x, int y, T ghost) {
  x = border_index<B>(x, in.width);
  y = border_index<B>(y, in.height);
  if (x < 0 || y < 0) {
    count_ghost_cell();
    return ghost;
  }
  return load(in, x, y);
}

}  // namespace convfilt::CONVFILT_BACKEND
