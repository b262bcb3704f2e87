/// Changes of an XMP packet.
#pragma once

#include "src/picture/metadata.hpp"

namespace convfilt {

/// Takes away the properties that speak of parts behind a picture, which no result has: a gain map
/// (hdrgm), the video of a motion photo (GCamera), the directory of all parts (Container). What is
/// not of a form that the specification gives stays.
void erase_parts(Metadata::Bytes& xmp);

/// The same for those that tell where a picture was taken, or what place it shows: coordinates,
/// cities, countries.
void erase_places(Metadata::Bytes& xmp);

}  // namespace convfilt
