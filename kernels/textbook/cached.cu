// cached: a tile without its halo (PMPP 4e, ch. 7.5; ECE408 strategy 3).
//
//   Block, input tile and output tile are the same. Each thread loads one sample and
//   computes one output; what lies in the halo is read from global memory, where the
//   neighbour blocks' loads have just brought it into the caches.
//
//           <-- kTile -->
//      . . +-------------+ . .
//      . . |  the tile   | . .      inside: shared memory
//      . . +-------------+ . .      outside: global memory, likely cached
//
//   Global reads per output: 1, plus the taps that leave the tile,
//   1 - (1 - (w^2 - 1) / (4 * w * kTile))^2 of w * h for a centred odd mask, e.g. 1.8 of 25 at 5x5.
//   Siblings: tiled-in and tiled-out load the halo too, and read nothing else later.

#include "device_plan.hpp"
#include "dispatch.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

constexpr int kTile = 32;  // tile and block, columns and rows: 1,024 threads, CUDA's most
static_assert(kTile * kTile <= 1024, "a block holds at most 1,024 threads");

template <class T, Border B>
__global__ void cached_kernel(PlaneView<const T> in, PlaneView<T> out, PlaneView<SumOf<T>> partial,
                              T ghost, const MaskPart<T> __grid_constant__ mask) {
  __shared__ SharedTile<T, kTile, kTile> tile;

  const int row = threadIdx.y;
  const int col = threadIdx.x;
  const int x = blockIdx.x * kTile + col;
  const int y = blockIdx.y * kTile + row;
  // The tile lies under the middle of the mask: under the outputs where the mask is centred, and
  // where it serves them best where it is anchored elsewhere or is a part of a larger one.
  const int tile_x = blockIdx.x * kTile + mask.dx + mask.width / 2;
  const int tile_y = blockIdx.y * kTile + mask.dy + mask.height / 2;

  // Load this thread's sample of the tile, if the image has it.
  if (contains(in, tile_x + col, tile_y + row)) {
    tile[row][col] = load(in, tile_x + col, tile_y + row);
  }
  __syncthreads();

  // Compute one output; samples beyond the tile come from global memory.
  if (x >= out.width || y >= out.height) return;
  SumOf<T> sum = begin_sum(mask, partial, x, y);
  for (int j = 0; j < mask.height; ++j) {
    SumOf<T> row_sum = 0;
    const int tap_y = y + mask.dy + j;
    for (int i = 0; i < mask.width; ++i) {
      const int tap_x = x + mask.dx + i;
      const int tap_col = tap_x - tile_x, tap_row = tap_y - tile_y;
      const bool in_tile = tap_col >= 0 && tap_col < kTile && tap_row >= 0 && tap_row < kTile;
      const T sample = in_tile && contains(in, tap_x, tap_y) ? T(tile[tap_row][tap_col])
                                                             : load<B>(in, tap_x, tap_y, ghost);
      row_sum = multiply_add(mask.weight(i, j), sample, row_sum);
    }
    sum += row_sum;
  }
  end_sum(mask, partial, out, x, y, sum);
}

void run(const Problem& p, const Pass& pass, const Stream& stream) {
  const dim3 block(kTile, kTile);
  const dim3 grid(ceil_div(pass.out.width, kTile), ceil_div(pass.out.height, kTile));
  with_depth(p.depth, [&](auto depth) {
    using T = typename decltype(depth)::type;
    with_border(p.border, [&](auto border) {
      launch(grid, block, stream, cached_kernel<T, border()>, pass.input<T>(), pass.output<T>(),
             pass.sums<T>(), pass.ghost_cell<T>(), pass.mask_part<T>());
    });
  });
}

}  // namespace

extern const Implementation cached{"cached", "tile without halo, halo cells from the caches",
                                   Family::direct, direct_refuses, direct_plan<run>};

}  // namespace convfilt::CONVFILT_BACKEND
