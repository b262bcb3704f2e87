#include "src/picture/codecs/canvas.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace convfilt {
namespace {

/// A frame of one colour and alpha.
template <class T>
Image frame(int width, int height, T blue, T alpha, Depth depth) {
  Image image(width, height, 4, depth);
  for (int y = 0; y < height; ++y) {
    T* row = reinterpret_cast<T*>(image.view().row(y));
    for (int x = 0; x < width; ++x, row += 4) row[0] = row[1] = row[2] = blue, row[3] = alpha;
  }
  return image;
}

/// Blue and alpha of a pixel.
template <class T>
std::vector<int> pixel(const Canvas& canvas, int x, int y) {
  std::vector<T> row(5 * 4);
  canvas.copy_row(y, 4, reinterpret_cast<std::byte*>(row.data()));
  return {row[std::size_t(4 * x)], row[std::size_t(4 * x + 3)]};
}

template <class T>
void lay(Canvas& canvas, T blue, T alpha, FramePlace place, Depth depth) {
  const Image image = frame<T>(place.width, place.height, blue, alpha, depth);
  canvas.lay(image.view(), place);
}

using Values = std::vector<int>;

}  // namespace

TEST_CASE("frames are laid over what is there, or replace it") {
  Canvas canvas(5, 5, Depth::u8);
  CHECK(pixel<std::uint8_t>(canvas, 0, 0) == Values{0, 0});
  lay<std::uint8_t>(canvas, 200, 255, {0, 0, 3, 3}, Depth::u8);
  lay<std::uint8_t>(canvas, 100, 51, {2, 2, 3, 3}, Depth::u8);
  CHECK(pixel<std::uint8_t>(canvas, 1, 1) == Values{200, 255});
  CHECK(pixel<std::uint8_t>(canvas, 2, 2) == Values{180, 255});  // a fifth of 100, the rest of 200
  CHECK(pixel<std::uint8_t>(canvas, 3, 3) == Values{100, 51});
  lay<std::uint8_t>(canvas, 60, 51, {3, 3, 1, 1}, Depth::u8);
  // Alpha 0.2 over 0.2 is 0.36; the colour is (60 * 0.2 + 100 * 0.2 * 0.8) / 0.36.
  CHECK(pixel<std::uint8_t>(canvas, 3, 3) == Values{78, 92});
  lay<std::uint8_t>(canvas, 9, 0, {0, 0, 5, 5, true}, Depth::u8);
  CHECK(pixel<std::uint8_t>(canvas, 1, 1) == Values{200, 255});
  lay<std::uint8_t>(canvas, 9, 0, {0, 0, 5, 5, false}, Depth::u8);
  CHECK(pixel<std::uint8_t>(canvas, 1, 1) == Values{9, 0});
}

TEST_CASE("frames are disposed of when the next one comes") {
  Canvas canvas(5, 5, Depth::u16);
  const auto put = [&](int level, FramePlace place) {
    lay<std::uint16_t>(canvas, std::uint16_t(level), 65535, place, Depth::u16);
  };
  put(1000, {0, 0, 5, 5});
  put(2000, {0, 0, 2, 2, true, Disposal::restore});
  CHECK(pixel<std::uint16_t>(canvas, 0, 0) == Values{2000, 65535});
  put(3000, {1, 1, 2, 2, true, Disposal::clear});
  CHECK(pixel<std::uint16_t>(canvas, 0, 0) == Values{1000, 65535});
  CHECK(pixel<std::uint16_t>(canvas, 1, 1) == Values{3000, 65535});
  put(4000, {4, 4, 1, 1});
  CHECK(pixel<std::uint16_t>(canvas, 1, 1) == Values{0, 0});
  CHECK(pixel<std::uint16_t>(canvas, 0, 0) == Values{1000, 65535});
  // What lies beyond the canvas is cut off.
  put(5000, {3, 3, 9, 9});
  CHECK(pixel<std::uint16_t>(canvas, 4, 4) == Values{5000, 65535});
  put(6000, {7, 7, 2, 2, true, Disposal::clear});
  put(6000, {0, 4, 1, 1});
  CHECK(pixel<std::uint16_t>(canvas, 0, 4) == Values{6000, 65535});
}

}  // namespace convfilt
