/// Metadata of which a part is left out.
#pragma once

#include "src/picture/metadata.hpp"

namespace convfilt {

enum class Strip {
  none,
  all,             ///< all but what says what the colours are
  gps,             ///< places: coordinates, cities, countries
  all_but_rights,  ///< the same as all, but authors, owners and licences stay
};

Metadata stripped(Metadata metadata, Strip strip);

}  // namespace convfilt
