// basic: one thread per output (PMPP 4e, ch. 7.2; the mask in constant memory, ch. 7.3).
//
//   Every thread reads its whole neighbourhood from global memory. Neighbouring
//   threads read almost the same samples, so the caches give most of them.
//
//        neighbourhood
//       +-------------+
//       |   w x h     |      each output reads w * h samples and shares none
//       |      o      |
//       +-------------+
//
//   Global reads per output: w * h, e.g. 25 at 5x5.
//   Siblings: tiled-in, tiled-out and cached load what a block needs once.

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/textbook/geometry.hpp"

namespace convfilt::CONVFILT_BACKEND::basic {
namespace {

constexpr int kBlockColumns = 32;  // one warp along a row: its reads fall into the same bursts
constexpr int kBlockRows = 8;

template <class T, Border B>
__global__ void basic_kernel(PlaneView<const T> in, PlaneView<T> out, PlaneView<SumOf<T>> partial,
                             T ghost, const MaskPart<T> __grid_constant__ mask) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = blockIdx.y * kBlockRows + threadIdx.y;
  if (x >= out.width || y >= out.height) return;

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

Geometry geometry(const Problem& p, const Tuning&) {
  return one_output_a_thread(p, kBlockColumns, kBlockRows);
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const Geometry g = geometry(p, job.tuning);
  with_depth(p.depth, [&](auto depth) {
    using T = typename decltype(depth)::type;
    with_border(p.border, [&](auto border) {
      launch(grid_of(g, job.out), block_of(g), stream, basic_kernel<T, border()>, job.input<T>(),
             job.output<T>(), job.sums<T>(), job.ghost_cell<T>(), job.mask_part<T>());
    });
  });
}

}  // namespace

extern const Implementation implementation{
    .name = "basic",
    .summary = "one thread per output, all reads from global memory",
    .family = Family::direct,
    .refuses = direct_refuses,
    .prepare = direct_plan<run>,
    .geometry = geometry,
};

}  // namespace convfilt::CONVFILT_BACKEND::basic
