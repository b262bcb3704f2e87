/// Changes of rows and of whole pictures that reading and writing need.
#pragma once

#include "src/picture/image.hpp"

namespace convfilt {

/// Rows of one depth in another, full range to full range: u16 to u8 divides by 257, f32's 0..1
/// becomes 0..255 or 0..65535 and back, rounded to nearest and saturated; NaN becomes 0. Both have
/// the same size and channels.
void convert_depth(PictureView<const std::byte> in, Depth from, PictureView<std::byte> out,
                   Depth to);

/// Whether convert_depth() saturates none of these floats. NaN is beyond every range.
bool is_in_range(PictureView<const std::byte> in, Depth to);

/// Rows without their alpha, laid on white: BGRA to BGR of the same depth.
void flatten_onto_white(PictureView<const std::byte> bgra, Depth depth, PictureView<std::byte> bgr);

/// Grey rows as BGR of the same depth.
void repeat_grey(PictureView<const std::byte> grey, Depth depth, PictureView<std::byte> bgr);

/// Divides colours by alpha, in place: premultiplied to straight. Colours of clear pixels stay.
void unpremultiply(PictureView<std::byte> bgra, Depth depth);

/// The picture, turned and mirrored as EXIF's orientation 1..8 says, so that it stands upright.
Image upright(Image image, int orientation);

/// Whether upright() exchanges width and height.
inline bool turns_sideways(int orientation) {
  return orientation >= 5;
}

}  // namespace convfilt
