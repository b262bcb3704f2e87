/// A picture in host memory.
#pragma once

#include <cstddef>
#include <opencv2/core/mat.hpp>

#include "kernels/contract/plane_view.hpp"
#include "kernels/problem.hpp"

namespace convfilt {

/// Owns an interleaved picture of 1 (grey), 3 (BGR) or 4 (BGRA) channels: OpenCV's order, alpha
/// last. Alpha is straight: colours are not multiplied by it. It moves; clone() copies it.
class Image {
 public:
  Image() = default;

  /// Samples are not initialised. Throws std::bad_alloc when memory is short, and
  /// std::invalid_argument when a side is below 1 or `channels` is not 1, 3 or 4.
  Image(int width, int height, int channels, Depth depth);

  /// Takes over a picture that OpenCV made. Throws std::invalid_argument when it is empty or its
  /// channels or samples are of another kind.
  explicit Image(cv::Mat pixels);

  Image(Image&&) noexcept = default;
  Image& operator=(Image&&) noexcept = default;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  /// A picture of the same shape and depth, its samples not initialised.
  static Image like(const Image& other);

  Image clone() const;

  /// A rectangle of the picture. It shares the pixels, which live as long as one of the two does.
  Image part(int x, int y, int width, int height) const;

  int width() const { return pixels_.cols; }
  int height() const { return pixels_.rows; }
  int channels() const { return pixels_.channels(); }
  Depth depth() const;
  bool empty() const { return pixels_.empty(); }
  bool has_alpha() const { return channels() == 4; }

  PictureView<std::byte> view();
  PictureView<const std::byte> view() const;

  /// The same pixels for OpenCV, not a copy.
  cv::Mat& mat() { return pixels_; }
  const cv::Mat& mat() const { return pixels_; }

 private:
  cv::Mat pixels_;
};

/// OpenCV's name of a depth: CV_8U, CV_16U or CV_32F.
int cv_depth(Depth depth);

}  // namespace convfilt
