// tiled-in: one block per INPUT tile (PMPP 4e, ch. 7.4, 5e, ch. 7.5, first design; ECE408
// strategy 2).
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
//   and tile 16. A block has at most 1024 threads, by default 32 a side, so masks above 17 x 17
//   leave a smaller tile. A mask of one row gets blocks of one row. With --idle rim the threads
//   around the tile are idle, as in some courses: each of the others computes the output over the
//   sample that it loaded.
//   Sibling: tiled-out sizes the block to the OUTPUT tile; every thread there computes,
//   and loads more than once.

#include <algorithm>

#include "kernels/plan/block_counts.hpp"
#include "kernels/textbook/terms.hpp"

namespace convfilt::CONVFILT_BACKEND::tiled_in {
namespace {

/// The threads left of a block's outputs and above them: none, or with --idle rim those of a
/// radius.
struct Idle {
  int columns, rows;
};

template <class T, int kSide, int kCells>
__global__ void __launch_bounds__(kCells)
    tiled_in_kernel(PlaneView<const T> in, Outputs<T, kSide> out, Border border, T ghost, Idle rim,
                    const MaskPart<T> __grid_constant__ mask) {
  __shared__ SharedTile<T, 1, kCells> in_tile;

  const Radius r = radius_of(mask);
  const Sides sides = sides_of<kSide>(mask);
  const Idle idle = kSide ? Idle{0, 0} : rim;
  const int columns = kSide ? kTile + kSide - 1 : int(blockDim.x);  // of the input tile
  const int TILE_WIDTH = columns - (sides.width - 1);               // less 2r
  const int TILE_HEIGHT = kSide ? kTile : int(blockDim.y) - (sides.height - 1);
  const int row = int(threadIdx.y) - idle.rows, col = int(threadIdx.x) - idle.columns;
  const int x = blockIdx.x * TILE_WIDTH + col;  // the output at this thread's place in the tile
  const int y = blockIdx.y * TILE_HEIGHT + row;

  // Load one sample of the input tile. Outside the image it is what the border puts there.
  const int in_x = x + idle.columns - r.x, in_y = y + idle.rows - r.y;
  in_tile[0][(row + idle.rows) * columns + col + idle.columns] =
      contains(in, in_x, in_y) ? load(in, in_x, in_y)
                               : sample_or_ghost(in, in_x, in_y, border, ghost);
  __syncthreads();

  // Compute one output. The threads outside the output tile have none.
  if (col < 0 || row < 0 || col >= TILE_WIDTH || row >= TILE_HEIGHT || !out.has(x, y)) return;
  SumOf<T> sum = out.begin(mask, x, y);
  CONVFILT_UNROLL(turns(kSide))
  for (int j = 0; j < sides.height; ++j) {
    SumOf<T> row_sum = 0;
    CONVFILT_UNROLL(turns(kSide, 4))
    for (int i = 0; i < sides.width; ++i) {
      const T sample = in_tile[0][(row + j) * columns + col + i];
      row_sum = multiply_add(weight_of(mask, j * sides.width + i), sample, row_sum);
    }
    sum += row_sum;
  }
  out.end(mask, x, y, sum);
}

static_assert(kSquare > kMaxPartSide, "the output tile would be empty");

/// The output tile under a mask of these sides, or under a part of one.
TileSides tile_of(const Problem& p, const Tuning& tuning, Sides mask) {
  TileSides tile = output_tile(p, tuning);
  if (tuning[Setting::tile]) return tile;
  tile.columns = std::min(tile.columns, (is_line(p) ? kLine : kSquare) + 1 - mask.width);
  tile.rows = std::min(tile.rows, kSquare + 1 - mask.height);
  return tile;
}

/// The columns of threads left of a block's outputs, and the rows above them, that only load.
Idle idle_of(const Tuning& tuning, Sides mask) {
  return tuning[Setting::idle] == kRim ? Idle{mask.width / 2, mask.height / 2} : Idle{0, 0};
}

/// Whether the compiler knows the tile and which threads are idle; the mask's side aside.
bool is_default(const TileSides& tile, const Tuning& tuning) {
  return is_default_tile(tile) && tuning[Setting::idle] == kLast;
}

/// Which threads only load, in a sentence.
std::string idle_note(const Tuning& tuning, Sides mask) {
  const Idle idle = idle_of(tuning, mask);
  const auto beside = [](int columns, int rows) {
    const std::string both[] = {std::to_string(columns) + (columns == 1 ? " column" : " columns"),
                                std::to_string(rows) + (rows == 1 ? " row" : " rows")};
    return columns == 0 ? both[1] : rows == 0 ? both[0] : both[0] + " and " + both[1];
  };
  return "Threads that only load: the " +
         (idle.columns + idle.rows > 0 ? "first " + beside(idle.columns, idle.rows) + ", and the "
                                       : "") +
         "last " + beside(mask.width - 1 - idle.columns, mask.height - 1 - idle.rows) +
         " of the block.";
}

Geometry geometry_of(const Problem& p, const Tuning& tuning, Sides mask) {
  const TileSides tile = tile_of(p, tuning, mask);
  Geometry g;
  g.out_columns = tile.columns;
  g.out_rows = tile.rows;
  g.block_columns = g.in_columns = tile.columns + mask.width - 1;
  g.block_rows = g.in_rows = tile.rows + mask.height - 1;
  g.loading_threads = g.block_columns * g.block_rows;
  g.computing_threads = g.out_columns * g.out_rows;
  g.lead_x = p.lead_x();
  g.lead_y = p.lead_y();
  g.shared_bytes = kMostThreads * size_of(p.depth);
  with_side(mask, is_default(tile, tuning), [&](auto side) {
    if (side()) g.shared_bytes = g.loading_threads * size_of(p.depth);
  });
  g.loads = g.loading_threads;
  g.loads_per_output = input_tile_formula(p, tile);
  if (g.computing_threads < g.loading_threads) g.note = idle_note(tuning, mask);
  return g;
}

Geometry geometry(const Problem& p, const Tuning& tuning) {
  return geometry_of(p, tuning, first_part(p.mask));
}

std::optional<Counts> block_counts(const Problem& p, const Tuning& tuning,
                                   const BlockPlace& place) {
  const Sides mask = first_part(p.mask);
  const Geometry g = geometry_of(p, tuning, mask);
  const Idle idle = idle_of(tuning, mask);
  BlockFormula block(p, g, place);
  using Cell = std::optional<BlockCell>;
  const auto output = [&](int col, int row) {
    const Cell cell({col - idle.columns, row - idle.rows});
    const bool inside =
        cell->col >= 0 && cell->col < g.out_columns && cell->row >= 0 && cell->row < g.out_rows;
    return inside ? cell : Cell();
  };
  block.read(BlockCell::own);
  block.write_shared(g.in_columns, BlockCell::own);
  block.barrier();
  for_each_tap(mask, [&](int i, int j) {
    block.read_shared(g.in_columns, moved(output, i, j));
    block.read_mask(output);
  });
  block.write(output);
  return block.counts();
}

std::string refuses(const Problem& p, const Tuning& tuning) {
  const TileSides asked = TileSides::of(tuning[Setting::tile]);
  if (is_line(p) && asked.rows != asked.columns) return tile_refuses(p, tuning);
  const Sides mask = largest_part(p.mask);
  const auto rows_beside = [&](int columns) {  // of the largest tile with so many columns
    return is_line(p) ? 1 : kMostThreads / (columns + mask.width - 1) + 1 - mask.height;
  };
  const TileSides tile = tile_of(p, tuning, mask);
  const int columns = tile.columns + mask.width - 1, rows = tile.rows + mask.height - 1;
  if (columns * rows <= kMostThreads) return direct_refuses(p, tuning);
  int largest = kMostThreads + 1 - mask.width;
  while (!is_line(p) && rows_beside(largest) < largest) --largest;
  const int rows_left = columns <= kMostThreads ? rows_beside(tile.columns) : 0;
  return "its block of " + std::to_string(columns) + " x " + std::to_string(rows) +
         " has a thread for each sample of the input tile, but 1024 at most; use --tile " +
         std::to_string(largest) + " or less" +
         (is_line(p) || rows_left < 1
              ? ""
              : ", or --tile " + std::to_string(tile.columns) + "x" + std::to_string(rows_left));
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  with_depth(p.depth, [&]<class T>(TypeTag<T>) {
    const auto& mask = job.mask_part<T>();
    const Sides sides{mask.width, mask.height};
    const Geometry g = geometry_of(p, job.tuning, sides);
    const bool known = is_default({g.out_columns, g.out_rows}, job.tuning);
    with_side(sides, known, [&](auto side) {
      constexpr int kBlock = kTile + side() - 1;
      launch(grid_of(g, job.out), block_of(g), stream, tiled_in_kernel < T, side(),
             side() ? kBlock * kBlock : kMostThreads >, job.input<T>(), outputs_of<T, side()>(job),
             p.border, job.ghost_cell<T>(), idle_of(job.tuning, sides), mask);
    });
  });
}

}  // namespace

extern const Strategy strategy{
    .name = "tiled-in",
    .summary = "one block per input tile; threads without an output only load",
    .family = Family::direct,
    .refuses = refuses,
    .make_plan = direct_plan<run>,
    .geometry = geometry,
    .block_counts = block_counts,
    .settings = {Setting::tile, Setting::idle},
};

}  // namespace convfilt::CONVFILT_BACKEND::tiled_in
