// cached: a tile without its halo (PMPP 4e, ch. 7.5, 5e, ch. 7.6; ECE408 strategy 3).
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
//   1 - (1 - (w^2 - 1) / (4 * w * tile))^2 of w * w for odd w, e.g. 2.2 of 25 at 5x5, tile 16.
//   Siblings: tiled-in and tiled-out load the halo too, and read nothing else later.

#include <algorithm>
#include <cstdlib>

#include "kernels/plan/block_counts.hpp"
#include "kernels/textbook/terms.hpp"

namespace convfilt::CONVFILT_BACKEND::cached {
namespace {

template <class T, int kSide, int kRows, int kColumns>
__global__ void __launch_bounds__(threads_of(kSide), resident_blocks(threads_of(kSide)))
    cached_kernel(PlaneView<const T> in, Outputs<T, kSide> out, Border border, T ghost,
                  const MaskPart<T> __grid_constant__ mask) {
  __shared__ SharedTile<T, kRows, kColumns> in_tile;

  const Radius r = radius_of(mask);
  const Sides sides = sides_of<kSide>(mask);
  const int TILE_WIDTH = kSide ? kTile : int(blockDim.x);
  const int TILE_HEIGHT = kSide ? kTile : int(blockDim.y);
  const int row = threadIdx.y, col = threadIdx.x;
  const int x = blockIdx.x * TILE_WIDTH + col, y = blockIdx.y * TILE_HEIGHT + row;
  // The tile lies under the middle of the mask, which is under the outputs if the mask is centred.
  const int left = sides.width / 2, above = sides.height / 2;
  const int in_x = x - r.x, in_y = y - r.y;  // this output's first tap

  // Load this thread's sample of the tile, if the image has it.
  if (contains(in, in_x + left, in_y + above))
    in_tile[row][col] = load(in, in_x + left, in_y + above);
  __syncthreads();

  // Compute one output. Samples beyond the tile come from global memory.
  if (!out.has(x, y)) return;
  const auto in_the_tile = [&](int i, int j) {
    const int tap_col = col - left + i, tap_row = row - above + j;
    return tap_col >= 0 && tap_col < TILE_WIDTH && tap_row >= 0 && tap_row < TILE_HEIGHT;
  };
  SumOf<T> sum = out.begin(mask, x, y);
  if (contains(in, in_x, in_y, sides)) {
    CONVFILT_UNROLL(turns(kSide))
    for (int j = 0; j < sides.height; ++j) {
      SumOf<T> row_sum = 0;
      CONVFILT_UNROLL(turns(kSide, 4))
      for (int i = 0; i < sides.width; ++i) {
        const T sample = in_the_tile(i, j) ? T(in_tile[row - above + j][col - left + i])
                                           : load(in, in_x, in_y, i, j);
        row_sum = multiply_add(weight_of(mask, j * sides.width + i), sample, row_sum);
      }
      sum += row_sum;
    }
  } else {
    sum = add_taps_at_edge(mask, sum, [&](int i, int j) {
      return in_the_tile(i, j) && contains(in, in_x + i, in_y + j)
                 ? T(in_tile[row - above + j][col - left + i])
                 : sample_or_ghost(in, in_x + i, in_y + j, border, ghost);
    });
  }
  out.end(mask, x, y, sum);
}

/// How many of the taps of a tile's outputs lie in the tile itself, along one axis.
int taps_kept(int tile, int side) {
  int taps = 0;
  for (int i = 0; i < side; ++i) taps += std::max(0, tile - std::abs(i - side / 2));
  return taps;
}

/// A block's reads per output as a formula; empty for a tile that is not square.
std::string formula_of(const Sides& mask, const TileSides& sides, bool line) {
  if (!line && sides.columns != sides.rows) return "";
  const int tile = sides.columns;
  // An odd side has as many taps left of the middle as right of it, an even one another on the
  // left.
  const bool odd_width = mask.width % 2 == 1, odd_height = mask.height % 2 == 1;
  const bool near = std::max(mask.width, mask.height) / 2 <= tile;
  if (line && near) return odd_width ? "1 + (w^2 - 1) / (4 * tile)" : "1 + w^2 / (4 * tile)";
  const std::string formula = line ? "1 + w * (1 - kept(w)), kept(n) = "
                                   : "1 + w * h * (1 - kept(w) * kept(h)), kept(n) = ";
  // No output keeps a tap that lies a whole tile beside it.
  if (!near) return formula + "sum of max(0, 1 - |i - floor(n / 2)| / tile) over i < n, / n";
  const std::string odd = "1 - (n^2 - 1) / (4 * n * tile)", even = "1 - n / (4 * tile)";
  if (odd_width == odd_height) return formula + (odd_width ? odd : even);
  return formula + odd + " for odd n, else " + even;
}

Geometry geometry(const Problem& p, const Tuning& tuning) {
  const Sides mask = first_part(p.mask);
  const auto [columns, rows] = output_tile(p, tuning);
  Geometry g;
  g.block_columns = g.in_columns = g.out_columns = columns;
  g.block_rows = g.in_rows = g.out_rows = rows;
  g.loading_threads = g.computing_threads = columns * rows;
  g.lead_x = p.lead_x() - mask.width / 2;
  g.lead_y = p.lead_y() - mask.height / 2;
  g.shared_bytes = kMostThreads * size_of(p.depth);
  with_side(mask, is_default_tile({columns, rows}), [&](auto side) {
    if (side()) g.shared_bytes = g.loading_threads * size_of(p.depth);
  });
  const double taps = double(columns) * rows * mask.width * mask.height;
  const double kept = double(taps_kept(columns, mask.width)) * taps_kept(rows, mask.height);
  g.loads = double(columns) * rows + taps - kept;
  g.loads_per_output = formula_of(mask, {columns, rows}, is_line(p));
  g.note =
      "Taps that leave the tile are read from global memory, where the caches are likely to "
      "hold them.";
  return g;
}

std::optional<Counts> block_counts(const Problem& p, const Tuning& tuning,
                                   const BlockPlace& place) {
  const Geometry g = geometry(p, tuning);
  const Sides mask = first_part(p.mask);
  const int left = mask.width / 2, above = mask.height / 2;  // from weight (0, 0) to the tile
  int tile_columns = is_line(p) ? kMostThreads : kSquare;
  with_side(mask, is_default_tile({g.out_columns, g.out_rows}), [&](auto side) {
    if (side()) tile_columns = kTile;
  });
  BlockFormula block(p, g, place);
  using Cell = std::optional<BlockCell>;
  block.read([&](int col, int row) { return BlockCell{col + left, row + above}; });
  block.write_shared(tile_columns, BlockCell::own);
  block.barrier();
  for_each_tap(mask, [&](int i, int j) {
    const auto in_tile = [&](int col, int row) {
      const int tap_col = col + i - left, tap_row = row + j - above;
      const bool inside =
          tap_col >= 0 && tap_col < g.out_columns && tap_row >= 0 && tap_row < g.out_rows;
      return inside ? Cell({tap_col, tap_row}) : Cell();
    };
    block.read_shared(tile_columns, in_tile);
    block.read([&](int col, int row) {
      return in_tile(col, row) ? Cell() : Cell({col + i, row + j});
    });
    block.read_mask(BlockCell::own);
  });
  block.write(BlockCell::own);
  return block.counts();
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const Geometry g = geometry(p, job.tuning);
  const bool known = is_default_tile({g.out_columns, g.out_rows});
  with_types(p.depth, first_part(p.mask), known, [&]<class T, int kSide>() {
    constexpr int kBlock = kSide ? kTile : kSquare;
    auto kernel = cached_kernel<T, kSide, kBlock, kBlock>;
    if constexpr (kSide == 0)
      if (is_line(p)) kernel = cached_kernel<T, 0, 1, kMostThreads>;
    launch(grid_of(g, job.out), block_of(g), stream, kernel, job.input<T>(),
           outputs_of<T, kSide>(job), p.border, job.ghost_cell<T>(), job.mask_part<T>());
  });
}

std::string refuses(const Problem& p, const Tuning& tuning) {
  const std::string reason = tile_refuses(p, tuning);
  return reason.empty() ? direct_refuses(p, tuning) : reason;
}

}  // namespace

extern const Strategy strategy{
    .name = "cached",
    .summary = "tile without halo, halo cells from the caches",
    .family = Family::direct,
    .refuses = refuses,
    .make_plan = direct_plan<run>,
    .geometry = geometry,
    .block_counts = block_counts,
    .settings = {Setting::tile},
};

}  // namespace convfilt::CONVFILT_BACKEND::cached
