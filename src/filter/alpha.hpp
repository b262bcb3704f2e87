/// Pictures with alpha.
///
/// A transparent pixel's colour must not bleed into its neighbours: colours are filtered
/// premultiplied, c * a, as f32 and in the picture's sample units, and divided by the alpha of the
/// result. Products of 8-bit samples are exact in it, and all strategies of a family give the same
/// f32 bytes.
#pragma once

#include <memory>

#include "src/filter/filter.hpp"

namespace convfilt {

/// Begins on a picture with alpha. `opaque` is the filter, which gets the picture without alpha for
/// the rows of the result for which all rows under the mask are opaque; the rest goes by the mask,
/// in floats. If that does not filter alpha, it is kept.
std::unique_ptr<Work> with_alpha(const Filter& opaque, const Shape& in, const Mask& mask,
                                 bool filters_alpha, const Place& place);

/// The 3 colours of a BGRA picture.
Image without_alpha(const Image& image, int threads);

}  // namespace convfilt
