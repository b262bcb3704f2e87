// tiled-out: one block per OUTPUT tile (PMPP 4e, ch. 7.4, second design; ECE408 strategy 1).
//
//   The block has as many columns as its output tile, so every thread computes
//   outputs. The input tile is larger by the halo, w - 1 columns and h - 1 rows, so
//   threads load more than once: in sweeps, by regions or in two steps (halo_loads.hpp).
//
//            <-- tile --->
//      +----+-------------+----+
//      |halo| output tile |halo|     loaded once into shared memory,
//      +----+-------------+----+     then read w * h times
//
//   Global reads per output: (tile + w - 1) * (tile + h - 1) / tile^2, e.g. 1.27 at 5x5, tile 32.
//   Sibling: tiled-in sizes the block to the INPUT tile instead; its rim threads
//   load but never compute.

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/textbook/halo_loads.hpp"

namespace convfilt::CONVFILT_BACKEND::tiled_out {
namespace {

constexpr int kTile = 32;  // largest output tile, and the default: one warp per row of outputs
constexpr int kFullTileRows = 8;  // rows of threads of a block with the largest tile
constexpr int kMaxInTile = kTile + kMaxPartSide - 1;
static_assert(kTile % kFullTileRows == 0, "every thread computes the same number of rows");
static_assert(kMaxInTile * kMaxInTile * sizeof(float) <= 48 * 1024,
              "the input tile exceeds static shared memory");

/// A thread computes kOutputs outputs. They are 4 with the full tile, whose side the compiler then
/// knows, and 1 with smaller tiles.
template <class T, Border B, int kOutputs, Halo kHalo>
__global__ void tiled_out_kernel(PlaneView<const T> in, PlaneView<T> out,
                                 PlaneView<SumOf<T>> partial, T ghost,
                                 const MaskPart<T> __grid_constant__ mask) {
  __shared__ SharedTile<T, kMaxInTile, kMaxInTile> in_tile;

  const int tile = kOutputs > 1 ? kTile : int(blockDim.x);
  const int block_rows = tile / kOutputs;
  const int tile_x = blockIdx.x * tile;  // the output tile's top-left sample
  const int tile_y = blockIdx.y * tile;

  // Load the input tile. Ghost cells take the border's value.
  const InTile at{
      tile_x + mask.dx, tile_y + mask.dy, tile + mask.width - 1, tile + mask.height - 1, tile,
      block_rows};
  if constexpr (kHalo == kSweeps) load_in_sweeps<B>(in_tile, at, in, ghost);
  if constexpr (kHalo == kRegions) load_in_regions<B>(in_tile, at, in, ghost);
  if constexpr (kHalo == kTwoStep) load_in_two_steps<B>(in_tile, at, in, ghost);
  __syncthreads();

  // Compute this thread's outputs together. Each weight is then fetched from constant memory once
  // for all of them, which takes 0.55 of the time of one output after the other (15x15, H200).
  const int col = threadIdx.x;
  const int x = tile_x + col;
  SumOf<T> sums[kOutputs] = {};
  for (int k = 0; k < kOutputs; ++k) {
    const int y = tile_y + int(threadIdx.y) + k * block_rows;
    if (x < out.width && y < out.height) sums[k] = begin_sum(mask, partial, x, y);
  }
  for (int j = 0; j < mask.height; ++j) {
    SumOf<T> row_sums[kOutputs] = {};
    for (int i = 0; i < mask.width; ++i) {
      const SumOf<T> weight = mask.weight(i, j);
      for (int k = 0; k < kOutputs; ++k) {
        const int row = threadIdx.y + k * block_rows;
        row_sums[k] = multiply_add(weight, in_tile[row + j][col + i], row_sums[k]);
      }
    }
    for (int k = 0; k < kOutputs; ++k) sums[k] += row_sums[k];
  }
  for (int k = 0; k < kOutputs; ++k) {
    const int y = tile_y + int(threadIdx.y) + k * block_rows;
    if (x < out.width && y < out.height) end_sum(mask, partial, out, x, y, sums[k]);
  }
}

std::string note_of(const Geometry& g, Halo halo) {
  const int threads = g.block_columns * g.block_rows, cells = g.in_columns * g.in_rows;
  const int turns = turns_of(halo, {0, 0, g.in_columns, g.in_rows, g.out_columns, g.block_rows});
  return "Loaded in " + std::to_string(turns) + (turns == 1 ? " turn" : " turns") + " of " +
         std::to_string(threads) + " threads, " + std::to_string(cells * 100 / (turns * threads)) +
         " % of which load then.";
}

Geometry geometry_of(const Problem& p, const Tuning& tuning, Sides mask) {
  const int tile = tuning[Setting::tile] ? tuning[Setting::tile] : kTile;
  Geometry g;
  g.block_columns = g.out_columns = g.out_rows = tile;
  g.block_rows = tile == kTile ? kFullTileRows : tile;
  g.loading_threads = g.computing_threads = g.block_columns * g.block_rows;
  g.in_columns = tile + mask.width - 1;
  g.in_rows = tile + mask.height - 1;
  g.lead_x = p.lead_x();
  g.lead_y = p.lead_y();
  g.shared_bytes = kMaxInTile * kMaxInTile * size_of(p.depth);
  g.loads = double(g.in_columns) * g.in_rows;
  g.loads_per_output = "(tile + w - 1) * (tile + h - 1) / tile^2";
  g.note = note_of(g, Halo(tuning[Setting::halo]));
  return g;
}

Geometry geometry(const Problem& p, const Tuning& tuning) {
  return geometry_of(p, tuning, first_part(p.mask));
}

template <class T, Border B, int kOutputs>
auto kernel_for(int halo) {
  if (halo == kRegions) return tiled_out_kernel<T, B, kOutputs, kRegions>;
  if (halo == kTwoStep) return tiled_out_kernel<T, B, kOutputs, kTwoStep>;
  return tiled_out_kernel<T, B, kOutputs, kSweeps>;
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const Geometry g = geometry(p, job.tuning);
  with_depth(p.depth, [&](auto depth) {
    using T = typename decltype(depth)::type;
    with_border(p.border, [&](auto border) {
      const int halo = job.tuning[Setting::halo];
      const auto kernel = g.out_columns == kTile
                              ? kernel_for<T, border(), kTile / kFullTileRows>(halo)
                              : kernel_for<T, border(), 1>(halo);
      launch(grid_of(g, job.out), block_of(g), stream, kernel, job.input<T>(), job.output<T>(),
             job.sums<T>(), job.ghost_cell<T>(), job.mask_part<T>());
    });
  });
}

constexpr Setting kTiledOutSettings[] = {Setting::halo, Setting::tile};

}  // namespace

extern const Implementation implementation{
    .name = "tiled-out",
    .summary = "one block per output tile; the halo is loaded in sweeps, regions or two steps",
    .family = Family::direct,
    .refuses = direct_refuses,
    .prepare = direct_plan<run>,
    .geometry = geometry,
    .settings = kTiledOutSettings,
};

}  // namespace convfilt::CONVFILT_BACKEND::tiled_out
