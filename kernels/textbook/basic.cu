// basic: one thread per output (PMPP 4e, ch. 7.2; the mask in constant memory, 4e, ch. 7.3, 5e,
// ch. 7.4).
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
//   Global reads per output: w * h, e.g. 25 at 5x5. With --mask-memory global, as the books begin,
//   each weight is read from global memory, too: 2 * w * h. With --cache none reads pass L1 by, so
//   that each is one of L2, as the books count them.
//   Siblings: tiled-in, tiled-out and cached load what a block needs once.

#include "kernels/plan/block_counts.hpp"
#include "kernels/textbook/terms.hpp"

namespace convfilt::CONVFILT_BACKEND::basic {
namespace {

constexpr int TILE_WIDTH = 32;  // outputs of a block: a warp's reads fall into the same bursts
constexpr int TILE_HEIGHT = 8;
constexpr int kThreads = TILE_WIDTH * TILE_HEIGHT;

template <class T, int kSide, class From>
__global__ void __launch_bounds__(kThreads, resident_blocks(kThreads))
    basic_kernel(PlaneView<const T> in, Outputs<T, kSide> out, Border border, T ghost, From memory,
                 const MaskPart<T> __grid_constant__ mask) {
  const Radius r = radius_of(mask);
  const Sides sides = sides_of<kSide>(mask);
  const int x = blockIdx.x * TILE_WIDTH + threadIdx.x;  // this thread's output
  const int y = blockIdx.y * TILE_HEIGHT + threadIdx.y;
  if (!out.has(x, y)) return;

  SumOf<T> sum = out.begin(mask, x, y);
  if (contains(in, x - r.x, y - r.y, sides)) {
    CONVFILT_UNROLL(turns(kSide))
    for (int j = 0; j < sides.height; ++j) {
      SumOf<T> row_sum = 0;
      CONVFILT_UNROLL(turns(kSide, 4))
      for (int i = 0; i < sides.width; ++i) {
        const T sample = memory.sample(in, x - r.x, y - r.y, i, j);
        row_sum = multiply_add(memory.weight(mask, j * sides.width + i), sample, row_sum);
      }
      sum += row_sum;
    }
  } else {
    const auto tap = [&](int i, int j) {
      return sample_or_ghost(in, x + i - r.x, y + j - r.y, border, ghost);
    };
    sum = add_taps_at_edge(mask, sum, tap, memory);
  }
  out.end(mask, x, y, sum);
}

Geometry geometry(const Problem& p, const Tuning& tuning) {
  Geometry g = one_output_a_thread(p, TILE_WIDTH, TILE_HEIGHT);
  if (tuning[Setting::mask_memory] == kGlobal) {
    g.mask_loads = g.loads;
    g.loads *= 2;
    g.loads_per_output = "2 * w * h";
  }
  return g;
}

std::optional<Counts> block_counts(const Problem& p, const Tuning& tuning,
                                   const BlockPlace& place) {
  BlockFormula block(p, geometry(p, tuning), place);
  for_each_tap(first_part(p.mask), [&](int i, int j) {
    block.read([&](int col, int row) { return BlockCell{col + i, row + j}; });
    if (tuning[Setting::mask_memory] == kGlobal)
      block.load_weight(j * first_part(p.mask).width + i, BlockCell::own);
    else
      block.read_mask(BlockCell::own);
  });
  block.write(BlockCell::own);
  return block.counts();
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const Geometry g = geometry(p, job.tuning);
  with_types(p.depth, first_part(p.mask), true, [&]<class T, int kSide>() {
    with_memory<T>(job, [&](auto memory) {
      launch(grid_of(g, job.out), block_of(g), stream, basic_kernel<T, kSide, decltype(memory)>,
             job.input<T>(), outputs_of<T, kSide>(job), p.border, job.ghost_cell<T>(), memory,
             job.mask_part<T>());
    });
  });
}

}  // namespace

extern const Strategy strategy{
    .name = "basic",
    .summary = "one thread per output, all reads from global memory",
    .family = Family::direct,
    .refuses = direct_refuses,
    .make_plan = direct_plan<run>,
    .geometry = geometry,
    .block_counts = block_counts,
    .settings = {Setting::mask_memory, Setting::cache},
};

}  // namespace convfilt::CONVFILT_BACKEND::basic
