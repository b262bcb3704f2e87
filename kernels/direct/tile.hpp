/// Masks of any size: a block keeps an input tile in shared memory, and each of its threads sums 4
/// rows of 8 neighbouring outputs.
#pragma once

#include "kernels/contract/float_samples.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/ghost_cells.hpp"

namespace convfilt::CONVFILT_BACKEND::direct {

constexpr int kLanesAcross = 16;  // threads of a warp beside each other; a warp has two such rows
constexpr int kTileWarps = 4;     // warps of a block, below each other
constexpr int kThreadColumns = 8, kThreadRows = 4;  // outputs of a thread
constexpr int kChunk = 4;  // weights or samples in one shared-memory read of 16 bytes
constexpr int kTileColumns = kLanesAcross * kThreadColumns;  // pixels
constexpr int kTileRows = kTileWarps * 32 / kLanesAcross * kThreadRows;

/// Columns of the input tile for masks whose rows have that many chunks.
constexpr int tile_in_columns(int chunks) {
  return kTileColumns + chunks * kChunk;
}
constexpr std::size_t tile_shared_bytes(int chunks) {
  return 4 * std::size_t((kTileRows + kMaxPartSide - 1) * tile_in_columns(chunks) +
                         kMaxPartSide * chunks * kChunk);
}
constexpr int kMostChunks = (kMaxPartSide + kChunk - 1) / kChunk;
static_assert(tile_shared_bytes(kMostChunks) <= 48 * 1024,
              "the tile and the weights exceed static shared memory");

template <class Sum>
using ThreadSums = Sum[kThreadRows][kThreadColumns];

/// Adds one row of samples to a thread's sums. The samples meet row j of the mask in the first row
/// of outputs, and row j - r in the r-th row below it. With kGuarded some of these rows lie outside
/// the mask and are left out.
template <int kChunks, bool kGuarded, class Sum, class Tile, class Weights>
CONVFILT_DEVICE inline void add_samples(Tile& in_tile, Weights& weights, int width, int height,
                                        int row, int col, int j, ThreadSums<Sum>& sums) {
  ThreadSums<Sum> row_sums = {};
  Four<Sum> samples[3] = {shared4(in_tile, row, col), shared4(in_tile, row, col + kChunk), {}};
  const auto is_used = [&](int r) { return !kGuarded || (j - r >= 0 && j - r < height); };
  CONVFILT_UNROLL(kChunks)
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    samples[2] = shared4(in_tile, row, col + (chunk + 2) * kChunk);
    CONVFILT_UNROLL(kThreadRows)
    for (int r = 0; r < kThreadRows; ++r) {
      if (!is_used(r)) continue;
      const Four<Sum> taps = shared4(weights, j - r, chunk * kChunk);
      CONVFILT_UNROLL(kChunk)
      for (int t = 0; t < kChunk; ++t) {
        if (t > 0 && chunk == kChunks - 1 && chunk * kChunk + t >= width) break;
        CONVFILT_UNROLL(kThreadColumns)
        for (int n = 0; n < kThreadColumns; ++n) {
          const Sum sample = samples[(t + n) / kChunk].samples[(t + n) % kChunk];
          row_sums[r][n] = multiply_add(taps.samples[t], sample, row_sums[r][n]);
        }
      }
    }
    samples[0] = samples[1];
    samples[1] = samples[2];
  }
  CONVFILT_UNROLL(kThreadRows)
  for (int r = 0; r < kThreadRows; ++r) {
    if (!is_used(r)) continue;
    CONVFILT_UNROLL(kThreadColumns)
    for (int n = 0; n < kThreadColumns; ++n) sums[r][n] += row_sums[r][n];
  }
}

/// Filters with masks of kChunks * 4 - 3 to kChunks * 4 columns. A block computes one channel of
/// its pixels.
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
        const int x =
            border_sample(border, (first_x + col) * channels + channel, in.width, channels);
        in_tile[row][col] = sum_of(load_or_ghost(in, x, y, ghost));
      }
    }
  }
  for (int j = threadIdx.y; j < mask.height; j += kTileWarps) {
    const int i = threadIdx.x;
    if (i < kChunks * kChunk) weights[j][i] = i < mask.width ? mask.weight(i, j) : Sum(0);
  }
  __syncthreads();

  // Compute the sums, one row of samples after the other.
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

  // Store whole words where a thread's outputs lie beside each other in memory.
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

}  // namespace convfilt::CONVFILT_BACKEND::direct
