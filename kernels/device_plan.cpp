#include "device_plan.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "dispatch.hpp"
#include "separable.hpp"
#include "window.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

// Rows start at whole L2 lines, two 64-byte DRAM bursts each, so that a warp's row of reads is whole bursts.
constexpr std::ptrdiff_t kPitchBytes = 128;

std::ptrdiff_t round_up(std::ptrdiff_t bytes, std::ptrdiff_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// A plane and the memory it lies in.
struct OwnedPlane {
  DeviceBuffer buffer;
  DevicePlane plane;
};

/// How far output (0, 0) of a window lies from input (0, 0): the anchor where halos were added, else 0.
struct Shift {
  int x = 0, y = 0;
};

class DevicePlan : public Plan {
 public:
  DevicePlan(const Problem& problem, const PlanOptions& options, InputLimits limits)
      : problem_(problem), options_(options), limits_(limits), stream_(options) {}

  Timing run(PictureView<const std::byte> in, PictureView<std::byte> out) override {
    stream_.make_current();
    Timing timing;
    const auto windows = cut(problem_, fitting_window());
    timing.bands = int(windows.size());
    for (const Window& window : windows) run_window(in, out, window, timing);
    return timing;
  }

  std::vector<double> time_resident(int repeats) override {
    stream_.make_current();
    const Window whole{0, 0, problem_.width, problem_.height};
    if (!fits(whole, problem_.width, problem_.height)) return {};
    allocate(whole, problem_.width, problem_.height);
    fill_with_noise(plane_in_.plane);
    std::vector<double> times;
    for (int k = 0; k < repeats + kWarmups; ++k) {
      Event start, stop;
      start.record(stream_);
      for (int channel = 0; channel < problem_.channels; ++channel) {
        filter(plane_in_.plane, plane_out_.plane, {});
      }
      stop.record(stream_);
      const double ms = stop.ms_since(start);
      if (k >= kWarmups) times.push_back(ms);
    }
    return times;
  }

  Counts counts() const override { return counts_of(stream_); }

 protected:
  /// Filters one plane: `in` with its borders, or with the halo added and `shift` set.
  virtual void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) = 0;

  /// Bytes of what lies between, for such planes; and the same, taken.
  virtual std::size_t scratch_bytes(int in_height, int out_width, int out_height) const = 0;
  virtual void allocate_scratch(int in_height, int out_width, int out_height) = 0;

  /// Calls f(first, rows) for chunks of rows that one launch can cover.
  template <class F>
  static void for_row_chunks(int height, F f) {
    for (int first = 0; first < height; first += kMaxLaunchRows) {
      f(first, std::min(kMaxLaunchRows, height - first));
    }
  }

  std::ptrdiff_t pitch_for(std::ptrdiff_t row_bytes) const {
    return options_.padded_pitch ? round_up(row_bytes, kPitchBytes) : row_bytes;
  }

  std::size_t plane_bytes(int width, int height, std::size_t sample_bytes) const {
    return std::size_t(pitch_for(std::ptrdiff_t(width) * sample_bytes)) * height;
  }

  /// Makes `owned` such a plane, keeping its memory where it is large enough.
  void shape(OwnedPlane& owned, int width, int height, std::size_t sample_bytes) {
    const std::size_t bytes = plane_bytes(width, height, sample_bytes);
    if (owned.buffer.size() < bytes) {
      textures_.clear();  // they may lie over the memory that is given back
      owned.buffer = DeviceBuffer();
      owned.buffer = DeviceBuffer(bytes);
    }
    owned.plane = {owned.buffer.data(), width, height,
                   pitch_for(std::ptrdiff_t(width) * sample_bytes)};
  }

  const Problem problem_;
  const PlanOptions options_;
  const InputLimits limits_;
  Stream stream_;
  Textures textures_;

 private:
  static constexpr int kWarmups = 3;

  bool interleaved() const { return problem_.channels > 1; }

  std::size_t bytes_for(const Window& window, int in_width, int in_height) const {
    const std::size_t sample = size_of(problem_.depth);
    std::size_t bytes = plane_bytes(in_width, in_height, sample) +
                        plane_bytes(window.width, window.height, sample) +
                        scratch_bytes(in_height, window.width, window.height);
    if (interleaved()) {
      const std::size_t pixel = sample * problem_.channels;
      bytes += plane_bytes(in_width, in_height, pixel) +
               plane_bytes(window.width, window.height, pixel);
    }
    return bytes;
  }

  bool fits(const Window& window, int in_width, int in_height) const {
    const std::size_t limit = options_.memory_limit ? options_.memory_limit
                                                    : free_memory() + held_bytes();
    return in_width <= limits_.width && in_height <= limits_.height &&
           bytes_for(window, in_width, in_height) <= limit;
  }

  std::size_t held_bytes() const {
    return plane_in_.buffer.size() + plane_out_.buffer.size() + picture_in_.buffer.size() +
           picture_out_.buffer.size();
  }

  // The whole picture, or else the largest band of rows that fits, or else a piece of one.
  Window fitting_window() const {
    Window window{0, 0, problem_.width, problem_.height};
    if (fits(window, window.width, window.height)) return window;
    const int halo_x = problem_.mask.width - 1, halo_y = problem_.mask.height - 1;
    window.width = std::max(1, std::min(window.width, limits_.width - halo_x));
    window.height = std::max(1, std::min(window.height, limits_.height - halo_y));
    while (!fits(window, window.width + halo_x, window.height + halo_y)) {
      if (window.height > 1) {
        window.height = (window.height + 1) / 2;
      } else if (window.width > 1) {
        window.width = (window.width + 1) / 2;
      } else {
        throw DeviceError("the device has too little free memory for " + to_string(problem_) +
                          ", even in pieces; free some, or use --device=cpu");
      }
    }
    return window;
  }

  void allocate(const Window& window, int in_width, int in_height) {
    const std::size_t sample = size_of(problem_.depth);
    shape(plane_in_, in_width, in_height, sample);
    shape(plane_out_, window.width, window.height, sample);
    if (interleaved()) {
      shape(picture_in_, in_width, in_height, sample * problem_.channels);
      shape(picture_out_, window.width, window.height, sample * problem_.channels);
    }
    allocate_scratch(in_height, window.width, window.height);
  }

  void run_window(PictureView<const std::byte> in, PictureView<std::byte> out,
                  const Window& window, Timing& timing) {
    const std::size_t pixel = size_of(problem_.depth) * problem_.channels;
    const bool whole = window.width == problem_.width && window.height == problem_.height;
    Shift shift;
    if (!whole) {
      gather_with_halo(problem_, in, window, staging_);
      in = staging_.view();
      shift = {problem_.mask.anchor_x, problem_.mask.anchor_y};
    }
    allocate(window, in.width, in.height);
    const DevicePlane& picture_in = interleaved() ? picture_in_.plane : plane_in_.plane;
    const DevicePlane& picture_out = interleaved() ? picture_out_.plane : plane_out_.plane;

    Event start, uploaded, filtered, downloaded;
    start.record(stream_);
    upload_rows(picture_in.data, std::size_t(picture_in.pitch), in.data, std::size_t(in.pitch),
                in.width * pixel, in.height, stream_);
    uploaded.record(stream_);
    for (int channel = 0; channel < problem_.channels; ++channel) {
      if (interleaved()) {
        extract_channel(problem_.depth, picture_in, problem_.channels, channel, plane_in_.plane,
                        stream_);
      }
      filter(plane_in_.plane, plane_out_.plane, shift);
      if (interleaved()) {
        insert_channel(problem_.depth, plane_out_.plane, picture_out, problem_.channels, channel,
                       stream_);
      }
    }
    filtered.record(stream_);
    download_rows(out.row(window.y) + window.x * pixel, std::size_t(out.pitch), picture_out.data,
                  std::size_t(picture_out.pitch), window.width * pixel, window.height, stream_);
    downloaded.record(stream_);
    timing.download_ms += downloaded.ms_since(filtered);
    timing.kernel_ms += filtered.ms_since(uploaded);
    timing.upload_ms += uploaded.ms_since(start);
  }

  // Random samples, since kernels and memory can be faster on constant ones.
  void fill_with_noise(const DevicePlane& plane) {
    const std::size_t row_bytes = plane.width * size_of(problem_.depth);
    std::mt19937 random(1);
    std::vector<std::uint32_t> words(row_bytes * 64 / 4 + 1);
    for (auto& word : words) {
      // As floats these lie in 1..2, and their bytes are as random as 23 bits of 32 allow.
      word = problem_.depth == Depth::f32 ? 0x3f800000u | (std::uint32_t(random()) >> 9)
                                          : std::uint32_t(random());
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(words.data());
    for (int y = 0; y < plane.height; y += 64) {
      const int rows = std::min(64, plane.height - y);
      upload_rows(plane.rows(y, rows).data, std::size_t(plane.pitch), bytes, row_bytes, row_bytes, rows,
                  stream_);
    }
    stream_.synchronize();
  }

  OwnedPlane plane_in_, plane_out_, picture_in_, picture_out_;
  Staging staging_;
};

template <class Out>
MaskPart<Out> shifted(MaskPart<Out> part, int x, int y) {
  part.dx += x;
  part.dy += y;
  return part;
}

template <class T>
class DirectPlan : public DevicePlan {
 public:
  DirectPlan(const Problem& problem, const PlanOptions& options, Run run, InputLimits limits)
      : DevicePlan(problem, options, limits),
        run_(run),
        parts_(prepare_mask<T>(problem.mask).parts()),
        ghost_(ghost_sample<T>(problem)) {}

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    for (const auto& part : parts_) {
      for_row_chunks(out.height, [&](int first, int rows) {
        const auto moved = shifted(part, shift.x, shift.y + first);
        run_(problem_,
             {in, out.rows(first, rows), partial_.plane.rows(first, rows), &moved, &ghost_, &textures_},
             stream_);
      });
    }
  }

  std::size_t scratch_bytes(int, int out_width, int out_height) const override {
    return parts_.size() > 1 ? plane_bytes(out_width, out_height, sizeof(SumOf<T>)) : 0;
  }

  void allocate_scratch(int, int out_width, int out_height) override {
    if (parts_.size() > 1) shape(partial_, out_width, out_height, sizeof(SumOf<T>));
  }

 private:
  const Run run_;
  const std::vector<MaskPart<T>> parts_;
  const T ghost_;
  OwnedPlane partial_;
};

