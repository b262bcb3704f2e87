/// How a block of separable.cu makes floats and integers of the samples that it loaded.
#pragma once

#include <bit>

#include "kernels/backend/launch.hpp"
#include "kernels/backend/shared_words.hpp"
#include "kernels/separable/shape.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Sample k of a word, as a sum's type.
template <class T>
CONVFILT_DEVICE inline SumOf<MidOf<T>> sample_of(std::uint32_t word, int k) {
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

/// Converts the rows of a step to what sums are made of, four samples at a time.
template <class T>
CONVFILT_DEVICE inline void convert_step(const FusedShape& s, int slot, SharedWords words) {
  using Work = SumOf<MidOf<T>>;
  constexpr int kInWord = 4 / int(sizeof(T)), kWords = 4 / kInWord;
  const int fours = s.in_columns / 4, threads = s.warps() * 32;
  // A thread goes on by so many rows and fours, or a row more and so many fours back.
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

}  // namespace convfilt::CONVFILT_BACKEND
