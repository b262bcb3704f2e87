/// Metadata of a picture file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/picture/bytes.hpp"
#include "src/picture/colour_label.hpp"

namespace convfilt {

/// Blocks of bytes in the form in which most formats hold them. An empty block is absent.
struct Metadata {
  Bytes icc;   ///< an ICC profile
  Bytes exif;  ///< a TIFF structure, "II*\0..." or "MM\0*...", without JPEG's "Exif\0\0" before it
  Bytes xmp;   ///< a packet of XML in UTF-8
  Bytes iptc;  ///< IIM records, 0x1C..., without the resource block of Photoshop around them
  Bytes
      paths;  ///< resources of Photoshop that hold clipping paths, in parts of the picture's sides

  /// Pixels per inch, or, without a unit, numbers whose ratio tells the shape of a pixel.
  struct Resolution {
    double x = 0, y = 0;
    bool has_unit = true;
  };
  std::optional<Resolution> resolution;
  static constexpr double kCentimetresPerInch = 2.54;

  std::vector<Bytes> comments;  ///< of a JPEG, which does not say how their letters are coded

  /// A chunk of a PNG, as it stands there.
  struct Chunk {
    std::string type;
    Bytes data;
  };
  /// What rows hold for a number that the file stores: stored * scale + offset.
  struct Stored {
    double scale = 1, offset = 0;
    bool operator==(const Stored&) const = default;
  };
  Stored stored;

  std::vector<Chunk> text_chunks;  ///< a PNG's texts

  ColourLabel label;

  bool empty() const {
    return icc.empty() && exif.empty() && xmp.empty() && iptc.empty() && paths.empty() &&
           !resolution && comments.empty() && text_chunks.empty() && label.empty();
  }
};

/// An EXIF block as it goes into a result, which stands upright: its orientation says 1, with the
/// resolution turned as the picture was, and the thumbnail, which shows the picture before, is
/// gone. Where a size is given, the entries that tell the picture's size say that one. All else
/// stays where it was, because maker notes count offsets from the start of the block. Empty where
/// `exif` is no TIFF structure.
Bytes exif_of_result(const Bytes& exif, int width = 0, int height = 0);

/// The orientation in an EXIF block, 1 to 8; 1 if it has none or a wrong one.
int exif_orientation(ByteView exif);

/// The resolution of two numbers and a TIFF's unit; nothing where they say none.
std::optional<Metadata::Resolution> resolution_in(std::uint64_t unit, double x, double y);

/// The resolution in an EXIF block.
std::optional<Metadata::Resolution> exif_resolution(const Bytes& exif);

/// The EXIF block with a resolution, for a format that has no other place for it; a new block if
/// `exif` is empty.
Bytes exif_with_resolution(Bytes exif, Metadata::Resolution resolution);

/// Sets the orientation in an XMP packet, if it has one, to 1.
void set_xmp_upright(Bytes& xmp);

/// The IIM records among resources of Photoshop, each four letters, mostly "8BIM", a number, a
/// name, a length and data; name and data are padded to an even length.
Bytes iptc_in(ByteView resources);

/// The resources among them that hold clipping paths or the name of the one that counts.
Bytes paths_in(ByteView resources);

/// The resource of Photoshop that holds IIM records.
Bytes iptc_resource(const Bytes& iptc);

/// The colours that an EXIF block tells beside sRGB: Adobe RGB, by its ColorSpace or as cameras do.
ColourLabel exif_label(const Bytes& exif);

class TiffStructure;
struct TiffDirectory;
class TiffArea;
struct TiffValue;

/// An EXIF block whose first directory has these values; the area holds what they point to.
Bytes exif_of_values(std::vector<TiffValue> values, TiffArea& area);

/// ICC, EXIF, XMP and IPTC of one picture of a TIFF file. A TIFF has no EXIF block: its tags stand
/// among the others, and the block is put together from them.
Metadata metadata_of(const TiffStructure& file, const TiffDirectory& directory);

/// Adds ICC, EXIF, XMP and IPTC to the beginning of a TIFF file, and returns the entries that its
/// first directory needs. EXIF's values can be kept only in the byte order of its block.
std::vector<Bytes> add_metadata(const Metadata& metadata, TiffArea& area);

/// Whether the EXIF block has a byte order, and which: true is least byte first.
std::optional<bool> exif_is_little(const Bytes& exif);

}  // namespace convfilt
