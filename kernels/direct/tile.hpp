/// Masks of any size: a tile in shared memory, 4 rows of 8 neighbouring outputs a thread.
#pragma once

#include "kernels/contract/float_samples.hpp"
#include "kernels/direct/chunks.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Masks of kChunks * 4 - 3 to kChunks * 4 columns. A block has one channel of the pixels.
template <class T, int kChunks>
__global__ void __launch_bounds__(kTileWarps * 32)
    tile_kernel(PlaneView<const T> in, PlaneView<T> out, PlaneView<SumOf<T>> partial, T ghost,
                Border border, int channels, const MaskPart<T> __grid_constant__ mask) {
  using Sum = SumOf<T>;
  constexpr int kInColumns = tile_in_columns(kChunks);
  __shared__ SharedTile<Sum, kTileRows + kMaxPartSide - 1, kInColumns> in_tile alignas(16);
  __shared__ SharedTile<Sum, kMaxPartSide, kChunks * kChunk> weights alignas(16);

  const int channel = blockIdx.x % channels;
  const int tile_x = blockIdx.x / channels * kTileColumns;  // in pixels
  const int tile_y = blockIdx.y * kTileRows;
  const int pixels = in.width / channels;

  // Load the input tile, and the mask in whole chunks.
  const int first_x = tile_x + mask.dx, first_y = tile_y + mask.dy;
  const int in_rows = kTileRows + mask.height - 1;
  if (first_x >= 0 && first_x + kInColumns <= pixels && first_y >= 0 &&
      first_y + in_rows <= in.height) {
    const int lane_x = (first_x + threadIdx.x) * channels + channel;
    CONVFILT_UNROLL(2)
    for (int row = threadIdx.y; row < in_rows; row += kTileWarps) {
      constexpr int kPasses = (kInColumns + 31) / 32;
      CONVFILT_UNROLL(kPasses)
      for (int pass = 0; pass < kPasses; ++pass) {
        const int col = threadIdx.x + 32 * pass;
        if (col >= kInColumns) continue;
        const int x = lane_x + pass * 32 * channels;
        in_tile[row][col] = sum_of(load(in, x, first_y + row));
      }
    }
  } else {
    for (int row = threadIdx.y; row < in_rows; row += kTileWarps) {
      const int y = border_index(border, first_y + row, in.height);
      CONVFILT_UNROLL(1)
      for (int col = threadIdx.x; col < kInColumns; col += 32) {
        const int x = border_index(border, first_x + col, pixels);
        if (x < 0 || y < 0) count_ghost_cell();
        in_tile[row][col] = sum_of(x < 0 || y < 0 ? ghost : load(in, x * channels + channel, y));
      }
    }
  }
  for (int j = threadIdx.y; j < mask.height; j += kTileWarps) {
    const int i = threadIdx.x;
    if (i < kChunks * kChunk) weights[j][i] = i < mask.width ? mask.weight(i, j) : Sum(0);
  }
  __syncthreads();

  // Compute, a row of samples after the other.
  const int col = threadIdx.x % kLanesAcross * kThreadColumns;
  const int row = (threadIdx.y * (32 / kLanesAcross) + threadIdx.x / kLanesAcross) * kThreadRows;
  const int x = tile_x + col, y = tile_y + row, width = out.width / channels;
  if (x >= width || y >= out.height) return;
  ThreadSums<Sum> sums = {};
  if (!mask.first) {
    CONVFILT_UNROLL(kThreadRows)
    for (int r = 0; r < kThreadRows; ++r) {
      CONVFILT_UNROLL(kThreadColumns)
      for (int n = 0; n < kThreadColumns; ++n) {
        if (x + n >= width || y + r >= out.height) continue;
        sums[r][n] = begin_sum(mask, partial, (x + n) * channels + channel, y + r);
      }
    }
  }
  CONVFILT_UNROLL(1)
  for (int j = 0; j < mask.height + kThreadRows - 1; ++j) {
    if (j >= kThreadRows - 1 && j < mask.height) {
      add_samples<kChunks, false>(in_tile, weights, mask.width, mask.height, row + j, col, j, sums);
    } else {
      add_samples<kChunks, true>(in_tile, weights, mask.width, mask.height, row + j, col, j, sums);
    }
  }

  // Store whole words where the outputs lie beside each other.
  CONVFILT_UNROLL(kThreadRows)
  for (int r = 0; r < kThreadRows; ++r) {
    if (y + r >= out.height) continue;
    if constexpr (std::is_same_v<Sum, float>) {
      constexpr int kOutputs = kIn16<T>;
      if (mask.last && channels == 1 && x + kThreadColumns <= width && out.stride % kOutputs == 0 &&
          reinterpret_cast<std::uintptr_t>(out.data) % sizeof(Bytes16) == 0) {
        CONVFILT_UNROLL(kThreadColumns / kOutputs)
        for (int n = 0; n < kThreadColumns; n += kOutputs) {
          float ends[kOutputs];
          CONVFILT_UNROLL(kOutputs)
          for (int k = 0; k < kOutputs; ++k) ends[k] = sums[r][n + k];
          *reinterpret_cast<Bytes16*>(out.row(y + r) + x + n) = finished<T>(mask.finish, ends);
        }
        continue;
      }
    }
    CONVFILT_UNROLL(kThreadColumns)
    for (int n = 0; n < kThreadColumns; ++n) {
      if (x + n >= width) continue;
      end_sum(mask, partial, out, (x + n) * channels + channel, y + r, sums[r][n]);
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
