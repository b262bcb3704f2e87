/// How a block of separable.cu loads a step of rows: sixteen bytes at a time as they lie in memory,
/// on their way while others are computed; sample by sample at the picture's edges.
#pragma once

#include "device_plan.hpp"
#include "fused_shape.hpp"
#include "shared_words.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// border_index() of a border that only the launch knows: it costs time at the picture's edges
/// alone, and there would be five times as many kernels.
CONVFILT_DEVICE inline int index_by(Border border, int i, int n) {
  if (i >= 0 && i < n) return i;
  switch (border) {
    case Border::constant: return border_index<Border::constant>(i, n);
    case Border::reflect: return border_index<Border::reflect>(i, n);
    case Border::reflect101: return border_index<Border::reflect101>(i, n);
    case Border::wrap: return border_index<Border::wrap>(i, n);
    case Border::replicate: break;
  }
  return border_index<Border::replicate>(i, n);
}

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
    const int pixel = floor_div(x, channels);
    const int inside = index_by(border, pixel, in.width / channels);
    if (inside < 0 || y < 0) {
      count_ghost_cell();
      return ghost;
    }
    return load(in, x + (inside - pixel) * channels, y);
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

 private:
  CONVFILT_DEVICE static int floor_div(int x, int n) {
    return n == 1 ? x : (x - floor_modulo(x, n)) / n;
  }
};

/// Calls f(row, chunk, n) for the chunks of a step's rows that this thread loads; n counts them
/// from 0 on.
template <class F>
CONVFILT_DEVICE inline void for_chunks(const FusedShape& s, int chunks, F f) {
  const int chunks_a_lane = (chunks + 31) / 32;
  int n = 0;
  CONVFILT_UNROLL(1)
  for (int row = threadIdx.y; row < s.step_rows(); row += s.warps()) {
    CONVFILT_UNROLL(1)
    for (int k = 0; k < chunks_a_lane; ++k, ++n) {
      const int chunk = k * 32 + threadIdx.x;
      if (chunk < chunks) f(row, chunk, n);
    }
  }
}

/// Starts to load a step of rows from (x, y) on. Floats go where they are used; others, which are
/// to be converted, to where their thread finds them again.
template <class T>
CONVFILT_DEVICE inline void load_step(const FusedSource<T>& source, const FusedShape& s, int x,
                                      int y, int slot, SharedWords words) {
  constexpr int kChunk = FusedSource<T>::kChunk;
  const int chunks = s.in_columns / kChunk;
  const int thread = threadIdx.y * 32 + threadIdx.x, threads = s.warps() * 32;
  if constexpr (sizeof(T) == 4) {
    const SharedWords to = words.from(s.in_rows + slot * s.step_rows() * s.in_pitch);
    const bool inside = source.aligned && x >= 0 && x + s.in_columns <= source.in.width && y >= 0 &&
                        y + s.step_rows() <= source.in.height;
    if (inside) {
      CONVFILT_UNROLL(2)
      for (int row = threadIdx.y; row < s.step_rows(); row += s.warps()) {
        CONVFILT_UNROLL(1)
        for (int chunk = threadIdx.x; chunk < chunks; chunk += 32) {
          copy16(source.in, x + chunk * kChunk, y + row, to, row * s.in_pitch + chunk * 4);
        }
      }
      return;
    }
    for_chunks(s, chunks, [&](int row, int chunk, int) {
      source.chunk(x + chunk * kChunk, index_by(source.border, y + row, source.in.height), to,
                   row * s.in_pitch + chunk * 4);
    });
  } else {
    const SharedWords to = words.from(s.raw);
    const int rows_a_warp = kFusedRows / s.across, chunks_a_lane = (chunks + 31) / 32;
    for_chunks(s, chunks, [&](int row, int chunk, int n) {
      source.chunk(x + chunk * kChunk, index_by(source.border, y + row, source.in.height), to,
                   ((slot * rows_a_warp * chunks_a_lane + n) * threads + thread) * 4);
    });
  }
}

/// Sample k of a word, as a sum's type.
template <class T>
CONVFILT_DEVICE inline SumOf<MidOf<T>> sample_of(std::uint32_t word, int k) {
  const std::uint32_t bits = word >> (8 * sizeof(T) * k) & ((1u << 8 * sizeof(T)) - 1);
  if constexpr (sizeof(T) == 1) {
    return std::int32_t(bits);
  } else {
    return std::bit_cast<float>(bits | 0x4b000000u) - 8388608.0f;  // the last bits of 2^23 + n are n
  }
}

/// Converts what this thread loaded of a step.
template <class T>
CONVFILT_DEVICE inline void convert_step(const FusedShape& s, int slot, SharedWords words) {
  using Work = SumOf<MidOf<T>>;
  constexpr int kChunk = FusedSource<T>::kChunk, kInWord = 4 / int(sizeof(T));
  const int chunks = s.in_columns / kChunk;
  const int thread = threadIdx.y * 32 + threadIdx.x, threads = s.warps() * 32;
  const int rows_a_warp = kFusedRows / s.across, chunks_a_lane = (chunks + 31) / 32;
  for_chunks(s, chunks, [&](int row, int chunk, int n) {
    const auto four = words.from(s.raw).template get4<std::uint32_t>(
        ((slot * rows_a_warp * chunks_a_lane + n) * threads + thread) * 4);
    const SharedWords to = words.from(s.in_rows);
    CONVFILT_UNROLL(kChunk / 4)
    for (int k = 0; k < kChunk; k += 4) {
      Four<Work> samples;
      CONVFILT_UNROLL(4)
      for (int m = 0; m < 4; ++m) {
        samples.samples[m] = sample_of<T>(four.samples[(k + m) / kInWord], (k + m) % kInWord);
      }
      to.set4(row * s.in_pitch + chunk * kChunk + k, samples);
    }
  });
}

}  // namespace convfilt::CONVFILT_BACKEND
