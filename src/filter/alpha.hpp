/// Pictures with alpha, taken apart into f32 planes that may be filtered, and put together again.
///
/// A transparent pixel's colour must not bleed into its neighbours: colours are filtered
/// premultiplied, c * a, and divided by the alpha of the result. Planes are one channel of f32:
/// products of 8-bit samples are exact in it, and all strategies of a family give the same f32
/// bytes.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "src/filter/bands.hpp"
#include "src/picture/image.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {

/// Channels that carry colour: 3 of BGRA, else all.
int colour_channels(const Image& image);

/// For each row whether all its pixels are opaque, as in a picture without alpha.
std::vector<bool> opaque_rows(PictureView<const std::byte> picture, Depth depth);

/// For each run of `height` rows whether all of them are opaque.
std::vector<bool> opaque_windows(const std::vector<bool>& rows, int height);

/// For each row of a filter's result whether all rows under the mask are opaque; those outside the
/// picture are the border's, and a ghost cell is opaque.
std::vector<bool> opaque_windows(const Image& image, const Window& window, Border border,
                                 int out_height);

/// Copies those rows of a picture without alpha into one with alpha, where they become opaque.
void put_opaque_rows(const Image& colours, const std::vector<bool>& rows, Image& out);

/// The 3 colours of a BGRA picture, in its own depth.
Image without_alpha(const Image& image, int threads);

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

/// Alpha as a sample, rounded and saturated to 0..opaque; NaN becomes 0.
template <class T>
T to_alpha(float alpha) {
  constexpr double kFull = std::is_same_v<T, float> ? 1 : double(std::numeric_limits<T>::max());
  return alpha > 0 ? to_sample<T>(std::min(double(alpha), kFull)) : T(0);
}

/// A straight pixel from a premultiplied one, to T's range; see store_colour() and store_alpha().
template <class T>
void store_straight(const float* premultiplied, float alpha, double offset, T* out) {
  for (int c = 0; c < 3; ++c)
    out[c] = to_sample<T>(alpha > 0 ? double(premultiplied[c]) / double(alpha) + offset : 0.0);
  out[3] = to_alpha<T>(alpha);
}

}  // namespace convfilt
