/// What a kernel file stands on: the CUDA runtime, the emulator that gives its words a meaning on
/// the CPU, or the host backend, which makes plain loops of kernels without shared memory. A kernel
/// file is compiled once for each backend, in the namespace CONVFILT_BACKEND.
///
/// Every backend has dim3, launch(grid, block, stream, kernel, args...), load(in, x, y), load4(in,
/// x, y), load16(in, x, y), atomic_add(cell, value), and the owners DeviceBuffer, Stream,
/// SideStream, Event, Texture; all but the host also have SharedTile<T, rows, columns>,
/// shared4(tile, row, column), prefetch(in, x, y) and tex2D.
#pragma once

#ifdef CONVFILT_EMULATE
#define CONVFILT_BACKEND emulator
#include "kernels/backend/emulator/backend.hpp"
#elif defined(CONVFILT_HOST)
#define CONVFILT_BACKEND host
#include "kernels/backend/host/backend.hpp"
#else
#define CONVFILT_BACKEND cuda
#include "kernels/backend/cuda/backend.hpp"
#endif

#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/border.hpp"
#include "kernels/contract/ceil_div.hpp"

namespace convfilt::CONVFILT_BACKEND {

// CUDA 12.0 and its drivers take 4,096 bytes of kernel arguments. Beside a mask part these hold the
// views of planes and the ghost cell.
constexpr std::size_t kOtherArguments = 3 * sizeof(PlaneView<float>) + 2 * sizeof(float);
static_assert(sizeof(MaskPart<std::uint8_t>) + kOtherArguments <= 4096 &&
                  sizeof(MaskPart<float>) + kOtherArguments <= 4096,
              "a mask part does not fit into a kernel's arguments; make kMaxPartSide smaller");

/// Whether (x, y) lies inside the image.
template <class T>
CONVFILT_DEVICE inline bool contains(const PlaneView<T>& in, int x, int y) {
  return x >= 0 && x < in.width && y >= 0 && y < in.height;
}

/// The sample at (x, y), or the ghost cell that the border puts there outside the image.
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
