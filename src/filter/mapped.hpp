/// Filters around filters: light instead of samples, luma instead of colours, a part of the picture
/// instead of all, results of another depth, and what becomes of responses below 0.
#pragma once

#include <optional>
#include <vector>

#include "src/filter/filter.hpp"
#include "src/filter/nodata.hpp"
#include "src/picture/region.hpp"

namespace convfilt {

/// The rule for responses below 0 in a picture of whole samples.
enum class Negative {
  clamp,     ///< they are 0
  absolute,  ///< their size is taken
  centred,   ///< half of each response is added to the middle of the range
};

struct Mapping {
  bool linear = false;
  bool luma = false;
  bool keep_hidden = false;  ///< clear pixels of the result have the picture's colours
  Negative negative = Negative::clamp;
  std::optional<Nodata> nodata{};
  std::vector<Region> regions{};  ///< of the upright picture; none: all of it
  std::optional<Depth> depth{};   ///< of the result; the picture's where there is none
};

/// The filter as the mapping wants it, or itself where the mapping wants nothing. Such filters
/// throw UsageError as they begin where the picture has alpha and luma or negative responses are
/// mapped, or where a region lies outside. The
/// result of another depth is that of the picture in floats from 0 to 1; floats are not held to a
/// range.
FilterPtr mapped(FilterPtr filter, const Mapping& mapping);

}  // namespace convfilt
