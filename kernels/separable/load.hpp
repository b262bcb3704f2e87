/// How a block of separable.cu loads a step of rows: sixteen bytes at a time as they lie in memory,
/// on their way while others are computed; sample by sample at the picture's edges.
#pragma once

#include "kernels/backend/shared_words.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/separable/shape.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// The rows of the input, as a block sees them.
template <class T>
struct FusedSource {
  PlaneView<const T> in;
  T ghost;
  Border border;
  int channels;
  bool aligned;  ///< whether chunks of sixteen bytes may be copied

  static constexpr int kChunk = 16 / int(sizeof(T));  ///< samples

  /// A sample anywhere, of a row of the image, or a ghost's where y < 0.
  CONVFILT_DEVICE T sample(int x, int y) const {
    // Divisions are slow: none for the samples beside ghosts.
    if (x < 0 || x >= in.width) x = border_sample(border, x, in.width, channels);
    if (x < 0 || y < 0) {
      count_ghost_cell();
      return ghost;
    }
    return load(in, x, y);
  }

  /// Sixteen bytes from (x, y) on into four words. y is a row of the image, or below 0.
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

/// What of a block's rows lies in the image, in chunks: begin..end-1. None where the rows'
/// addresses are no multiples of sixteen.
struct InsideChunks {
  int begin, end;
};

template <class T>
CONVFILT_DEVICE inline InsideChunks inside_chunks(const FusedSource<T>& source, int x, int chunks) {
  constexpr int kChunk = FusedSource<T>::kChunk;
  if (!source.aligned) return {chunks, chunks};
  const int begin = min(chunks, max(0, -x) / kChunk);
  return {begin, max(begin, min(chunks, (source.in.width - x) / kChunk))};
}

/// Starts to load a step of rows from (x, y) on. They are there after await() where the device
/// copies rows on its own, and in any case after finish_copies() and a barrier.
template <class T>
CONVFILT_DEVICE inline void load_step(const FusedSource<T>& source, const FusedShape& s, int x,
                                      int y, InsideChunks inside, int slot, SharedWords words) {
  constexpr int kChunk = FusedSource<T>::kChunk;
  const int chunks = s.in_columns / kChunk, rows = s.step_rows();
  const int to = s.loaded + slot * rows * s.loaded_pitch;
  const auto image_row = [&](int row) {
    return border_index(source.border, y + row, source.in.height);
  };
  const auto load_chunk = [&](int row, int chunk) {
    source.chunk(x + chunk * kChunk, image_row(row), words, to + row * s.loaded_pitch + chunk * 4);
  };
  int begin = 0, end = 0;  // of the chunks that are copied as rows
  if (s.row_copies) {
    begin = inside.begin;
    end = inside.end;
    const int samples = (end - begin) * kChunk;
    // Rows of ghosts are not copied.
    const int ghosts = source.border == Border::constant
                           ? rows - max(0, min(y + rows, source.in.height) - max(y, 0))
                           : 0;
    // A copy is started by one lane after the other: all warps share them.
    if (threadIdx.x + threadIdx.y == 0) {
      expect(words, 2 * slot, (rows - ghosts) * samples * int(sizeof(T)));
    }
    const int row = threadIdx.x * s.warps() + threadIdx.y;
    if (samples > 0 && row < rows) {
      const int from = image_row(row);
      if (from >= 0) {
        copy_row(source.in, x + begin * kChunk, from, samples, words,
                 to + row * s.loaded_pitch + begin * 4, 2 * slot);
      }
    }
    if (ghosts > 0) {
      CONVFILT_UNROLL(1)
      for (int row = threadIdx.y; row < rows; row += s.warps()) {
        if (image_row(row) >= 0) continue;
        for (int chunk = begin + threadIdx.x; chunk < end; chunk += 32) load_chunk(row, chunk);
      }
    }
    if (ghosts == 0 && samples == s.in_columns) return;
  }
  // The chunks beside them, one a thread.
  const int beside = begin + chunks - end;
  CONVFILT_UNROLL(1)
  for (int n = threadIdx.y * 32 + threadIdx.x; n < rows * beside; n += s.warps() * 32) {
    const int row = n / beside, k = n % beside;
    load_chunk(row, k < begin ? k : k - begin + end);
  }
  if (s.row_copies) hand_over();
}

}  // namespace convfilt::CONVFILT_BACKEND
