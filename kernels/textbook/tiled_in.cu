// tiled-in: one block per INPUT tile (PMPP 4e, ch. 7.4, first design; ECE408 strategy 2).
//
//   The block has one thread per sample of its input tile. Every thread loads one
//   sample; only the inner threads compute, since the outputs at the rim would need
//   samples beyond the tile.
//
//       <-------- block --------->
//      +-------+----------+-------+
//      | halo  |  output  | halo  |     every thread loads one sample,
//      |       |   tile   |       |     threads over the output tile compute
//      +-------+----------+-------+
//
//   Global reads per output: (tile + w - 1) * (tile + h - 1) / tile^2, e.g. 400 / 256 = 1.56 at 5x5
//   and --tile 16. By default the block is 32 x 32, and the output tile is what the mask leaves of
//   it, which makes 32^2 / ((33 - w) * (33 - h)), e.g. 1.31.
//   Sibling: tiled-out sizes the block to the OUTPUT tile; there every thread computes,
//   and loads more than once.

#include <algorithm>

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::tiled_in {
namespace {

constexpr int kBlock =
    32;  // largest input tile and block, and the default: 1,024 threads, CUDA's most
static_assert(kBlock * kBlock <= 1024, "a block holds at most 1,024 threads");
static_assert(kBlock > kMaxPartSide, "the output tile would be empty");

template <class T, Border B>
__global__ void tiled_in_kernel(PlaneView<const T> in, PlaneView<T> out,
                                PlaneView<SumOf<T>> partial, T ghost,
                                const MaskPart<T> __grid_constant__ mask) {
  __shared__ SharedTile<T, kBlock, kBlock> in_tile;

  const int out_columns = int(blockDim.x) + 1 - mask.width;
  const int out_rows = int(blockDim.y) + 1 - mask.height;
  const int row = threadIdx.y;
  const int col = threadIdx.x;
  const int x = blockIdx.x * out_columns + col;  // the output at this thread's place in the tile
  const int y = blockIdx.y * out_rows + row;

  // Load one sample of the input tile. Ghost cells take the border's value.
  in_tile[row][col] = load<B>(in, x + mask.dx, y + mask.dy, ghost);
  __syncthreads();

  // Compute one output, in the threads that lie over the output tile.
  if (col >= out_columns || row >= out_rows || x >= out.width || y >= out.height) return;
  SumOf<T> sum = begin_sum(mask, partial, x, y);
  for (int j = 0; j < mask.height; ++j) {
    SumOf<T> row_sum = 0;
    for (int i = 0; i < mask.width; ++i) {
      row_sum = multiply_add(mask.weight(i, j), in_tile[row + j][col + i], row_sum);
    }
    sum += row_sum;
  }
  end_sum(mask, partial, out, x, y, sum);
}

Geometry geometry_of(const Problem& p, const Tuning& tuning, Sides mask) {
  const int tile = tuning[Setting::tile];
  Geometry g;
  g.block_columns = g.in_columns = tile ? tile + mask.width - 1 : kBlock;
  g.block_rows = g.in_rows = tile ? tile + mask.height - 1 : kBlock;
  g.out_columns = g.in_columns + 1 - mask.width;
  g.out_rows = g.in_rows + 1 - mask.height;
  g.loading_threads = g.block_columns * g.block_rows;
  g.computing_threads = g.out_columns * g.out_rows;
  g.lead_x = p.lead_x();
  g.lead_y = p.lead_y();
  g.shared_bytes = kBlock * kBlock * size_of(p.depth);
  g.loads = g.loading_threads;
  g.loads_per_output = tile ? "(tile + w - 1) * (tile + h - 1) / tile^2"
                            : "block^2 / ((block + 1 - w) * (block + 1 - h))";
  return g;
}

Geometry geometry(const Problem& p, const Tuning& tuning) {
  return geometry_of(p, tuning, first_part(p.mask));
}

std::string refuses(const Problem& p, const Tuning& tuning) {
  const Sides mask = largest_part(p.mask);
  const int largest_tile = kBlock + 1 - std::max(mask.width, mask.height);
  if (tuning[Setting::tile] > largest_tile) {
    return "its block has a thread for each sample of the input tile, at most 32 x 32; with this "
           "mask --tile must be at most " +
           std::to_string(largest_tile);
  }
  return direct_refuses(p, tuning);
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  with_depth(p.depth, [&](auto depth) {
    using T = typename decltype(depth)::type;
    const auto& mask = job.mask_part<T>();
    const Geometry g = geometry_of(p, job.tuning, {mask.width, mask.height});
    with_border(p.border, [&](auto border) {
      launch(grid_of(g, job.out), block_of(g), stream, tiled_in_kernel<T, border()>, job.input<T>(),
             job.output<T>(), job.sums<T>(), job.ghost_cell<T>(), mask);
    });
  });
}

constexpr Setting kTiledInSettings[] = {Setting::tile};

}  // namespace

extern const Implementation implementation{
    .name = "tiled-in",
    .summary = "one block per input tile, rim threads load but never compute",
    .family = Family::direct,
    .refuses = refuses,
    .prepare = direct_plan<run>,
    .geometry = geometry,
    .settings = kTiledInSettings,
};

}  // namespace convfilt::CONVFILT_BACKEND::tiled_in
