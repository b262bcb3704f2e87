// Edges of 8-bit pictures on a device: how strongly brightness changes (registry.hpp).

#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/edges.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

using Thin = EdgeAnswers::Thin;

constexpr int kBlockColumns = 64;
constexpr int kBlockRows = 4;

__global__ void to_floats_kernel(PlaneView<const std::uint8_t> bytes, PlaneView<float> floats) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = blockIdx.y * kBlockRows + threadIdx.y;
  if (x < bytes.width && y < bytes.height) floats.row(y)[x] = float(bytes.row(y)[x]);
}

__global__ void luma_kernel(PlaneView<const std::uint8_t> colours, EdgeAnswers how,
                            PlaneView<float> lumas) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = blockIdx.y * kBlockRows + threadIdx.y;
  if (x >= lumas.width || y >= lumas.height) return;
  const std::uint8_t* const pixel = colours.row(y) + 3 * std::ptrdiff_t(x);
  lumas.row(y)[x] = float(how.luma[0] * double(pixel[how.blue]) + how.luma[1] * double(pixel[1]) +
                          how.luma[2] * double(pixel[2 - how.blue]));
}

/// The responses to all masks.
struct Responses {
  PlaneView<const float> first;
  std::ptrdiff_t next;  ///< floats from a mask's to the next one's

  CONVFILT_DEVICE double at(int mask, int x, int y) const {
    return double(first.row(y)[mask * next + x]);
  }
};

CONVFILT_DEVICE inline double joined(Join join, double answer, double response) {
  switch (join) {
    case Join::length: return sqrt(answer * answer + response * response);
    case Join::sum: return answer + response;
    case Join::first_strongest: return fabs(response) > fabs(answer) ? response : answer;
    default: return answer < response ? response : answer;
  }
}

CONVFILT_DEVICE inline double answer_at(const EdgeAnswers& how, const Responses& responses, int x,
                                        int y) {
  const auto response = [&](int k) {
    return responses.at(k, x, y) / how.divisors[k] + how.offsets[k];
  };
  double answer = response(0);
  if (how.join == Join::length) answer = fabs(answer);
  if (how.join == Join::compass && !(answer > 0)) answer = 0;
  for (int k = 1; k < how.masks; ++k) answer = joined(how.join, answer, response(k));
  return answer;
}

/// The answer as a sample.
CONVFILT_DEVICE inline void store(const EdgeAnswers& how, double answer, std::uint8_t& out) {
  if (how.has_threshold) answer = answer >= how.threshold ? 255 : 0;
  out = std::uint8_t(rint(answer < 0 ? 0 : 255 < answer ? 255 : answer));
}

/// The answer, for thin edges.
CONVFILT_DEVICE inline void store(const EdgeAnswers&, double answer, float& out) {
  out = float(answer);
}

/// Rows from `first` on.
template <class T>
__global__ void answers_kernel(Responses responses, EdgeAnswers how, PlaneView<T> out, int first) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = first + blockIdx.y * kBlockRows + threadIdx.y;
  if (x < out.width && y < out.height) store(how, answer_at(how, responses, x, y), out.row(y)[x]);
}

/// To the right, and downwards.
struct Slope {
  double x, y;
};

CONVFILT_DEVICE inline Slope slope_at(const EdgeAnswers& how, const Responses& responses, int x,
                                      int y) {
  const auto at = [&](int k) { return responses.at(k, x, y) / how.divisors[k]; };
  if (how.thin == Thin::compass) {
    int best = 0;
    for (int k = 1; k < how.masks; ++k)
      if (at(k) > at(best)) best = k;
    // Counter-clockwise from the right, by eighths of a turn.
    const auto sign = [](int eighth) {
      eighth &= 7;
      return eighth < 2 || eighth == 7 ? 1 : eighth > 2 && eighth < 6 ? -1 : 0;
    };
    return {double(sign(best)), double(sign(best + 2))};
  }
  if (how.masks > 1) return {at(0), at(1)};
  return how.is_down ? Slope{0, at(0)} : Slope{at(0), 0};
}

CONVFILT_DEVICE inline bool opposite(double a, double b) {
  return (a < 0 && b > 0) || (a > 0 && b < 0);
}

/// The jump from `before` to `behind` by way of `here`, where the response crosses 0 there; at
/// least `jump`.
CONVFILT_DEVICE inline double jump_at(double before, double here, double behind, double jump) {
  if (opposite(here, before) && fabs(here) < fabs(before)) jump = max(jump, fabs(here - before));
  if (opposite(here, behind) && fabs(here) <= fabs(behind)) jump = max(jump, fabs(here - behind));
  if (here == 0 && opposite(before, behind)) jump = max(jump, fabs(before - behind));
  return jump;
}

