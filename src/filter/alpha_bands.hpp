/// Pictures with alpha in bands of rows: whole pixels, premultiplied, no planes taken apart.
#pragma once

#include <functional>
#include <memory>

#include "src/filter/bands.hpp"

namespace convfilt {

/// Filters rows that have pixels which are not opaque, as BandFilter::Worker does. The input is
/// BGRA of f32, premultiplied, in the picture's sample units; the output is the picture's.
class TranslucentRows {
 public:
  virtual ~TranslucentRows() = default;
  virtual void filter(PictureView<const std::byte> in, PictureView<std::byte> out) = 0;
};

/// A filter of BGRA pictures, which are `whole`'s. `colours` filters the same picture without its
/// alpha, and has the output rows for which all rows under the mask are opaque; the rest goes to
/// what `make_translucent` makes, one for each worker.
std::unique_ptr<BandFilter> alpha_bands(
    const Problem& whole, std::unique_ptr<BandFilter> colours,
    std::function<std::unique_ptr<TranslucentRows>()> make_translucent);

}  // namespace convfilt
