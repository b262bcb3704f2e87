// tiled-in: one block per INPUT tile (PMPP 4e, ch. 7.4, first design; ECE408 strategy 2).
//
//   The block has one thread per sample of its input tile. Every thread loads one
//   sample. Then thread (col, row) computes output (col, row) of the tile, so the
//   block's last w - 1 columns and h - 1 rows of threads have none, and stay idle.
//
//       <- TILE_WIDTH -> <- w - 1 = 2r ->
//      +----------------+----------------+
//      | load, compute  |   load only    |
//      +----------------+                |
//      | load only                       |     h - 1 rows of threads
//      +---------------------------------+
//
//   Global reads per output: (tile + w - 1) * (tile + h - 1) / tile^2, e.g. 400 / 256 = 1.56 at 5x5
//   and --tile 16. By default the block is 32 x 32, and the output tile is what the mask leaves of
//   it, which makes 32^2 / ((33 - w) * (33 - h)), e.g. 1.31. A mask of one row gets blocks of one.
//   Sibling: tiled-out sizes the block to the OUTPUT tile; there every thread computes,
//   and loads more than once.

#include <algorithm>

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/block_counts.hpp"
#include "kernels/textbook/terms.hpp"

namespace convfilt::CONVFILT_BACKEND::tiled_in {
namespace {

template <class T, Border B, int kRows, int kColumns>
__global__ void tiled_in_kernel(PlaneView<const T> in, Outputs<T> out, T ghost,
                                const MaskPart<T> __grid_constant__ mask) {
  __shared__ SharedTile<T, kRows, kColumns> in_tile;

  const Radius r = radius_of(mask);
  const int TILE_WIDTH = int(blockDim.x) - (mask.width - 1);  // the block, less 2r
  const int TILE_HEIGHT = int(blockDim.y) - (mask.height - 1);
  const int row = threadIdx.y, col = threadIdx.x;
  const int x = blockIdx.x * TILE_WIDTH + col;  // the output at this thread's place in the tile
  const int y = blockIdx.y * TILE_HEIGHT + row;

  // Load one sample of the input tile. The border says which stands in for one outside the image.
  const int in_x = border_index<B>(x - r.x, in.width);
  const int in_y = border_index<B>(y - r.y, in.height);
  in_tile[row][col] = in_x < 0 || in_y < 0 ? ghost_cell(ghost) : load(in, in_x, in_y);
  __syncthreads();

  // Compute one output. The block's last columns and rows have none.
  if (col >= TILE_WIDTH || row >= TILE_HEIGHT || !out.has(x, y)) return;
  SumOf<T> sum = out.begin(mask, x, y);
  for (int j = 0; j < mask.height; ++j) {
    SumOf<T> row_sum = 0;
    for (int i = 0; i < mask.width; ++i) {
      row_sum = multiply_add(weight_of(mask, i, j), in_tile[row + j][col + i], row_sum);
    }
    sum += row_sum;
  }
  out.end(mask, x, y, sum);
}

static_assert(kSquare > kMaxPartSide, "the output tile would be empty");

Geometry geometry_of(const Problem& p, const Tuning& tuning, Sides mask) {
  const int tile = tuning[Setting::tile];
  const bool line = is_line(p);
  Geometry g;
  g.block_columns = g.in_columns = tile ? tile + mask.width - 1 : line ? kLine : kSquare;
  g.block_rows = g.in_rows = line ? 1 : tile ? tile + mask.height - 1 : kSquare;
  g.out_columns = g.in_columns + 1 - mask.width;
  g.out_rows = g.in_rows + 1 - mask.height;
  g.loading_threads = g.block_columns * g.block_rows;
  g.computing_threads = g.out_columns * g.out_rows;
  g.lead_x = p.lead_x();
  g.lead_y = p.lead_y();
  g.shared_bytes = kMostThreads * size_of(p.depth);
  g.loads = g.loading_threads;
  g.loads_per_output = line   ? (tile ? "(tile + w - 1) / tile" : "block / (block + 1 - w)")
                       : tile ? "(tile + w - 1) * (tile + h - 1) / tile^2"
                              : "block^2 / ((block + 1 - w) * (block + 1 - h))";
  return g;
}

Geometry geometry(const Problem& p, const Tuning& tuning) {
  return geometry_of(p, tuning, first_part(p.mask));
}

std::optional<Counts> block_counts(const Problem& p, const Tuning& tuning,
                                   const BlockPlace& place) {
  const Geometry g = geometry(p, tuning);
  const int tile_columns = is_line(p) ? kMostThreads : kSquare;
  BlockFormula block(p, g, place);
  using Cell = std::optional<BlockCell>;
  const auto output = [&](int col, int row) {
    return col < g.out_columns && row < g.out_rows ? Cell({col, row}) : Cell();
  };
  block.read(BlockCell::own);
  block.write_shared(tile_columns, BlockCell::own);
  block.barrier();
  for_each_tap(first_part(p.mask), [&](int i, int j) {
    block.read_shared(tile_columns, [&](int col, int row) {
      return output(col, row) ? Cell({col + i, row + j}) : Cell();
    });
    block.read_mask(output);
  });
  block.write(output);
  return block.counts();
}

std::string refuses(const Problem& p, const Tuning& tuning) {
  const Sides mask = largest_part(p.mask);
  const int block = is_line(p) ? kMostThreads : kSquare;
  const int largest_tile = block + 1 - std::max(mask.width, mask.height);
  if (tuning[Setting::tile] > largest_tile) {
    return "its block has a thread for each sample of the input tile, at most " +
           std::string(is_line(p) ? "1024 x 1" : "32 x 32") +
           (mask.width == 1 && !is_line(p) ? kNoColumns : "") +
           "; with this mask --tile must be at most " + std::to_string(largest_tile);
  }
  return direct_refuses(p, tuning);
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  with_depth(p.depth, [&](auto depth) {
    using T = typename decltype(depth)::type;
    const auto& mask = job.mask_part<T>();
    const Geometry g = geometry_of(p, job.tuning, {mask.width, mask.height});
    with_border(p.border, [&](auto border) {
      const auto kernel = is_line(p) ? tiled_in_kernel<T, border(), 1, kMostThreads>
                                     : tiled_in_kernel<T, border(), kSquare, kSquare>;
      launch(grid_of(g, job.out), block_of(g), stream, kernel, job.input<T>(), outputs_of<T>(job),
             job.ghost_cell<T>(), mask);
    });
  });
}

constexpr Setting kTiledInSettings[] = {Setting::tile};

}  // namespace

extern const Implementation implementation{
    .name = "tiled-in",
    .summary = "one block per input tile; its last columns and rows of threads only load",
    .family = Family::direct,
    .refuses = refuses,
    .prepare = direct_plan<run>,
    .geometry = geometry,
    .block_counts = block_counts,
    .settings = kTiledInSettings,
};

}  // namespace convfilt::CONVFILT_BACKEND::tiled_in
