/// What happens to rows of samples of separable_tensor.cu when they have arrived: ghosts are filled
/// in, and channels split.
#pragma once

#include "kernels/contract/bytes.hpp"
#include "kernels/separable_tensor/tile.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Where ghosts come from: pixel n of a row is pixel places[n] of the tile's row, or, less
/// kElsewhere, of the image, or it is kNowhere.
constexpr std::uint32_t kElsewhere = 1u << 30, kNowhere = ~0u;

template <int kChannels, class Places>
CONVFILT_DEVICE inline void find_places(Places& places, const Source& source) {
  const int thread = threadIdx.y * kLaneCount + threadIdx.x;
  for (int n = thread; n < source.needed_chunks * kGroup; n += kThreads) {
    const int pixel =
        border_index(source.border, source.first_pixel + n, source.in.width / kChannels);
    const int in_row = pixel - source.first_pixel;
    const bool copied = in_row >= source.copied_begin && in_row < source.copied_end;
    places[0][n] = pixel < 0 ? kNowhere : copied ? in_row : pixel + kElsewhere;
  }
}

/// Such a sample, of row `row` of the tile, or of the image, that row being row y there.
template <int kChannels, class Tile>
CONVFILT_DEVICE inline std::uint32_t find_sample(Tile& in_tile, int row, const Source& source,
                                                 std::uint32_t place, int channel, int y) {
  if (place < kElsewhere) return byte_at(in_tile, row, int(place) * kChannels + channel);
  if (place != kNowhere && y >= 0) {
    return load(source.in, int(place - kElsewhere) * kChannels + channel, y);
  }
  count_ghost_cell();
  return source.ghost;
}

/// Fills in the words of a group of rows that were not copied whole, from the samples that were and
/// lie in rows from_row.. of a tile, or from the image. The channels' words go to planes side by
/// side.
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
    // Mostly all four are in the tile: a warp waits for the slowest of its lanes.
    const bool near =
        (from.samples[0] | from.samples[1] | from.samples[2] | from.samples[3]) < kElsewhere;
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

/// Three words of four pixels of three channels to three words of one channel each.
CONVFILT_DEVICE inline void split_three(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c) {
  const std::uint32_t first = pick_bytes(pick_bytes(a, b, 0x0630), c, 0x5210);
  const std::uint32_t second = pick_bytes(pick_bytes(a, b, 0x0741), c, 0x6210);
  c = pick_bytes(pick_bytes(a, b, 0x0052), c, 0x7410);
  a = first;
  b = second;
}

/// Rows from_row.. of pixels of three channels, but for ghosts, to rows to_row.. of three planes
/// side by side.
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

}  // namespace convfilt::CONVFILT_BACKEND
