/// The shared memory of a block of separable_tensor.cu: how rows of samples get there, how ghost
/// cells are filled in and channels split once the rows have arrived, and how outputs leave.
#pragma once

#include "kernels/backend/tensor_core.hpp"
#include "kernels/contract/bytes.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/ghost_cells.hpp"
#include "kernels/separable_tensor/mask.hpp"

namespace convfilt::CONVFILT_BACKEND::separable_tensor {

using namespace convfilt::separable_tensor;

constexpr int kWarps = 4;  ///< warps of a block
constexpr int kThreads = kWarps * kLaneCount;
constexpr int kThreadsARow = kThreads / kSlice;

/// Words of a row. It has an odd number of chunks, so that lanes that read 8 neighbouring rows read
/// from different banks.
constexpr int row_words(int chunks) {
  return (chunks + 1 - chunks % 2) * 4;
}

/// The constants of a block, for kChannels channels side by side and kSlices slices of taps.
template <int kChannels, int kSlices>
struct Block {
  static constexpr int kAcross = kChannels == 1 ? 2 : 1;        ///< a warp's slices side by side
  static constexpr int kColumnSlices = kAcross * kChannels;     ///< a warp's slices of all channels
  static constexpr int kPixels = kWarps * kAcross * kSlice;     ///< columns of outputs
  static constexpr int kInChunks = kWarps * kAcross + kSlices;  ///< chunks of a channel's row
  static constexpr int kInWords = row_words(kInChunks * kChannels);
  static constexpr int kPlaneWords = kInChunks * 4;
  static constexpr int kOutChunks = kPixels * kChannels / kChunk;
  static constexpr int kOutWords = row_words(kOutChunks);
  /// Slices of rows that are computed between two barriers, which make a turn. Where they are as
  /// many as the slices of row sums that are kept, each slice has a place of its own in the
  /// unrolled code, and none is moved.
  static constexpr int kPerTurn = kChannels == 1 && kSlices <= 3 ? kSlices : 1;
  static constexpr int kTurnRows = kPerTurn * kSlice;
  static constexpr int kAhead = kPerTurn > 1 ? 1 : 2;  ///< turns between load and arrival
  /// Turns whose rows are kept: those being loaded, the one that has arrived, and, where channels
  /// are not split into another tile, the one being computed.
  static constexpr int kStages = kAhead + (kChannels == 1 ? 2 : 1);
};

/// This thread's row of a slice, and the first of its chunks, which are kThreadsARow apart.
struct Share {
  int row, chunk;
};
CONVFILT_DEVICE inline Share own_share() {
  const unsigned thread = threadIdx.y * kLaneCount + threadIdx.x;
  return {int(thread / kThreadsARow), int(thread % kThreadsARow)};
}

/// Where a block's samples come from. A word holds four pixels of one channel.
struct Source {
  PlaneView<const std::uint8_t> in;  ///< channels side by side
  Border border;
  std::uint8_t ghost;
  bool aligned;                  ///< whether whole chunks can be copied
  bool across;                   ///< whether, besides, all chunks of a row are inside
  int first_pixel, first_y;      ///< the block's first sample, at a slice's start
  int pixel_chunks;              ///< slices of pixels that the warps read
  int needed_chunks;             ///< the first of them, which outputs need
  int begin, end;                ///< words begin..end-1 of a row are copied whole from the picture
  int copied_begin, copied_end;  ///< pixels of a row that were copied and may be read from there