template <class T>
class SeparablePlan : public DevicePlan {
  using Mid = MidOf<T>;

 public:
  SeparablePlan(const Problem& problem, const PlanOptions& options, Run rows, Run columns)
      : DevicePlan(problem, options, {}), run_rows_(rows), run_columns_(columns) {
    const auto mask = prepare_separable<T>(problem.mask);
    row_parts_ = mask.row.parts(kMaxPartWeights, 1);
    column_parts_ = mask.column.parts(1, kMaxPartWeights);
    ghost_ = ghost_sample<T>(problem);
    mid_ghost_ = mask.mid_ghost(ghost_);
  }

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    const DevicePlane& mid = mid_.plane;
    for (const auto& part : row_parts_) {
      for_row_chunks(in.height, [&](int first, int rows) {
        const auto moved = shifted(part, shift.x, first);
        run_rows_(problem_,
                  {in, mid.rows(first, rows), partial_.plane.rows(first, rows), &moved, &ghost_, &textures_},
                  stream_);
      });
    }
    for (const auto& part : column_parts_) {
      for_row_chunks(out.height, [&](int first, int rows) {
        const auto moved = shifted(part, 0, shift.y + first);
        run_columns_(problem_,
                     {mid, out.rows(first, rows), partial_.plane.rows(first, rows), &moved, &mid_ghost_,
                      &textures_},
                     stream_);
      });
    }
  }

  std::size_t scratch_bytes(int in_height, int out_width, int) const override {
    return plane_bytes(out_width, in_height, sizeof(Mid)) +
           (in_parts() ? plane_bytes(out_width, in_height, sizeof(SumOf<Mid>)) : 0);
  }

  void allocate_scratch(int in_height, int out_width, int) override {
    shape(mid_, out_width, in_height, sizeof(Mid));
    if (in_parts()) shape(partial_, out_width, in_height, sizeof(SumOf<Mid>));
  }

 private:
  bool in_parts() const { return row_parts_.size() > 1 || column_parts_.size() > 1; }

  const Run run_rows_, run_columns_;
  std::vector<MaskPart<Mid>> row_parts_;
  std::vector<MaskPart<T>> column_parts_;
  T ghost_{};
  Mid mid_ghost_{};
  OwnedPlane mid_, partial_;
};

}  // namespace

std::unique_ptr<Plan> make_direct_plan(const Problem& problem, const PlanOptions& options, Run run,
                                       InputLimits limits) {
  return with_depth(problem.depth, [&](auto depth) -> std::unique_ptr<Plan> {
    using T = typename decltype(depth)::type;
    return std::make_unique<DirectPlan<T>>(problem, options, run, limits);
  });
}

std::unique_ptr<Plan> make_separable_plan(const Problem& problem, const PlanOptions& options,
                                          Run rows, Run columns) {
  return with_depth(problem.depth, [&](auto depth) -> std::unique_ptr<Plan> {
    using T = typename decltype(depth)::type;
    return std::make_unique<SeparablePlan<T>>(problem, options, rows, columns);
  });
}

}  // namespace convfilt::CONVFILT_BACKEND
