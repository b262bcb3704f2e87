/// Samples as coarse.cu reads and writes them, which are floats less a centre. Bit operations stand
/// in for the conversion instructions, each of which takes a GPU as long as eight others.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/backend/launch.hpp"

namespace convfilt::CONVFILT_BACKEND::coarse {

/// `bytes` bytes of samples, as words.
template <std::size_t bytes>
struct alignas(bytes) Words {
  std::uint32_t words[bytes / 4];
};

/// sum + weight * sample. It is fused on a GPU, but not on the CPU, where a fused operation may be
/// a function call.
CONVFILT_DEVICE inline float add_product(float weight, float sample, float sum) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(weight, sample, sum);
#else
  return sum + weight * sample;
#endif
}

inline constexpr float kMagic = 8388608;  // 2^23; the last bits of 2^23 + n are those of n
inline constexpr std::uint32_t kMagicBits = 0x4b000000;

/// Sample k of a word of samples, less the centre. It is exact, since both are integers below 2^16.
template <class T>
CONVFILT_DEVICE inline float centred_of(std::uint32_t word, int k, float centre) {
#ifdef __CUDA_ARCH__
  const std::uint32_t bytes = sizeof(T) == 1 ? 0x7550 + k : 0x7510 + 0x22 * k;
  const std::uint32_t bits = __byte_perm(word, kMagicBits, bytes);
#else
  const std::uint32_t bits = T(word >> (8 * sizeof(T) * k)) | kMagicBits;
#endif
  return std::bit_cast<float>(bits) - (kMagic + centre);
}

/// Four samples as they lie in memory. They are words, because the compiler would take words apart
/// and join them again if they were an array of bytes.
template <class T>
using FourWords = Words<4 * sizeof(T)>;

/// One row as chunks of memory; it must begin at a multiple of their size.
template <class Chunk, class T>
CONVFILT_DEVICE inline PlaneView<const Chunk> row_of(const PlaneView<const T>& in, int y) {
  return {reinterpret_cast<const Chunk*>(in.row(y)), int(in.width * sizeof(T) / sizeof(Chunk)), 1,
          0};
}

/// Four samples as floats, less the centre.
template <class T>
CONVFILT_DEVICE inline void spread(const FourWords<T>& four, float centre, float (&to)[4]) {
  for (int k = 0; k < 4; ++k) {
    if constexpr (std::is_same_v<T, float>) {
      to[k] = std::bit_cast<float>(four.words[k]);
    } else {
      constexpr int kPerWord = 4 / int(sizeof(T));
      to[k] = centred_of<T>(four.words[k / kPerWord], k % kPerWord, centre);
    }
  }
}

/// Loads four weights at once, even where not all are used.
CONVFILT_DEVICE inline Four<float> load_weights(const Four<float>* weights) {
#ifdef __CUDA_ARCH__
  const float4 four = __ldg(reinterpret_cast<const float4*>(weights));
  return {{four.x, four.y, four.z, four.w}};
#else
  return *weights;
#endif
}

/// Threads of a block, where each walks down four columns.
inline constexpr int kWalkThreads = 64;

/// The B-spline's weights for sample t of three successive nodes' cells: [2 d + t], [d + t], [t].
using SplineWeights = Four<float>;

/// Sets sample k of words that were 0.
template <class Words, class T>
CONVFILT_DEVICE inline void set_sample(Words& words, int k, T sample) {
  std::uint32_t& word = words.words[k * sizeof(T) / 4];
  if constexpr (std::is_same_v<T, float>) {
    word = std::bit_cast<std::uint32_t>(sample);
  } else {
    word |= std::uint32_t(sample) << (8 * (k * sizeof(T) % 4));
  }
}

/// Stores four floats at once.
CONVFILT_DEVICE inline void store4(float* to, const float (&four)[4]) {
  *reinterpret_cast<Four<float>*>(to) = {{four[0], four[1], four[2], four[3]}};
}

/// Sums are kept in this unit. For integer depths it makes them 0..1, to which a GPU saturates at
/// no cost.
template <class T>
inline constexpr float kEndRange = std::is_same_v<T, float> ? 1.0f : float(T(-1));

/// A sum in that unit as a sample. It is saturated, and rounded half to even by an addition, since
/// floats near 1.5 * 2^23 have no bits for fractions. A NaN becomes the one NaN of the contract, or
/// 0.
template <class T>
CONVFILT_DEVICE inline T ended(float sum) {
  if constexpr (std::is_same_v<T, float>) {
    T out;
    finish(FloatFinish{}, sum, out);
    return out;
  } else {
#ifdef __CUDA_ARCH__
    const float within = __saturatef(sum);
#else
    const float within = sum > 0 ? (sum < 1 ? sum : 1.0f) : 0.0f;
#endif
    return T(std::bit_cast<std::uint32_t>(add_product(within, kEndRange<T>, 12582912.0f)));
  }
}

/// Ends and stores four pixels of a row from sample x on, except those beyond the end of the row.
template <class T, int channels>
CONVFILT_DEVICE inline void store_ended(const float (&sums)[channels][4], const PlaneView<T>& out,
                                        int x, bool wide) {
  T* const to = out.data + x;
  for (int q = 0; q < channels; ++q) {
    Four<T> four;
    for (int k = 0; k < 4; ++k) {
      const int n = 4 * q + k;
      four.samples[k] = ended<T>(sums[n % channels][n / channels]);
    }
    if (wide) {
      *reinterpret_cast<Four<T>*>(to + 4 * q) = four;
    } else {
      for (int k = 0; k < 4; ++k)
        if (x + 4 * q + k < out.width) to[4 * q + k] = four.samples[k];
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND::coarse
