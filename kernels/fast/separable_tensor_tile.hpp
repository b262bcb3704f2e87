/// What a block of separable_tensor.cu keeps in shared memory: rows of samples on their way in, a
/// few groups ahead, and rows of outputs on their way out.
#pragma once

#include "any_border.hpp"
#include "bytes.hpp"
#include "device_plan.hpp"
#include "line_groups.hpp"
#include "tensor_core.hpp"

namespace convfilt::CONVFILT_BACKEND {

constexpr int kWarps = 4;  // of a block
constexpr int kLaneCount = 32;
constexpr int kThreads = kWarps * kLaneCount;
constexpr int kChunk = 16;  // bytes that are copied at once, at addresses of whole chunks
constexpr int kThreadsARow = kThreads / kGroup;

/// A row of words that 8 neighbouring rows' lanes read without meeting in a bank: an odd number of
/// chunks.
constexpr int row_words(int chunks) {
  return (chunks + 1 - chunks % 2) * 4;
}

/// Of a block for pictures of so many channels side by side and so many groups of taps.
template <int kChannels, int kGroups>
struct Tile {
  static constexpr int kSide = kChannels == 1 ? 2 : 1;  // blocks of 16 columns of a warp
  static constexpr int kBlocks = kSide * kChannels;
  static constexpr int kPixels = kWarps * kSide * kGroup;     // columns of outputs
  static constexpr int kInChunks = kWarps * kSide + kGroups;  // of one channel
  static constexpr int kInWords = row_words(kInChunks * kChannels);
  static constexpr int kPlaneWords = kInChunks * 4;
  static constexpr int kOutChunks = kPixels * kChannels / kChunk;
  static constexpr int kOutWords = row_words(kOutChunks);
  static constexpr int kStages = kChannels == 1 ? 4 : 3;  // groups of rows that are kept
};

/// Where a block's samples come from.
struct Source {
  PlaneView<const std::uint8_t> in;  ///< channels side by side
  Border border;
  std::uint8_t ghost;
  int first_pixel, first_y;  ///< of the block; a whole group of pixels
  int pixel_chunks;          ///< groups of pixels that the block's warps read
  int needed_chunks;         ///< those that matter: an output needs them
};

/// One sample, wherever it lies.
template <int kChannels>
CONVFILT_DEVICE inline std::uint32_t load_sample(const Source& source, int x, int y) {
  const int pixel = x >= 0 ? x / kChannels : -ceil_div(-x, kChannels);
  const int from = any_index(source.border, pixel, source.in.width / kChannels);
  if (from < 0 || y < 0) {
    count_ghost_cell();
    return source.ghost;
  }
  return load(source.in, from * kChannels + x - pixel * kChannels, y);
}

/// Loads a group of rows, which begins so many rows below the block's first, into rows first_row..
/// of the tile: as they lie in memory where a chunk lies in the image, or its row is one of the
/// image again beyond the border; sample by sample elsewhere; zeros where no output needs them.
template <int kChannels, class Tile>
CONVFILT_DEVICE inline void load_group(Tile& in_tile, int first_row, const Source& source,
                                       int below) {
  const auto& in = source.in;
  const int chunks = source.needed_chunks * kChannels, first_x = source.first_pixel * kChannels;
  const bool aligned =
      in.stride % kChunk == 0 && reinterpret_cast<std::uintptr_t>(in.data) % kChunk == 0;
  // Chunks begin..end-1 of a row lie in the image.
  const int begin = aligned ? min(chunks, max(0, -first_x) / kChunk) : chunks;
  const int end = aligned ? max(begin, min(chunks, (in.width - first_x) / kChunk)) : chunks;
  const int thread = threadIdx.y * kLaneCount + threadIdx.x;
  const int row = thread / kThreadsARow;
  const int y = any_index(source.border, source.first_y + below + row, in.height);
  for (int chunk = thread % kThreadsARow; chunk < source.pixel_chunks * kChannels;
       chunk += kThreadsARow) {
    if (chunk >= begin && chunk < end && y >= 0) {
      copy16(in, first_x + chunk * kChunk, y, in_tile, first_row + row, chunk * 4);
    } else if (chunk >= chunks || (chunk >= begin && chunk < end)) {
      const std::uint32_t ghosts = chunk < chunks ? source.ghost * 0x01010101u : 0;
      write16(in_tile, first_row + row, chunk * 4, {ghosts, ghosts, ghosts, ghosts});
      for (int k = 0; chunk < chunks && k < kChunk; ++k) count_ghost_cell();
    }
  }
  // The words beside them, a word a thread.
  const int before = begin * 4, beside = before + (chunks - end) * 4;
  CONVFILT_UNROLL(1)
  for (int n = thread; n < kGroup * beside; n += kThreads) {
    const int row = n / beside, k = n % beside;
    const int word = k < before ? k : k - before + end * 4;
    const int y = any_index(source.border, source.first_y + below + row, in.height);
    std::uint32_t samples = 0;
    CONVFILT_UNROLL(1)
    for (int byte = 0; byte < 4; ++byte) {
      samples |= load_sample<kChannels>(source, first_x + 4 * word + byte, y) << (8 * byte);
    }
    in_tile[first_row + row][word] = samples;
  }
}

/// Three words of four pixels of three channels to three words of one channel each.
CONVFILT_DEVICE inline void split_three(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c) {
  const std::uint32_t first = pick_bytes(pick_bytes(a, b, 0x0630), c, 0x5210);
  const std::uint32_t second = pick_bytes(pick_bytes(a, b, 0x0741), c, 0x6210);
  c = pick_bytes(pick_bytes(a, b, 0x0052), c, 0x7410);
  a = first;
  b = second;
}

/// And back.
CONVFILT_DEVICE inline void join_three(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c) {
  const std::uint32_t upper = pick_bytes(a, b, 0x7362), between = pick_bytes(b, c, 0x7351);
  a = pick_bytes(pick_bytes(a, b, 0x5140), c, 0x2410);
  b = pick_bytes(between, upper, 0x5410);
  c = pick_bytes(c, upper, 0x3762);
}

/// Rows from_row.. of pixels of three channels to rows to_row.. of three planes side by side.
template <int kPlaneWords, class Tile, class Planes>
CONVFILT_DEVICE inline void split_channels(Tile& in_tile, int from_row, Planes& planes, int to_row,
                                           int pixel_chunks) {
  const int thread = threadIdx.y * kLaneCount + threadIdx.x;
  const int row = thread / kThreadsARow;
  for (int chunk = thread % kThreadsARow; chunk < pixel_chunks; chunk += kThreadsARow) {
    std::uint32_t words[12];
    CONVFILT_UNROLL(3)
    for (int k = 0; k < 3; ++k) {
      const Sixteen sixteen = read16(in_tile, from_row + row, chunk * 12 + 4 * k);
      for (int word = 0; word < 4; ++word) words[4 * k + word] = sixteen.samples[word];
    }
    CONVFILT_UNROLL(4)
    for (int k = 0; k < 4; ++k) split_three(words[3 * k], words[3 * k + 1], words[3 * k + 2]);
    CONVFILT_UNROLL(3)
    for (int c = 0; c < 3; ++c) {
      write16(planes, to_row + row, c * kPlaneWords + chunk * 4,
              {words[c], words[c + 3], words[c + 6], words[c + 9]});
    }
  }
}

/// Stores a group of rows of outputs, whose first sample is (x, y), up to row end_y.
template <int kChunks, class Tile>
CONVFILT_DEVICE inline void store_group(Tile& out_tile, int first_row,
                                        const PlaneView<std::uint8_t>& out, int x, int y,
                                        int end_y) {
  const bool aligned =
      out.stride % kChunk == 0 && reinterpret_cast<std::uintptr_t>(out.data) % kChunk == 0;
  const int thread = threadIdx.y * kLaneCount + threadIdx.x;
  for (int n = thread; n < kGroup * kChunks; n += kThreads) {
    const int row = n / kChunks, chunk = n % kChunks;
    const int at = x + chunk * kChunk;
    if (y + row >= end_y || at >= out.width) continue;
    const Sixteen sixteen = read16(out_tile, first_row + row, chunk * 4);
    std::uint8_t* const to = out.row(y + row) + at;
    if (aligned && at + kChunk <= out.width) {
      *reinterpret_cast<Sixteen*>(to) = sixteen;
      continue;
    }
    CONVFILT_UNROLL(kChunk)
    for (int k = 0; k < kChunk; ++k) {
      if (at + k < out.width) to[k] = std::uint8_t(sixteen.samples[k / 4] >> (k % 4 * 8));
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
