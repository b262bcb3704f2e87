/// A plan on a device: pictures up, channels to planes, planes filtered, and back; in windows with
/// halo where the whole does not fit. The families differ in `filter` alone.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/window.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// A plane and the memory it lies in.
struct OwnedPlane {
  DeviceBuffer buffer;
  DevicePlane plane;
};

/// How far output (0, 0) lies from input (0, 0): the anchor where halos were added, what the mode
/// leaves out or adds where the whole picture is filtered.
struct Shift {
  int x = 0, y = 0;
};

class DevicePlan : public Plan {
 public:
  DevicePlan(const Problem& problem, const PlanOptions& options, InputLimits limits);

  Timing run(PictureView<const std::byte> in, PictureView<std::byte> out) override;
  std::vector<double> time_resident(PictureView<const std::byte> in, int repeats) override;
  Counts counts() const override { return counts_of(stream_); }

 protected:
  /// Filters one plane, or a picture of step() channels as such a plane: `in` with its borders, or
  /// with the halo added and `shift` set.
  virtual void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) = 0;

  /// The same for planes of equal height, one below the other: one by one, but where a strategy can
  /// do with fewer launches.
  virtual void filter_planes(const DevicePlane& in, const DevicePlane& out, int planes,
                             Shift shift);

  /// Bytes of what lies between, for planes of so many samples; and the same, taken.
  virtual std::size_t scratch_bytes(int in_height, int out_width, int out_height) const = 0;
  virtual void allocate_scratch(int in_height, int out_width, int out_height) = 0;

  /// Calls f(first, rows) for chunks of rows that one launch can cover.
  template <class F>
  static void for_row_chunks(int height, F f) {
    for (int first = 0; first < height; first += kMaxLaunchRows) {
      f(first, std::min(kMaxLaunchRows, height - first));
    }
  }

  /// Channels that are filtered together, side by side: a plane has so many samples a pixel.
  int step() const { return limits_.interleaved ? problem_.channels : 1; }

  /// Those that filter_planes() takes.
  int planes() const { return split() ? problem_.channels : 1; }

  std::size_t plane_bytes(int width, int height, std::size_t sample_bytes) const;

  /// Makes `buffer` at least that large. What lay in a smaller one is lost.
  void hold(DeviceBuffer& buffer, std::size_t bytes);

  /// Of InputLimits::sides, bytes before a row's samples.
  virtual int margin(Shift) const { return 0; }

  /// Makes `owned` such a plane, keeping its memory where it is large enough.
  void shape(OwnedPlane& owned, int width, int height, std::size_t sample_bytes);

  const Problem problem_;
  const PlanOptions options_;
  const InputLimits limits_;
  Stream stream_;
  Textures textures_;

 private:
  Window whole_window() const;
  Shift whole_shift() const;
  bool split() const { return step() < problem_.channels; }
  std::ptrdiff_t pitch_for(std::ptrdiff_t row_bytes) const;
  std::size_t bytes_for(const Window& window, int in_width, int in_height) const;
  bool fits(const Window& window, int in_width, int in_height) const;
  Window fitting_window() const;
  void allocate(const Window& window, int in_width, int in_height, Shift shift);
  void run_window(PictureView<const std::byte> in, PictureView<std::byte> out, const Window& window,
                  Timing& timing);
  /// The input's bytes, and its shape: with room for its sides.
  std::size_t input_bytes(int width, int height) const;
  void shape_input(int width, int height, Shift shift);
  void upload(PictureView<const std::byte> in);
  void filter_channels(Shift shift);

  OwnedPlane plane_in_, plane_out_, picture_in_, picture_out_;  ///< pictures where they are split
  std::size_t held_ = 0;  ///< device bytes in the planes and the scratch
  Staging staging_;
};

}  // namespace convfilt::CONVFILT_BACKEND
