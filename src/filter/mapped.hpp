/// What surrounds a filter: light instead of samples, luma instead of colours, a part of the
/// picture instead of all, and what becomes of responses below 0.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "src/filter/convolver.hpp"
#include "src/picture/codec.hpp"

namespace convfilt {

/// What becomes of responses below 0 in a picture of whole samples.
enum class Negative {
  clamp,     ///< they are 0
  absolute,  ///< their size is taken
  centred,   ///< half of each response is added to the middle of the range
};

/// Pixels, from the upper left corner of the upright picture.
struct Region {
  int x = 0, y = 0, width = 0, height = 0;
};

struct Mapping {
  bool linear = false;
  bool luma = false;
  Negative negative = Negative::clamp;
  std::optional<Region> region;

  bool is_plain() const { return !linear && !luma && negative == Negative::clamp && !region; }
};

/// A filter of whole pictures. Offsets of masks are multiplied by `unit`, for pictures whose
/// samples were divided so.
using WholeFilter = std::function<Image(const Image& in, Convolver& convolver, double unit)>;

/// What such a filter takes for pictures of a shape.
using NeedsOfWhole = std::function<WholeNeeds(const Shape& in, Convolver& convolver)>;

/// What filter_mapped() takes for pictures of this shape.
WholeNeeds needs_of_mapped(const Shape& in, const Mapping& mapping, bool keeps_lightness,
                           Convolver& convolver, const NeedsOfWhole& filter);

/// The picture through the filter as the mapping wants it. `keeps_lightness` says that the filter's
/// response is like its input, as a sharpened picture's is, so that a response of luma changes the
/// colours; that of edges is a picture of its own, grey. Runs go into the convolver's report, and
/// what is to be told into `note`. Throws UsageError where the picture has alpha and the
/// mapping cannot, or the region lies outside.
Image filter_mapped(const Image& in, const Header& header, const Mapping& mapping,
                    bool keeps_lightness, Convolver& convolver, const WholeFilter& filter,
                    std::string* note);

}  // namespace convfilt
