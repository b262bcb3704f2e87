/// What a picture file says beside its pixels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace convfilt {

/// Blocks of bytes in the form in which most formats hold them. An empty block is absent.
struct Metadata {
  using Bytes = std::vector<unsigned char>;

  Bytes icc;   ///< an ICC profile
  Bytes exif;  ///< a TIFF structure, "II*\0..." or "MM\0*...", without JPEG's "Exif\0\0" before it
  Bytes xmp;   ///< a packet of XML in UTF-8
  Bytes iptc;  ///< IIM records, 0x1C..., without the resource block of Photoshop around them

  /// Pixels per inch.
  struct Resolution {
    double x = 0, y = 0;
  };
  std::optional<Resolution> resolution;

  bool empty() const {
    return icc.empty() && exif.empty() && xmp.empty() && iptc.empty() && !resolution;
  }
};

}  // namespace convfilt
