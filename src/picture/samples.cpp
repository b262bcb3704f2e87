#include "src/picture/samples.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>

namespace convfilt {
namespace {

double full_range_of(int cv_depth) {
  return cv_depth == CV_8U ? 255 : cv_depth == CV_16U ? 65535 : 1;
}

/// Calls `change(T* pixel, T full)` for each BGRA pixel.
template <class T, class Change>
void each_pixel(cv::Mat* bgra, T full, Change change) {
  for (int y = 0; y < bgra->rows; ++y) {
    T* row = bgra->ptr<T>(y);
    for (int x = 0; x < bgra->cols; ++x) change(row + 4 * x, full);
  }
}

template <class Change>
void each_pixel(cv::Mat* bgra, Change change) {
  switch (bgra->depth()) {
    case CV_8U: return each_pixel<unsigned char>(bgra, 255, change);
    case CV_16U: return each_pixel<unsigned short>(bgra, 65535, change);
    default: return each_pixel<float>(bgra, 1, change);
  }
}

template <class T>
T rounded(double value, T full) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
  return static_cast<T>(std::clamp(std::nearbyint(value), 0.0, static_cast<double>(full)));
}

}  // namespace

cv::Mat to_depth(const cv::Mat& pixels, Depth depth) {
  const int target = cv_depth(depth);
  if (pixels.depth() == target) return pixels;
  cv::Mat result;
  pixels.convertTo(result, target, full_range_of(target) / full_range_of(pixels.depth()));
  return result;
}

cv::Mat flattened_onto_white(const cv::Mat& bgra) {
  cv::Mat blended = bgra.clone();
  each_pixel(&blended, [](auto* pixel, auto full) {
    const double alpha = static_cast<double>(pixel[3]) / full;
    for (int c = 0; c < 3; ++c) {
      pixel[c] = rounded(pixel[c] * alpha + full * (1 - alpha), full);
    }
  });
  cv::Mat result(bgra.size(), CV_MAKETYPE(bgra.depth(), 3));
  const int colours[] = {0, 0, 1, 1, 2, 2};
  cv::mixChannels(&blended, 1, &result, 1, colours, 3);
  return result;
}

void unpremultiply(cv::Mat* bgra) {
  each_pixel(bgra, [](auto* pixel, auto full) {
    if (!(pixel[3] > 0)) return;
    const double factor = static_cast<double>(full) / pixel[3];
    for (int c = 0; c < 3; ++c) pixel[c] = rounded(pixel[c] * factor, full);
  });
}

cv::Mat upright(const cv::Mat& pixels, int orientation) {
  cv::Mat result;
  switch (orientation) {
    case 2: cv::flip(pixels, result, 1); return result;
    case 3: cv::flip(pixels, result, -1); return result;
    case 4: cv::flip(pixels, result, 0); return result;
    case 5: cv::transpose(pixels, result); return result;
    case 6: cv::rotate(pixels, result, cv::ROTATE_90_CLOCKWISE); return result;
    case 7:
      cv::transpose(pixels, result);
      cv::flip(result, result, -1);
      return result;
    case 8: cv::rotate(pixels, result, cv::ROTATE_90_COUNTERCLOCKWISE); return result;
    default: return pixels;
  }
}

}  // namespace convfilt
