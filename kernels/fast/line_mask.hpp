/// Masks of rank 1 as separable_walk.cu takes them.
#pragma once

#include <optional>
#include <type_traits>

#include "separable.hpp"

namespace convfilt {

constexpr int kLongestLine = 33;  ///< taps; sums of many more rows would not fit in registers

/// Where fused_kernel is faster with more: on an H200 the walk takes 1.25 copies of floats at 15
/// taps, 2.47 at 31; fused_kernel 1.67 and 2.24.
template <class T>
constexpr int kLongestWalk = std::is_same_v<T, float> ? 33 : kLongestLine;

/// By value.
struct LineMask {
  int dx = 0, dy = 0;  ///< the first tap, in pixels from the output
  FloatFinish finish;
  float row[kLongestLine], column[kLongestLine];
};

/// The mask, if it is a square of odd side. For 16 bits in tiny_samples.hpp's terms, unless its
/// weights are too far apart for that.
std::optional<LineMask> line_mask(const SeparableMask<std::uint16_t>& mask);
std::optional<LineMask> line_mask(const SeparableMask<float>& mask);

}  // namespace convfilt
