/// The Huffman-coded data of JPEGs, at the ends of blocks and of data, by tables made for it.
#include "src/picture/codecs/jpeg/entropy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
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

/// A table with codes of any lengths, and its codes as text with their symbols. AC's first is the
/// end.
struct RandomTable {
  std::vector<std::pair<std::string, int>> codes;
  HuffmanTable table;
};

std::string random_bits(std::mt19937& random, int count) {
  std::string bits;
  while (count-- > 0) bits += random() % 2 ? '1' : '0';
  return bits;
}

RandomTable random_table(HuffmanTable::Kind kind, std::mt19937& random) {
  constexpr unsigned kLargest = 10;  // bits of an AC value
  RandomTable made;
  Bytes counts(16), symbols;
  unsigned code = 0;
  for (unsigned length = 1; length <= 16; ++length) {
    code *= 2;
    const unsigned room = (1u << length) - 1 - code;  // a code of ones alone is reserved
    const unsigned count = std::min(room, unsigned(random() % (length < 4 ? 2 : 3)));
    counts[length - 1] = static_cast<unsigned char>(count);
    for (unsigned i = 0; i < count; ++i, ++code) {
      const unsigned symbol = kind == HuffmanTable::Kind::dc ? random() % 12
                              : symbols.empty()              ? 0
                              : random() % 6 == 0            ? 0xF0
                                                  : random() % 16 << 4 | (1 + random() % kLargest);
      symbols.push_back(static_cast<unsigned char>(symbol));
      std::string bits;
      for (unsigned bit = length; bit-- > 0;) bits += code >> bit & 1 ? '1' : '0';
      made.codes.emplace_back(bits, int(symbol));
    }
  }
  made.table = {kind, std::span<const unsigned char, 16>(counts), symbols};
  return made;
}

std::string random_block(const RandomTable& dc, const RandomTable& ac, std::mt19937& random) {
  const auto& [mean, size] = dc.codes[random() % dc.codes.size()];
  std::string bits = mean + random_bits(random, size);
  for (int at = 1; at < 64;) {
    const auto& [code, symbol] = ac.codes[random() % ac.codes.size()];
    const int advances = symbol == 0xF0 ? 16 : (symbol >> 4) + 1;
    if (symbol == 0 || at + advances > 64) return bits + ac.codes[0].first;
    bits += code + random_bits(random, symbol & 15);
    at += advances;
  }
  return bits;
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

TEST_CASE("units of any tables are held, and their chroma kept, however many bits are looked up") {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    using enum HuffmanTable::Kind;
    const RandomTable tables[] = {random_table(dc, random), random_table(ac, random),
                                  random_table(dc, random), random_table(ac, random)};
    if (std::ranges::any_of(tables, [](const RandomTable& table) { return table.codes.empty(); }))
      continue;
    const int units = 1 + int(random() % 12), blocks = 1 + int(random() % 4);
    std::string all, chroma;
    std::vector<std::uint16_t> lengths;
    for (int unit = 0; unit < units; ++unit) {
      for (int block = 0; block < blocks; ++block)
        all += random_block(tables[0], tables[1], random);
      const std::string of_unit =
          random_block(tables[2], tables[3], random) + random_block(tables[2], tables[3], random);
      lengths.push_back(static_cast<std::uint16_t>(of_unit.size()));
      all += of_unit;
      chroma += of_unit;
    }
    Bytes expected = packed(chroma);
    expected.insert(expected.end(), {0xFF, 0xD9});
    std::string longer = all + random_bits(random, 8 + int(random() % 30)), changed = all;
    for (char& bit : changed)
      if (random() % changed.size() == 0) bit = bit == '0' ? '1' : '0';
    for (const std::string& bits : {all, longer, all.substr(0, all.size() - 8), changed}) {
      bool held[2];
      for (const bool is_long : {false, true}) {
        const std::size_t bytes = is_long ? ScanComponent::kLongData : 0;
        const std::vector<ScanComponent> components = {
            {tables[0].table, tables[1].table, blocks, bytes},
            {tables[2].table, tables[3].table, 1, bytes},
            {tables[2].table, tables[3].table, 1, bytes}};
        CodedChroma kept;
        held[is_long] = holds_units(packed(bits), components, std::size_t(units), &kept);
        if (bits != all) continue;
        CHECK(kept.lengths == lengths);
        kept.bits.end(0xD9);
        CHECK(std::ranges::equal(kept.bits.data(), expected));
      }
      CHECK(held[0] == held[1]);
      if (bits == all) CHECK(held[0]);
      if (bits == longer) CHECK_FALSE(held[0]);
    }
  }
}
