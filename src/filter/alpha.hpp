/// Pictures with alpha, taken apart into f32 planes that may be filtered, and put together again.
///
/// A transparent pixel's colour must not bleed into its neighbours: colours are filtered
/// premultiplied, c * a, and divided by the alpha of the result. Planes are one channel of f32:
/// products of 8-bit samples are exact in it, and all strategies of a family give the same f32
/// bytes.
#pragma once

#include "src/picture/image.hpp"

namespace convfilt {

/// Channels that carry colour: 3 of BGRA, else all.
int colour_channels(const Image& image);

/// Whether every pixel is opaque, as in a picture without alpha.
bool is_opaque(const Image& image);

/// The 3 colours of a BGRA picture, in its own depth.
Image without_alpha(const Image& image, int threads);

/// BGR made BGRA, opaque everywhere.
Image with_opaque_alpha(const Image& colours, int threads);

/// plane = channel `channel` as f32, in the picture's sample units. `plane` is 1 channel of f32 and
/// of the picture's size; so are all planes here.
void take_plane(const Image& image, int channel, int threads, Image& plane);

/// take_plane(), times alpha where the picture has it. A ghost cell of an opaque colour V is then
/// V * opaque(depth).
void take_premultiplied(const Image& image, int channel, int threads, Image& plane);

/// A plane for pictures of this size, not initialised.
Image plane_like(const Image& image);

/// A plane of the size of `like` whose pixel (0, 0) is pixel (x, y) of `plane`; what lies outside
/// it is `fill`.
Image moved(const Image& plane, int x, int y, const Image& like, float fill);

/// The largest alpha: 255, 65535 or 1.
double opaque(Depth depth);

/// out's channel = premultiplied / alpha + offset, to the depth of `out`; 0 where alpha is not
/// above 0. The alpha plane is not saturated, since the quotient is right only with the filtered
/// alpha itself.
void store_colour(const Image& premultiplied, const Image& alpha, double offset, int channel,
                  int threads, Image& out);

/// out's alpha channel = the plane, rounded and saturated to 0..opaque.
void store_alpha(const Image& alpha, int threads, Image& out);

}  // namespace convfilt
