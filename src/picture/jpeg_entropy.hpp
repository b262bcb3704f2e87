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

  /// What comes next in a stream.
  struct Step {
    std::uint8_t bits = 0;      ///< of codes and the values behind them; 0 = there is no such code
    std::uint8_t advances = 0;  ///< coefficients, with those that have the values
    bool ends = false;          ///< the block: its other coefficients are zero
  };

  /// One symbol, by the next 16 bits.
  Step next(std::uint32_t bits) const {
    const Step& step = single_[bits >> (16 - kShort)];
    return step.bits != 0 ? step : next_long(bits);
  }

  /// As many symbols of one block as the first bits hold whole, where that is more than none; its
  /// last coefficient may be beyond the block's.
  const Step& next_several(std::uint32_t bits) const { return several_[bits >> (16 - kShort)]; }

 private:
  Step next_long(std::uint32_t bits) const;
  void combine();

  static constexpr int kShort = 11;  ///< bits that are looked up at once
  std::array<Step, 1 << kShort> single_{}, several_{};
  struct Code {
    int length;
    std::uint32_t first;  ///< of 16 bits, the code on top
    Step step;
  };
  std::vector<Code> long_;  ///< in the order of their codes
};

/// The tables of a component, and how many of its blocks are in each unit of the scan.
struct ScanComponent {
  const HuffmanTable* dc = nullptr;
  const HuffmanTable* ac = nullptr;
  int blocks = 1;
};

/// Whether the data hold that many units, and end with them but for the bits that fill the last
/// byte. Each 0xFF of the data must have a zero behind it. Libraries may take data that it refuses,
/// such as those with values too large for 8-bit samples.
bool holds_units(std::span<const unsigned char> data, std::span<const ScanComponent> components,
                 std::size_t units);

}  // namespace convfilt::jpeg
