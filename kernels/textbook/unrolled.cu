// unrolled: basic, with its loops unrolled and its loads four samples wide (CUDA C++ Best Practices
// Guide, "Instruction Optimization"; Harris, "Increase Performance with Vectorized Memory Access").
//
//   A thread computes four neighbouring outputs from loads of four samples at aligned
//   addresses. The compiler knows the side of square masks of 3, 5, 7 and 9, so that no
//   loop is left, and a weight is an operand, not a load. Masks of other sizes, also 1 x N and
//   N x 1, keep their loops, unrolled by four, with the same wide loads.
//
//       | s s s s | s s s s |       w + 3 samples a row in whole loads; taps are read
//         o o o o                   as in basic at the image's edges and in packed rows
//
//   Global reads per output: h * 4 * ceil((w + 3) / 4) / 4, e.g. 10 at 5x5.
//   Sibling: basic reads w * h samples an output, one at a time.

#include "kernels/plan/block_counts.hpp"
#include "kernels/textbook/terms.hpp"

namespace convfilt::CONVFILT_BACKEND::unrolled {
namespace {

constexpr int kBlockColumns = 32;  // threads: a warp reads whole bursts along a row
constexpr int kBlockRows = 8;
constexpr int kOutputs = 4;  // a thread computes as many as a load has samples, at most 16 bytes

/// The number of columns that a thread reads of every row, which is w + 3 in whole loads.
CONVFILT_HD inline int columns_read(int mask_width) {
  return (mask_width + 6) / 4 * 4;
}

/// Adds the taps of four outputs whose first sample is at (x, y). kSide is the side of a square
/// mask, or 0 where only the mask knows its sides.
template <int kSide, class T>
CONVFILT_DEVICE inline void add_wide(const PlaneView<const T>& in, const MaskPart<T>& mask, int x,
                                     int y, SumOf<T> (&sums)[kOutputs]) {
  const auto [width, height] = sides_of<kSide>(mask);
  CONVFILT_UNROLL(turns(kSide))
  for (int j = 0; j < height; ++j) {
    SumOf<T> row_sums[kOutputs] = {};
    Four<T> left = load4(in, x, y + j), right = left;
    CONVFILT_UNROLL(turns(kSide))
    for (int i = 0; i < width; i += 4) {
      // Output k meets weight i + t at sample t + k of these eight.
      if (i + 1 < width) right = load4(in, x + i + 4, y + j);
      CONVFILT_UNROLL(4)
      for (int t = 0; t < 4; ++t) {
        if (i + t >= width) continue;
        const SumOf<T> weight = weight_of(mask, j * width + i + t);
        for (int k = 0; k < kOutputs; ++k) {
          const T sample = t + k < 4 ? left.samples[t + k] : right.samples[t + k - 4];
          row_sums[k] = multiply_add(weight, sample, row_sums[k]);
        }
      }
      left = right;
    }
    for (int k = 0; k < kOutputs; ++k) sums[k] += row_sums[k];
  }
}

template <class T, int kSide>
__global__ void unrolled_kernel(PlaneView<const T> in, Outputs<T, kSide> out, Border border,
                                T ghost, const MaskPart<T> __grid_constant__ mask) {
  // The first output is moved to the left until its first sample's column is a multiple of four.
  const int x = (blockIdx.x * kBlockColumns + threadIdx.x) * kOutputs - (mask.dx & 3);
  const int y = blockIdx.y * kBlockRows + threadIdx.y;
  if (!out.has(x, y)) return;

  SumOf<T> sums[kOutputs] = {};
  for (int k = 0; k < kOutputs; ++k) {
    if (x + k >= 0 && out.has(x + k, y)) sums[k] = out.begin(mask, x + k, y);
  }
  // Compute all four at once where every load lies in the image.
  const int in_x = x + mask.dx, in_y = y + mask.dy;
  const int end_x = in_x + columns_read(kSide ? kSide : mask.width);
  if (in_x >= 0 && end_x <= in.width && in_y >= 0 && in_y + mask.height <= in.height &&
      in.stride % 4 == 0) {
    add_wide<kSide>(in, mask, in_x, in_y, sums);
  } else {
    for (int k = 0; k < kOutputs; ++k) {
      sums[k] = add_taps_at_edge(mask, sums[k], [&](int i, int j) {
        return sample_or_ghost(in, in_x + k + i, in_y + j, border, ghost);
      });
    }
  }
  for (int k = 0; k < kOutputs; ++k) {
    if (x + k >= 0 && out.has(x + k, y)) out.end(mask, x + k, y, sums[k]);
  }
}

Geometry geometry(const Problem& p, const Tuning&) {
  const Sides mask = first_part(p.mask);
  Geometry g;
  g.block_columns = kBlockColumns;
  g.block_rows = g.out_rows = kBlockRows;
  g.out_columns = kBlockColumns * kOutputs;
  g.computing_threads = kBlockColumns * kBlockRows;
  g.wide_columns = columns_read(mask.width);
  g.loads = double(g.computing_threads) * mask.height * g.wide_columns;
  g.loads_per_output = "h * 4 * ceil((w + 3) / 4) / 4";
  g.note = "Each thread computes 4 outputs, from loads of 4 samples.";
  return g;
}

std::optional<Counts> block_counts(const Problem& p, const Tuning& tuning,
                                   const BlockPlace& place) {
  const Sides mask = first_part(p.mask);
  const int shift = -p.lead_x() & 3;  // the first output is moved to the left
  BlockFormula block(p, geometry(p, tuning), place);
  const bool wide = place.padded_pitch || p.width % 4 == 0;  // else taps are read one by one
  if (wide) {
    for (int j = 0; j < mask.height; ++j)
      for (int i = 0; i < columns_read(mask.width); i += 4)
        block.read(
            [&](int col, int row) {
              return BlockCell{col * kOutputs - shift + i, row + j};
            },
            4);
    for_each_tap(mask, [&](int, int) { block.read_mask(BlockCell::own); });
  }
  for (int k = 0; !wide && k < kOutputs; ++k) {
    for_each_tap(mask, [&](int i, int j) {
      block.read([&](int col, int row) {
        return BlockCell{col * kOutputs - shift + k + i, row + j};
      });
      block.read_mask(BlockCell::own);
    });
  }
  for (int k = 0; k < kOutputs; ++k)
    block.write([&](int col, int row) { return BlockCell{col * kOutputs - shift + k, row}; });
  return block.counts();
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const Geometry g = geometry(p, job.tuning);
  with_types(p.depth, first_part(p.mask), true, [&]<class T, int kSide>() {
    const auto& mask = job.mask_part<T>();
    // The kernel moves its first output to the left, so the grid covers as many columns more.
    const dim3 grid(ceil_div(job.out.width + (mask.dx & 3), g.out_columns),
                    ceil_div(job.out.height, g.out_rows));
    launch(grid, block_of(g), stream, unrolled_kernel<T, kSide>, job.input<T>(),
           outputs_of<T, kSide>(job), p.border, job.ghost_cell<T>(), mask);
  });
}

}  // namespace

extern const Strategy strategy{
    .name = "unrolled",
    .summary = "as basic, four outputs a thread from wide loads; 3x3 to 9x9 without loops",
    .family = Family::direct,
    .refuses = direct_refuses,
    .make_plan = direct_plan<run>,
    .geometry = geometry,
    .block_counts = block_counts,
};

}  // namespace convfilt::CONVFILT_BACKEND::unrolled
