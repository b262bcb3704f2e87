/// The part that all strategies of CUDA kernels share. Pictures are uploaded, split into planes,
/// filtered, merged and downloaded, in windows with halo where the whole picture does not fit. This
/// is compiled for each backend, like the kernels.
#pragma once

#include <algorithm>
#include <climits>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/backend/devices.hpp"
#include "kernels/backend/launch.hpp"
#include "kernels/contract/plane_view.hpp"
#include "kernels/plan/zero_weights.hpp"
#include "kernels/strategy.hpp"

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
  /// One of `parts` planes of equal height that lie below each other.
  DevicePlane part(int which, int parts) const {
    return rows(which * (height / parts), height / parts);
  }
};

/// The work of a Run: one plane, filtered by one part of the mask.
struct LaunchJob {
  DevicePlane in, out, partial;
  const void* part;     ///< MaskPart of the problem's depth
  const void* ghost;    ///< border value as a sample
  const void* weights;  ///< the part's weights in device memory, if --mask-memory is global
  Textures* textures;
  bool fresh;  ///< whether this is the first launch since `in` was written
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

/// Launches a strategy's kernel over at most kMaxLaunchRows rows, which keeps the grid's y in
/// range.
using Run = void (*)(const Problem&, const LaunchJob&, const Stream&);

inline constexpr int kMaxLaunchRows = 65535;

/// Calls f(first, rows) for chunks of rows that one launch can cover.
template <class F>
void for_row_chunks(int height, F f) {
  for (int first = 0; first < height; first += kMaxLaunchRows)
    f(first, std::min(kMaxLaunchRows, height - first));
}

/// The block that a geometry tells, and the grid of such blocks that covers `out`.
inline dim3 block_of(const Geometry& geometry) {
  return dim3(geometry.block_columns, geometry.block_rows);
}
inline dim3 grid_of(const Geometry& geometry, const DevicePlane& out) {
  return dim3(ceil_div(out.width, geometry.out_columns), ceil_div(out.height, geometry.out_rows));
}

/// The input that a strategy can address. Larger pictures are filtered in pieces.
struct InputLimits {
  int width = INT_MAX / 4, height = INT_MAX;  ///< a row of four channels is counted in ints
  bool texture = false;      ///< read through a texture; rows that are not aligned are copied
  bool interleaved = false;  ///< channels stay side by side, as in a picture; else planes
  bool padding = false;      ///< padding beside samples is read, with weights of 0
  int sides = 0;             ///< bytes beside a row's samples, of which margin() lie before them
  bool brings_rows = false;  ///< filter() calls bring_rows() (side_samples.hpp)
};

/// A buffer as values of a type, and as rows of such values without gaps.
template <class T>
T* as(const DeviceBuffer& buffer) {
  return reinterpret_cast<T*>(buffer.data());
}
template <class T>
PlaneView<T> view_of(const DeviceBuffer& buffer, int columns, int rows = 1) {
  return {as<T>(buffer), columns, rows, columns};
}

/// A plane and the memory that it lies in.
struct OwnedPlane {
  DeviceBuffer buffer;
  DevicePlane plane;
};

/// How far output (0, 0) lies from input (0, 0). Where a halo was added, that is the anchor. Where
/// the whole picture is filtered, it is what the mode leaves out or adds.
struct Shift {
  int x = 0, y = 0;
};

/// A rectangle of output pixels.
struct Window {
  int x = 0, y = 0, width = 0, height = 0;
};

/// A window of the input with its halo in host memory.
struct Staging {
  std::vector<std::byte> bytes;
  int width = 0, height = 0, channels = 1;
  std::ptrdiff_t pitch = 0;

  PictureView<const std::byte> view() const {
    return {bytes.data(), width, height, channels, pitch};
  }
};

/// Has work queued in a caller's stream (Stream::enter).
template <class Work>
void in_stream(void* caller, Stream& stream, Work queue) {
  stream.enter(caller);
  try {
    queue();
    stream.leave();
  } catch (...) {
    stream.abandon();
    throw;
  }
}

/// A plan on a device. The families differ in `filter` alone.
class DevicePlan : public Plan {
 public:
  DevicePlan(const Problem& problem, const PlanOptions& options, InputLimits limits);

  Timing run(PictureView<const std::byte> in, PictureView<std::byte> out) override;
  void run_resident(PictureView<const std::byte> in, PictureView<std::byte> out,
                    void* stream) override;
  std::vector<double> time_resident(PictureView<const std::byte> in, int repeats) override;
  std::int64_t host_bytes() const override;
  Counts counts() const override { return counts_of(stream_); }

 protected:
  /// Filters one plane, or a picture of step() interleaved channels as such a plane. `in` is the
  /// whole picture, or a piece to which the halo was added; `shift` is the anchor then.
  virtual void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) = 0;

  /// Does the same for planes of equal height, one below the other. They are filtered one by one,
  /// unless a strategy needs fewer launches for all together.
  virtual void filter_planes(const DevicePlane& in, const DevicePlane& out, int planes,
                             Shift shift);

