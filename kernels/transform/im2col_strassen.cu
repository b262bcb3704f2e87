// im2col --gemm=strassen: the mask as a banded matrix, by one level of Strassen's recursion.
//
//   A segment of n outputs of a row needs n + w - 1 samples of each of h rows, which make one row
//   of the patches. Each row of the mask becomes a banded Toeplitz block.
//
//                 h * (n + w - 1)         n
//               +-----------------+     +----+
//      segments |     patches     |  x  |\\  |     sums = patches x bands: seven
//               |                 |     | \\ |     products of quarters, not eight
//               +-----------------+     |  \\|
//                                       +----+
//
//   Multiplications per output: 7/8 * h * (n + w - 1), e.g. 7/8 * 101 * 164 at 101x101. Strassen
//   saves 1/8, but the zeros beside the band cost (n + w - 1) / w times as many, here 1.62.
//   n is the mask's width, but at least 16 and at most 64. Longer segments would mean more zeros,
//   shorter ones more patches. Sibling: the library product of im2col has no zeros.

#include "kernels/contract/dispatch.hpp"
#include "kernels/transform/grid.hpp"
#include "kernels/transform/im2col.hpp"
#include "kernels/transform/strassen.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {
namespace {

constexpr int even(int n) {
  return n + n % 2;
}

/// Segments of outputs, which cover one row of the plane after the other.
struct Segments {
  int length, across, first, count;

  CONVFILT_HD int x(int s) const { return (first + s) % across * length; }
  CONVFILT_HD int y(int s) const { return (first + s) / across; }
};

template <class T, Border B>
__global__ void unfold_kernel(PlaneView<const T> in, PlaneView<float> patches, Segments segments,
                              int span, int mask_height, int dx, int dy, T ghost) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  const int s = blockIdx.y * blockDim.y + threadIdx.y;
  if (k >= patches.width || s >= patches.height) return;
  const int i = k % span, j = k / span;
  const bool inside = s < segments.count && j < mask_height;
  patches.row(s)[k] =
      inside ? float(load<B>(in, segments.x(s) + dx + i, segments.y(s) + dy + j, ghost)) : 0.0f;
}

template <class T>
__global__ void finish_kernel(PlaneView<float> sums, PlaneView<T> out, Segments segments,
                              FloatFinish end) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int s = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= sums.width || s >= segments.count) return;
  const int x = segments.x(s) + col;
  if (x < out.width) finish(end, sums.row(s)[col], out.row(segments.y(s))[x]);
}

class StrassenPlan : public DevicePlan {
 public:
  StrassenPlan(const Problem& problem, const PlanOptions& options)
      : DevicePlan(problem, options, {}),
        gemm_(stream_),
        length_(std::clamp(even(problem.mask.width), 16, 64)),
        span_(length_ + problem.mask.width - 1),
        inner_(even(span_ * problem.mask.height)),
        factors_(strassen_factors(bands(), inner_, length_)) {}

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    const Mask& mask = problem_.mask;
    const int total = ceil_div(out.width, length_) * out.height;
    const int chunk = chunk_for(out.width, out.height);
    with_depth(problem_.depth, [&](auto depth) {
      using T = typename decltype(depth)::type;
      for (int first = 0; first < total; first += chunk) {
        const Segments segments{length_, ceil_div(out.width, length_), first,
                                std::min(chunk, total - first)};
        const PlaneView<float> patches = view(patches_, inner_, even(segments.count));
        const PlaneView<float> sums = view(sums_, length_, even(segments.count));
        with_border(problem_.border, [&](auto border) {
          launch_over(inner_, patches.height, 1, stream_, unfold_kernel<T, border()>,
                      in.view<const T>(), patches, segments, span_, mask.height,
                      shift.x - mask.anchor_x, shift.y - mask.anchor_y, ghost_sample<T>(problem_));
        });
        strassen_multiply(gemm_, patches, view(device_factors_, 1, 1).data, sums,
                          view(space_, 1, 1).data, stream_);
        launch_over(length_, patches.height, 1, stream_, finish_kernel<T>, sums, out.view<T>(),
                    segments, FloatFinish{1, float(mask.offset)});
      }
    });
  }

  std::size_t scratch_bytes(int, int out_width, int out_height) const override {
    const int rows = chunk_for(out_width, out_height);
    return (std::size_t(rows) * (inner_ + length_) + strassen_space(rows, inner_, length_) +
            factors_.size()) *
           sizeof(float);
  }

  void allocate_scratch(int, int out_width, int out_height) override {
    const int rows = chunk_for(out_width, out_height);
    hold(patches_, std::size_t(rows) * inner_ * sizeof(float));
    hold(sums_, std::size_t(rows) * length_ * sizeof(float));
    hold(space_, strassen_space(rows, inner_, length_) * sizeof(float));
    if (device_factors_.size() > 0) return;
    hold(device_factors_, factors_.size() * sizeof(float));
    upload_floats(factors_, device_factors_, stream_);
  }

 private:
  /// Column x holds the weights that output x of a segment gives to the segment's samples.
  std::vector<float> bands() const {
    const int w = problem_.mask.width;
    const std::vector<float> weights = float_weights(problem_.mask);
    std::vector<float> bands(std::size_t(inner_) * length_);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const std::size_t sample = k / w * span_ + k % w;  // counted from a segment's first output
      for (int x = 0; x < length_; ++x) bands[(sample + x) * length_ + x] = weights[k];
    }
    return bands;
  }

  // The number of segments at a time: as many as kPatchBytes hold, and even.
  int chunk_for(int out_width, int out_height) const {
    constexpr std::size_t kMost =
        65534 * convfilt::transform::kThreads.rows;  // keeps a grid's y within 65,535
    const std::size_t fitting = kPatchBytes / sizeof(float) / inner_ / 2 * 2;
    return even(std::min<int>(std::clamp<std::size_t>(fitting, 2, kMost),
                              ceil_div(out_width, length_) * out_height));
  }

  Gemm gemm_;
  const int length_, span_, inner_;
  const std::vector<float> factors_;
  DeviceBuffer patches_, sums_, space_, device_factors_;
};

}  // namespace

std::unique_ptr<Plan> im2col_by_strassen(const Problem& problem, const PlanOptions& options) {
  return std::make_unique<StrassenPlan>(problem, options);
}

}  // namespace convfilt::CONVFILT_BACKEND::transform
