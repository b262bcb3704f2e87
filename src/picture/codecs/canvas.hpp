/// Animations: their frames are laid on a canvas one after the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "src/picture/codecs/parts.hpp"
#include "src/picture/image.hpp"

namespace convfilt {

/// A frame may stay when the next one comes, be cleared, or give back the pixels it covered.
enum class Disposal { keep, clear, restore };

struct FramePlace {
  int x = 0, y = 0, width = 0, height = 0;
  bool blends = true;  ///< it is laid over what is there; else it replaces that
  Disposal disposal = Disposal::keep;
};

/// Samples of 8 or 16 bits. Its pixels have straight alpha, and are clear at first.
class Canvas {
 public:
  Canvas() = default;
  Canvas(int width, int height, Depth depth) : image_(width, height, 4, depth) {
    clear({0, 0, width, height});
  }

  bool empty() const { return image_.empty(); }

  /// Disposes of the frame before, and lays this one. What sticks out is cut off.
  void lay(PictureView<const std::byte> frame, FramePlace place) {
    if (last_.disposal == Disposal::clear) clear(last_);
    if (last_.disposal == Disposal::restore) image_ = std::move(before_);
    place.width = std::clamp(image_.width() - place.x, 0, place.width);
    place.height = std::clamp(image_.height() - place.y, 0, place.height);
    if (place.disposal == Disposal::restore) before_ = image_.clone();
    if (image_.depth() == Depth::u8)
      lay_samples<std::uint8_t>(frame, place);
    else
      lay_samples<std::uint16_t>(frame, place);
    last_ = place;
  }

  /// The first channels of a row's pixels. Fewer than four are for a canvas that is opaque.
  void copy_row(int y, int channels, std::byte* to) const {
    const std::size_t pixel = image_.row_bytes() / std::size_t(image_.width()),
                      part = pixel / 4 * std::size_t(channels);
    const std::byte* from = image_.view().row(y);
    for (int x = 0; x < image_.width(); ++x, from += pixel, to += part) std::copy_n(from, part, to);
  }

 private:
  void clear(const FramePlace& place) {
    const std::size_t pixel = image_.row_bytes() / std::size_t(image_.width());
    for (int y = 0; y < place.height; ++y)
      std::fill_n(image_.view().row(place.y + y) + std::ptrdiff_t(pixel) * place.x,
                  pixel * std::size_t(place.width), std::byte{});
  }

  template <class T>
  void lay_samples(PictureView<const std::byte> frame, const FramePlace& place) {
    constexpr T kFull = std::numeric_limits<T>::max();
    const int channels = frame.channels;
    for (int y = 0; y < place.height; ++y) {
      const T* from = reinterpret_cast<const T*>(frame.row(y));
      T* to = reinterpret_cast<T*>(image_.view().row(place.y + y)) + 4 * std::ptrdiff_t(place.x);
      for (int x = 0; x < place.width; ++x, from += channels, to += 4) {
        const int green = channels > 1 ? 1 : 0, red = channels > 1 ? 2 : 0;
        const std::array<T, 4> pixel = {from[0], from[green], from[red],
                                        channels == 4 ? from[3] : kFull};
        if (!place.blends || pixel[3] == kFull)
          std::copy_n(pixel.begin(), 4, to);
        else if (pixel[3] != 0)
          blend(pixel, to);
      }
    }
  }

  template <class T>
  static void blend(const std::array<T, 4>& over, T* under) {
    constexpr std::uint64_t kFull = std::numeric_limits<T>::max();
    const std::uint64_t alpha = over[3], above = alpha * kFull, below = under[3] * (kFull - alpha),
                        all = above + below;
    for (std::size_t c = 0; c < 3; ++c)
      under[c] = T((over[c] * above + under[c] * below + all / 2) / all);
    under[3] = T((all + kFull / 2) / kFull);
  }

  Image image_, before_;
  FramePlace last_;
};

/// Lays frame after frame of an animation, from the one that is read first on.
class AnimationReader : public WholeReader {
 public:
  bool next() override {
    if (!find_frame()) return false;
    header_.bytes_behind -= bytes_of(header_);
    begin_again();
    return true;
  }

 protected:
  using WholeReader::WholeReader;

  /// Call it when the header is complete. Throws IoError.
  void begin_animation() {
    header_.bytes_behind = (header_.pages - 1) * bytes_of(header_);
    skipped_ = context_.first_page(header_.pages);
    context_.check_memory(std::uint64_t(held_bytes()));
  }

  /// Goes on to the next frame, and puts its time into the header; false where there is none.
  virtual bool find_frame() = 0;

  /// Decodes the frame, and lays it on the canvas.
  virtual void lay_frame() = 0;

  void decode() override {
    if (canvas_.empty()) canvas_ = Canvas(header_.width, header_.height, header_.depth);
    lay_frame();
    for (; skipped_ > 0; --skipped_)
      if (next()) lay_frame();
  }

  void copy_row(int y, std::byte* to) const override { canvas_.copy_row(y, header_.channels, to); }

  Canvas canvas_;

 private:
  int skipped_ = 0;  ///< frames before the one that is read first
};

}  // namespace convfilt
