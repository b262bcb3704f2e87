/// Tags of a TIFF that tell more than its picture does, as an EXIF block holds them: the shape of a
/// stack, and the place on earth. They stay as long as they are true.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "src/picture/bytes.hpp"

namespace convfilt {

/// Tags of GeoTIFF and GDAL.
constexpr std::uint16_t kPlaceTags[] = {
    33550 /* ModelPixelScale */,     33922 /* ModelTiepoint */,
    34264 /* ModelTransformation */, 34735 /* GeoKeyDirectory */,
    34736 /* GeoDoubleParams */,     34737 /* GeoAsciiParams */,
    42112 /* GDAL_METADATA */,       42113 /* GDAL_NODATA */};
constexpr std::uint16_t kDescriptionTag[] = {270}, kNodataTag[] = {42113};

/// Whether the block's first directory has one of these tags, and the block without them. All else
/// stays where it was, because maker notes count offsets from the start of the block.
bool has_tags(const Bytes& exif, std::span<const std::uint16_t> tags);
Bytes without_tags(const Bytes& exif, std::span<const std::uint16_t> tags);

/// Whether the ImageDescription tells the shape of a stack of pictures, in the words of ImageJ, OME
/// or tifffile.
bool describes_stack(const Bytes& exif);

/// The text that names the sample that stands for no data; empty where there is none.
std::string nodata_of(const Bytes& exif);
/// The block names this sample instead of the one that it names.
Bytes with_nodata(const Bytes& exif, float sample);

/// The block for a result whose first pixel is the picture's at x, y, without statistics of the
/// picture's samples.
Bytes with_moved_place(const Bytes& exif, int x, int y);

}  // namespace convfilt
