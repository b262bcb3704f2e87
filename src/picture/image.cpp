#include "src/picture/image.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>

namespace convfilt {

Image::Image(int width, int height, int channels, Depth depth) : depth_(depth) {
  if (width < 1 || height < 1) throw std::invalid_argument("a picture needs at least one pixel");
  if (channels != 1 && channels != 3 && channels != 4)
    throw std::invalid_argument("a picture has 1, 3 or 4 channels");
  // Rows begin at addresses that the widest vectors like, as far as their length allows.
  constexpr std::align_val_t kAlignment{64};
  view_ = {nullptr, width, height, channels, 0};
  view_.pitch = std::ptrdiff_t(row_bytes());
  if (view_.pitch > PTRDIFF_MAX / height) throw std::bad_alloc();
  const std::size_t bytes = row_bytes() * std::size_t(height);
  pixels_ = std::shared_ptr<std::byte[]>(
      static_cast<std::byte*>(::operator new(bytes, kAlignment)),
      [](std::byte* pixels) { ::operator delete(pixels, kAlignment); });
  view_.data = pixels_.get();
#ifdef __linux__
  // The kernel makes a few large pages in less time than many small ones.
  constexpr std::size_t kLarge = 4 << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(view_.data);
  if (bytes >= kLarge) madvise(view_.data + (-begin & 4095), bytes - 8192, MADV_HUGEPAGE);
#endif
}

Image Image::like(const Image& other) {
  return Image(other.width(), other.height(), other.channels(), other.depth());
}

Image Image::clone() const {
  Image copy = like(*this);
  for (int y = 0; y < height(); ++y) std::memcpy(copy.view().row(y), view_.row(y), row_bytes());
  return copy;
}

Image Image::part(int x, int y, int width, int height) const {
  if (x < 0 || y < 0 || width < 1 || height < 1 || x > view_.width - width ||
      y > view_.height - height)
    throw std::invalid_argument("this rectangle does not lie inside the picture");
  Image part;
  part.pixels_ = pixels_;
  part.depth_ = depth_;
  part.view_ = {view_.row(y) + std::ptrdiff_t(x) * channels() * std::ptrdiff_t(size_of(depth_)),
                width, height, channels(), view_.pitch};
  return part;
}

std::size_t Image::row_bytes() const {
  return std::size_t(view_.width) * std::size_t(view_.channels) * size_of(depth_);
}

}  // namespace convfilt
