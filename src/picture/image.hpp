/// A picture in host memory.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/contract/plane_view.hpp"
#include "kernels/problem.hpp"

namespace convfilt {

/// Owns an interleaved picture of 1 (grey), 3 (BGR) or 4 (BGRA) channels: OpenCV's order, alpha
/// last. Alpha is straight: colours are not multiplied by it. It moves; clone() copies it.
class Image {
 public:
  Image() = default;

  /// Samples are not initialised; rows follow each other without gaps. Throws std::bad_alloc when
  /// memory is short, and std::invalid_argument when a side is below 1 or `channels` is not 1, 3 or
  /// 4.
  Image(int width, int height, int channels, Depth depth);

  Image(Image&&) noexcept = default;
  Image& operator=(Image&&) noexcept = default;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  /// A picture of the same shape and depth, its samples not initialised.
  static Image like(const Image& other);

  Image clone() const;

  /// A rectangle of the picture. It shares the pixels, which live as long as one of the two does.
  /// Throws std::invalid_argument where it does not lie inside.
  Image part(int x, int y, int width, int height) const;

  int width() const { return view_.width; }
  int height() const { return view_.height; }
  int channels() const { return view_.channels; }
  Depth depth() const { return depth_; }
  bool empty() const { return view_.data == nullptr; }
  bool has_alpha() const { return channels() == 4; }

  PictureView<std::byte> view() { return view_; }
  PictureView<const std::byte> view() const { return view_; }

  /// Bytes of a row, without the gap that a part's rows have between them.
  std::size_t row_bytes() const;

 private:
  std::shared_ptr<std::byte[]> pixels_;
  PictureView<std::byte> view_;
  Depth depth_ = Depth::u8;
};

}  // namespace convfilt
