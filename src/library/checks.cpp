#include "src/library/checks.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "src/base/suggest.hpp"
#include "src/base/words.hpp"

namespace convfilt {

void check_sides(int width, int height, int channels) {
  // Columns and rows are counted in ints, with the samples of four channels and the mask's reach.
  constexpr int kMostPixels = 1 << 28;
  const auto is_length = [](int pixels) { return pixels >= 1 && pixels <= kMostPixels; };
  const std::string most = size_text(kMostPixels, kMostPixels);
  require(is_length(width) && is_length(height),
          "a picture has 1x1 to " + most + " pixels, not " + size_text(width, height));
  require(channels == 1 || channels == 3 || channels == 4,
          "a picture has 1, 3 or 4 channels, not " + std::to_string(channels));
}

void check_numbers(const Mask& mask) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  require(
      std::all_of(mask.weights.begin(), mask.weights.end(), is_finite) && is_finite(mask.offset),
      "weights and offset are finite numbers");
  require(is_finite(mask.divisor) && mask.divisor > 0, "a mask's divisor is above 0");
}

}  // namespace convfilt
