/// 16-bit samples as floats without a conversion: the bits of n are those of the denormal float
/// n * 2^-149. Weights that are 2^149 times as large make up for it. The row pass takes as much of
/// that factor as its largest weight allows, and the column pass takes the rest, since no weight
/// may exceed the largest float.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/contract/finish.hpp"

namespace convfilt::separable::walk {

/// The two samples of a word.
CONVFILT_HD inline void denormal_samples(std::uint32_t word, float& first, float& second) {
  first = std::bit_cast<float>(word & 0xffff);
  second = std::bit_cast<float>(word >> 16);
}

/// Gives what finish() gives. The scale and the offset of `f` must have been multiplied by 2^-16.
CONVFILT_HD inline std::uint32_t denormal_end(const FloatFinish& f, float sum) {
#ifdef __CUDA_ARCH__
  const float value = __saturatef(multiply_add(sum, f.scale, f.offset));
#else
  const float exact = multiply_add(sum, f.scale, f.offset);
  const float value = exact > 0 ? (exact < 1 ? exact : 1.0f) : 0.0f;
#endif
  // Floats from 2^7 on are multiples of 2^-16, so the addition rounds half to even.
  return std::bit_cast<std::uint32_t>(fminf(value, 65535.0f / 65536) + 128.0f);
}

}  // namespace convfilt::separable::walk
