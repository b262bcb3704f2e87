/// GIF files that tests make for themselves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/support/files/picture.hpp"

namespace convfilt::testing {

/// A GIF of pictures that are not compressed: each of 64 colours and any place on the screen.
struct GifPicture {
  int left, top, width, height;
  std::vector<unsigned char> indices;
  bool interlaced = false;
  int transparent = -1;
  bool own_colours = false;
  Bytes codes = {};  ///< those that are written; empty: one for each index
};

inline unsigned char level(int index, int channel, bool own) {
  return static_cast<unsigned char>((index * (channel + 1) * 3 + (own ? 50 : 0)) % 256);
}

inline Bytes gif(int width, int height, const std::vector<GifPicture>& pictures) {
  Bytes bytes;
  append(&bytes, "GIF89a");
  append_number(&bytes, std::uint32_t(width), 2, true);
  append_number(&bytes, std::uint32_t(height), 2, true);
  append_number(&bytes, 0x80 | 5, 3, true);  // 64 colours
  const auto colours = [&](bool own) {
    for (int i = 0; i < 64; ++i) {
      for (int c = 0; c < 3; ++c) bytes.push_back(level(i, c, own));
    }
  };
  colours(false);
  for (const GifPicture& picture : pictures) {
    bytes.insert(bytes.end(), {0x21, 0xF9, 4});
    bytes.push_back(picture.transparent >= 0);
    append_number(&bytes, 0, 2, true);
    bytes.push_back(static_cast<unsigned char>(std::max(picture.transparent, 0)));
    bytes.insert(bytes.end(), {0, 0x2C});
    for (const int number : {picture.left, picture.top, picture.width, picture.height})
      append_number(&bytes, std::uint32_t(number), 2, true);
    bytes.push_back(static_cast<unsigned char>((picture.own_colours ? 0x80 | 5 : 0) |
                                               (picture.interlaced ? 0x40 : 0)));
    if (picture.own_colours) colours(true);
    // Codes have 8 bits as long as the table is cleared in time.
    constexpr unsigned char kBits = 7, kClear = 128, kEnd = 129;
    Bytes codes = picture.codes;
    for (std::size_t i = 0; picture.codes.empty() && i < picture.indices.size(); ++i) {
      if (i % 100 == 0) codes.push_back(kClear);
      codes.push_back(picture.indices[i]);
    }
    codes.push_back(kEnd);
    bytes.push_back(kBits);
    for (std::size_t at = 0; at < codes.size(); at += 255) {
      const std::size_t length = std::min<std::size_t>(255, codes.size() - at);
      bytes.push_back(static_cast<unsigned char>(length));
      bytes.insert(bytes.end(), codes.begin() + std::ptrdiff_t(at),
                   codes.begin() + std::ptrdiff_t(at + length));
    }
    bytes.push_back(0);
  }
  bytes.push_back(0x3B);
  return bytes;
}

inline GifPicture gif_picture(int left, int top, int width, int height) {
  GifPicture picture{left, top, width, height, {}};
  for (int i = 0; i < width * height; ++i)
    picture.indices.push_back(static_cast<unsigned char>(i * 7 % 64));
  return picture;
}

}  // namespace convfilt::testing