  /// Where the thread's first chunk would lie in the picture.
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
  // Three channels are split by whole chunks. The words of a single channel are filled in where
  // they lie, so no sample of such a word may be read meanwhile.
  const int whole = kChannels == 1 ? width / 4 : width / kSlice * 4;
  const int end = aligned ? max(begin, min(needed, whole)) : 0;
  const int copied_end =
      kChannels == 1 || !aligned ? 4 * end : max(4 * begin, min(4 * needed, width));
  const bool across = aligned && first_pixel >= 0 && pixel_chunks * kSlice <= width;
  return {in,           border,        ghost, aligned, across,    first_pixel, first_y,
          pixel_chunks, needed_chunks, begin, end,     4 * begin, copied_end};
}

/// Starts to load a slice of rows, all chunks of which lie in the picture. This thread's first
/// chunk begins at `at`.
template <int kMostChunks, class Tile>
CONVFILT_DEVICE inline void load_whole_slice(Tile& in_tile, int first_row, const Source& source,
                                             int chunks, const Share& share, std::ptrdiff_t at) {
  CONVFILT_UNROLL(kMostChunks)
  for (int k = 0; k < kMostChunks; k += kThreadsARow) {
    if (share.chunk + k >= chunks) break;
    copy16(source.in, at + k * kChunk, in_tile, first_row + share.row, (share.chunk + k) * 4);
  }
}

/// Starts to load any slice of rows into rows first_row.. of the tile. The slice begins `below`
/// rows below the block's first row. Above and below the picture, chunks are copied from the rows
/// that stand in there. Rows without such a row get the border value, and chunks that no output
/// needs become 0.
template <int kChannels, class Tile>
CONVFILT_DEVICE inline void load_slice(Tile& in_tile, int first_row, const Source& source,
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

/// Reads words from (row, word) of the tile on. It takes every 8th row and every fourth word, since
/// the other lanes take those between.
template <class Tile, int kRows, int kColumns>
CONVFILT_DEVICE inline void read_words(Tile& tile, int row, int word,
                                       std::uint32_t (&words)[kRows][kColumns]) {
  CONVFILT_UNROLL(kRows * kColumns)
  for (int k = 0; k < kRows * kColumns; ++k) {
    words[k / kColumns][k % kColumns] = tile[row + k / kColumns * 8][word + k % kColumns * 4];
  }
}

/// The place that pixel n of a row comes from is places[n]. Below kInPicture it is a pixel of the
/// tile's row. From kInPicture on it is pixel places[n] - kInPicture of the picture's row.
/// kGhostCell stands for the border value.
constexpr std::uint32_t kInPicture = 1u << 30, kGhostCell = ~0u;

template <int kChannels, class Places>
CONVFILT_DEVICE inline void find_places(Places& places, const Source& source) {
  const int thread = threadIdx.y * kLaneCount + threadIdx.x;
  for (int n = thread; n < source.needed_chunks * kSlice; n += kThreads) {
    const int pixel =
        border_index(source.border, source.first_pixel + n, source.in.width / kChannels);
    const int in_row = pixel - source.first_pixel;
    const bool copied = in_row >= source.copied_begin && in_row < source.copied_end;
    places[0][n] = pixel < 0 ? kGhostCell : copied ? in_row : pixel + kInPicture;
  }
}

/// The sample at such a place, from row `row` of the tile or from the picture's row y, which is the
/// same row. Where y is negative there is no such row, and the result is the border value.
template <int kChannels, class Tile>
CONVFILT_DEVICE inline std::uint32_t find_sample(Tile& in_tile, int row, const Source& source,
                                                 std::uint32_t place, int channel, int y) {
  if (place < kInPicture) return byte_at(in_tile, row, int(place) * kChannels + channel);
  const int column = place == kGhostCell ? -1 : int(place - kInPicture) * kChannels + channel;
  return load_or_ghost(source.in, column, y, source.ghost);
}

/// Fills in the words of a slice of rows that were not copied whole. Their samples come from those
/// that were copied, in rows from_row.. of a tile, or from the picture. The words of the channels
/// go to planes side by side.
template <int kChannels, int kPlaneWords, class Tile, class Planes, class Places>
CONVFILT_DEVICE inline void fill_ghosts(Tile& in_tile, int from_row, Planes& planes, int to_row,
                                        Places& places, const Source& source, const Share& share,
                                        int below) {
  const int others = source.begin + source.needed_chunks * 4 - source.end;
  const int row = from_row + share.row;
  CONVFILT_UNROLL(1)
  for (int k = share.chunk; k < others; k += kThreadsARow) {
    const int word = k < source.begin ? k : k - source.begin + source.end;
    const Sixteen from = read16(places, 0, 4 * word);
    // All four nearly always are in the tile. This case has its own code, since a warp waits for
    // the slowest of its lanes.
    const bool near =
        (from.samples[0] | from.samples[1] | from.samples[2] | from.samples[3]) < kInPicture;
    CONVFILT_UNROLL(1)
    for (int channel = 0; channel < kChannels; ++channel) {
      std::uint32_t samples[4];
      if (near) {
        CONVFILT_UNROLL(4)
        for (int byte = 0; byte < 4; ++byte) {
          samples[byte] = byte_at(in_tile, row, int(from.samples[byte]) * kChannels + channel);
        }
      } else {
        const int y =
            border_index(source.border, source.first_y + below + share.row, source.in.height);
        CONVFILT_UNROLL(4)
        for (int byte = 0; byte < 4; ++byte) {
          samples[byte] =
              find_sample<kChannels>(in_tile, row, source, from.samples[byte], channel, y);
        }
      }
      planes[to_row + share.row][channel * kPlaneWords + word] =
          pick_bytes(pick_bytes(samples[0], samples[1], 0x0040),
                     pick_bytes(samples[2], samples[3], 0x0040), 0x5410);
    }
  }
}

/// Turns three words, which hold four pixels of three channels, into one word for each channel.
CONVFILT_DEVICE inline void split_three(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c) {
  const std::uint32_t first = pick_bytes(pick_bytes(a, b, 0x0630), c, 0x5210);
  const std::uint32_t second = pick_bytes(pick_bytes(a, b, 0x0741), c, 0x6210);
  c = pick_bytes(pick_bytes(a, b, 0x0052), c, 0x7410);
  a = first;
  b = second;
}

/// Splits rows from_row.. of pixels of three channels into rows to_row.. of three planes side by
/// side. It leaves out the words that fill_ghosts() fills in.
template <int kPlaneWords, class Tile, class Planes>
CONVFILT_DEVICE inline void split_channels(Tile& in_tile, int from_row, Planes& planes, int to_row,
                                           const Source& source, const Share& share) {
  CONVFILT_UNROLL(1)
  for (int chunk = share.chunk; chunk < source.pixel_chunks; chunk += kThreadsARow) {
    if (chunk < source.needed_chunks && (chunk * 4 < source.begin || chunk * 4 >= source.end)) {
      continue;
    }
    std::uint32_t words[12];
    CONVFILT_UNROLL(3)
    for (int k = 0; k < 3; ++k) {
      const Sixteen sixteen = read16(in_tile, from_row + share.row, chunk * 12 + 4 * k);
      for (int word = 0; word < 4; ++word) words[4 * k + word] = sixteen.samples[word];
    }
    CONVFILT_UNROLL(4)
    for (int k = 0; k < 4; ++k) split_three(words[3 * k], words[3 * k + 1], words[3 * k + 2]);
    CONVFILT_UNROLL(3)
    for (int c = 0; c < 3; ++c) {
      write16(planes, to_row + share.row, c * kPlaneWords + chunk * 4,
              {words[c], words[c + 3], words[c + 6], words[c + 9]});
    }
  }
}

/// Turns one word of each of three channels into three words, which hold four pixels.
CONVFILT_DEVICE inline void join_three(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c) {
  const std::uint32_t upper = pick_bytes(a, b, 0x7362), between = pick_bytes(b, c, 0x7351);
  a = pick_bytes(pick_bytes(a, b, 0x5140), c, 0x2410);
  b = pick_bytes(between, upper, 0x5410);
  c = pick_bytes(c, upper, 0x3762);
}

/// Where a thread's outputs go. `at` is the place of its first chunk in the block's first slice of
/// rows. From there the picture has `columns` more columns, and the block has `rows` more rows.
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

/// Stores this thread's row of a slice of outputs. The slice lies `below` rows below the first, and
/// the thread's first chunk goes to `at`.
template <int kChunks, class Tile>
CONVFILT_DEVICE inline void store_slice(Tile& out_tile, int first_row, const Sink& sink,
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

}  // namespace convfilt::CONVFILT_BACKEND::separable_tensor
