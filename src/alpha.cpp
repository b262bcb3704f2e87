#include "alpha.hpp"

#include "sample_type.hpp"

namespace convfilt {
namespace {

constexpr int kAlpha = 3;  ///< index in BGRA

/// Calls `body(from, to)` with the first samples of each pixel of two pictures of one size.
template <class From, class To, class Body>
void for_pixels(const Image& from, Image& to, Body&& body) {
  const PictureView<const std::byte> source = from.view();
  const PictureView<std::byte> target = to.view();
  for (int y = 0; y < source.height; ++y) {
    const From* s = row_of<From>(source, y);
    To* t = row_of<To>(target, y);
    for (int x = 0; x < source.width; ++x) body(s + x * source.channels, t + x * target.channels);
  }
}

}  // namespace

int colour_channels(const Image& image) {
  return image.has_alpha() ? kAlpha : image.channels();
}

double opaque(Depth depth) {
  return full_range(depth);
}

bool is_opaque(const Image& image) {
  if (!image.has_alpha()) return true;
  bool all = true;
  for_sample_type(image.depth(), [&]<class T>(T) {
    const T full = T(opaque(image.depth()));
    for (int y = 0; all && y < image.height(); ++y) {
      const T* alpha = row_of<T>(image.view(), y) + kAlpha;
      for (int x = 0; x < image.width(); ++x) all &= alpha[x * (kAlpha + 1)] == full;
    }
  });
  return all;
}

Image without_alpha(const Image& image) {
  Image colours(image.width(), image.height(), kAlpha, image.depth());
  for_sample_type(image.depth(), [&]<class T>(T) {
    for_pixels<T, T>(image, colours, [](const T* in, T* out) {
      for (int c = 0; c < kAlpha; ++c) out[c] = in[c];
    });
  });
  return colours;
}

Image with_opaque_alpha(const Image& colours) {
  Image image(colours.width(), colours.height(), kAlpha + 1, colours.depth());
  for_sample_type(colours.depth(), [&]<class T>(T) {
    const T full = T(opaque(colours.depth()));
    for_pixels<T, T>(colours, image, [full](const T* in, T* out) {
      for (int c = 0; c < kAlpha; ++c) out[c] = in[c];
      out[kAlpha] = full;
    });
  });
  return image;
}

Image plane_of(const Image& image, int channel) {
  Image plane(image.width(), image.height(), 1, Depth::f32);
  for_sample_type(image.depth(), [&]<class T>(T) {
    for_pixels<T, float>(image, plane,
                         [channel](const T* in, float* out) { *out = float(in[channel]); });
  });
  return plane;
}

Image premultiplied_plane(const Image& image, int channel) {
  if (!image.has_alpha()) return plane_of(image, channel);
  Image plane(image.width(), image.height(), 1, Depth::f32);
  for_sample_type(image.depth(), [&]<class T>(T) {
    for_pixels<T, float>(image, plane, [channel](const T* in, float* out) {
      *out = float(in[channel]) * float(in[kAlpha]);
    });
  });
  return plane;
}

void store_colour(const Image& premultiplied, const Image& alpha, double offset, int channel,
                  Image& out) {
  const PictureView<const std::byte> alphas = alpha.view();
  for_sample_type(out.depth(), [&]<class T>(T) {
    for (int y = 0; y < out.height(); ++y) {
      const float* colour = row_of<float>(premultiplied.view(), y);
      const float* a = row_of<float>(alphas, y);
      T* to = row_of<T>(out.view(), y) + channel;
      for (int x = 0; x < out.width(); ++x) {
        const double value = a[x] > 0 ? double(colour[x]) / double(a[x]) + offset : 0.0;
        to[x * (kAlpha + 1)] = to_sample<T>(value);
      }
    }
  });
}

void store_alpha(const Image& alpha, Image& out) {
  const double full = opaque(out.depth());
  for_sample_type(out.depth(), [&]<class T>(T) {
    for_pixels<float, T>(alpha, out, [full](const float* in, T* to) {
      // The comparison is written so that NaN becomes 0.
      to[kAlpha] = *in > 0 ? to_sample<T>(std::min(double(*in), full)) : T(0);
    });
  });
}

}  // namespace convfilt
