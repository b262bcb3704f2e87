// im2col: patches unfolded to a matrix, and one matrix product (Chellapilla, Puri and Simard,
// "High Performance Convolutional Neural Networks for Document Processing", 2006).
//
//   Every output's neighbourhood becomes a column of a matrix. The mask, as a row, times that
//   matrix is the row of outputs. Each sample is written w * h times, so that a library can
//   multiply.
//
//                         outputs
//                       +---------+
//      w * h            | patches | w * h       sums = mask x patches
//      +------+    x    |         |             patches[j * w + i][o] = in(x + i, y + j)
//      | mask |         |         |
//      +------+         +---------+
//
//   Global reads per output: w * h to unfold, and w * h floats written and read again, e.g. 3 * 25
//   at 5x5. Patches are made for as many outputs at a time as kPatchBytes hold.
//   --gemm=strassen (im2col_strassen.cu) makes a real matrix of the mask.
//   Sibling: basic reads the same samples, and multiplies at once.

#include "kernels/backend/libraries.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/transform/im2col.hpp"

namespace convfilt::CONVFILT_BACKEND::im2col {

using namespace CONVFILT_BACKEND::transform;
namespace {

constexpr int kBlock = 256;  // outputs of a block of threads, mostly neighbours along a row
constexpr int kTapsAtATime = 256;
constexpr int kMostTaps = 128 * 128;  // tests check the bound up to these on flat 16-bit pictures

/// Consecutive outputs, row after row of the plane.
struct Outputs {
  std::int64_t first;
  int count, width;  ///< the number of outputs, and the plane's width

  CONVFILT_HD int x(int k) const { return int((first + k) % width); }
  CONVFILT_HD int y(int k) const { return int((first + k) / width); }
};

template <class T, Border B>
__global__ void unfold_kernel(PlaneView<const T> in, PlaneView<float> patches, Outputs outputs,
                              int mask_width, int dx, int dy, T ghost) {
  const int k = blockIdx.x * kBlock + threadIdx.x;
  const int j = blockIdx.y;
  if (k >= outputs.count) return;
  const int x = outputs.x(k) + dx;
  const int y = outputs.y(k) + dy + j;
  for (int i = 0; i < mask_width; ++i) {
    patches.row(j * mask_width + i)[k] = float(load<B>(in, x + i, y, ghost));
  }
}

template <class T>
__global__ void finish_kernel(const float* sums, PlaneView<T> out, Outputs outputs,
                              FloatFinish end) {
  const int k = blockIdx.x * kBlock + threadIdx.x;
  if (k < outputs.count) finish(end, sums[k], out.row(outputs.y(k))[outputs.x(k)]);
}

class Im2colPlan : public DevicePlan {
 public:
  Im2colPlan(const Problem& problem, const PlanOptions& options)
      : DevicePlan(problem, options, {}), gemm_(stream_), weights_(float_weights(problem.mask)) {}

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    const Mask& mask = problem_.mask;
    const int chunk = chunk_for(out.width, out.height);
    const std::int64_t total = std::int64_t(out.width) * out.height;
    const PlaneView<float> row = view_of<float>(mask_row_, int(weights_.size()));
    with_depth(problem_.depth, [&]<class T>(TypeTag<T>) {
      for (std::int64_t first = 0; first < total; first += chunk) {
        const Outputs outputs{first, int(std::min<std::int64_t>(chunk, total - first)), out.width};
        const PlaneView<float> patches =
            view_of<float>(patches_, outputs.count, int(weights_.size()));
        const PlaneView<float> sums = view_of<float>(sums_, outputs.count);
        const int blocks = ceil_div(outputs.count, kBlock);
        with_border(problem_.border, [&](auto border) {
          launch(dim3(blocks, mask.height), dim3(kBlock), stream_, unfold_kernel<T, border()>,
                 in.view<const T>(), patches, outputs, mask.width, shift.x - mask.anchor_x,
                 shift.y - mask.anchor_y, ghost_sample<T>(problem_));
        });
        multiply(row, patches, sums);
        launch(dim3(blocks), dim3(kBlock), stream_, finish_kernel<T>, sums.data, out.view<T>(),
               outputs, FloatFinish{1, float(mask.offset)});
      }
    });
  }

  std::size_t scratch_bytes(int, int out_width, int out_height) const override {
    const std::size_t chunk = chunk_for(out_width, out_height);
    return (weights_.size() * (chunk + 1) + chunk) * sizeof(float);
  }

  void allocate_scratch(int, int out_width, int out_height) override {
    const std::size_t chunk = chunk_for(out_width, out_height);
    hold(patches_, weights_.size() * chunk * sizeof(float));
    hold(sums_, chunk * sizeof(float));
    if (mask_row_.size() == 0) hold_copy(mask_row_, weights_);
  }

 private:
  // Sums a few taps at a time. One long sum in single precision would lose steps of 16 bits, though
  // none of 8.
  void multiply(const PlaneView<float>& row, const PlaneView<float>& patches,
                const PlaneView<float>& sums) const {
    const int most = problem_.depth == Depth::u8 ? row.width : kTapsAtATime;
    for (int tap = 0; tap < row.width; tap += most) {
      const int taps = std::min(most, row.width - tap);
      const PlaneView<float> some{row.data + tap, taps, 1, row.stride};
      gemm_.multiply(some, patches.rows(tap, taps), sums, tap > 0);
    }
  }

  int chunk_for(int out_width, int out_height) const {
    const std::size_t most = kPatchBytes / sizeof(float) / weights_.size();
    return int(std::clamp<std::size_t>(most, 1, std::size_t(out_width) * out_height));
  }

  Gemm gemm_;
  const std::vector<float> weights_;
  DeviceBuffer mask_row_, patches_, sums_;
};

std::string refuses(const Problem& problem, const Tuning&) {
  const Mask& mask = problem.mask;
  if (mask.width * mask.height <= kMostTaps) return transform_refuses(problem);
  return "single-precision sums of more than " + std::to_string(kMostTaps) +
         " taps may err by more than the family's bound; use fft, or a direct strategy";
}

std::unique_ptr<Plan> prepare(const Problem& problem, const PlanOptions& options) {
  if (options.tuning[Setting::gemm] == kStrassen) return im2col_by_strassen(problem, options);
  return std::make_unique<Im2colPlan>(problem, options);
}

}  // namespace

extern const Strategy strategy{
    .name = "im2col",
    .summary = "patches unfolded to a matrix, times the mask as a row",
    .family = Family::transform,
    .refuses = refuses,
    .make_plan = prepare,
    .settings = {Setting::gemm},
};

}  // namespace convfilt::CONVFILT_BACKEND::im2col
