/// The Huffman-coded data of JPEGs, at the ends of blocks and of data, by tables made for it.
#include "src/picture/codecs/jpeg/entropy.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace convfilt::jpeg;

namespace {

using Bytes = std::vector<unsigned char>;

/// Codes 0, 10, 110 and so on, one of each length.
HuffmanTable table(HuffmanTable::Kind kind, const Bytes& symbols) {
  Bytes counts(16);
  for (std::size_t i = 0; i < symbols.size(); ++i) counts[i] = 1;
  return {kind, std::span<const unsigned char, 16>(counts), symbols};
}

/// Bits as text, filled up with ones to a byte, and with a zero behind each 0xFF.
Bytes packed(std::string bits) {
  while (bits.size() % 8 != 0) bits += '1';
  Bytes bytes;
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    bytes.push_back(static_cast<unsigned char>(std::stoi(bits.substr(i, 8), nullptr, 2)));
    if (bytes.back() == 0xFF) bytes.push_back(0);
  }
  return bytes;
}

std::string times(int count, const std::string& bits) {
  std::string all;
  for (int i = 0; i < count; ++i) all += bits;
  return all;
}

// DC: no difference, or one of 11 bits. AC: the end, 16 zeros, 14 zeros and a value of one bit, 15
// zeros and one, a value of 10 bits, one of 11, which 8-bit samples cannot have, and codes of 7 to
// 16 bits: 0 to 9 zeros and a value of one bit.
const std::string kFlat = "0", kSteep = "10" + std::string(11, '1');
const std::string kEnd = "0", kZeros = "10", kFourteen = "1101", kFifteen = "11101";
const std::string kLarge = "11110" + std::string(10, '0');
const std::string kTooLarge = "111110" + std::string(11, '0');

bool holds(const std::string& bits, std::size_t blocks) {
  const HuffmanTable dc = table(HuffmanTable::Kind::dc, {0, 11});
  const HuffmanTable ac =
      table(HuffmanTable::Kind::ac, {0x00, 0xF0, 0xE1, 0xF1, 0x0A, 0x0B, 0x01, 0x11, 0x21, 0x31,
                                     0x41, 0x51, 0x61, 0x71, 0x81, 0x91});
  const auto by_tables_for = [&](std::size_t bytes) {
    const std::vector<ScanComponent> components = {{dc, ac, 1, bytes}};
    return holds_units(packed(bits), components, blocks);
  };
  const bool does = by_tables_for(0);
  CHECK(by_tables_for(ScanComponent::kLongData) == does);
  return does;
}

}  // namespace

TEST_CASE("a block has 64 coefficients, and no value reaches beyond") {
  CHECK(holds(kFlat + kEnd, 1));
  // 1 + 3 * 16 coefficients leave 15.
  CHECK(holds(kFlat + times(3, kZeros) + kFourteen, 1));
  CHECK_FALSE(holds(kFlat + times(3, kZeros) + kFifteen + kEnd, 1));
  CHECK_FALSE(holds(kFlat + times(4, kZeros) + kEnd, 1));
  // The end that follows a full block is the next one's first symbol.
  CHECK(holds(kFlat + times(3, kZeros) + kFourteen + kFlat + kEnd, 2));
  CHECK(holds(kFlat + times(63, kLarge) + kFlat + kEnd, 2));
  CHECK_FALSE(holds(kFlat + times(64, kLarge) + kFlat + kEnd, 2));
}

TEST_CASE("codes of every length are passed over, and their zeros counted") {
  for (int length = 7; length <= 16; ++length) {
    CAPTURE(length);
    const int advances = length - 6, fit = 63 / advances;
    const std::string one = std::string(std::size_t(length - 1), '1') + "0" + "1";
    const std::string full = kFlat + times(fit, one) + (63 % advances > 0 ? kEnd : "");
    for (const int blocks : {1, 2, 99}) CHECK(holds(times(blocks, full), std::size_t(blocks)));
    CHECK_FALSE(holds(kFlat + times(fit + 1, one) + kEnd, 1));
    CHECK_FALSE(holds(kFlat + one, 1));
    CHECK_FALSE(holds(kFlat + one.substr(0, std::size_t(length - 2)), 1));
  }
}

TEST_CASE("values are no larger than 8-bit samples can have") {
  CHECK(holds(kSteep + kLarge + kEnd, 1));
  CHECK_FALSE(holds(kFlat + kTooLarge + kEnd, 1));
}

TEST_CASE("data hold as many blocks as are asked for, and fewer than eight bits more") {
  for (const std::size_t blocks : {1u, 7u, 8u, 100u, 1000u}) {
    CAPTURE(blocks);
    // Differences of ones alone make many bytes 0xFF.
    for (const std::string& block :
         {kFlat + kEnd, kSteep + kEnd, kSteep + kLarge + kZeros + kEnd}) {
      const std::string bits = times(int(blocks), block);
      CHECK(holds(bits, blocks));
      CHECK_FALSE(holds(bits, blocks + block.size() + 8));
      CHECK_FALSE(holds(bits + "11111111", blocks));
      CHECK_FALSE(holds(bits.substr(0, bits.size() / 2), blocks));
    }
  }
}

TEST_CASE("a table with a code of ones alone has no symbols") {
  // Two codes of one bit: 0 and 1.
  Bytes counts(16);
  counts[0] = 2;
  const HuffmanTable full(HuffmanTable::Kind::dc, std::span<const unsigned char, 16>(counts),
                          Bytes{0, 1});
  CHECK(full.codes().next(0).bits == 0);
  counts[0] = 1;
  const HuffmanTable half(HuffmanTable::Kind::dc, std::span<const unsigned char, 16>(counts),
                          Bytes{0});
  CHECK(half.codes().next(0).bits == 1);
}

TEST_CASE("bits that are no code are refused") {
  CHECK_FALSE(holds("11111111", 1));
  CHECK_FALSE(holds(kFlat + std::string(16, '1'), 1));
}
