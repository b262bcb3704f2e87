// basic: one thread per output (PMPP 4e, ch. 7.2; the mask in constant memory, ch. 7.3).
//
//   Every thread reads its whole neighbourhood from global memory. Neighbouring
//   threads read almost the same samples, so the caches give most of them.
//
//        neighbourhood
//       +-------------+
//       |   w x h     |      each output reads w * h samples and shares none;
//       |      o      |      a centred mask has w = h = 2r + 1
//       +-------------+
//
//   Global reads per output: w * h, e.g. 25 at 5x5.
//   Siblings: tiled-in, tiled-out and cached load what a block needs once.

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/block_counts.hpp"
#include "kernels/textbook/geometry.hpp"
#include "kernels/textbook/terms.hpp"

namespace convfilt::CONVFILT_BACKEND::basic {
namespace {

constexpr int TILE_WIDTH = 32;  // outputs of a block: a warp's reads fall into the same bursts
constexpr int TILE_HEIGHT = 8;

template <class T, Border B>
__global__ void basic_kernel(PlaneView<const T> in, Outputs<T> out, T ghost,
                             const MaskPart<T> __grid_constant__ mask) {
  const Radius r = radius_of(mask);
  const int x = blockIdx.x * TILE_WIDTH + threadIdx.x;  // this thread's output
  const int y = blockIdx.y * TILE_HEIGHT + threadIdx.y;
  if (!out.has(x, y)) return;

  SumOf<T> sum = out.begin(mask, x, y);
  for (int j = 0; j < mask.height; ++j) {
    SumOf<T> row_sum = 0;
    for (int i = 0; i < mask.width; ++i) {
      // The border says which sample stands in for one outside the image; -1 is a ghost cell.
      const int in_x = border_index<B>(x + i - r.x, in.width);
      const int in_y = border_index<B>(y + j - r.y, in.height);
      const T sample = in_x < 0 || in_y < 0 ? ghost_cell(ghost) : load(in, in_x, in_y);
      row_sum = multiply_add(weight_of(mask, i, j), sample, row_sum);
    }
    sum += row_sum;
  }
  out.end(mask, x, y, sum);
}

Geometry geometry(const Problem& p, const Tuning&) {
  return one_output_a_thread(p, TILE_WIDTH, TILE_HEIGHT);
}

std::optional<Counts> block_counts(const Problem& p, const Tuning& tuning,
                                   const BlockPlace& place) {
  BlockFormula block(p, geometry(p, tuning), place);
  for_each_tap(first_part(p.mask), [&](int i, int j) {
    block.read([&](int col, int row) { return BlockCell{col + i, row + j}; });
    block.read_mask(BlockCell::own);
  });
  block.write(BlockCell::own);
  return block.counts();
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const Geometry g = geometry(p, job.tuning);
  with_depth(p.depth, [&](auto depth) {
    using T = typename decltype(depth)::type;
    with_border(p.border, [&](auto border) {
      launch(grid_of(g, job.out), block_of(g), stream, basic_kernel<T, border()>, job.input<T>(),
             outputs_of<T>(job), job.ghost_cell<T>(), job.mask_part<T>());
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
    .block_counts = block_counts,
};

}  // namespace convfilt::CONVFILT_BACKEND::basic
