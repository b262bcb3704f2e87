/// tiled-out with several outputs a thread (thread coarsening, PMPP 4e, ch. 6.3), and with the
/// other ways to load its halo. The three paragraphs are those of tiled_out.cu.
#pragma once

#include "kernels/textbook/halo_loads.hpp"
#include "kernels/textbook/terms.hpp"

namespace convfilt::CONVFILT_BACKEND::tiled_out::coarsened {

/// The outputs of a thread, one below the other, with tiles of kSquare outputs a side.
inline constexpr int kOutputs = 4;
static_assert(kSquare % kOutputs == 0, "every thread computes the same number of rows");

template <class T, int kOutputs, Halo kHalo, int kInRows, int kInColumns>
__global__ void coarsened_kernel(PlaneView<const T> in, Outputs<T, 0> out, Border border, T ghost,
                                 const MaskPart<T> __grid_constant__ mask) {
  __shared__ SharedTile<T, kInRows, kInColumns> in_tile;

  // With several outputs the compiler knows the tile.
  const int TILE_WIDTH = kOutputs > 1 ? kSquare : int(blockDim.x);
  const int block_rows = kOutputs > 1 ? kSquare / kOutputs : int(blockDim.y);
  const int TILE_HEIGHT = block_rows * kOutputs;
  const Radius r = radius_of(mask);
  const int tile_x = blockIdx.x * TILE_WIDTH;
  const int tile_y = blockIdx.y * TILE_HEIGHT;

  // Load the input tile.
  const InTile at{tile_x - r.x,
                  tile_y - r.y,
                  TILE_WIDTH + mask.width - 1,
                  TILE_HEIGHT + mask.height - 1,
                  TILE_WIDTH,
                  TILE_HEIGHT,
                  block_rows};
  if constexpr (kHalo == kSweeps) load_in_sweeps(in_tile, at, in, border, ghost);
  if constexpr (kHalo == kRegions) load_in_regions(in_tile, at, in, border, ghost);
  if constexpr (kHalo == kTwoStep) load_in_two_steps(in_tile, at, in, border, ghost);
  __syncthreads();

  // Compute this thread's outputs together. Each weight is then fetched from constant memory once
  // for all of them, which takes 0.55 of the time of one output after the other (15x15, H200).
  const int col = threadIdx.x, x = tile_x + col;
  SumOf<T> sums[kOutputs] = {};
  for (int k = 0; k < kOutputs; ++k) {
    const int y = tile_y + int(threadIdx.y) + k * block_rows;
    if (out.has(x, y)) sums[k] = out.begin(mask, x, y);
  }
  for (int j = 0; j < mask.height; ++j) {
    SumOf<T> row_sums[kOutputs] = {};
    for (int i = 0; i < mask.width; ++i) {
      const SumOf<T> weight = weight_of(mask, i, j);
      for (int k = 0; k < kOutputs; ++k) {
        const int row = threadIdx.y + k * block_rows;
        row_sums[k] = multiply_add(weight, in_tile[row + j][col + i], row_sums[k]);
      }
    }
    for (int k = 0; k < kOutputs; ++k) sums[k] += row_sums[k];
  }
  for (int k = 0; k < kOutputs; ++k) {
    const int y = tile_y + int(threadIdx.y) + k * block_rows;
    if (out.has(x, y)) out.end(mask, x, y, sums[k]);
  }
}

/// The kernel with that halo. A thread with one output sweeps in tiled_out.cu.
template <class T, int kOutputs, int kInRows, int kInColumns>
auto kernel_for(Halo halo) {
  if (halo == kRegions) return coarsened_kernel<T, kOutputs, kRegions, kInRows, kInColumns>;
  if constexpr (kOutputs > 1) {
    if (halo == kSweeps) return coarsened_kernel<T, kOutputs, kSweeps, kInRows, kInColumns>;
  }
  return coarsened_kernel<T, kOutputs, kTwoStep, kInRows, kInColumns>;
}

}  // namespace convfilt::CONVFILT_BACKEND::tiled_out::coarsened
