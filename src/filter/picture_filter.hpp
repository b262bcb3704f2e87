#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/filter/bands.hpp"
#include "src/filter/convolver.hpp"
#include "src/filter/mapped.hpp"
#include "src/filter/resident.hpp"

namespace convfilt {

/// A filter in its two forms, see Filter.
struct PictureFilter {
  std::function<std::unique_ptr<BandFilter>(const Shape&, Convolver&)> in_bands;
  WholeFilter whole;
  NeedsOfWhole needs;           ///< what `whole` takes
  bool keeps_lightness = true;  ///< see filter_mapped()
  std::string kind;             ///< what it does with its masks: no other filter has this word
  std::vector<Mask> masks;      ///< with the kind, all that decides its bytes
  ResidentWork resident;        ///< the same for pictures that lie on a device
};

/// The mask as a filter.
PictureFilter filter_by(Mask mask);

/// The edges that the masks find, see find_edges().
PictureFilter edges_by(std::vector<Mask> masks);

}  // namespace convfilt
