/// A plan on a device that is made of strategies' plans, with pictures for their results: the base
/// of the plans in edges.cu and chain.cu.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {

inline constexpr int kBlockColumns = 64;
inline constexpr int kBlockRows = 4;

/// Rounded half to even, and saturated.
CONVFILT_DEVICE inline std::uint8_t to_byte(double value) {
  return std::uint8_t(rint(value < 0 ? 0 : 255 < value ? 255 : value));
}

/// Calls f(grid, first row, rows) for each launch that such a plane takes.
template <class F>
void for_launches(int width, int height, F f) {
  for_row_chunks(height, [&](int first, int rows) {
    f(dim3(ceil_div(width, kBlockColumns), ceil_div(rows, kBlockRows)), first, rows);
  });
}

/// The handle by which other plans take a stream; the emulator's stream has none.
template <class S>
void* handle_of(const S& stream) {
  if constexpr (requires { stream.get(); })
    return stream.get();
  else
    return nullptr;
}

/// A picture whose rows begin where bursts of memory do.
struct OwnPicture {
  DeviceBuffer buffer;
  PictureView<std::byte> view;

  /// Room for so many such pictures, one below the other.
  void shape(int width, int height, int channels, std::size_t sample_bytes, int pictures = 1) {
    constexpr std::size_t kAlignment = 512;
    const std::size_t row = std::size_t(width) * std::size_t(channels) * sample_bytes;
    const std::size_t pitch = (row + kAlignment - 1) / kAlignment * kAlignment;
    const std::size_t bytes = pitch * std::size_t(height) * std::size_t(pictures);
    if (buffer.size() < bytes) {
      buffer = DeviceBuffer();  // never two at a time
      buffer = DeviceBuffer(bytes);
    }
    view = {buffer.data(), width, height, channels, std::ptrdiff_t(pitch)};
  }

  /// Bytes from one picture to the next.
  std::ptrdiff_t next() const { return view.pitch * view.height; }
};

/// All channels of a row side by side.
template <class T, class Byte>
PlaneView<T> samples_of(PictureView<Byte> picture) {
  return {reinterpret_cast<T*>(picture.data), picture.width * picture.channels, picture.height,
          picture.pitch / std::ptrdiff_t(sizeof(T))};
}

class JointPlan : public Plan {
 public:
  JointPlan(std::vector<std::unique_ptr<Plan>> plans, std::size_t sample_bytes,
            const PlanOptions& options)
      : plans_(std::move(plans)), stream_(options), sample_bytes_(sample_bytes) {}

  Timing run(PictureView<const std::byte> in, PictureView<std::byte> out) override {
    stream_.go_home();
    in_.shape(in.width, in.height, in.channels, sample_bytes_);
    out_.shape(out.width, out.height, out.channels, sample_bytes_);
    const auto row_bytes = [&](const auto& picture) {
      return std::size_t(picture.width) * std::size_t(picture.channels) * sample_bytes_;
    };
    Event begun, uploaded, found, done;
    begun.record(stream_);
    upload_rows(in_.view.data, std::size_t(in_.view.pitch), in.data, std::size_t(in.pitch),
                row_bytes(in), in.height, stream_);
    uploaded.record(stream_);
    filter(in_.view, out_.view);
    found.record(stream_);
    download_rows(out.data, std::size_t(out.pitch), out_.view.data, std::size_t(out_.view.pitch),
                  row_bytes(out), out.height, stream_);
    done.record(stream_);
    Timing timing;
    timing.upload_ms = uploaded.ms_since(begun);
    timing.kernel_ms = found.ms_since(uploaded);
    timing.download_ms = done.ms_since(found);
    stream_.synchronize();
    return timing;
  }

  /// The strategies' plans count; what is done between them is not counted.
  Counts counts() const override {
    Counts all;
    for (const std::unique_ptr<Plan>& plan : plans_) add(all, plan->counts());
    return all;
  }

  void run_resident(PictureView<const std::byte> in, PictureView<std::byte> out,
                    void* stream) override {
    in_stream(stream, stream_, [&] { filter(in, out); });
  }

 protected:
  /// Queues the work on pictures that lie on the device.
  virtual void filter(PictureView<const std::byte> in, PictureView<std::byte> out) = 0;

  void queue(Plan& plan, PictureView<const std::byte> in, PictureView<std::byte> out) {
    plan.run_resident(in, out, handle_of(stream_));
    stream_.make_current();
  }

  const std::vector<std::unique_ptr<Plan>> plans_;
  Stream stream_;

 private:
  const std::size_t sample_bytes_;
  OwnPicture in_, out_;
};

/// floats = bytes (chain.cu).
void to_floats(PlaneView<const std::uint8_t> bytes, PlaneView<float> floats, const Stream&);

}  // namespace convfilt::CONVFILT_BACKEND
