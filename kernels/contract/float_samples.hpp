/// Samples as floats and back without the conversion instructions, since a GPU of sm_90 issues
/// eight multiply-adds in the time of one of them. The results are those of finish.hpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/contract/arithmetic.hpp"

namespace convfilt {

/// The number of samples in 16 bytes.
template <class T>
inline constexpr int kIn16 = int(sizeof(Bytes16) / sizeof(T));

/// The n-th sample of `words`.
template <class T>
CONVFILT_HD inline T sample_of(const Bytes16& words, int n) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(words.words[n]);
  } else {
    return T(words.words[n / 2] >> (16 * (n % 2)));
  }
}

/// Neighbouring samples as words.
CONVFILT_HD inline Bytes16 bytes16_of(const float* samples) {
  Bytes16 words;
  for (int k = 0; k < 4; ++k) words.words[k] = std::bit_cast<std::uint32_t>(samples[k]);
  return words;
}
CONVFILT_HD inline Bytes16 bytes16_of(const std::uint16_t* samples) {
  Bytes16 words;
  for (int k = 0; k < 4; ++k)
    words.words[k] = samples[2 * k] | std::uint32_t(samples[2 * k + 1]) << 16;
  return words;
}

/// A sample in the type of sums.
template <class T>
CONVFILT_HD inline SumOf<T> sum_of(T sample) {
  if constexpr (std::is_same_v<T, std::uint16_t>) {
    return std::bit_cast<float>(sample | 0x4b000000u) -
           8388608.0f;  // the last bits of 2^23 + n are those of n
  } else {
    return SumOf<T>(sample);
  }
}

/// Four sums, finished.
template <class T>
requires(std::is_same_v<T, float>) CONVFILT_HD inline Bytes16
    finished(const FloatFinish& f, const float (&sums)[kIn16<T>]) {
  Bytes16 words;
  for (int k = 0; k < 4; ++k) {
#ifdef __CUDA_ARCH__
    // Every NaN that a GPU's multiply-add gives is 0x7fffffff. As an integer it is above the bits
    // of all numbers, and those of negative numbers are below 0.
    const int bits = __float_as_int(multiply_add(sums[k], f.scale, f.offset));
    words.words[k] = std::uint32_t(bits < 0x7fc00000 ? bits : 0x7fc00000);
#else
    float out;
    finish(f, sums[k], out);
    words.words[k] = std::bit_cast<std::uint32_t>(out);
#endif
  }
  return words;
}

/// Eight sums, finished.
template <class T>
requires(std::is_same_v<T, std::uint16_t>) CONVFILT_HD inline Bytes16
    finished(const FloatFinish& f, const float (&sums)[kIn16<T>]) {
  const auto bits = [&](int k) {
    const float value = multiply_add(sums[k], f.scale, f.offset);
    // Floats from 2^23 on have no bits for fractions, so the addition of 1.5 * 2^23 rounds half to
    // even. NaN ends as 0, because fmaxf() takes its other argument.
    return std::bit_cast<std::uint32_t>(fminf(fmaxf(value, 0.0f), 65535.0f) + 12582912.0f);
  };
  Bytes16 words;
  for (int k = 0; k < 4; ++k) words.words[k] = (bits(2 * k) & 0xffff) | bits(2 * k + 1) << 16;
  return words;
}

}  // namespace convfilt
