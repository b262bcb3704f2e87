#include "src/picture/image.hpp"

#include <new>
#include <opencv2/core.hpp>
#include <stdexcept>
#include <utility>

namespace convfilt {
namespace {

void check(const cv::Mat& pixels) {
  const int depth = pixels.depth(), channels = pixels.channels();
  if (pixels.empty() || pixels.dims != 2) {
    throw std::invalid_argument("a picture needs at least one pixel");
  }
  if (channels != 1 && channels != 3 && channels != 4) {
    throw std::invalid_argument("a picture has 1, 3 or 4 channels");
  }
  if (depth != CV_8U && depth != CV_16U && depth != CV_32F) {
    throw std::invalid_argument("a sample is u8, u16 or f32");
  }
}

}  // namespace

int cv_depth(Depth depth) {
  switch (depth) {
    case Depth::u8: return CV_8U;
    case Depth::u16: return CV_16U;
    case Depth::f32: return CV_32F;
  }
  throw std::invalid_argument("unknown depth");
}

Image::Image(int width, int height, int channels, Depth depth) {
  if (width < 1 || height < 1 || channels < 1 || channels > 4) {
    throw std::invalid_argument("a picture needs at least one pixel and 1, 3 or 4 channels");
  }
  try {
    pixels_.create(height, width, CV_MAKETYPE(cv_depth(depth), channels));
  } catch (const cv::Exception& error) {
    if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
    throw;
  }
  check(pixels_);
}

Image::Image(cv::Mat pixels) : pixels_(std::move(pixels)) {
  check(pixels_);
}

Image Image::like(const Image& other) {
  return Image(other.width(), other.height(), other.channels(), other.depth());
}

Image Image::clone() const {
  Image copy = like(*this);
  pixels_.copyTo(copy.pixels_);
  return copy;
}

Image Image::part(int x, int y, int width, int height) const {
  return Image(pixels_(cv::Rect(x, y, width, height)));
}

Depth Image::depth() const {
  switch (pixels_.depth()) {
    case CV_16U: return Depth::u16;
    case CV_32F: return Depth::f32;
    default: return Depth::u8;
  }
}

PictureView<std::byte> Image::view() {
  return {reinterpret_cast<std::byte*>(pixels_.data), width(), height(), channels(),
          static_cast<std::ptrdiff_t>(pixels_.step[0])};
}

PictureView<const std::byte> Image::view() const {
  return {reinterpret_cast<const std::byte*>(pixels_.data), width(), height(), channels(),
          static_cast<std::ptrdiff_t>(pixels_.step[0])};
}

}  // namespace convfilt
