// cached: a tile without its halo (PMPP 4e, ch. 7.5; ECE408 strategy 3).
//
//   Block, input tile and output tile are the same. Each thread loads one sample and
//   computes one output; what lies in the halo is read from global memory, where the
//   neighbour blocks' loads have just brought it into the caches.
//
//           <-- tile --->
//      . . +-------------+ . .
//      . . |  the tile   | . .      inside: shared memory
//      . . +-------------+ . .      outside: global memory, likely cached
//
//   Global reads per output: 1, plus the taps that leave the tile,
//   1 - (1 - (w^2 - 1) / (4 * w * tile))^2 of w * w for odd w, e.g. 1.8 of 25 at 5x5, tile 32.
//   Siblings: tiled-in and tiled-out load the halo too, and read nothing else later.

#include <algorithm>
#include <cstdlib>

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::cached {
namespace {

constexpr int kTile = 32;  // largest tile and block, and the default: 1,024 threads, CUDA's most
static_assert(kTile * kTile <= 1024, "a block holds at most 1,024 threads");

template <class T, Border B>
__global__ void cached_kernel(PlaneView<const T> in, PlaneView<T> out, PlaneView<SumOf<T>> partial,
                              T ghost, const MaskPart<T> __grid_constant__ mask) {
  __shared__ SharedTile<T, kTile, kTile> in_tile;

  const int row = threadIdx.y;
  const int col = threadIdx.x;
  const int tile = blockDim.x;
  const int x = blockIdx.x * tile + col;
  const int y = blockIdx.y * tile + row;
  // The tile lies under the middle of the mask, where it serves the outputs best. For a centred
  // mask that is under the outputs. A mask that is anchored elsewhere, or a part of a larger one,
  // moves it.
  const int tile_x = blockIdx.x * tile + mask.dx + mask.width / 2;
  const int tile_y = blockIdx.y * tile + mask.dy + mask.height / 2;

  // Load this thread's sample of the tile, if the image has it.
  if (contains(in, tile_x + col, tile_y + row)) {
    in_tile[row][col] = load(in, tile_x + col, tile_y + row);
  }
  __syncthreads();

  // Compute one output. Samples beyond the tile come from global memory.
  if (x >= out.width || y >= out.height) return;
  SumOf<T> sum = begin_sum(mask, partial, x, y);
  for (int j = 0; j < mask.height; ++j) {
    SumOf<T> row_sum = 0;
    const int tap_y = y + mask.dy + j;
    for (int i = 0; i < mask.width; ++i) {
      const int tap_x = x + mask.dx + i;
      const int tap_col = tap_x - tile_x, tap_row = tap_y - tile_y;
      const bool kept = tap_col >= 0 && tap_col < tile && tap_row >= 0 && tap_row < tile;
      const T sample = kept && contains(in, tap_x, tap_y) ? T(in_tile[tap_row][tap_col])
                                                          : load<B>(in, tap_x, tap_y, ghost);
      row_sum = multiply_add(mask.weight(i, j), sample, row_sum);
    }
    sum += row_sum;
  }
  end_sum(mask, partial, out, x, y, sum);
}

/// How many of the taps of a tile's outputs lie in the tile itself, along one axis.
int taps_kept(int tile, int side) {
  int taps = 0;
  for (int i = 0; i < side; ++i) taps += std::max(0, tile - std::abs(i - side / 2));
  return taps;
}

Geometry geometry(const Problem& p, const Tuning& tuning) {
  const Sides mask = first_part(p.mask);
  const int tile = tuning[Setting::tile] ? tuning[Setting::tile] : kTile;
  Geometry g;
  g.block_columns = g.in_columns = g.out_columns = tile;
  g.block_rows = g.in_rows = g.out_rows = tile;
  g.loading_threads = g.computing_threads = tile * tile;
  g.lead_x = p.lead_x() - mask.width / 2;
  g.lead_y = p.lead_y() - mask.height / 2;
  g.shared_bytes = kTile * kTile * size_of(p.depth);
  const double taps = double(tile) * tile * mask.width * mask.height;
  const double kept = double(taps_kept(tile, mask.width)) * taps_kept(tile, mask.height);
  g.loads = double(tile) * tile + taps - kept;
  g.loads_per_output =
      "1 + w * h * (1 - kept(w) * kept(h)), kept(n) = 1 - (n^2 - 1) / (4 * n * tile)";
  g.note =
      "Taps that leave the tile are read from global memory, where the caches are likely to "
      "hold them.";
  return g;
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const Geometry g = geometry(p, job.tuning);
  with_depth(p.depth, [&](auto depth) {
    using T = typename decltype(depth)::type;
    with_border(p.border, [&](auto border) {
      launch(grid_of(g, job.out), block_of(g), stream, cached_kernel<T, border()>, job.input<T>(),
             job.output<T>(), job.sums<T>(), job.ghost_cell<T>(), job.mask_part<T>());
    });
  });
}

constexpr Setting kCachedSettings[] = {Setting::tile};

}  // namespace

extern const Implementation implementation{
    .name = "cached",
    .summary = "tile without halo, halo cells from the caches",
    .family = Family::direct,
    .refuses = direct_refuses,
    .prepare = direct_plan<run>,
    .geometry = geometry,
    .settings = kCachedSettings,
};

}  // namespace convfilt::CONVFILT_BACKEND::cached
