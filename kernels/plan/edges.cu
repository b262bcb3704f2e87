// Edges of 8-bit pictures on a device: how strongly brightness changes (registry.hpp).

#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

constexpr int kBlockColumns = 64;
constexpr int kBlockRows = 4;

__global__ void to_floats_kernel(PlaneView<const std::uint8_t> bytes, PlaneView<float> floats) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = blockIdx.y * kBlockRows + threadIdx.y;
  if (x < bytes.width && y < bytes.height) floats.row(y)[x] = float(bytes.row(y)[x]);
}

/// `second` has no data where there is one mask.
__global__ void lengths_kernel(PlaneView<const float> first, PlaneView<const float> second,
                               double first_divisor, double second_divisor,
                               PlaneView<std::uint8_t> out) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = blockIdx.y * kBlockRows + threadIdx.y;
  if (x >= out.width || y >= out.height) return;
  double length = fabs(double(first.row(y)[x]) / first_divisor);
  if (second.data) {
    const double other = double(second.row(y)[x]) / second_divisor;
    length = sqrt(length * length + other * other);
  }
  out.row(y)[x] = std::uint8_t(rint(fmin(length, 255.0)));
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

  void shape(int width, int height, int channels, std::size_t sample_bytes) {
    constexpr std::size_t kAlignment = 512;
    const std::size_t row = std::size_t(width) * std::size_t(channels) * sample_bytes;
    const std::size_t pitch = (row + kAlignment - 1) / kAlignment * kAlignment;
    const std::size_t bytes = pitch * std::size_t(height);
    if (buffer.size() < bytes) {
      buffer = DeviceBuffer();  // never two at a time
      buffer = DeviceBuffer(bytes);
    }
    view = {buffer.data(), width, height, channels, std::ptrdiff_t(pitch)};
  }
};

/// All channels of a row side by side.
template <class T, class Byte>
PlaneView<T> samples_of(PictureView<Byte> picture) {
  return {reinterpret_cast<T*>(picture.data), picture.width * picture.channels, picture.height,
          picture.pitch / std::ptrdiff_t(sizeof(T))};
}

class EdgePlan final : public Plan {
 public:
  EdgePlan(std::vector<std::unique_ptr<Plan>> plans, std::vector<double> divisors,
           const PlanOptions& options)
      : plans_(std::move(plans)),
        divisors_(std::move(divisors)),
        transforms_(options.transforms),
        stream_(options),
        responses_(plans_.size()) {}

  Timing run(PictureView<const std::byte> in, PictureView<std::byte> out) override {
    stream_.make_current();
    in_.shape(in.width, in.height, in.channels, 1);
    out_.shape(out.width, out.height, out.channels, 1);
    Event begun, uploaded, found, done;
    begun.record(stream_);
    upload_rows(in_.view.data, std::size_t(in_.view.pitch), in.data, std::size_t(in.pitch),
                std::size_t(in.width) * std::size_t(in.channels), in.height, stream_);
    uploaded.record(stream_);
    find(in_.view, out_.view);
    found.record(stream_);
    download_rows(out.data, std::size_t(out.pitch), out_.view.data, std::size_t(out_.view.pitch),
                  std::size_t(out.width) * std::size_t(out.channels), out.height, stream_);
    done.record(stream_);
    Timing timing;
    timing.upload_ms = uploaded.ms_since(begun);
    timing.kernel_ms = found.ms_since(uploaded);
    timing.download_ms = done.ms_since(found);
    stream_.synchronize();
    return timing;
  }

  void run_resident(PictureView<const std::byte> in, PictureView<std::byte> out,
                    void* stream) override {
    stream_.make_current();
    order_.begin(stream, stream_);
    try {
      find(in, out);
    } catch (...) {
      stream_.synchronize();  // Work may be queued on memory that the caller gives back now.
      throw;
    }
    order_.end(stream, stream_);
  }

 private:
  void find(PictureView<const std::byte> in, PictureView<std::byte> out) {
    floats_.shape(in.width, in.height, in.channels, sizeof(float));
    for (OwnPicture& response : responses_)
      response.shape(out.width, out.height, out.channels, sizeof(float));
    const dim3 block(kBlockColumns, kBlockRows);
    const auto bytes = samples_of<const std::uint8_t>(in);
    const auto floats = samples_of<float>(floats_.view);
    for_launches(bytes.width, bytes.height, [&](dim3 grid, int first, int rows) {
      launch(grid, block, stream_, to_floats_kernel, bytes.rows(first, rows),
             floats.rows(first, rows));
    });
    const PictureView<const std::byte> picture{floats_.view.data, in.width, in.height, in.channels,
                                               floats_.view.pitch};
    if (transforms_) transforms_->next_picture();
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      plans_[i]->run_resident(picture, responses_[i].view, handle_of(stream_));
      stream_.make_current();
    }
    const auto lengths = samples_of<std::uint8_t>(out);
    const bool has_second = plans_.size() > 1;
    const auto first_response = samples_of<const float>(responses_[0].view);
    const auto second_response = samples_of<const float>(responses_.back().view);
    for_launches(lengths.width, lengths.height, [&](dim3 grid, int first, int rows) {
      launch(grid, block, stream_, lengths_kernel, first_response.rows(first, rows),
             has_second ? second_response.rows(first, rows) : PlaneView<const float>{},
             divisors_.front(), divisors_.back(), lengths.rows(first, rows));
    });
  }

  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<double> divisors_;
  const std::shared_ptr<SharedTransforms> transforms_;  ///< of the plans
  Stream stream_;
  OwnPicture in_, out_, floats_;
  std::vector<OwnPicture> responses_;
  CallersOrder order_;
};

}  // namespace

std::unique_ptr<Plan> make_edge_plan(std::vector<std::unique_ptr<Plan>> responses,
                                     std::vector<double> divisors, const PlanOptions& options) {
  return std::make_unique<EdgePlan>(std::move(responses), std::move(divisors), options);
}

}  // namespace convfilt::CONVFILT_BACKEND
