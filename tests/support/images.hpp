/// Pictures of random samples, and the slow truth about them, for tests of src/.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>

#include "src/filter/convolver.hpp"
#include "src/picture/sample_type.hpp"
#include "tests/support/files/picture.hpp"

namespace convfilt::image_tests {

using testing::sample;

inline void put(Image& image, int x, int y, int channel, double value) {
  with_depth(image.depth(), [&]<class T>(TypeTag<T>) {
    row_of<T>(image.view(), y)[x * image.channels() + channel] = T(value);
  });
}

/// Calls `body(x, y, channel)` for every sample.
template <class Body>
void for_samples(const Image& image, Body&& body) {
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < image.channels(); ++c) body(x, y, c);
}

inline Image random_image(int width, int height, int channels, Depth depth, unsigned seed) {
  Image image(width, height, channels, depth);
  std::mt19937 random(seed);
  for_samples(image, [&](int x, int y, int c) {
    const double unit = double(random()) / double(std::mt19937::max());
    put(image, x, y, c, depth == Depth::f32 ? unit : std::floor(unit * full_range(depth)));
  });
  return image;
}

inline ConvolverOptions on_cpu(Border border = Border::replicate, double border_value = 0) {
  ConvolverOptions options;
  options.request.device = "cpu";
  options.border = border;
  options.border_value = border_value;
  return options;
}

/// sum of weight * value at (x, y), edges replicated, without the offset.
template <class Value>
double naive(const Image& image, const Mask& mask, int x, int y, Value&& value) {
  double sum = 0;
  for (int j = 0; j < mask.height; ++j)
    for (int i = 0; i < mask.width; ++i)
      sum += mask.weight(i, j) * value(std::clamp(x + i - mask.anchor_x, 0, image.width() - 1),
                                       std::clamp(y + j - mask.anchor_y, 0, image.height() - 1));
  return sum / mask.divisor;
}

inline double saturated(double value, Depth depth) {
  return depth == Depth::f32 ? value : std::clamp(std::nearbyint(value), 0.0, full_range(depth));
}

}  // namespace convfilt::image_tests
