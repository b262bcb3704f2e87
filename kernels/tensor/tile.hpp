/// What a block of tensor.cu keeps in shared memory: the samples it needs, and its mask's digits as
/// bands.
#pragma once

#include "kernels/backend/tensor_core.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/tensor/layout.hpp"

namespace convfilt::CONVFILT_BACKEND {

constexpr int kWarps = 4;      // of a block
constexpr int kTileRows = 32;  // outputs
constexpr int kMaxSteps = steps_of(3, kMaxPartSide, 1);

/// Words of a row of the input tile.
constexpr int in_words_of(int steps) {
  return chunks_of(steps) * (kChunk / 4);
}

/// With that many input tiles.
constexpr std::size_t shared_bytes_of(int digits, int steps, int height, int tiles) {
  const int words = tiles * (kTileRows + height - 1) * in_words_of(steps) +
                    height * digits * band_words_of(steps) + height * kMaxPartSide;
  return words * sizeof(std::uint32_t);
}
constexpr std::size_t kMostShared = 48 * 1024;  // that a block has without being asked

/// Input tiles that a block keeps: a second one is loaded while the first is multiplied, where it
/// fits.
constexpr int tiles_kept(int digits, int steps, int height) {
  return shared_bytes_of(digits, steps, height, 2) <= kMostShared ? 2 : 1;
}

/// A sample of interleaved channels.
CONVFILT_DEVICE inline std::uint8_t load_channel(const PlaneView<const std::uint8_t>& in,
                                                 Border border, int channels, int x, int y,
                                                 std::uint8_t ghost) {
  const int column = border_sample(border, x, in.width, channels);
  const int row = border_index(border, y, in.height);
  if (column < 0 || row < 0) {
    count_ghost_cell();
    return ghost;
  }
  return load(in, column, row);
}

/// Loads rows of whole chunks, from first_row of the tile on, whose first sample is (first_x,
/// first_y): as they lie in memory where a chunk lies in the image, or its row is one of the image
/// again beyond the border; sample by sample elsewhere.
template <int kWords, class Tile>
CONVFILT_DEVICE inline void load_chunks(Tile& in_tile, int first_row,
                                        const PlaneView<const std::uint8_t>& in, Border border,
                                        int channels, std::uint8_t ghost, int first_x, int first_y,
                                        int rows) {
  constexpr int kChunks = kWords / (kChunk / 4);
  static_assert(kChunks <= kLaneCount, "a lane copies one chunk of a row");
  const bool aligned =
      in.stride % kChunk == 0 && reinterpret_cast<std::uintptr_t>(in.data) % kChunk == 0;
  // Chunks begin..end-1 of a row lie in the image.
  const int begin = aligned ? min(kChunks, max(0, -first_x) / kChunk) : kChunks;
  const int end = aligned ? max(begin, min(kChunks, (in.width - first_x) / kChunk)) : kChunks;
  CONVFILT_UNROLL(4)
  for (int row = threadIdx.y; row < rows; row += kWarps) {
    const int chunk = threadIdx.x;
    const int y = border_index(border, first_y + row, in.height);
    if (chunk < begin || chunk >= end) continue;
    if (y >= 0) {
      copy16(in, first_x + chunk * kChunk, y, in_tile, first_row + row, chunk * 4);
      continue;
    }
    for (int word = 0; word < 4; ++word) {
      in_tile[first_row + row][chunk * 4 + word] = ghost * 0x01010101u;
    }
    for (int k = 0; k < kChunk; ++k) count_ghost_cell();
  }
  // The words beside them, a word a thread.
  const int before = begin * 4, beside = before + (kChunks - end) * 4;
  const int thread = threadIdx.y * kLaneCount + threadIdx.x;
  CONVFILT_UNROLL(1)
  for (int n = thread; n < rows * beside; n += kWarps * kLaneCount) {
    const int row = n / beside, k = n % beside;
    const int word = k < before ? k : k - before + end * 4;
    std::uint32_t samples = 0;
    CONVFILT_UNROLL(4)
    for (int byte = 0; byte < 4; ++byte) {
      samples |= std::uint32_t(load_channel(in, border, channels, first_x + 4 * word + byte,
                                            first_y + row, ghost))
                 << (8 * byte);
    }
    in_tile[first_row + row][word] = samples;
  }
}

/// Writes the mask's digits as bands: row j's of base 256, from the lowest on, to
/// bands[j * kDigits + digit].
template <int kDigits, int kSteps, class Bands, class Weights>
CONVFILT_DEVICE inline void load_bands(Bands& bands, Weights& weights,
                                       const MaskPart<std::uint8_t>& mask, int channels) {
  const int thread = threadIdx.y * kLaneCount + threadIdx.x;
  // First to shared memory: lanes read constant memory one after another where they read apart.
  for (int k = thread; k < mask.width * mask.height; k += kWarps * kLaneCount) {
    weights[0][k] = mask.weights[k];
  }
  __syncthreads();
  for (int j = threadIdx.y; j < mask.height; j += kWarps) {
    for (int at = threadIdx.x; at < band_words_of(kSteps); at += kLaneCount) {
      std::uint32_t words[kDigits] = {};
      for (int k = 0; k < 4; ++k) {
        const int i = band_column(at, k, mask.dx * channels, mask.width, channels);
        const std::uint32_t weight = i >= 0 ? std::uint32_t(weights[0][j * mask.width + i]) : 0;
        for (int digit = 0; digit < kDigits; ++digit) {
          words[digit] |= (weight >> (8 * digit) & 255) << (8 * k);
        }
      }
      for (int digit = 0; digit < kDigits; ++digit) bands[j * kDigits + digit][at] = words[digit];
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
