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

  /// What comes next in a stream: one symbol or several, with their values.
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
class ScanComponent {
 public:
  ScanComponent(const HuffmanTable& dc, const HuffmanTable& ac, int blocks)
      : dc_(&dc),
        ac_(&ac),
        blocks_(blocks),
        at_start_(dc.followed_by(ac)),
        behind_start_(ac.followed_by(ac)) {}

  const HuffmanTable& dc() const { return *dc_; }
  const HuffmanTable& ac() const { return *ac_; }
  int blocks() const { return blocks_; }

  /// A block's first symbols, and others, by the next 16 bits; the last may be the next block's.
  HuffmanTable::Step at_start(std::uint32_t bits) const { return look_up(at_start_, bits); }
  HuffmanTable::Step behind_start(std::uint32_t bits) const { return look_up(behind_start_, bits); }

 private:
  static HuffmanTable::Step look_up(const HuffmanTable::Steps& steps, std::uint32_t bits) {
    return steps[bits >> (16 - HuffmanTable::kShort)];
  }

  const HuffmanTable *dc_, *ac_;
  int blocks_;
  HuffmanTable::Steps at_start_, behind_start_;
};

/// Whether the data hold that many units, and end with them but for the bits that fill the last
/// byte. Each 0xFF of the data must have a zero behind it. Libraries may take data that it refuses,
/// such as those with values too large for 8-bit samples.
bool holds_units(std::span<const unsigned char> data, std::span<const ScanComponent> components,
                 std::size_t units);

}  // namespace convfilt::jpeg
