/// What a block of direct_tile.hpp keeps in shared memory, and what a thread adds up from it.
#pragma once

#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {

constexpr int kLanesAcross = 16;  // threads of a warp beside each other; two rows of them
constexpr int kTileWarps = 4;     // of a block, below each other
constexpr int kThreadColumns = 8, kThreadRows = 4;  // outputs of a thread
constexpr int kChunk = 4;  // weights and samples that are read at once: 16 bytes
constexpr int kTileColumns = kLanesAcross * kThreadColumns;  // pixels
constexpr int kTileBlocks = 4;                               // for whose registers an SM has room
constexpr int kTileRows = kTileWarps * 32 / kLanesAcross * kThreadRows;

/// Columns of the input tile for masks of so many chunks.
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

/// A row of samples adds a row of the mask to each row of a thread's outputs: row j of the mask to
/// the first, j - r to the r-th. kGuarded: not all of these are rows of the mask.
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

}  // namespace convfilt::CONVFILT_BACKEND
