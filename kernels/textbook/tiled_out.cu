// tiled-out: one block per OUTPUT tile (PMPP 4e, ch. 7.4, 5e, ch. 7.5, second design; ECE408
// strategy 1).
//
//   The block has one thread per output of its tile, so every thread computes.
//   The input tile is larger by the halo, w - 1 columns and h - 1 rows, so
//   threads load more than once: here in sweeps, each as wide as the block.
//
//       <- r -> <- TILE_WIDTH -> <- r ->
//      +-------+----------------+-------+
//      | halo  |  output tile   | halo  |     loaded once into shared memory,
//      +-------+----------------+-------+     then read w * h times
//
//   Global reads per output: (tile + w - 1) * (tile + h - 1) / tile^2, e.g. 1.27 at 5x5, tile 32.
//   By default each thread computes four outputs of a tile of 32 (coarsened.hpp), for speed.
//   --outputs=1, by default with a tile of 16, and smaller tiles take the kernel below.
//   --halo=regions and two-step load the halo in two other published ways (halo_loads.hpp). A mask
//   of one row gets blocks of one row. Sibling: tiled-in sizes the block to the INPUT tile instead;
//   the threads of its last columns and rows load but never compute.

#include "kernels/plan/block_counts.hpp"
#include "kernels/textbook/coarsened.hpp"
#include "kernels/textbook/terms.hpp"

