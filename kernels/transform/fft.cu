// fft: the whole picture through one Fourier transform (Cooley and Tukey 1965; Oppenheim and
// Schafer, "Discrete-Time Signal Processing", ch. 8).
//
//   A product of spectra is a cyclic convolution. The picture is extended by its ghost
//   cells, and by zeros up to a size that FFTs are fast at, so that what wraps around
//   reaches no output.
//
//       <- w + W - 1 ->
//      +--------------+---+
//      | halo, picture| 0 |     forward, times the mask's conjugate spectrum
//      | W x H, halo  |   |     (conjugate: correlation), inverse; the first
//      +--------------+---+     W x H samples are the outputs
//      |      0       |   |
//      +--------------+---+
//
//   Operations per output: about 5 log2(N) for N samples, there and back, e.g. 120 for
//   4000 x 3000, whatever the mask's size is. Global reads per output: 1 and the transforms' own.
//   A NaN or infinity in the picture spreads to every output.
//   Siblings: overlap-save and overlap-add transform blocks, which stay in caches.

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/sums.hpp"
#include "kernels/transform/correlation.hpp"
#include "kernels/transform/grid.hpp"

namespace convfilt::CONVFILT_BACKEND::fft {

using namespace convfilt::transform;
using namespace CONVFILT_BACKEND::transform;
namespace {

/// The part of a buffer that is loaded, and where its first sample lies in the picture.
struct Loaded {
  int columns, rows, x, y;
};

/// Loads planes into blocks. `in` has planes of `height` rows, one below the other, and `samples`
/// is the first block, which the others follow.
template <class T, Border B>
__global__ void load_kernel(PlaneView<const T> in, int height, PlaneView<float> samples,
                            Loaded loaded, T ghost) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= samples.width || row >= samples.height) return;
  const bool inside = col < loaded.columns && row < loaded.rows;
  const int plane = int(blockIdx.z);
  const auto one = in.rows(plane * height, height);
  samples.row(plane * samples.height + row)[col] =
      inside ? float(load<B>(one, loaded.x + col, loaded.y + row, ghost)) : 0.0f;
}

class FftPlan : public CorrelationPlan {
 public:
  using CorrelationPlan::CorrelationPlan;

 protected:
  // Filters all planes together where blocks were allocated for all, else one by one.
  void filter_planes(const DevicePlane& in, const DevicePlane& out, int planes,
                     Shift shift) override {
    const int batch = blocks().batch;
    if (batch < planes) return CorrelationPlan::filter_planes(in, out, planes, shift);
    const Mask& mask = problem_.mask;
    const int in_height = in.height / planes, out_height = out.height / planes;
    const Loaded loaded{out.width + mask.width - 1, out_height + mask.height - 1,
                        shift.x - mask.anchor_x, shift.y - mask.anchor_y};
    with_depth(problem_.depth, [&]<class T>(TypeTag<T>) {
      with_border(problem_.border, [&](auto border) {
        launch_over(blocks().columns, blocks().rows, batch, stream_, load_kernel<T, border()>,
                    in.view<const T>(), in_height, samples(), loaded, ghost_sample<T>(problem_));
      });
      correlate();
      for (int plane = 0; plane < planes; ++plane) {
        const PlaneView<float> sums = samples().rows(plane * blocks().rows, blocks().rows);
        finish_sums<T, float>(sums, out.part(plane, planes).template view<T>(), end(), stream_);
      }
    });
  }

  Blocks blocks_for(int out_width, int out_height) const override {
    const Blocks one{good_fft_size(out_width + problem_.mask.width - 1),
                     good_fft_rows(out_height + problem_.mask.height - 1), 1};
    const bool together = one.bytes() * planes() <= kBatchBytes;
    return {one.columns, one.rows, together ? planes() : 1};
  }
};

std::unique_ptr<Plan> prepare(const Problem& problem, const PlanOptions& options) {
  return std::make_unique<FftPlan>(problem, options);
}

}  // namespace

extern const Strategy strategy{
    .name = "fft",
    .summary = "the whole picture through one Fourier transform",
    .family = Family::transform,
    .refuses = transform_refuses,
    .make_plan = prepare,
    .needs = {.fft = true},
};

}  // namespace convfilt::CONVFILT_BACKEND::fft
