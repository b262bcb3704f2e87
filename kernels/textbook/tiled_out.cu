// tiled-out: one block per OUTPUT tile (PMPP 4e, ch. 7.4, second design; ECE408 strategy 1).
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
//   By default each thread computes four outputs (coarsened.hpp), for speed. --outputs=1 and
//   smaller tiles take the kernel below. --halo=regions and two-step load the halo in two other
//   published ways (halo_loads.hpp). A mask of one row gets blocks of one row.
//   Sibling: tiled-in sizes the block to the INPUT tile instead; the threads of
//   its last columns and rows load but never compute.

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/block_counts.hpp"
#include "kernels/textbook/coarsened.hpp"
#include "kernels/textbook/terms.hpp"

namespace convfilt::CONVFILT_BACKEND::tiled_out {
namespace {

template <class T, Border B, int kInRows, int kInColumns>
__global__ void tiled_out_kernel(PlaneView<const T> in, Outputs<T> out, T ghost,
                                 const MaskPart<T> __grid_constant__ mask) {
  __shared__ SharedTile<T, kInRows, kInColumns> in_tile;

  const Radius r = radius_of(mask);
  const int TILE_WIDTH = blockDim.x, TILE_HEIGHT = blockDim.y;
  const int tile_x = blockIdx.x * TILE_WIDTH;  // the output tile's top-left output
  const int tile_y = blockIdx.y * TILE_HEIGHT;

  // Load the input tile in sweeps. The border says which sample stands in for one outside the
  // image.
  for (int row = threadIdx.y; row < TILE_HEIGHT + mask.height - 1; row += TILE_HEIGHT) {
    for (int col = threadIdx.x; col < TILE_WIDTH + mask.width - 1; col += TILE_WIDTH) {
      const int in_x = border_index<B>(tile_x + col - r.x, in.width);
      const int in_y = border_index<B>(tile_y + row - r.y, in.height);
      in_tile[row][col] = in_x < 0 || in_y < 0 ? ghost_cell(ghost) : load(in, in_x, in_y);
    }
  }
  __syncthreads();

  // Compute one output.
  const int row = threadIdx.y, col = threadIdx.x;
  const int x = tile_x + col, y = tile_y + row;
  if (!out.has(x, y)) return;
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

constexpr int kMaxInTile = kSquare + kMaxPartSide - 1;
constexpr int kMaxInLine = kMostThreads + kMaxPartSide - 1;
static_assert(kMaxInTile * kMaxInTile * sizeof(float) <= 48 * 1024,
              "the input tile exceeds static shared memory");

int tile_of(const Problem& p, const Tuning& tuning) {
  return tuning[Setting::tile] ? tuning[Setting::tile] : is_line(p) ? kLine : kSquare;
}

int outputs_of_thread(const Problem& p, const Tuning& tuning) {
  if (tuning[Setting::outputs]) return tuning[Setting::outputs];
  return tile_of(p, tuning) == kSquare && !is_line(p) ? coarsened::kOutputs : 1;
}

std::string refuses(const Problem& p, const Tuning& tuning) {
  const int tile = tile_of(p, tuning), outputs = outputs_of_thread(p, tuning);
  if (const std::string reason = tile_refuses(p, tile); !reason.empty()) return reason;
  if (outputs != 1 && outputs != coarsened::kOutputs) return "--outputs must be 1 or 4";
  if (outputs > 1 && is_line(p))
    return "a thread computes 4 outputs of one column, and a mask of one row gets blocks of one "
           "row; leave out --outputs";
  if (outputs > 1 && tile != kSquare)
    return "a thread computes 4 outputs only with the full tile of 32 x 32; leave out --tile or "
           "--outputs";
  return direct_refuses(p, tuning);
}

std::string note_of(const Geometry& g, Halo halo) {
  const int threads = g.block_columns * g.block_rows, cells = g.in_columns * g.in_rows;
  const int turns =
      turns_of(halo, {0, 0, g.in_columns, g.in_rows, g.out_columns, g.out_rows, g.block_rows});
  return "Loaded in " + std::to_string(turns) + (turns == 1 ? " turn" : " turns") + " of " +
         std::to_string(threads) + " threads, " + std::to_string(cells * 100 / (turns * threads)) +
         " % of which load then." + " Each thread computes " +
         (g.block_rows < g.out_rows
              ? std::to_string(g.out_rows / g.block_rows) + " outputs of one column."
              : "one output.");
}

Geometry geometry(const Problem& p, const Tuning& tuning) {
  const Sides mask = first_part(p.mask);
  const int tile = tile_of(p, tuning);
  Geometry g;
  g.block_columns = g.out_columns = tile;
  g.out_rows = is_line(p) ? 1 : tile;
  g.block_rows = g.out_rows / outputs_of_thread(p, tuning);
  g.loading_threads = g.computing_threads = g.block_columns * g.block_rows;
  g.in_columns = g.out_columns + mask.width - 1;
  g.in_rows = g.out_rows + mask.height - 1;
  g.lead_x = p.lead_x();
  g.lead_y = p.lead_y();
  g.shared_bytes = (is_line(p) ? kMaxInLine : kMaxInTile * kMaxInTile) * size_of(p.depth);
  g.loads = double(g.in_columns) * g.in_rows;
  g.loads_per_output =
      is_line(p) ? "(tile + w - 1) / tile" : "(tile + w - 1) * (tile + h - 1) / tile^2";
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
  const int tile_columns = is_line(p) ? kMaxInLine : kMaxInTile;
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

template <class T, Border B>
auto kernel_for(const Problem& p, const Tuning& tuning) {
  const auto halo = Halo(tuning[Setting::halo]);
  if (outputs_of_thread(p, tuning) > 1)
    return coarsened::kernel_for<T, B, coarsened::kOutputs, kMaxInTile, kMaxInTile>(halo);
  if (is_line(p))
    return halo == kSweeps ? tiled_out_kernel<T, B, 1, kMaxInLine>
                           : coarsened::kernel_for<T, B, 1, 1, kMaxInLine>(halo);
  return halo == kSweeps ? tiled_out_kernel<T, B, kMaxInTile, kMaxInTile>
                         : coarsened::kernel_for<T, B, 1, kMaxInTile, kMaxInTile>(halo);
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const Geometry g = geometry(p, job.tuning);
  with_depth(p.depth, [&](auto depth) {
    using T = typename decltype(depth)::type;
    with_border(p.border, [&](auto border) {
      launch(grid_of(g, job.out), block_of(g), stream, kernel_for<T, border()>(p, job.tuning),
             job.input<T>(), outputs_of<T>(job), job.ghost_cell<T>(), job.mask_part<T>());
    });
  });
}

constexpr Setting kTiledOutSettings[] = {Setting::halo, Setting::tile, Setting::outputs};

constexpr Tuning kOneOutput = [] {
  Tuning tuning;
  tuning[Setting::outputs] = 1;
  return tuning;
}();
constexpr Tuning kAlsoCompared[] = {kOneOutput};

}  // namespace

extern const Implementation implementation{
    .name = "tiled-out",
    .summary =
        "one block per output tile, by default four outputs a thread; the halo is loaded in "
        "sweeps, regions or two steps",
    .family = Family::direct,
    .refuses = refuses,
    .prepare = direct_plan<run>,
    .geometry = geometry,
    .block_counts = block_counts,
    .settings = kTiledOutSettings,
    .also_compared = kAlsoCompared,
};

}  // namespace convfilt::CONVFILT_BACKEND::tiled_out
