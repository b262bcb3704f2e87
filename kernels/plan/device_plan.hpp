/// What all strategies of CUDA kernels share: pictures up, planes through the kernels, pictures
/// down. Compiled once for CUDA and once for the emulator, like the kernels.
#pragma once

#include <climits>
#include <cstddef>
#include <memory>

#include "kernels/backend/devices.hpp"
#include "kernels/backend/launch.hpp"
#include "kernels/implementation.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// One plane in device memory, type-erased.
struct DevicePlane {
  std::byte* data = nullptr;
  int width = 0, height = 0;
  std::ptrdiff_t pitch = 0;  ///< bytes between rows, a multiple of the sample's size

  template <class T>
  PlaneView<T> view() const {
    return {reinterpret_cast<T*>(data), width, height, pitch / std::ptrdiff_t(sizeof(T))};
  }
  DevicePlane rows(int first, int count) const {
    return {data + first * pitch, width, count, pitch};
  }
  /// One of so many of equal height that lie below each other.
  DevicePlane part(int which, int parts) const {
    return rows(which * (height / parts), height / parts);
  }
};

/// One launch: one part of the mask over rows of one plane.
struct Pass {
  DevicePlane in, out, partial;
  const void* part;   ///< MaskPart of the problem's depth
  const void* ghost;  ///< border value as a sample
  Textures* textures;
  bool fresh;  ///< the first launch since `in` was written
  Tuning tuning{};
  int channels = 1;  ///< samples of a pixel in `in`, `out` and `partial`, side by side

  template <class T>
  PlaneView<const T> input() const {
    return in.view<const T>();
  }
  template <class T>
  PlaneView<T> output() const {
    return out.view<T>();
  }
  template <class T>
  PlaneView<SumOf<T>> sums() const {
    return partial.view<SumOf<T>>();
  }
  template <class T>
  const T& ghost_cell() const {
    return *static_cast<const T*>(ghost);
  }
  template <class T>
  const MaskPart<T>& mask_part() const {
    return *static_cast<const MaskPart<T>*>(part);
  }
};

/// Launches a strategy's kernel. At most kMaxLaunchRows rows a pass, so that the grid's y stays in
/// range.
using Run = void (*)(const Problem&, const Pass&, const Stream&);

inline constexpr int kMaxLaunchRows = 65535;

/// The block that a geometry tells, and the grid of such blocks that covers `out`.
inline dim3 block_of(const Geometry& geometry) {
  return dim3(geometry.block_columns, geometry.block_rows);
}
inline dim3 grid_of(const Geometry& geometry, const DevicePlane& out) {
  return dim3(ceil_div(out.width, geometry.out_columns), ceil_div(out.height, geometry.out_rows));
}

/// The input a strategy can address; larger pictures are filtered in pieces.
struct InputLimits {
  int width = INT_MAX / 4, height = INT_MAX;  ///< a row of four channels is counted in ints
  bool texture = false;      ///< read through a texture, which wants aligned rows, or else a copy
  bool interleaved = false;  ///< channels side by side, as they lie in a picture; else planes
  bool padding = false;      ///< what lies beside the samples is read, and then weighs nothing
  int sides = 0;  ///< bytes of a row of the input beside its samples, of which margin() lie before
};

std::unique_ptr<Plan> make_direct_plan(const Problem&, const PlanOptions&, Run, InputLimits);

/// Implementation::prepare for a direct strategy with that launcher.
template <Run run, InputLimits limits = InputLimits{}>
std::unique_ptr<Plan> direct_plan(const Problem& problem, const PlanOptions& options) {
  return make_direct_plan(problem, options, run, limits);
}

/// The separable family: `rows` takes pass.part as MaskPart<MidOf<T>> and writes the plane between
/// the passes, `columns` reads it and takes MaskPart<T>.
std::unique_ptr<Plan> make_separable_plan(const Problem&, const PlanOptions&, Run rows,
                                          Run columns);

/// The channels of an interleaved picture to planes that lie one below the other, and back
/// (channels.cu).
void split_channels(Depth, const DevicePlane& picture, int channels, const DevicePlane& planes,
                    const Stream&);
void merge_channels(Depth, const DevicePlane& planes, const DevicePlane& picture, int channels,
                    const Stream&);

}  // namespace convfilt::CONVFILT_BACKEND
