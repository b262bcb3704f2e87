// overlap-save: the picture in overlapping blocks, each through a Fourier transform (Oppenheim and
// Schafer, "Discrete-Time Signal Processing", ch. 8.7; also called overlap-discard).
//
//   Blocks overlap by the mask less one. In each, the product of spectra is a cyclic
//   correlation. Outputs that the wrap reaches are dropped, and the others are kept.
//
//      +--------------+------+      kept: (columns - w + 1) x (rows - h + 1)
//      |     kept     | drop |      next block: as far on as was kept
//      +--------------+------+
//      |         drop        |
//      +---------------------+
//
//   Global reads per output: columns * rows / kept, e.g. 1.54 at 101x101 in blocks of 512.
//   By default sides are powers of two with the least transform work for the picture,
//   blocks * columns * rows * log2(columns * rows). 1-D masks get blocks of 1 row or 16 columns.
//   --domain=spatial (overlap_save_spatial.cu) sums the taps of blocks that keep 32 x 32.
//   A NaN or infinity spreads to all outputs of its blocks. Siblings: fft, overlap-add.

#include "kernels/transform/overlap_save.hpp"

#include "kernels/transform/correlation.hpp"

namespace convfilt::CONVFILT_BACKEND::overlap_save {

using namespace convfilt::transform;
using namespace CONVFILT_BACKEND::transform;

/// The plan for --domain=spatial (overlap_save_spatial.cu).
std::unique_ptr<Plan> overlap_save_spatially(const Problem&, const PlanOptions&);

namespace {

class OverlapSavePlan : public CorrelationPlan {
 public:
  using CorrelationPlan::CorrelationPlan;

 protected:
  Tiling tiling_for(int out_width, int out_height) const override {
    return overlap_save_tiling(problem_, options_.tuning, out_width, out_height);
  }

  int batch_for(const Tiling& tiling, std::size_t block_bytes) const override {
    return overlap_save_batch(tiling, planes(), block_bytes);
  }
};

std::unique_ptr<Plan> prepare(const Problem& problem, const PlanOptions& options) {
  if (options.tuning[Setting::domain] == kSpatial) return overlap_save_spatially(problem, options);
  return std::make_unique<OverlapSavePlan>(problem, options);
}

}  // namespace

extern const Strategy strategy{
    .name = "overlap-save",
    .summary = "overlapping blocks through Fourier transforms, wrapped edges dropped",
    .family = Family::transform,
    .refuses = overlap_save_refuses,
    .make_plan = prepare,
    .geometry = overlap_save_geometry,
    .block_counts = overlap_save_block_counts,
    .needs = {.fft = true},
    .settings = {Setting::domain, Setting::block},
    .spatial_family = Family::direct,
};

}  // namespace convfilt::CONVFILT_BACKEND::overlap_save
