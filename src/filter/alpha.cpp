#include "src/filter/alpha.hpp"

#include <algorithm>
#include <cstddef>

#include "kernels/contract/border.hpp"
#include "src/filter/rows.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

constexpr int kAlpha = 3;  ///< index in BGRA

/// Calls `body(from, to)` with the first samples of each pixel of two pictures of one size.
template <class From, class To, class Body>
void for_pixels(const Image& from, int threads, Image& to, Body&& body) {
  const PictureView<const std::byte> source = from.view();
  const PictureView<std::byte> target = to.view();
  for_rows(from, threads, [&](int y) {
    const From* s = row_of<From>(source, y);
    To* t = row_of<To>(target, y);
    for (int x = 0; x < source.width; ++x) {
      body(s + std::ptrdiff_t(x) * source.channels, t + std::ptrdiff_t(x) * target.channels);
    }
  });
}

}  // namespace

int colour_channels(const Image& image) {
  return image.has_alpha() ? kAlpha : image.channels();
}

double opaque(Depth depth) {
  return full_range(depth);
}

std::vector<bool> opaque_rows(PictureView<const std::byte> picture, Depth depth) {
  std::vector<bool> rows(std::size_t(picture.height), true);
  if (picture.channels <= kAlpha) return rows;
  with_depth(depth, [&]<class T>(TypeTag<T>) {
    const T full = T(opaque(depth));
    for (int y = 0; y < picture.height; ++y) {
      const T* alpha = row_of<T>(picture, y) + kAlpha;
      bool all = true;
      for (int x = 0; x < picture.width; ++x)
        all &= alpha[std::ptrdiff_t(x) * (kAlpha + 1)] == full;
      rows[std::size_t(y)] = all;
    }
  });
  return rows;
}

std::vector<bool> opaque_windows(const std::vector<bool>& rows, int height) {
  std::vector<bool> windows(rows.size() - std::size_t(height) + 1);
  int run = 0;  // opaque rows up to this one
  for (std::size_t y = 0; y < rows.size(); ++y) {
    run = rows[y] ? run + 1 : 0;
    if (y + 1 >= std::size_t(height)) windows[y + 1 - std::size_t(height)] = run >= height;
  }
  return windows;
}

std::vector<bool> opaque_windows(const Image& image, const Window& window, Border border,
                                 int out_height) {
  const std::vector<bool> rows = opaque_rows(image.view(), image.depth());
  std::vector<bool> under(std::size_t(out_height + window.height - 1));
  for (int i = 0; i < int(under.size()); ++i) {
    const int y = border_index(border, i - window.lead_y, image.height());
    under[std::size_t(i)] = y < 0 || rows[std::size_t(y)];
  }
  return opaque_windows(under, window.height);
}

void put_opaque_rows(const Image& colours, const std::vector<bool>& rows, Image& out) {
  with_depth(out.depth(), [&]<class T>(TypeTag<T>) {
    const T full = T(opaque(out.depth()));
    for (int y = 0; y < out.height(); ++y) {
      if (!rows[std::size_t(y)]) continue;
      const T* from = row_of<T>(colours.view(), y);
      T* to = row_of<T>(out.view(), y);
      for (int x = 0; x < out.width(); ++x, from += kAlpha, to += kAlpha + 1) {
        std::copy_n(from, kAlpha, to);
        to[kAlpha] = full;
      }
    }
  });
}

Image without_alpha(const Image& image, int threads) {
  Image colours(image.width(), image.height(), kAlpha, image.depth());
  with_depth(image.depth(), [&]<class T>(TypeTag<T>) {
    for_pixels<T, T>(image, threads, colours, [](const T* in, T* out) {
      for (int c = 0; c < kAlpha; ++c) out[c] = in[c];
    });
  });
  return colours;
}

Image plane_like(const Image& image) {
  return Image(image.width(), image.height(), 1, Depth::f32);
}

Image moved(const Image& plane, int x, int y, const Image& like, float fill) {
  Image out = plane_like(like);
  const int from = std::max(0, -x), to = std::min(out.width(), plane.width() - x);
  for (int row = 0; row < out.height(); ++row) {
    float* target = row_of<float>(out.view(), row);
    std::fill_n(target, out.width(), fill);
    if (row + y < 0 || row + y >= plane.height() || from >= to) continue;
    const float* source = row_of<float>(plane.view(), row + y) + x;
    std::copy(source + from, source + to, target + from);
  }
  return out;
}

void take_plane(const Image& image, int channel, int threads, Image& plane) {
  with_depth(image.depth(), [&]<class T>(TypeTag<T>) {
    for_pixels<T, float>(image, threads, plane,
                         [channel](const T* in, float* out) { *out = float(in[channel]); });
  });
}

void take_premultiplied(const Image& image, int channel, int threads, Image& plane) {
  if (!image.has_alpha()) return take_plane(image, channel, threads, plane);
  with_depth(image.depth(), [&]<class T>(TypeTag<T>) {
    for_pixels<T, float>(image, threads, plane, [channel](const T* in, float* out) {
      *out = float(in[channel]) * float(in[kAlpha]);
    });
  });
}

void store_colour(const Image& premultiplied, const Image& alpha, double offset, int channel,
                  int threads, Image& out) {
  const PictureView<const std::byte> alphas = alpha.view();
  const PictureView<const std::byte> colours = premultiplied.view();
  const PictureView<std::byte> target = out.view();
  with_depth(out.depth(), [&]<class T>(TypeTag<T>) {
    for_rows(alpha, threads, [&](int y) {
      const float* colour = row_of<float>(colours, y);
      const float* a = row_of<float>(alphas, y);
      T* to = row_of<T>(target, y) + channel;
      for (int x = 0; x < target.width; ++x) {
        const double value = a[x] > 0 ? double(colour[x]) / double(a[x]) + offset : 0.0;
        to[std::ptrdiff_t(x) * (kAlpha + 1)] = to_sample<T>(value);
      }
    });
  });
}

void store_alpha(const Image& alpha, int threads, Image& out) {
  with_depth(out.depth(), [&]<class T>(TypeTag<T>) {
    for_pixels<float, T>(alpha, threads, out,
                         [](const float* in, T* to) { to[kAlpha] = to_alpha<T>(*in); });
  });
}

}  // namespace convfilt