namespace convfilt::CONVFILT_BACKEND::tiled_out {
namespace {

template <class T, int kSide, int kInRows, int kInColumns>
__global__ void __launch_bounds__(threads_of(kSide), resident_blocks(threads_of(kSide)))
    tiled_out_kernel(PlaneView<const T> in, Outputs<T, kSide> out, Border border, T ghost,
                     const MaskPart<T> __grid_constant__ mask) {
  __shared__ SharedTile<T, kInRows, kInColumns> in_tile;

  const Radius r = radius_of(mask);
  const Sides sides = sides_of<kSide>(mask);
  const int TILE_WIDTH = kSide ? kTile : int(blockDim.x);
  const int TILE_HEIGHT = kSide ? kTile : int(blockDim.y);
  const int tile_x = blockIdx.x * TILE_WIDTH, tile_y = blockIdx.y * TILE_HEIGHT;  // top-left output
  const int in_columns = TILE_WIDTH + sides.width - 1, in_rows = TILE_HEIGHT + sides.height - 1;
  const int in_x = tile_x - r.x, in_y = tile_y - r.y;  // the input tile's top-left sample

  // Load the input tile in sweeps. Outside the image it has what the border puts there.
  const auto load_tile = [&](auto sample_at) {
    CONVFILT_UNROLL(1)
    for (int row = threadIdx.y; row < in_rows; row += TILE_HEIGHT) {
      CONVFILT_UNROLL(1)
      for (int col = threadIdx.x; col < in_columns; col += TILE_WIDTH) {
        in_tile[row][col] = sample_at(col, row);
      }
    }
  };
  if (contains(in, in_x, in_y, {in_columns, in_rows})) {
    load_tile([&](int col, int row) { return load(in, in_x, in_y, col, row); });
  } else {
    load_tile([&](int col, int row) {
      return sample_or_ghost(in, in_x + col, in_y + row, border, ghost);
    });
  }
  __syncthreads();

  // Compute one output.
  const int row = threadIdx.y, col = threadIdx.x, x = tile_x + col, y = tile_y + row;
  if (!out.has(x, y)) return;
  SumOf<T> sum = out.begin(mask, x, y);
  CONVFILT_UNROLL(turns(kSide))
  for (int j = 0; j < sides.height; ++j) {
    SumOf<T> row_sum = 0;
    CONVFILT_UNROLL(turns(kSide, 4))
    for (int i = 0; i < sides.width; ++i) {
      const T sample = in_tile[row + j][col + i];
      row_sum = multiply_add(weight_of(mask, j * sides.width + i), sample, row_sum);
    }
    sum += row_sum;
  }
  out.end(mask, x, y, sum);
}

constexpr int kMaxInTile = kSquare + kMaxPartSide - 1;
constexpr int kMaxInLine = kMostThreads + kMaxPartSide - 1;
static_assert(kMaxInTile * kMaxInTile * sizeof(float) <= 48 * 1024,
              "the input tile exceeds static shared memory");

/// Columns of the input tile in shared memory where the compiler knows the side of the mask. Warps
/// read two rows of 16 cells at a time, which in rows of 48 words lie in different banks.
constexpr int in_columns_of(int side, std::size_t sample_bytes) {
  return sample_bytes == 4 ? 3 * kTile : kTile + side - 1;
}

int outputs_of_thread(const Problem& p, const Tuning& tuning) {
  if (tuning[Setting::outputs]) return tuning[Setting::outputs];
  const TileSides tile = TileSides::of(tuning[Setting::tile]);
  const bool full = tile.columns == 0 || (tile.columns == kSquare && tile.rows == kSquare);
  return full && !is_line(p) ? coarsened::kOutputs : 1;
}

TileSides tile_of(const Problem& p, const Tuning& tuning) {
  return output_tile(p, tuning, outputs_of_thread(p, tuning) > 1 ? kSquare : kTile);
}

/// Whether the compiler knows the tile; the mask's side aside.
bool is_default(const Problem& p, const Tuning& tuning) {
  return is_default_tile(tile_of(p, tuning)) && tuning[Setting::halo] == kSweeps;
}

std::string refuses(const Problem& p, const Tuning& tuning) {
  const TileSides tile = tile_of(p, tuning);
  const int outputs = outputs_of_thread(p, tuning);
  if (const std::string reason = tile_refuses(p, tuning); !reason.empty()) return reason;
  if (outputs != 1 && outputs != coarsened::kOutputs) return "--outputs must be 1 or 4";
  if (outputs > 1 && is_line(p))
    return "a thread computes 4 outputs of one column, and a mask of one row gets blocks of one "
           "row; leave out --outputs";
  if (outputs > 1 && (tile.columns != kSquare || tile.rows != kSquare))
    return "a thread computes 4 outputs only with the full tile of 32 x 32; leave out --tile or "
           "--outputs";
  return direct_refuses(p, tuning);
}

std::string note_of(const Geometry& g, Halo halo) {
  const int threads = g.block_columns * g.block_rows;
  const std::int64_t cells = std::int64_t{g.in_columns} * g.in_rows;
  const int turns =
      turns_of(halo, {0, 0, g.in_columns, g.in_rows, g.out_columns, g.out_rows, g.block_rows});
  return "Loaded in " + std::to_string(turns) + (turns == 1 ? " turn" : " turns") + " of " +
         std::to_string(threads) + " threads, " +
         std::to_string(cells * 100 / (std::int64_t{turns} * threads)) + " % of which load then." +
         " Each thread computes " +
         (g.block_rows < g.out_rows
              ? std::to_string(g.out_rows / g.block_rows) + " outputs of one column."
              : "one output.");
}

Geometry geometry(const Problem& p, const Tuning& tuning) {
  const Sides mask = first_part(p.mask);
  const TileSides tile = tile_of(p, tuning);
  Geometry g;
  g.block_columns = g.out_columns = tile.columns;
  g.out_rows = tile.rows;
  g.block_rows = g.out_rows / outputs_of_thread(p, tuning);
  g.loading_threads = g.computing_threads = g.block_columns * g.block_rows;
  g.in_columns = g.out_columns + mask.width - 1;
  g.in_rows = g.out_rows + mask.height - 1;
  g.lead_x = p.lead_x();
  g.lead_y = p.lead_y();
  const std::size_t bytes = size_of(p.depth);
  g.shared_bytes = (is_line(p) ? kMaxInLine : kMaxInTile * kMaxInTile) * bytes;
  with_side(mask, is_default(p, tuning), [&](auto side) {
    if (side()) g.shared_bytes = in_columns_of(side(), bytes) * g.in_rows * bytes;
  });
  g.loads = double(g.in_columns) * g.in_rows;
  g.loads_per_output = input_tile_formula(p, tile);
  g.note = note_of(g, Halo(tuning[Setting::halo]));
  return g;
}

/// Calls f(cell_of) for each turn of a block in which it loads cells, see halo_loads.hpp.
template <class F>
void for_each_load(const Geometry& g, Halo halo, F f) {
  using Cell = std::optional<BlockCell>;
  const auto cell = [&](int col, int row) {
    return col >= 0 && col < g.in_columns && row >= 0 && row < g.in_rows ? Cell({col, row})
                                                                         : Cell();
  };
  const int threads = g.block_columns * g.block_rows;
  if (halo == kTwoStep) {
    for (int first = 0; first < g.in_columns * g.in_rows; first += threads)
      f([&](int col, int row) {
        const int number = first + row * g.block_columns + col;
        return cell(number % g.in_columns, number / g.in_columns);
      });
    return;
  }
  // Sweeps begin at the input tile's first cell, and regions at the middle one's neighbours.
  const int left = halo == kSweeps ? 0 : (g.in_columns - g.out_columns + 1) / 2;
  const int above = halo == kSweeps ? 0 : (g.in_rows - g.out_rows + 1) / 2;
  const int before_x = left - ceil_div(left, g.out_columns) * g.out_columns;
  const int before_y = above - ceil_div(above, g.out_rows) * g.out_rows;
  for (int y = before_y; y < g.in_rows; y += g.block_rows)
    for (int x = before_x; x < g.in_columns; x += g.block_columns)
      f([&](int col, int row) { return cell(x + col, y + row); });
}

std::optional<Counts> block_counts(const Problem& p, const Tuning& tuning,
                                   const BlockPlace& place) {
  const Geometry g = geometry(p, tuning);
  int tile_columns = is_line(p) ? kMaxInLine : kMaxInTile;
  with_side(first_part(p.mask), is_default(p, tuning), [&](auto side) {
    if (side()) tile_columns = in_columns_of(side(), size_of(p.depth));
  });
  BlockFormula block(p, g, place);
  for_each_load(g, Halo(tuning[Setting::halo]), [&](auto cell_of) {
    block.read(cell_of);
    block.write_shared(tile_columns, cell_of);
  });
  block.barrier();
  for_each_tap(first_part(p.mask), [&](int i, int j) {
    block.read_mask(BlockCell::own);
    for (int y = 0; y < g.out_rows; y += g.block_rows)
      block.read_shared(tile_columns, [&](int col, int row) {
        return BlockCell{col + i, y + row + j};
      });
  });
  for (int y = 0; y < g.out_rows; y += g.block_rows)
    block.write([&](int col, int row) { return BlockCell{col, y + row}; });
  return block.counts();
}

/// The kernel for a mask whose side it does not know.
template <class T>
auto kernel_for(const Problem& p, const Tuning& tuning) {
  const auto halo = Halo(tuning[Setting::halo]);
  if (outputs_of_thread(p, tuning) > 1)
    return coarsened::kernel_for<T, coarsened::kOutputs, kMaxInTile, kMaxInTile>(halo);
  if (is_line(p))
    return halo == kSweeps ? tiled_out_kernel<T, 0, 1, kMaxInLine>
                           : coarsened::kernel_for<T, 1, 1, kMaxInLine>(halo);
  return halo == kSweeps ? tiled_out_kernel<T, 0, kMaxInTile, kMaxInTile>
                         : coarsened::kernel_for<T, 1, kMaxInTile, kMaxInTile>(halo);
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const Geometry g = geometry(p, job.tuning);
  with_types(p.depth, first_part(p.mask), is_default(p, job.tuning), [&]<class T, int kSide>() {
    const auto start = [&](auto kernel) {
      launch(grid_of(g, job.out), block_of(g), stream, kernel, job.input<T>(),
             outputs_of<T, kSide>(job), p.border, job.ghost_cell<T>(), job.mask_part<T>());
    };
    if constexpr (kSide == 0) {
      start(kernel_for<T>(p, job.tuning));
    } else {
      start(tiled_out_kernel<T, kSide, kTile + kSide - 1, in_columns_of(kSide, sizeof(T))>);
    }
  });
}

constexpr Tuning kOneOutput = [] {
  Tuning tuning;
  tuning[Setting::outputs] = 1;
  return tuning;
}();
constexpr Tuning kAlsoCompared[] = {kOneOutput};

}  // namespace

extern const Strategy strategy{
    .name = "tiled-out",
    .summary =
        "one block per output tile, by default four outputs a thread; the halo is loaded in "
        "sweeps, regions or two steps",
    .family = Family::direct,
    .refuses = refuses,
    .make_plan = direct_plan<run>,
    .geometry = geometry,
    .block_counts = block_counts,
    .settings = {Setting::halo, Setting::tile, Setting::outputs},
    .also_compared = kAlsoCompared,
};

}  // namespace convfilt::CONVFILT_BACKEND::tiled_out
