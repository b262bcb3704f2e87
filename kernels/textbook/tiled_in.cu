// tiled-in: one block per INPUT tile (PMPP 4e, ch. 7.4, first design; ECE408 strategy 2).
//
//   The block has one thread per sample of its input tile. Every thread loads one
//   sample; only the inner threads compute, since the outputs at the rim would need
//   samples beyond the tile.
//
//       <-------- kBlock -------->
//      +-------+----------+-------+
//      | halo  |  output  | halo  |     every thread loads one sample,
//      |       |   tile   |       |     threads over the output tile compute
//      +-------+----------+-------+
//
//   Global reads per output: kBlock^2 / ((kBlock + 1 - w) * (kBlock + 1 - h)), e.g. 1.31 at 5x5.
//   Sibling: tiled-out sizes the block to the OUTPUT tile; there every thread computes,
//   and loads more than once.

#include "device_plan.hpp"
#include "dispatch.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

constexpr int kBlock = 32;  // input tile and block, columns and rows: 1,024 threads, CUDA's most
static_assert(kBlock * kBlock <= 1024, "a block holds at most 1,024 threads");
static_assert(kBlock > kMaxPartSide, "the output tile would be empty");

template <class T, Border B>
__global__ void tiled_in_kernel(PlaneView<const T> in, PlaneView<T> out,
                                PlaneView<SumOf<T>> partial, T ghost,
                                const MaskPart<T> __grid_constant__ mask) {
  __shared__ SharedTile<T, kBlock, kBlock> in_tile;

  const int out_columns = kBlock + 1 - mask.width;
  const int out_rows = kBlock + 1 - mask.height;
  const int row = threadIdx.y;
  const int col = threadIdx.x;
  const int x = blockIdx.x * out_columns + col;  // the output at this thread's place in the tile
  const int y = blockIdx.y * out_rows + row;

  // Load one sample of the input tile; ghost cells take the border's value.
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

void run(const Problem& p, const Pass& pass, const Stream& stream) {
  with_depth(p.depth, [&](auto depth) {
    using T = typename decltype(depth)::type;
    const auto& mask = pass.mask_part<T>();
    const dim3 block(kBlock, kBlock);
    const dim3 grid(ceil_div(pass.out.width, kBlock + 1 - mask.width),
                    ceil_div(pass.out.height, kBlock + 1 - mask.height));
    with_border(p.border, [&](auto border) {
      launch(grid, block, stream, tiled_in_kernel<T, border()>, pass.input<T>(), pass.output<T>(),
             pass.sums<T>(), pass.ghost_cell<T>(), mask);
    });
  });
}

}  // namespace

extern const Implementation tiled_in{"tiled-in",
                                     "one block per input tile, rim threads load but never compute",
                                     Family::direct, direct_refuses, direct_plan<run>};

}  // namespace convfilt::CONVFILT_BACKEND
