/// Convolution with a mask.
#pragma once

#include "kernels/problem.hpp"
#include "src/filter/filter.hpp"

namespace convfilt {

/// Convolves with the mask: offset added, the depth kept. Alpha is filtered with the colours where
/// the mask's gain is 1, and kept where it is not (an edge has no transparency of its own). In rows
/// of the result for which all rows under the mask are opaque, colours get exactly the bytes they
/// get without alpha, and alpha stays opaque. A ghost cell of border constant is opaque.
FilterPtr mask_filter(Mask mask);

/// Whether the mask's gain is 1 but for the rounding of its weights: brightness and alpha are
/// preserved then.
bool has_unit_gain(const Mask& mask);

}  // namespace convfilt
