/// The Huffman-coded data of a baseline JPEG, looked at without decoding pixels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

  /// The next part of a stream: one symbol or several, with their values.
  struct alignas(4) Step {
    static constexpr std::uint8_t kAll = 64, kBeyond = 255;
    std::uint8_t bits = 0;
    std::uint8_t advances = 0;       ///< coefficients; all of a block or more where it ends
    std::uint8_t reaches = kBeyond;  ///< how many coefficients must be left; no block has so many
                                     ///< where there is no such code
  };
  static constexpr int kShort = 11;  ///< bits that are looked up at once
  using Steps = std::array<Step, 1 << kShort>;

  /// One symbol, by the next 16 bits.
  Step next(std::uint32_t bits) const {
    const Step& step = single_[bits >> (16 - kShort)];
    return step.bits != 0 ? step : next_long(bits);
  }

  /// By the next kShort bits, a symbol of this table and as many of `ac` as they hold whole; none
  /// where they hold none.
  Steps followed_by(const HuffmanTable& ac) const;

 private:
  Step next_long(std::uint32_t bits) const;

  Steps single_{};
  struct Code {
    int length;
    std::uint32_t first;  ///< of 16 bits, the code on top
    Step step;
  };
  std::vector<Code> long_;  ///< in the order of their codes
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
