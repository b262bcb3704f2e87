/// What a block of separable_tensor.cu keeps in shared memory, and how rows of samples get there.
#pragma once

#include "kernels/backend/tensor_core.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/separable_tensor/groups.hpp"

namespace convfilt::CONVFILT_BACKEND {

constexpr int kWarps = 4;  // of a block
constexpr int kThreads = kWarps * kLaneCount;
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
  // Groups of rows between two barriers. With as many as are kept of what lies between the passes,
  // every group has its place in the code.
  static constexpr int kPerTurn = kChannels == 1 && kGroups <= 3 ? kGroups : 1;
  static constexpr int kTurnRows = kPerTurn * kGroup;
  static constexpr int kAhead = kPerTurn > 1 ? 1 : 2;  // turns between load and arrival
  // Turns whose rows are kept: those loading, the one arrived, and, where it is not split from it,
  // the one computed.
  static constexpr int kStages = kAhead + (kChannels == 1 ? 2 : 1);
};

/// This thread's row of a group, and the first of its chunks, which are kThreadsARow apart.
struct Share {
  int row, chunk;
};
CONVFILT_DEVICE inline Share own_share() {
  const unsigned thread = threadIdx.y * kLaneCount + threadIdx.x;
  return {int(thread / kThreadsARow), int(thread % kThreadsARow)};
}

/// Where a block's samples come from. Words are of four pixels of one channel.
struct Source {
  PlaneView<const std::uint8_t> in;  ///< channels side by side
  Border border;
  std::uint8_t ghost;
  bool aligned;              ///< whether whole chunks can be copied
  bool across;               ///< and all of a row's lie in the image
  int first_pixel, first_y;  ///< of the block; a whole group of pixels
  int pixel_chunks;          ///< groups of pixels that the block's warps read
  int needed_chunks;         ///< those that matter: an output needs them
  int begin, end;            ///< words begin..end-1 of a row lie in the image and are copied whole
  int copied_begin, copied_end;  ///< pixels of a row that were copied and may be read from there

  /// Where the thread's first chunk would lie in the image.
  template <int kChannels>
  CONVFILT_DEVICE std::ptrdiff_t first_place(const Share& share) const {
    return (first_y + share.row) * in.stride + first_pixel * kChannels + share.chunk * kChunk;
  }

  CONVFILT_DEVICE bool has_ghosts() const { return begin > 0 || end < needed_chunks * 4; }
};

template <int kChannels>
CONVFILT_DEVICE inline Source source_of(const PlaneView<const std::uint8_t>& in, Border border,
                                        std::uint8_t ghost, int first_pixel, int first_y,
                                        int pixel_chunks, int needed_chunks) {
  const bool aligned =
      in.stride % kChunk == 0 && reinterpret_cast<std::uintptr_t>(in.data) % kChunk == 0;
  const int needed = needed_chunks * 4, width = in.width / kChannels - first_pixel;
  const int begin = aligned ? min(needed, max(0, -first_pixel) / 4) : 0;
  // Of three channels whole chunks are split; a single one's words are filled in where they lie, so
  // that the samples of such a word may not be read.
  const int whole = kChannels == 1 ? width / 4 : width / kGroup * 4;
  const int end = aligned ? max(begin, min(needed, whole)) : 0;
  const int copied_end =
      kChannels == 1 || !aligned ? 4 * end : max(4 * begin, min(4 * needed, width));
  const bool across = aligned && first_pixel >= 0 && pixel_chunks * kGroup <= width;
  return {in,           border,        ghost, aligned, across,    first_pixel, first_y,
          pixel_chunks, needed_chunks, begin, end,     4 * begin, copied_end};
}

/// Starts to load a group of rows that lies in the image with all its chunks: `at` is where this
/// thread's first chunk lies.
template <int kMostChunks, class Tile>
CONVFILT_DEVICE inline void load_whole_group(Tile& in_tile, int first_row, const Source& source,
                                             int chunks, const Share& share, std::ptrdiff_t at) {
  CONVFILT_UNROLL(kMostChunks)
  for (int k = 0; k < kMostChunks; k += kThreadsARow) {
    if (share.chunk + k >= chunks) break;
    copy16(source.in, at + k * kChunk, in_tile, first_row + share.row, (share.chunk + k) * 4);
  }
}

/// Starts to load any group of rows, which begins so many rows below the block's first, into rows
/// first_row.. of the tile: chunks of what lies in the image, and of rows that are one of the
/// image again beyond the border; elsewhere the border's value, and zeros that no output needs.
template <int kChannels, class Tile>
CONVFILT_DEVICE inline void load_group(Tile& in_tile, int first_row, const Source& source,
                                       int below, const Share& share) {
  const auto& in = source.in;
  const int first_x = source.first_pixel * kChannels, first_y = source.first_y + below;
  const int chunks = source.pixel_chunks * kChannels;
  const int row = first_row + share.row;
  const int y = border_index(source.border, first_y + share.row, in.height);
  const int needed = source.needed_chunks * kChannels;
  CONVFILT_UNROLL(1)
  for (int chunk = share.chunk; chunk < chunks; chunk += kThreadsARow) {
    const int x = first_x + chunk * kChunk;
    if (chunk < needed && x >= 0 && x < in.width && y >= 0) {
      if (source.aligned) {
        copy16(in, y * in.stride + x, in_tile, row, chunk * 4, min(kChunk, in.width - x));
      }
    } else if (chunk >= needed || y < 0) {
      const std::uint32_t same = chunk < needed ? source.ghost * 0x01010101u : 0;
      write16(in_tile, row, chunk * 4, {same, same, same, same});
    }
  }
}

/// From the tile's row and word on: words of every 8th row, each the first of four, which lanes
/// share.
template <class Tile, int kRows, int kColumns>
CONVFILT_DEVICE inline void read_words(Tile& tile, int row, int word,
                                       std::uint32_t (&words)[kRows][kColumns]) {
  CONVFILT_UNROLL(kRows * kColumns)
  for (int k = 0; k < kRows * kColumns; ++k) {
    words[k / kColumns][k % kColumns] = tile[row + k / kColumns * 8][word + k % kColumns * 4];
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
