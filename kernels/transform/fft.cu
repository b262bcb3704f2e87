// fft: the whole picture through one Fourier transform (Cooley and Tukey 1965; Oppenheim and
// Schafer, "Discrete-Time Signal Processing", ch. 8).
//
//   A product of spectra is a cyclic convolution. With ghost cells made up around the
//   picture, and zeros up to a size that FFTs are fast at, no output is reached by
//   what wraps around.
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
//   4000 x 3000, whatever the mask's size. Global reads per output: 1 and the transforms' own.
//   A NaN or infinity in the picture spreads to every output.
//   Siblings: overlap-save and overlap-add transform blocks, which stay in caches.

#include "dispatch.hpp"
#include "sums.hpp"
#include "transform_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

constexpr int kBlockColumns = 32;
constexpr int kBlockRows = 8;

/// What of the buffer is loaded, and where its first sample lies in the picture.
struct Loaded {
  int columns, rows, x, y;
};

template <class T, Border B>
__global__ void load_kernel(PlaneView<const T> in, PlaneView<float> samples, Loaded loaded,
                            T ghost) {
  const int col = blockIdx.x * kBlockColumns + threadIdx.x;
  const int row = blockIdx.y * kBlockRows + threadIdx.y;
  if (col >= samples.width || row >= samples.height) return;
  const bool inside = col < loaded.columns && row < loaded.rows;
  samples.row(row)[col] = inside ? float(load<B>(in, loaded.x + col, loaded.y + row, ghost)) : 0.0f;
}

class FftPlan : public TransformPlan {
 public:
  using TransformPlan::TransformPlan;

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    const Mask& mask = problem_.mask;
    const Loaded loaded{out.width + mask.width - 1, out.height + mask.height - 1,
                        shift.x - mask.anchor_x, shift.y - mask.anchor_y};
    const dim3 block(kBlockColumns, kBlockRows);
    const dim3 grid(ceil_div(blocks().columns, kBlockColumns), ceil_div(blocks().rows, kBlockRows));
    with_depth(problem_.depth, [&](auto depth) {
      using T = typename decltype(depth)::type;
      with_border(problem_.border, [&](auto border) {
        launch(grid, block, stream_, load_kernel<T, border()>, in.view<const T>(), samples(),
               loaded, ghost_sample<T>(problem_));
      });
      correlate();
      const PlaneView<float> sums = samples();
      finish_sums(PlaneView<const float>{sums.data, sums.width, sums.height, sums.stride},
                  out.view<T>(), end(), stream_);
    });
  }

  std::size_t scratch_bytes(int, int out_width, int out_height) const override {
    return blocks_bytes(size_for(out_width, out_height));
  }

  void allocate_scratch(int, int out_width, int out_height) override {
    allocate_blocks(size_for(out_width, out_height));
  }

 private:
  Blocks size_for(int out_width, int out_height) const {
    return {good_fft_size(out_width + problem_.mask.width - 1),
            good_fft_rows(out_height + problem_.mask.height - 1), 1};
  }
};

std::string refuses(const Problem& problem, const Tuning&) {
  return transform_refuses(problem);
}

std::unique_ptr<Plan> prepare(const Problem& problem, const PlanOptions& options) {
  return std::make_unique<FftPlan>(problem, options);
}

}  // namespace

extern const Implementation fft{"fft", "the whole picture through one Fourier transform",
                                Family::transform, refuses, prepare};

}  // namespace convfilt::CONVFILT_BACKEND
