#include "src/picture/samples.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

/// to_sample(), and 0 for NaN.
template <class T>
T sample_of(double value) {
  if constexpr (std::is_same_v<T, float>) return float(value);
  return value > 0 ? to_sample<T>(value) : T(0);
}

/// Calls `body(from, to)` with the first samples of each pixel of two pictures of one size.
template <class T, class Body>
void for_pixels(PictureView<const std::byte> in, PictureView<std::byte> out, Body body) {
  for (int y = 0; y < in.height; ++y) {
    const T* from = row_of<T>(in, y);
    T* to = row_of<T>(out, y);
    for (int x = 0; x < in.width; ++x)
      body(from + std::ptrdiff_t(x) * in.channels, to + std::ptrdiff_t(x) * out.channels);
  }
}

}  // namespace

void convert_depth(PictureView<const std::byte> in, Depth from, PictureView<std::byte> out,
                   Depth to) {
  const double scale = full_range(to) / full_range(from);
  with_depth(from, [&]<class From>(TypeTag<From>) {
    with_depth(to, [&]<class To>(TypeTag<To>) {
      for (int y = 0; y < in.height; ++y) {
        const From* source = row_of<From>(in, y);
        To* target = row_of<To>(out, y);
        for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(in.width) * in.channels; ++i)
          target[i] = sample_of<To>(double(source[i]) * scale);
      }
    });
  });
}

bool is_in_range(PictureView<const std::byte> in, Depth to) {
  const float rounding = 0.5f / float(full_range(to)), least = -rounding, most = 1 + rounding;
  bool is_within = true;
  for (int y = 0; y < in.height && is_within; ++y) {
    const float* row = row_of<float>(in, y);
    for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(in.width) * in.channels; ++i)
      is_within &= row[i] >= least && row[i] <= most;
  }
  return is_within;
}

void flatten_onto_white(PictureView<const std::byte> bgra, Depth depth,
                        PictureView<std::byte> bgr) {
  const double full = full_range(depth);
  with_depth(depth, [&]<class T>(TypeTag<T>) {
    for_pixels<T>(bgra, bgr, [full](const T* in, T* out) {
      const double alpha = double(in[3]) / full;
      for (int c = 0; c < 3; ++c) out[c] = sample_of<T>(in[c] * alpha + full * (1 - alpha));
    });
  });
}

void repeat_grey(PictureView<const std::byte> grey, Depth depth, PictureView<std::byte> bgr) {
  with_depth(depth, [&]<class T>(TypeTag<T>) {
    for_pixels<T>(grey, bgr, [](const T* in, T* out) { out[0] = out[1] = out[2] = *in; });
  });
}

void unpremultiply(PictureView<std::byte> bgra, Depth depth) {
  const double full = full_range(depth);
  with_depth(depth, [&]<class T>(TypeTag<T>) {
    for_pixels<T>(bgra, bgra, [full](const T*, T* pixel) {
      if (!(pixel[3] > 0)) return;
      const double factor = full / double(pixel[3]);
      for (int c = 0; c < 3; ++c) pixel[c] = sample_of<T>(pixel[c] * factor);
    });
  });
}

Image upright(Image image, int orientation) {
  if (orientation <= 1 || orientation > 8) return image;
  const PictureView<const std::byte> in = std::as_const(image).view();
  const bool sideways = turns_sideways(orientation);
  Image turned(sideways ? in.height : in.width, sideways ? in.width : in.height, in.channels,
               image.depth());
  const PictureView<std::byte> out = turned.view();
  const std::ptrdiff_t pixel = in.channels * std::ptrdiff_t(size_of(image.depth()));
  // Where the upright picture begins in the other one, and how far its next column and row are.
  const bool from_right = orientation == 2 || orientation == 3 || orientation >= 7;
  const bool from_below =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const std::byte* const begin =
      in.row(from_below ? in.height - 1 : 0) + (from_right ? (in.width - 1) * pixel : 0);
  std::ptrdiff_t column = from_right ? -pixel : pixel, row = from_below ? -in.pitch : in.pitch;
  if (sideways) std::swap(column, row);
  // Square blocks keep the rows of both in the cache where rows become columns.
  constexpr int kBlock = 32;
  for (int y0 = 0; y0 < out.height; y0 += kBlock) {
    for (int x0 = 0; x0 < out.width; x0 += kBlock) {
      for (int y = y0; y < std::min(y0 + kBlock, out.height); ++y) {
        std::byte* to = out.row(y) + x0 * pixel;
        const std::byte* from = begin + y * row + x0 * column;
        for (int x = x0; x < std::min(x0 + kBlock, out.width); ++x, to += pixel, from += column)
          std::memcpy(to, from, std::size_t(pixel));
      }
    }
  }
  return turned;
}

}  // namespace convfilt
