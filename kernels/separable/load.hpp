/// How a block of separable.cu loads a step of rows. Sixteen bytes at a time are copied as they lie
/// in memory, while other rows are computed. At the picture's edges samples are loaded one by one.
/// Bytes and 16-bit samples are then converted to the type of sums.
#pragma once

#include <bit>

#include "kernels/backend/shared_words.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/ghost_cells.hpp"
#include "kernels/separable/layout.hpp"

namespace convfilt::CONVFILT_BACKEND::separable {

using namespace convfilt::separable;

/// The rows of the input, as a block sees them.
template <class T>
struct Source {
  PlaneView<const T> in;
  T ghost;
  Border border;
  int channels;
  bool aligned;  ///< whether rows begin at multiples of sixteen bytes

  static constexpr int kChunk = 16 / int(sizeof(T));  ///< samples

  /// The sample at any x of a row of the picture, or a ghost cell's where y < 0.
  CONVFILT_DEVICE T sample(int x, int y) const {
    // Samples of the picture do without border_sample(), whose division is slow.
    if (x < 0 || x >= in.width) x = border_sample(border, x, in.width, channels);
    return load_or_ghost(in, x, y, ghost);
  }

  /// Loads sixteen bytes from (x, y) on into four words. y is a row of the picture, or negative for
  /// ghost cells.
  CONVFILT_DEVICE void chunk(int x, int y, SharedWords words, int at) const {
    if (aligned && y >= 0 && x >= 0 && x + kChunk <= in.width) return copy16(in, x, y, words, at);
    CONVFILT_UNROLL(1)
    for (int word = 0; word < 4; ++word) {
      std::uint32_t bits = 0;
      CONVFILT_UNROLL(1)
      for (int k = kChunk / 4 - 1; k >= 0; --k) {
        const T one = sample(x + word * (kChunk / 4) + k, y);
        if constexpr (sizeof(T) == 4) {
          bits = std::bit_cast<std::uint32_t>(one);
        } else {
          bits = bits << (8 * sizeof(T)) | one;
        }
      }
      words.set(at + word, bits);
    }
  }
};

/// Chunks begin..end-1 of a block's rows lie between the picture's sides and can be copied. There
/// are none where the rows' addresses are not multiples of sixteen.
struct InsideChunks {
  int begin, end;
};

template <class T>
CONVFILT_DEVICE inline InsideChunks inside_chunks(const Source<T>& source, int x, int chunks) {
  constexpr int kChunk = Source<T>::kChunk;
  if (!source.aligned) return {chunks, chunks};
  const int begin = min(chunks, max(0, -x) / kChunk);
  return {begin, max(begin, min(chunks, (source.in.width - x) / kChunk))};
}

/// Starts to load a step of rows from (x, y) on. They are there after finish_copies() and a
/// barrier, and, where the device copies rows on its own, await() as well.
template <class T>
CONVFILT_DEVICE inline void load_step(const Source<T>& source, const BlockLayout& s, int x, int y,
                                      InsideChunks inside, int slot, SharedWords words) {
  constexpr int kChunk = Source<T>::kChunk;
  const int chunks = s.in_columns / kChunk, rows = s.step_rows();
  const int to = s.loaded + slot * rows * s.loaded_pitch;
  const auto picture_row = [&](int row) {
    return border_index(source.border, y + row, source.in.height);
  };
  const auto load_chunk = [&](int row, int chunk) {
    source.chunk(x + chunk * kChunk, picture_row(row), words,
                 to + row * s.loaded_pitch + chunk * 4);
  };
  int begin = 0, end = 0;  // the chunks begin..end-1 are copied as rows
  if (s.row_copies) {
    begin = inside.begin;
    end = inside.end;
    const int samples = (end - begin) * kChunk;
    // Rows of ghost cells are not copied.
    const int ghosts = source.border == Border::constant
                           ? rows - max(0, min(y + rows, source.in.height) - max(y, 0))
                           : 0;
    // All warps share the rows, since the lanes of one warp start their copies one after the other.
    if (threadIdx.x + threadIdx.y == 0) {
      expect(words, 2 * slot, (rows - ghosts) * samples * int(sizeof(T)));
    }
    const int row = threadIdx.x * s.warps() + threadIdx.y;
    if (samples > 0 && row < rows) {
      const int from = picture_row(row);
      if (from >= 0) {
        copy_row(source.in, x + begin * kChunk, from, samples, words,
                 to + row * s.loaded_pitch + begin * 4, 2 * slot);
      }
    }
    if (ghosts > 0) {
      CONVFILT_UNROLL(1)
      for (int row = threadIdx.y; row < rows; row += s.warps()) {
        if (picture_row(row) >= 0) continue;
        for (int chunk = begin + threadIdx.x; chunk < end; chunk += 32) load_chunk(row, chunk);
      }
    }
    if (ghosts == 0 && samples == s.in_columns) return;
  }
  // The threads share the chunks beside those.
  const int beside = begin + chunks - end;
  CONVFILT_UNROLL(1)
  for (int n = threadIdx.y * 32 + threadIdx.x; n < rows * beside; n += s.warps() * 32) {
    const int row = n / beside, k = n % beside;
    load_chunk(row, k < begin ? k : k - begin + end);
  }
  if (s.row_copies) hand_over();
}

/// Sample k of a word, in the type of sums.
template <class T>
CONVFILT_DEVICE inline SumOf<RowResultOf<T>> sample_of(std::uint32_t word, int k) {
  if constexpr (sizeof(T) == 1) {
    return std::int32_t(word >> (8 * k) & 255);
  } else {
    // The last bits of 2^23 + n are n.
#ifdef __CUDA_ARCH__
    const std::uint32_t bits = __byte_perm(word, 0x4b000000u, k ? 0x7632 : 0x7610);
#else
    const std::uint32_t bits = (word >> (16 * k) & 0xffff) | 0x4b000000u;
#endif
    return std::bit_cast<float>(bits) - 8388608.0f;
  }
}

/// Converts the rows of a step to the type of sums, four samples at a time.
template <class T>
CONVFILT_DEVICE inline void convert_step(const BlockLayout& s, int slot, SharedWords words) {
  using Work = SumOf<RowResultOf<T>>;
  constexpr int kInWord = 4 / int(sizeof(T)), kWords = 4 / kInWord;
  const int fours = s.in_columns / 4, threads = s.warps() * 32;
  // A thread goes on by that many rows and fours. Where that leaves the row, it takes the next one.
  const int down = threads / fours, along = threads % fours;
  int row = (threadIdx.y * 32 + threadIdx.x) / fours;
  int four = (threadIdx.y * 32 + threadIdx.x) % fours;
  const SharedWords loaded = words.from(s.loaded + slot * s.step_rows() * s.loaded_pitch);
  const SharedWords in_rows = words.from(s.in_rows);
  CONVFILT_UNROLL(2)
  while (row < s.step_rows()) {
    std::uint32_t in_words[kWords];
    CONVFILT_UNROLL(kWords)
    for (int k = 0; k < kWords; ++k) {
      in_words[k] = loaded.get<std::uint32_t>(row * s.loaded_pitch + four * kWords + k);
    }
    Four<Work> samples;
    CONVFILT_UNROLL(4)
    for (int k = 0; k < 4; ++k)
      samples.samples[k] = sample_of<T>(in_words[k / kInWord], k % kInWord);
    in_rows.set4(row * s.in_pitch + four * 4, samples);
    four += along;
    row += down;
    if (four >= fours) {
      four -= fours;
      ++row;
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND::separable
