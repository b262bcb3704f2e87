// overlap-save --domain=spatial: the same blocks, without a transform.
//
//   Where taps are summed one by one nothing wraps, so no output is computed to be dropped. What
//   remains of the strategy is its order: a block of threads works through one overlapping block,
//   whose samples stay in the caches meanwhile. Arithmetic and bytes are the direct family's.
//
//   Global reads per output: w * h, e.g. 25 at 5x5. Sibling: basic, one output a thread.

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/transform/grid.hpp"
#include "kernels/transform/overlap_save.hpp"

namespace convfilt::CONVFILT_BACKEND::overlap_save {

using namespace convfilt::transform;
using namespace CONVFILT_BACKEND::transform;
namespace {

template <class T, Border B>
__global__ void overlap_save_spatial_kernel(PlaneView<const T> in, PlaneView<T> out,
                                            PlaneView<SumOf<T>> partial, T ghost, int kept_columns,
                                            int kept_rows,
                                            const MaskPart<T> __grid_constant__ mask) {
  // Compute the outputs that this block keeps, in sweeps of its threads.
  for (int row = threadIdx.y; row < kept_rows; row += kBlockRows) {
    for (int col = threadIdx.x; col < kept_columns; col += kBlockColumns) {
      const int x = blockIdx.x * kept_columns + col;
      const int y = blockIdx.y * kept_rows + row;
      if (x >= out.width || y >= out.height) continue;
      SumOf<T> sum = begin_sum(mask, partial, x, y);
      for (int j = 0; j < mask.height; ++j) {
        SumOf<T> row_sum = 0;
        for (int i = 0; i < mask.width; ++i) {
          const T sample = load<B>(in, x + mask.dx + i, y + mask.dy + j, ghost);
          row_sum = multiply_add(mask.weight(i, j), sample, row_sum);
        }
        sum += row_sum;
      }
      end_sum(mask, partial, out, x, y, sum);
    }
  }
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const Tiling tiling = overlap_save_tiling(p, job.tuning, job.out.width, job.out.height);
  const dim3 grid(tiling.across, tiling.down);
  with_depth(p.depth, [&](auto depth) {
    using T = typename decltype(depth)::type;
    with_border(p.border, [&](auto border) {
      launch(grid, block_of_threads(), stream, overlap_save_spatial_kernel<T, border()>,
             job.input<T>(), job.output<T>(), job.sums<T>(), job.ghost_cell<T>(),
             tiling.kept_columns, tiling.kept_rows, job.mask_part<T>());
    });
  });
}

}  // namespace

std::unique_ptr<Plan> overlap_save_spatially(const Problem& problem, const PlanOptions& options) {
  return make_direct_plan(problem, options, run, {});
}

}  // namespace convfilt::CONVFILT_BACKEND::overlap_save
