/// Rows as samples of a C++ type, and from a real value back to a sample.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/contract/dispatch.hpp"
#include "kernels/contract/plane_view.hpp"

namespace convfilt {

/// The sample nearest to `value`: integer depths rounded half to even and saturated, f32 as it is.
template <class T>
T to_sample(double value) {
  if constexpr (std::is_same_v<T, float>) {
    return float(value);
  } else {
    // Adding and taking away 1.5 * 2^52 leaves no bits for a fraction: the addition rounds half to
    // even. Unlike std::nearbyint this needs no library call, so loops stay vectorised.
    constexpr double kNoFraction = 6755399441055744.0;
    const double inside = std::clamp(value, 0.0, double(std::numeric_limits<T>::max()));
    return T((inside + kNoFraction) - kNoFraction);
  }
}

/// Row `y` of a picture as samples.
template <class T>
T* row_of(PictureView<std::byte> picture, int y) {
  return reinterpret_cast<T*>(picture.row(y));
}
template <class T>
const T* row_of(PictureView<const std::byte> picture, int y) {
  return reinterpret_cast<const T*>(picture.row(y));
}

}  // namespace convfilt
