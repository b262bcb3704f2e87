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

#include "kernels/contract/dispatch.hpp"
#include "kernels/transform/correlation.hpp"
#include "kernels/transform/grid.hpp"

namespace convfilt::CONVFILT_BACKEND::overlap_save {

using namespace convfilt::transform;
using namespace CONVFILT_BACKEND::transform;

/// The plan for --domain=spatial (overlap_save_spatial.cu).
std::unique_ptr<Plan> overlap_save_spatially(const Problem&, const PlanOptions&);

namespace {

/// Where the first block's first sample lies in the input.
struct Origin {
  int x, y;
};

/// Loads blocks. `in` holds all planes, of `height` rows each, one below the other. So does the
/// `out` of keep_kernel.
template <class T, Border B>
__global__ void load_kernel(PlaneView<const T> in, int height, PlaneView<float> samples,
                            Tiling tiling, int first, Origin origin, T ghost) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= samples.width || row >= samples.height) return;
  int tile = first + int(blockIdx.z);
  const int top = tiling.plane_of(tile) * height;
  const bool inside = col < tiling.columns && row < tiling.rows && top < in.height;
  const int x = origin.x + tiling.x(tile) + col;
  const int y = origin.y + tiling.y(tile) + row;
  samples.row(int(blockIdx.z) * samples.height + row)[col] =
      inside ? float(load<B>(in.rows(top, height), x, y, ghost)) : 0.0f;
}

template <class T>
__global__ void keep_kernel(PlaneView<float> sums, PlaneView<T> out, int height, Tiling tiling,
                            int first, FloatFinish end) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  int tile = first + int(blockIdx.z);
  const int top = tiling.plane_of(tile) * height;
  if (col >= tiling.kept_columns || row >= tiling.kept_rows || top >= out.height) return;
  const int x = tiling.x(tile) + col;
  const int y = tiling.y(tile) + row;
  if (x >= out.width || y >= height) return;
  finish(end, sums.row(int(blockIdx.z) * sums.height + row)[col], out.row(top + y)[x]);
}

class OverlapSavePlan : public CorrelationPlan {
 public:
  using CorrelationPlan::CorrelationPlan;

 protected:
  void filter_planes(const DevicePlane& in, const DevicePlane& out, int planes,
                     Shift shift) override {
    const int in_height = in.height / planes, out_height = out.height / planes;
    const Tiling tiling = tiling_for(out.width, out_height);
    const Origin origin{shift.x - problem_.mask.anchor_x, shift.y - problem_.mask.anchor_y};
    with_depth(problem_.depth, [&]<class T>(TypeTag<T>) {
      for (int first = 0; first < tiling.tiles() * planes; first += blocks().batch) {
        with_border(problem_.border, [&](auto border) {
          launch_over(blocks().columns, blocks().rows, blocks().batch, stream_,
                      load_kernel<T, border()>, in.view<const T>(), in_height, samples(), tiling,
                      first, origin, ghost_sample<T>(problem_));
        });
        correlate();
        launch_over(tiling.kept_columns, tiling.kept_rows, blocks().batch, stream_, keep_kernel<T>,
                    samples(), out.view<T>(), out_height, tiling, first, end());
      }
    });
  }

  Blocks blocks_for(int out_width, int out_height) const override {
    const Tiling tiling = tiling_for(out_width, out_height);
    const Blocks one{good_fft_size(tiling.columns), good_fft_rows(tiling.rows), 1};
    return {one.columns, one.rows, overlap_save_batch(tiling, planes(), one.bytes())};
  }

 private:
  Tiling tiling_for(int out_width, int out_height) const {
    return overlap_save_tiling(problem_, options_.tuning, out_width, out_height);
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
