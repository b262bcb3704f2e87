/// Changes of an XMP packet.
#pragma once

#include <string>
#include <string_view>

#include "src/picture/metadata.hpp"

namespace convfilt {

/// Takes away the properties that speak of parts behind a picture, which no result has: a gain map
/// (hdrgm), the video of a motion photo (GCamera), the directory of all parts (Container). What is
/// not of a form that the specification gives stays.
void erase_parts(Bytes& xmp);

/// The same for those that tell where a picture was taken, or what place it shows: coordinates,
/// cities, countries.
void erase_places(Bytes& xmp);

/// Takes away the first property of this name, an attribute or an element.
void erase_first(std::string& xml, std::string_view name);

/// A packet of one description, which begins with its attributes.
std::string packet_of(const std::string& description);

/// A packet of what the packet says of authors, owners and licences; empty if it says nothing.
Bytes rights_in_xmp(const Bytes& xmp);

}  // namespace convfilt
