// two-pass: a row pass, then a column pass, for masks of rank 1 to 3 (PMPP 4e, ch. 7, exercises;
// Podlozhnyuk, "Image Convolution with CUDA", 2007).
//
//   weight(i, j) = row[i] * column[j], so w * h taps become w + h. Each pass loads the samples a
//   block needs once into shared memory. The plane between the passes is kept in device memory, in
//   16-bit fixed point for 8-bit pictures (separable.hpp). A sum of such masks goes term by term.
//       row pass                      column pass
//      +----+--------------+----+     +----------+  halo
//      |halo| 8 rows x 128 |halo|     | 32 cols  |
//      +----+--------------+----+     | x 64 rows|
//                                     +----------+  halo
//
//   Multiply-adds per output: w + h, e.g. 34 at 17x17 where the direct family needs 289.
//   Masks of more than kMaxPartWeights (961) taps a line are cut into parts, which carry sums on.
//   Sibling: separable does both passes in one kernel, and keeps row sums in shared memory.

#include "kernels/textbook/two_pass.hpp"

#include "kernels/contract/dispatch.hpp"
#include "kernels/contract/separable.hpp"

namespace convfilt::CONVFILT_BACKEND::two_pass {
namespace {

constexpr int kRowTile = 128;  // outputs along x of a block of the row pass: four warps
constexpr int kRowBlockRows = 8;
constexpr int kColumnTile = 64;   // outputs along y of a block of the column pass
constexpr int kColumnWidth = 32;  // one warp, whose reads along a row are whole bursts
constexpr int kColumnBlockRows = 8;
constexpr int kChunk = 64;  // taps at a time, so that shared memory does not grow with the mask
static_assert(kColumnTile % kColumnBlockRows == 0, "every thread computes the same number of rows");

template <class In, class Out, Border B>
__global__ void row_kernel(PlaneView<const In> in, PlaneView<Out> out,
                           PlaneView<SumOf<Out>> partial, In ghost,
                           const MaskPart<Out> __grid_constant__ mask) {
  __shared__ SharedTile<In, kRowBlockRows, kRowTile + kChunk - 1> in_tile;

  const int row = threadIdx.y;
  const int col = threadIdx.x;
  const int tile_x = blockIdx.x * kRowTile;
  const int x = tile_x + col;
  const int y = blockIdx.y * kRowBlockRows + row;
  const bool computes = x < out.width && y < out.height;
  SumOf<Out> sum = computes ? begin_sum(mask, partial, x, y) : SumOf<Out>(0);

  for (int i0 = 0; i0 < mask.width; i0 += kChunk) {
    const int taps = min(kChunk, mask.width - i0);
    // Load the samples that this chunk of taps covers. Ghost cells take the border's value.
    for (int c = col; y < out.height && c < kRowTile + taps - 1; c += kRowTile) {
      in_tile[row][c] = load<B>(in, tile_x + mask.dx + i0 + c, y + mask.dy, ghost);
    }
    __syncthreads();
    // Carry on the chain of this thread's output.
    for (int i = 0; computes && i < taps; ++i) {
      sum = multiply_add(weight_of(mask, i0 + i, 0), in_tile[row][col + i], sum);
    }
    __syncthreads();
  }
  if (computes) end_sum(mask, partial, out, x, y, sum);
}

template <class In, class Out, Border B>
__global__ void column_kernel(PlaneView<const In> in, PlaneView<Out> out,
                              PlaneView<SumOf<Out>> partial, In ghost,
                              const MaskPart<Out> __grid_constant__ mask) {
  __shared__ SharedTile<In, kColumnTile + kChunk - 1, kColumnWidth> in_tile;
  constexpr int kOutputs = kColumnTile / kColumnBlockRows;

  const int col = threadIdx.x;
  const int x = blockIdx.x * kColumnWidth + col;
  const int tile_y = blockIdx.y * kColumnTile;
  SumOf<Out> sums[kOutputs] = {};
  for (int k = 0; k < kOutputs; ++k) {
    const int y = tile_y + int(threadIdx.y) + k * kColumnBlockRows;
    if (x < out.width && y < out.height) sums[k] = begin_sum(mask, partial, x, y);
  }

  for (int j0 = 0; j0 < mask.height; j0 += kChunk) {
    const int taps = min(kChunk, mask.height - j0);
    // Load the samples that this chunk of taps covers. Ghost cells take the border's value.
    for (int r = threadIdx.y; x < out.width && r < kColumnTile + taps - 1; r += kColumnBlockRows) {
      in_tile[r][col] = load<B>(in, x, tile_y + mask.dy + j0 + r, ghost);
    }
    __syncthreads();
    // Carry on the chains of this thread's outputs.
    for (int k = 0; x < out.width && k < kOutputs; ++k) {
      const int row = threadIdx.y + k * kColumnBlockRows;
      for (int j = 0; j < taps; ++j) {
        sums[k] = multiply_add(weight_of(mask, 0, j0 + j), in_tile[row + j][col], sums[k]);
      }
    }
    __syncthreads();
  }
  for (int k = 0; k < kOutputs; ++k) {
    const int y = tile_y + int(threadIdx.y) + k * kColumnBlockRows;
    if (x < out.width && y < out.height) end_sum(mask, partial, out, x, y, sums[k]);
  }
}

std::unique_ptr<Plan> prepare(const Problem& problem, const PlanOptions& options) {
  return make_separable_plan(problem, options, run_rows, run_columns);
}

}  // namespace

void run_rows(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const dim3 block(kRowTile, kRowBlockRows);
  const dim3 grid(ceil_div(job.out.width, kRowTile), ceil_div(job.out.height, kRowBlockRows));
  with_depth(p.depth, [&]<class In>(TypeTag<In>) {
    using Out = RowResultOf<In>;
    with_border(p.border, [&](auto border) {
      launch(grid, block, stream, row_kernel<In, Out, border()>, job.input<In>(), job.output<Out>(),
             job.sums<Out>(), job.ghost_cell<In>(), job.mask_part<Out>());
    });
  });
}

void run_columns(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const dim3 block(kColumnWidth, kColumnBlockRows);
  const dim3 grid(ceil_div(job.out.width, kColumnWidth), ceil_div(job.out.height, kColumnTile));
  with_depth(p.depth, [&]<class Out>(TypeTag<Out>) {
    using In = RowResultOf<Out>;
    with_border(p.border, [&](auto border) {
      launch(grid, block, stream, column_kernel<In, Out, border()>, job.input<In>(),
             job.output<Out>(), job.sums<Out>(), job.ghost_cell<In>(), job.mask_part<Out>());
    });
  });
}

Geometry geometry() {
  static_assert(kRowTile % kColumnWidth == 0 && kColumnTile % kRowBlockRows == 0);
  Geometry g;
  g.out_columns = kRowTile;
  g.out_rows = kColumnTile;
  g.note = "Two kernels, one a pass, with a plane between them, as two-pass has them.";
  return g;
}

// There is no formula of what a block counts. Each pass has blocks of its own, of 128 x 8 and of
// 32 x 64 results, so what one of each does says less of an output than the counts of a picture.
extern const Strategy strategy{
    .name = "two-pass",
    .summary = "row pass, then column pass, for masks of rank 1 to 3",
    .family = Family::separable,
    .refuses = separable_refuses,
    .make_plan = prepare,
};

}  // namespace convfilt::CONVFILT_BACKEND::two_pass
