/// Square masks of rank 1 as walk.cu takes them.
///
/// 16-bit samples become floats without a conversion: the bits of n are those of the denormal float
/// n * 2^-149. Weights that are 2^149 times as large make up for it. The row pass takes as much of
/// that factor as its largest weight allows, and the column pass takes the rest, since no weight
/// may exceed the largest float.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "kernels/contract/separable.hpp"

namespace convfilt::separable::walk {

constexpr int kMostSide = 63;  ///< the sums of more rows would not fit in registers

/// The mask as the kernel takes it, by value.
struct SquareMask {
  int side = 0;
  int dx = 0, dy = 0;  ///< the first tap, in pixels from the output
  FloatFinish finish;
  float row[kMostSide] = {}, column[kMostSide] = {};
};

/// The mask, if it is a square of odd side. For 16 bits its weights are scaled for
/// denormal samples. There is none where the sizes of weights differ too much for that.
std::optional<SquareMask> square_mask(const SeparableMask<std::uint16_t>& mask);
std::optional<SquareMask> square_mask(const SeparableMask<float>& mask);

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
