/// The Huffman-coded data of a baseline JPEG, looked at without decoding pixels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/huffman/walk.hpp"

namespace convfilt::jpeg {

/// A Huffman table as a file defines it (ISO/IEC 10918-1, annex C), made for passing over values: a
/// symbol says how many bits follow it.
class HuffmanTable {
 public:
  enum class Kind { dc, ac };

  HuffmanTable() = default;

  /// `counts` has the number of codes of each length, 1 to 16. A table that no baseline encoder
  /// writes has no symbols.
  HuffmanTable(Kind kind, std::span<const unsigned char, 16> counts,
               std::span<const unsigned char> symbols);

  using Step = huffman::Step;
  static constexpr int kShort = huffman::Codes::kShort;
  using Steps = std::array<Step, 1 << kShort>;

  const huffman::Codes& codes() const { return codes_; }

  /// By the next kShort bits, a symbol of this table and as many of `ac` as they hold whole; none
  /// where they hold none.
  Steps followed_by(const HuffmanTable& ac) const;

 private:
  huffman::Codes codes_;
};

/// The tables of a component, and how many of its blocks are in each unit of the scan. The tables
/// must live as long.
struct ScanComponent {
  ScanComponent(const HuffmanTable& dc_table, const HuffmanTable& ac_table, int block_count)
      : dc(&dc_table),
        ac(&ac_table),
        blocks(block_count),
        at_start(dc->followed_by(*ac)),
        behind_start(ac->followed_by(*ac)) {}

  const HuffmanTable *dc, *ac;
  int blocks;
  /// A block's first symbols, and others; the last may be the next block's.
  HuffmanTable::Steps at_start, behind_start;
};

/// Whether the data hold that many units, and end with them but for the bits that fill the last
/// byte. Each 0xFF of the data must have a zero behind it. Libraries may take data that it refuses,
/// such as those with values too large for 8-bit samples.
bool holds_units(std::span<const unsigned char> data, std::span<const ScanComponent> components,
                 std::size_t units);

}  // namespace convfilt::jpeg
