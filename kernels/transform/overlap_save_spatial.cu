// overlap-save --domain=spatial: the same blocks, without a transform (also called
// overlap-discard).
//
//   Where taps are summed one by one nothing wraps, so no output is computed to be dropped. A block
//   of threads fetches one overlapping block of samples and keeps the outputs that lie inside.
//
//       <-------- L + w - 1 -------->
//      |  samples in shared memory   |     e.g. 20 cells
//      |  L outputs, kept  |               e.g. 16
//
//   Global reads per output: (L + w - 1) * (L + h - 1) / L^2, e.g. 1.27 at 5x5, L = 32; for one row
//   (L + w - 1) / L, e.g. 1.25 at L = 16. Arithmetic and bytes are the direct family's.
//   Siblings: overlap-add fetches each sample once and adds; tiled-out is this with one tile size.

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/transform/block_schedule.hpp"
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
  const int left = blockIdx.x * kept_columns, top = blockIdx.y * kept_rows;
  const auto fetched = [&](int col, int row) {
    return load<B>(in, left + mask.dx + col, top + mask.dy + row, ghost);
  };

#ifdef CONVFILT_HOST
  const auto sample = fetched;  // Threads are a loop there, and the caches serve.
#else
  // Fetch the block's samples.
  __shared__ SharedTile<T, 1, kMostCells> cells;
  const int columns = kept_columns + mask.width - 1;
  const int rows = kept_rows + mask.height - 1;
  for (int row = threadIdx.y; row < rows; row += int(blockDim.y)) {
    for (int col = threadIdx.x; col < columns; col += int(blockDim.x)) {
      cells[0][row * columns + col] = fetched(col, row);
    }
  }
  __syncthreads();
  const auto sample = [&](int col, int row) { return T(cells[0][row * columns + col]); };
#endif

  // Compute the outputs that this block keeps, in sweeps of its threads.
  for (int row = threadIdx.y; row < kept_rows; row += int(blockDim.y)) {
    for (int col = threadIdx.x; col < kept_columns; col += int(blockDim.x)) {
      const int x = left + col, y = top + row;
      if (x >= out.width || y >= out.height) continue;
      SumOf<T> sum = begin_sum(mask, partial, x, y);
      for (int j = 0; j < mask.height; ++j) {
        SumOf<T> row_sum = 0;
        for (int i = 0; i < mask.width; ++i) {
          row_sum = multiply_add(weight_of(mask, i, j), sample(col + i, row + j), row_sum);
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
  const dim3 threads = threads_over(tiling.kept_columns, tiling.kept_rows);
  with_depth(p.depth, [&]<class T>(TypeTag<T>) {
    with_border(p.border, [&](auto border) {
      launch(grid, threads, stream, overlap_save_spatial_kernel<T, border()>, job.input<T>(),
             job.output<T>(), job.sums<T>(), job.ghost_cell<T>(), tiling.kept_columns,
             tiling.kept_rows, job.mask_part<T>());
    });
  });
}

}  // namespace

std::unique_ptr<Plan> overlap_save_spatially(const Problem& problem, const PlanOptions& options) {
  return make_direct_plan(problem, options, run, {});
}

}  // namespace convfilt::CONVFILT_BACKEND::overlap_save
