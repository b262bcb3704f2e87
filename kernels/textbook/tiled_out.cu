// tiled-out: one block per OUTPUT tile (PMPP 4e, ch. 7.4, second design; ECE408 strategy 1).
//
//   The block has as many columns as its output tile, so every thread computes
//   output. The input tile is larger by the halo, w - 1 columns and h - 1 rows, so
//   loading it takes several sweeps of the block.
//
//            <-- kTile -->
//      +----+-------------+----+
//      |halo| output tile |halo|     loaded once into shared memory,
//      +----+-------------+----+     then read w * h times
//
//   Global reads per output: (kTile + w - 1) * (kTile + h - 1) / kTile^2, e.g. 1.27 at 5x5.
//   Sibling: tiled-in sizes the block to the INPUT tile instead; its rim threads
//   load but never compute.

#include "device_plan.hpp"
#include "dispatch.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

constexpr int kTile = 32;      // output tile, columns and rows: one warp per row of outputs
constexpr int kBlockRows = 8;  // each thread computes kTile / kBlockRows outputs
constexpr int kOutputs = kTile / kBlockRows;
constexpr int kMaxInTile = kTile + kMaxPartSide - 1;
static_assert(kTile % kBlockRows == 0, "every thread computes the same number of rows");
static_assert(kMaxInTile * kMaxInTile * sizeof(float) <= 48 * 1024,
              "the input tile exceeds static shared memory");

template <class T, Border B>
__global__ void tiled_out_kernel(PlaneView<const T> in, PlaneView<T> out,
                                 PlaneView<SumOf<T>> partial, T ghost,
                                 const MaskPart<T> __grid_constant__ mask) {
  __shared__ SharedTile<T, kMaxInTile, kMaxInTile> in_tile;

  const int tile_x = blockIdx.x * kTile;  // the output tile's top-left sample
  const int tile_y = blockIdx.y * kTile;

  // Load the input tile in sweeps; ghost cells take the border's value.
  for (int row = threadIdx.y; row < kTile + mask.height - 1; row += kBlockRows) {
    for (int col = threadIdx.x; col < kTile + mask.width - 1; col += kTile) {
      in_tile[row][col] = load<B>(in, tile_x + mask.dx + col, tile_y + mask.dy + row, ghost);
    }
  }
  __syncthreads();

  // Compute this thread's outputs together: each weight is fetched from constant memory once for
  // all of them, which takes 0.55 of the time of one output after the other (15x15, H200).
  const int col = threadIdx.x;
  const int x = tile_x + col;
  SumOf<T> sums[kOutputs] = {};
  for (int k = 0; k < kOutputs; ++k) {
    const int y = tile_y + int(threadIdx.y) + k * kBlockRows;
    if (x < out.width && y < out.height) sums[k] = begin_sum(mask, partial, x, y);
  }
  for (int j = 0; j < mask.height; ++j) {
    SumOf<T> row_sums[kOutputs] = {};
    for (int i = 0; i < mask.width; ++i) {
      const SumOf<T> weight = mask.weight(i, j);
      for (int k = 0; k < kOutputs; ++k) {
        const int row = threadIdx.y + k * kBlockRows;
        row_sums[k] = multiply_add(weight, in_tile[row + j][col + i], row_sums[k]);
      }
    }
    for (int k = 0; k < kOutputs; ++k) sums[k] += row_sums[k];
  }
  for (int k = 0; k < kOutputs; ++k) {
    const int y = tile_y + int(threadIdx.y) + k * kBlockRows;
    if (x < out.width && y < out.height) end_sum(mask, partial, out, x, y, sums[k]);
  }
}

void run(const Problem& p, const Pass& pass, const Stream& stream) {
  const dim3 block(kTile, kBlockRows);
  const dim3 grid(ceil_div(pass.out.width, kTile), ceil_div(pass.out.height, kTile));
  with_depth(p.depth, [&](auto depth) {
    using T = typename decltype(depth)::type;
    with_border(p.border, [&](auto border) {
      launch(grid, block, stream, tiled_out_kernel<T, border()>, pass.input<T>(), pass.output<T>(),
             pass.sums<T>(), pass.ghost_cell<T>(), pass.mask_part<T>());
    });
  });
}

}  // namespace

extern const Implementation tiled_out{"tiled-out",
                                      "one block per output tile, halo loaded in sweeps",
                                      Family::direct, direct_refuses, direct_plan<run>};

}  // namespace convfilt::CONVFILT_BACKEND
