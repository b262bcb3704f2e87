/// The base of a kernel file: the CUDA runtime, the emulator that gives its words a meaning on the
/// CPU, or the host backend, which makes plain loops of kernels without shared memory. A kernel
/// file is compiled once for each backend, in the namespace CONVFILT_BACKEND.
///
/// Every backend has dim3, launch(grid, block, stream, kernel, args...), load(in, x, y),
/// load(in, x, y, i, j), load_past_l1(in, x, y, i, j), load_weight(weights, k), load4(in, x, y),
/// load16(in, x, y), atomic_add(cell, value), and the owners DeviceBuffer, Stream, SideStream,
/// Event, Texture; all but the host also have Uploads, SharedTile<T, rows, columns>, shared4(tile,
/// row, column), prefetch(in, x, y) and tex2D.
#pragma once

#ifdef CONVFILT_EMULATE
#include "kernels/backend/emulator/backend.hpp"
#elif defined(CONVFILT_HOST)
#include "kernels/backend/host/backend.hpp"
#else
#include "kernels/backend/cuda/backend.hpp"
#endif

#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/border.hpp"
#include "kernels/contract/ceil_div.hpp"

namespace convfilt::CONVFILT_BACKEND {

// CUDA 12.0 and its drivers take 4,096 bytes of kernel arguments. Beside a mask part these hold the
// views of planes, the ghost cell, and where weights lie in global memory.
constexpr std::size_t kOtherArguments =
    3 * sizeof(PlaneView<float>) + 2 * sizeof(float) + sizeof(const float*);
static_assert(sizeof(MaskPart<std::uint8_t>) + kOtherArguments <= 4096 &&
                  sizeof(MaskPart<float>) + kOtherArguments <= 4096,
              "a mask part does not fit into a kernel's arguments; make kMaxPartSide smaller");

/// Whether (x, y) lies inside the image.
template <class T>
CONVFILT_DEVICE inline bool contains(const PlaneView<T>& in, int x, int y) {
  return x >= 0 && x < in.width && y >= 0 && y < in.height;
}

/// Whether all of the rectangle with that corner lies inside the image.
template <class T>
CONVFILT_DEVICE inline bool contains(const PlaneView<T>& in, int x, int y, const Sides& sides) {
  return x >= 0 && x + sides.width <= in.width && y >= 0 && y + sides.height <= in.height;
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

/// The weight of column i and row j, or the k-th in row order.
template <class Out>
CONVFILT_DEVICE inline SumOf<Out> weight_of(const MaskPart<Out>& mask, int i, int j) {
  count_mask_read();
  return mask.weight(i, j);
}
template <class Out>
CONVFILT_DEVICE inline SumOf<Out> weight_of(const MaskPart<Out>& mask, int k) {
  count_mask_read();
  return mask.weights[k];
}

// These start and end an output's sum, and carry it from one part of a mask to the next.

/// Gives 0 for the first part of a mask, and what the part before left for any other.
template <class Out>
CONVFILT_DEVICE inline SumOf<Out> begin_sum(const MaskPart<Out>& part,
                                            const PlaneView<SumOf<Out>>& partial, int x, int y) {
  return part.first ? SumOf<Out>(0) : partial.row(y)[x];
}

/// Scales, rounds and stores the sum after the last part. After any other it leaves the sum for the
/// next part.
template <class Out>
CONVFILT_DEVICE inline void end_sum(const MaskPart<Out>& part, const PlaneView<SumOf<Out>>& partial,
                                    const PlaneView<Out>& out, int x, int y, SumOf<Out> sum) {
  if (part.last) {
    finish(part.finish, sum, *out.at(x, y));
    count_write(out, x, y);
  } else {
    partial.row(y)[x] = sum;
    count_write(partial, x, y);
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
