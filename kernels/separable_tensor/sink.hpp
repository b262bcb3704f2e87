/// How outputs of separable_tensor.cu leave shared memory.
#pragma once

#include "kernels/contract/bytes.hpp"
#include "kernels/separable_tensor/tile.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Three words of one channel each to three words of four pixels.
CONVFILT_DEVICE inline void join_three(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c) {
  const std::uint32_t upper = pick_bytes(a, b, 0x7362), between = pick_bytes(b, c, 0x7351);
  a = pick_bytes(pick_bytes(a, b, 0x5140), c, 0x2410);
  b = pick_bytes(between, upper, 0x5410);
  c = pick_bytes(c, upper, 0x3762);
}

/// Where a thread's outputs go: from its first chunk in the block's first group of rows on, so many
/// columns and rows.
struct Sink {
  PlaneView<std::uint8_t> out;
  std::ptrdiff_t at;
  int columns, rows;
  bool aligned;  ///< whether whole chunks can be stored
};

template <int kChannels>
CONVFILT_DEVICE inline Sink sink_of(const PlaneView<std::uint8_t>& out, int tile_x, int tile_y,
                                    int end_y, const Share& share) {
  const int x = tile_x * kChannels + share.chunk * kChunk, y = tile_y + share.row;
  const bool aligned =
      out.stride % kChunk == 0 && reinterpret_cast<std::uintptr_t>(out.data) % kChunk == 0;
  return {out, y * out.stride + x, out.width - x, end_y - y, aligned};
}

/// Stores this thread's row of a group of rows of outputs, so many rows below the first group; `at`
/// is where its first chunk goes.
template <int kChunks, class Tile>
CONVFILT_DEVICE inline void store_group(Tile& out_tile, int first_row, const Sink& sink,
                                        const Share& share, int below, std::ptrdiff_t at) {
  if (below >= sink.rows) return;
  CONVFILT_UNROLL(kChunks)
  for (int k = 0; k < kChunks; k += kThreadsARow) {
    const int left = sink.columns - k * kChunk;
    if (share.chunk + k >= kChunks || left <= 0) break;
    const Sixteen sixteen = read16(out_tile, first_row + share.row, (share.chunk + k) * 4);
    std::uint8_t* const to = sink.out.data + at + k * kChunk;
    if (sink.aligned && left >= kChunk) {
      *reinterpret_cast<Sixteen*>(to) = sixteen;
      continue;
    }
    CONVFILT_UNROLL(4)
    for (int word = 0; word < 4; ++word) {
      CONVFILT_UNROLL(1)
      for (int byte = 0; byte < 4; ++byte) {
        const int n = 4 * word + byte;
        if (n < left) to[n] = std::uint8_t(sixteen.samples[word] >> (8 * byte));
      }
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