  /// Device bytes for what lies between input and output, for planes of that size.
  /// allocate_scratch() takes them.
  virtual std::size_t scratch_bytes(int /*in_height*/, int /*out_width*/,
                                    int /*out_height*/) const {
    return 0;
  }
  virtual void allocate_scratch(int /*in_height*/, int /*out_width*/, int /*out_height*/) {}

  /// How many channels are filtered together, side by side, which is the number of samples that a
  /// pixel has in a plane.
  int step() const { return limits_.interleaved ? problem_.channels : 1; }

  /// How many planes filter_planes() takes.
  int planes() const { return split() ? problem_.channels : 1; }

  std::size_t plane_bytes(int width, int height, std::size_t sample_bytes) const;

  /// Makes `buffer` at least that large. The contents of a smaller one are lost.
  void hold(DeviceBuffer& buffer, std::size_t bytes);

  /// Makes `buffer` begin with these values, in stream order. They must live until they are read.
  template <class T>
  void hold_copy(DeviceBuffer& buffer, const std::vector<T>& values) {
    const std::size_t bytes = values.size() * sizeof(T);
    hold(buffer, bytes);
    upload_rows(buffer.data(), bytes, reinterpret_cast<const std::byte*>(values.data()), bytes,
                bytes, 1, stream_);
  }

  /// The caller's picture that filter() must copy to its input; empty if the rows are there.
  const DevicePlane& callers() const { return callers_; }

  /// How many of the bytes in InputLimits::sides lie before a row's samples.
  virtual int margin(Shift) const { return 0; }

  /// Makes `owned` a plane of that size. It keeps its memory where that is large enough.
  void shape(OwnedPlane& owned, int width, int height, std::size_t sample_bytes);

  const Problem problem_;
  const PlanOptions options_;
  const InputLimits limits_;
  Stream stream_;
  Textures textures_;

 private:
  void go_home();
  bool take_whole(bool pictures);
  void prepare_whole(bool pictures);
  Window whole_window() const;
  Shift whole_shift() const;
  bool split() const { return step() < problem_.channels; }
  std::ptrdiff_t pitch_for(std::ptrdiff_t row_bytes) const;
  std::size_t bytes_for(const Window& window, int in_width, int in_height, bool pictures) const;
  bool fits(const Window& window, int in_width, int in_height, bool pictures) const;
  Window fitting_window() const;
  void allocate(const Window& window, int in_width, int in_height, Shift shift);
  void allocate_pictures(const Window& window, int in_width, int in_height);
  void run_window(PictureView<const std::byte> in, PictureView<std::byte> out, const Window& window,
                  Timing& timing);
  /// The bytes and the shape of the input, with room for its sides.
  std::size_t input_bytes(int width, int height) const;
  void shape_input(int width, int height, Shift shift);
  void upload(PictureView<const std::byte> in);
  bool takes_rows(const DevicePlane& plane) const;
  bool reads_directly(const DevicePlane& in) const;
  bool brings(const DevicePlane& in) const;
  void filter_channels(const DevicePlane& in, const DevicePlane& out, Shift shift);
  const DevicePlane& own_input() const { return split() ? picture_in_.plane : plane_in_.plane; }
  const DevicePlane& own_output() const { return split() ? picture_out_.plane : plane_out_.plane; }

  void skip_zeros_of(PictureView<const std::byte> in, PictureView<std::byte> out);

  OwnedPlane plane_in_, plane_out_, picture_in_, picture_out_;  ///< pictures only if split
  DevicePlane callers_;
  std::size_t held_ = 0;          ///< device bytes in the planes and the scratch
  std::optional<MaskTaps> taps_;  ///< once they are needed
  DeviceBuffer taps_there_;
  Staging staging_;
  bool is_whole_ = false;      ///< the planes are those of the whole picture
  bool has_pictures_ = false;  ///< and there are pictures of that size
};

std::unique_ptr<Plan> make_direct_plan(const Problem&, const PlanOptions&, Run, InputLimits);

/// Implements Strategy::make_plan for a direct strategy with that launcher.
template <Run run, InputLimits limits = InputLimits{}>
std::unique_ptr<Plan> direct_plan(const Problem& problem, const PlanOptions& options) {
  return make_direct_plan(problem, options, run, limits);
}

/// Makes the plan of a separable strategy. `rows` takes pass.part as MaskPart<RowResultOf<T>> and
/// writes the plane between the passes. `columns` reads that plane and takes pass.part as
/// MaskPart<T>.
std::unique_ptr<Plan> make_separable_plan(const Problem&, const PlanOptions&, Run rows,
                                          Run columns);

/// Splits the channels of an interleaved picture into planes that lie one below the other.
/// merge_channels() does the reverse (channels.cu).
void split_channels(Depth, const DevicePlane& picture, int channels, const DevicePlane& planes,
                    const Stream&);
void merge_channels(Depth, const DevicePlane& planes, const DevicePlane& picture, int channels,
                    const Stream&);

/// Computes the results anew that are not finite (skip_zeros.cu). `sums.taps` lies on the device.
void skip_zeros(PictureView<const std::byte> in, const SumOfTaps& sums, const FloatFinish& how,
                PictureView<std::byte> out, const Stream&);

}  // namespace convfilt::CONVFILT_BACKEND
