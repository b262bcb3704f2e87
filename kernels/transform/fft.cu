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

#include "kernels/transform/block_schedule.hpp"
#include "kernels/transform/correlation.hpp"

namespace convfilt::CONVFILT_BACKEND::fft {

using namespace convfilt::transform;
using namespace CONVFILT_BACKEND::transform;
namespace {

class FftPlan : public CorrelationPlan {
 public:
  using CorrelationPlan::CorrelationPlan;

 protected:
  Tiling tiling_for(int out_width, int out_height) const override {
    const Mask& mask = problem_.mask;
    return {out_width + mask.width - 1, out_height + mask.height - 1, out_width, out_height, 1, 1};
  }

  /// All planes together where they are small.
  int batch_for(const Tiling&, std::size_t block_bytes) const override {
    return block_bytes * planes() <= kBatchBytes ? planes() : 1;
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
