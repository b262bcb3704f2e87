#include <cstring>

#include "kernels/huffman/walk.hpp"

namespace convfilt::huffman {

void Scan::add(std::span<const unsigned char> stuffed, std::size_t blocks_in_it) {
  // A walk reads whole words, up to two behind the one in which it ends.
  constexpr std::size_t kWord = sizeof(std::uint32_t), kPadding = 3 * kWord;
  Segment segment;
  segment.begin = std::uint32_t(data.size());
  segment.blocks = std::uint32_t(blocks_in_it);
  for (auto from = stuffed.begin(); from != stuffed.end();) {
    const void* const found = std::memchr(&*from, 0xFF, std::size_t(stuffed.end() - from));
    const auto until =
        found ? from + (static_cast<const unsigned char*>(found) - &*from) + 1 : stuffed.end();
    data.insert(data.end(), from, until);
    from = found ? until + 1 : until;
  }
  segment.end = std::uint32_t(data.size());
  data.resize((data.size() + kPadding + kWord - 1) / kWord * kWord);
  segments.push_back(segment);
}

}  // namespace convfilt::huffman
