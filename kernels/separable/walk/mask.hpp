/// Masks of rank 1 as separable_walk.cu takes them.
#pragma once

#include <optional>

#include "kernels/contract/separable.hpp"

namespace convfilt {

constexpr int kLongestLine = 63;  ///< taps; sums of more rows would not fit in registers

/// By value.
struct LineMask {
  int side = 0;
  int dx = 0, dy = 0;  ///< the first tap, in pixels from the output
  FloatFinish finish;
  float row[kLongestLine] = {}, column[kLongestLine] = {};
};

/// The mask, if it is a square of odd side. For 16 bits in tiny_samples.hpp's terms, unless its
/// weights are too far apart for that.
std::optional<LineMask> line_mask(const SeparableMask<std::uint16_t>& mask);
std::optional<LineMask> line_mask(const SeparableMask<float>& mask);

}  // namespace convfilt
