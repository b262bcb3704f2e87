/// The boxes of files of ISO's base format: HEIC, AVIF and JPEG 2000.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/source_text.hpp"
#include "src/picture/byte_order.hpp"
#include "src/picture/codec.hpp"

namespace convfilt {

/// The number in the first `size` bytes, most significant first; 0 where they are not there.
inline std::uint64_t number_at(ByteView bytes, std::size_t at, int size) {
  return at + std::size_t(size) > bytes.size() ? 0 : big_endian(bytes, at, std::size_t(size));
}

struct Box {
  std::string_view type;
  ByteView content;
  std::size_t begin = 0, end = 0;  ///< of the box, in the bytes that have it
  bool is_cut = false;             ///< it promises more bytes than there are

  std::string damage() const {
    return ends_early("box " + in_quotes(type) + " at byte " + std::to_string(begin) +
                      " goes beyond its end");
  }
};

/// The boxes that follow each other in `bytes`.
inline std::vector<Box> boxes_in(ByteView bytes) {
  std::vector<Box> boxes;
  for (std::size_t at = 0; bytes.size() - at >= 8; at = boxes.back().end) {
    std::uint64_t length = number_at(bytes, at, 4);
    const std::size_t header = length == 1 ? 16 : 8, left = bytes.size() - at;
    if (length == 1) length = number_at(bytes, at + 8, 8);
    if (length == 0 && header == 8) length = left;
    Box box{text_of(bytes.subspan(at + 4, 4)), {}, at, 0, length < header || length > left};
    box.end = at + (box.is_cut ? left : std::size_t(length));
    box.content = bytes.subspan(std::min(at + header, box.end));
    box.content = box.content.first(box.end - std::min(at + header, box.end));
    boxes.push_back(box);
  }
  return boxes;
}

}  // namespace convfilt
