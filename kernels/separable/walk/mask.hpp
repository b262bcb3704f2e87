/// Square masks of rank 1 as walk.cu takes them.
#pragma once

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

/// The mask, if it is a square of odd side. For 16 bits its weights are scaled as
/// denormal_samples.hpp says. There is none where the sizes of weights differ too much for that.
std::optional<SquareMask> square_mask(const SeparableMask<std::uint16_t>& mask);
std::optional<SquareMask> square_mask(const SeparableMask<float>& mask);

}  // namespace convfilt::separable::walk
