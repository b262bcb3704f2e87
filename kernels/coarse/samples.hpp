/// Samples as coarse.cu reads and writes them, which are floats less a centre. Bit operations stand
/// in for the conversion instructions, each of which takes a GPU as long as eight others.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/backend/launch.hpp"
#include "kernels/contract/bytes.hpp"

namespace convfilt::CONVFILT_BACKEND::coarse {

/// `bytes` bytes of samples, as words.
template <std::size_t bytes>
struct alignas(bytes) Words {
  std::uint32_t words[bytes / 4];
};

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
CONVFILT_DEVICE inline void to_floats(const FourWords<T>& four, float centre, float (&to)[4]) {
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

// Sums of integer samples times 16-bit weights are taken by the instructions that multiply bytes.
// They are exact, and no sample is converted to a float.

/// The upper and the lower bytes of four weights.
struct alignas(8) ByteWeights {
  std::uint32_t upper, lower;
};

/// Adds the products of four samples and the four bytes of `weights` to the sum.
template <class T>
CONVFILT_DEVICE inline std::uint32_t add_products(const FourWords<T>& samples,
                                                  std::uint32_t weights, std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 1) return __dp4a(samples.words[0], weights, sum);
  if constexpr (sizeof(T) == 2)
    return __dp2a_hi(samples.words[1], weights, __dp2a_lo(samples.words[0], weights, sum));
#else
  constexpr int kPerWord = 4 / int(sizeof(T));
  for (int k = 0; k < 4; ++k)
    sum += T(samples.words[k / kPerWord] >> (8 * sizeof(T) * (k % kPerWord))) *
           std::uint32_t(std::uint8_t(weights >> (8 * k)));
  return sum;
#endif
}

/// Sorts four pixels of three interleaved channels by channel.
CONVFILT_DEVICE inline void split(const FourWords<std::uint8_t> (&w)[3],
                                  FourWords<std::uint8_t> (&of_channel)[3]) {
  const std::uint32_t a = w[0].words[0], b = w[1].words[0], c = w[2].words[0];
  of_channel[0].words[0] = pick_bytes(pick_bytes(a, b, 0x0630), c, 0x5210);
  of_channel[1].words[0] = pick_bytes(pick_bytes(a, b, 0x0741), c, 0x6210);
  of_channel[2].words[0] = pick_bytes(pick_bytes(a, b, 0x0052), c, 0x7410);
}
CONVFILT_DEVICE inline void split(const FourWords<std::uint16_t> (&w)[3],
                                  FourWords<std::uint16_t> (&of_channel)[3]) {
  const std::uint32_t words[6] = {w[0].words[0], w[0].words[1], w[1].words[0],
                                  w[1].words[1], w[2].words[0], w[2].words[1]};
  for (int half = 0; half < 2; ++half) {
    const std::uint32_t* const three = words + 3 * half;
    of_channel[0].words[half] = pick_bytes(three[0], three[1], 0x7610);
    of_channel[1].words[half] = pick_bytes(three[0], three[2], 0x5432);
    of_channel[2].words[half] = pick_bytes(three[1], three[2], 0x7610);
  }
}

/// The sum of one channel of one row, in two parts: for the upper and for the lower bytes of
/// weights.
struct ByteSums {
  std::uint32_t upper = 0, lower = 0;

  template <class T>
  CONVFILT_DEVICE void add(const FourWords<T>& samples, const ByteWeights& weights) {
    upper = add_products<T>(samples, weights.upper, upper);
    lower = add_products<T>(samples, weights.lower, lower);
  }
  CONVFILT_DEVICE float value() const { return add_product(float(upper), 256, float(lower)); }
};

/// The weights of the B-spline that brings samples onto a grid, as multiples of `unit`, and the sum
/// that samples at the centre would give.
struct ByteLine {
  const ByteWeights* weights;
  float unit, of_centre;
};

}  // namespace convfilt::CONVFILT_BACKEND::coarse