/// `step` samples make a pixel. `answers` has no data where edges are zero crossings.
__global__ void thin_kernel(Responses responses, EdgeAnswers how, PlaneView<const float> answers,
                            int step, PlaneView<std::uint8_t> out, int first) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = first + blockIdx.y * kBlockRows + threadIdx.y;
  if (x >= out.width || y >= out.height) return;
  // of(the pixel dx to the right and dy below); 0 outside the picture.
  const auto beside = [&](int dx, int dy, auto of) {
    const int i = x + dx * step, j = y + dy;
    return i >= 0 && i < out.width && j >= 0 && j < out.height ? of(i, j) : 0.0;
  };
  double answer = 0;
  if (how.thin == Thin::crossings) {
    const auto response = [&](int i, int j) { return responses.at(0, i, j) / how.divisors[0]; };
    for (int down = 0; down < 2; ++down)
      answer = jump_at(beside(down - 1, -down, response), response(x, y),
                       beside(1 - down, down, response), answer);
  } else {
    const auto found = [&](int i, int j) { return double(answers.row(j)[i]); };
    answer = found(x, y);
    const Slope slope = slope_at(how, responses, x, y);
    constexpr double kTangent = 1.41421356237309504880 - 1;  // of 22.5 degrees
    int dx = 1, dy = 1;
    if (fabs(slope.y) <= kTangent * fabs(slope.x))
      dy = 0;
    else if (fabs(slope.x) < kTangent * fabs(slope.y))
      dx = 0;
    else if ((slope.x < 0) != (slope.y < 0))
      dy = -1;
    if (!(answer > beside(-dx, -dy, found) && answer >= beside(dx, dy, found))) answer = 0;
  }
  store(how, answer, out.row(y)[x]);
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

class EdgePlan final : public Plan {
 public:
  EdgePlan(std::vector<std::unique_ptr<Plan>> plans, const EdgeAnswers& how,
           const PlanOptions& options)
      : plans_(std::move(plans)), how_(how), transforms_(options.transforms), stream_(options) {
    how_.masks = int(plans_.size());
  }

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

  /// The masks' plans count; answers are not counted.
  Counts counts() const override {
    Counts all;
    for (const std::unique_ptr<Plan>& plan : plans_) add(all, plan->counts());
    return all;
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
    const int planes = how_.of_luma ? 1 : in.channels;
    floats_.shape(in.width, in.height, planes, sizeof(float));
    responses_.shape(out.width, out.height, planes, sizeof(float), how_.masks);
    const dim3 block(kBlockColumns, kBlockRows);
    const auto bytes = samples_of<const std::uint8_t>(in);
    const auto floats = samples_of<float>(floats_.view);
    for_launches(floats.width, floats.height, [&](dim3 grid, int first, int rows) {
      if (in.channels > planes)
        launch(grid, block, stream_, luma_kernel, bytes.rows(first, rows), how_,
               floats.rows(first, rows));
      else
        launch(grid, block, stream_, to_floats_kernel, bytes.rows(first, rows),
               floats.rows(first, rows));
    });
    const PictureView<const std::byte> picture{floats_.view.data, in.width, in.height, planes,
                                               floats_.view.pitch};
    if (transforms_) transforms_->next_picture();
    PictureView<std::byte> response = responses_.view;
    for (const std::unique_ptr<Plan>& plan : plans_) {
      plan->run_resident(picture, response, handle_of(stream_));
      stream_.make_current();
      response.data += responses_.next();
    }
    const Responses all{samples_of<const float>(responses_.view),
                        responses_.next() / std::ptrdiff_t(sizeof(float))};
    const auto samples = samples_of<std::uint8_t>(out);
    const bool has_answers = how_.thin != Thin::none && how_.thin != Thin::crossings;
    if (has_answers) answers_.shape(out.width, out.height, planes, sizeof(float));
    const auto answers = has_answers ? samples_of<float>(answers_.view) : PlaneView<float>{};
    if (has_answers) {
      for_launches(samples.width, samples.height, [&](dim3 grid, int first, int) {
        launch(grid, block, stream_, answers_kernel<float>, all, how_, answers, first);
      });
    }
    for_launches(samples.width, samples.height, [&](dim3 grid, int first, int) {
      if (how_.thin == Thin::none)
        launch(grid, block, stream_, answers_kernel<std::uint8_t>, all, how_, samples, first);
      else
        launch(grid, block, stream_, thin_kernel, all, how_, answers, planes, samples, first);
    });
  }

  std::vector<std::unique_ptr<Plan>> plans_;
  EdgeAnswers how_;
  const std::shared_ptr<SharedTransforms> transforms_;  ///< of the plans
  Stream stream_;
  OwnPicture in_, out_, floats_, responses_, answers_;
  CallersOrder order_;
};

}  // namespace

std::unique_ptr<Plan> make_edge_plan(std::vector<std::unique_ptr<Plan>> responses,
                                     const EdgeAnswers& how, const PlanOptions& options) {
  return std::make_unique<EdgePlan>(std::move(responses), how, options);
}

}  // namespace convfilt::CONVFILT_BACKEND
