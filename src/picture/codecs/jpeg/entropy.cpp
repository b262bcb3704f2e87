#include "src/picture/codecs/jpeg/entropy.hpp"

#include <algorithm>
#include <cstring>

namespace convfilt::jpeg {
namespace {

using huffman::kCoefficients;

/// The next bits of the data, on top of a word.
class Bits {
 public:
  explicit Bits(std::span<const unsigned char> data)
      : at_(data.data()), end_(data.data() + data.size()) {}

  /// Makes 56 bits or more ready, unless the data end.
  void fill() {
    std::uint64_t word;
    if (end_ - at_ >= std::ptrdiff_t(sizeof word)) {
      std::memcpy(&word, at_, sizeof word);
      if (!has_marker(word)) {
        // The bits of a byte that is not counted yet are set once more by the next fill.
        window_ |= __builtin_bswap64(word) >> ready_;
        at_ += (63 - ready_) >> 3;
        ready_ |= 56;
        return;
      }
    }
    while (ready_ < 56 && at_ < end_) {
      const unsigned char byte = *at_++;
      if (byte == 0xFF) ++at_;
      window_ |= std::uint64_t{byte} << (56 - ready_);
      ready_ += 8;
    }
  }

  std::uint32_t next_16() const { return std::uint32_t(window_ >> 48); }

  void pass(int bits) {
    window_ <<= bits;
    ready_ -= bits;
  }

  /// Whether more bits were passed than there are.
  bool is_overdrawn() const { return ready_ < 0; }

  bool is_at_end() const { return ready_ >= 0 && ready_ < 8 && at_ >= end_; }

 private:
  /// Whether one of the eight bytes is 0xFF.
  static bool has_marker(std::uint64_t word) {
    constexpr std::uint64_t kOnes = 0x0101010101010101u;
    return ((~word - kOnes) & word & (kOnes << 7)) != 0;
  }

  const unsigned char *at_, *end_;
  std::uint64_t window_ = 0;
  int ready_ = 0;
};

bool holds_block(Bits& bits, const ScanComponent& component) {
  // One or more symbols; the last of them may belong to the next block.
  const auto pass = [&bits](const HuffmanTable::Steps& steps, const HuffmanTable& table, int& at) {
    HuffmanTable::Step several = steps[bits.next_16() >> (16 - HuffmanTable::kShort)];
    if (at + several.reaches > kCoefficients) [[unlikely]] {
      several = table.codes().next(bits.next_16());
      if (at + several.reaches > kCoefficients) return false;
    }
    bits.pass(several.bits);
    at += several.advances;
    return true;
  };
  int at = 0;
  bits.fill();
  if (!pass(component.at_start, *component.dc, at)) return false;
  // A symbol with its value has 27 bits at most, so that one fill is enough for two.
  while (at < kCoefficients) {
    if (!pass(component.behind_start, *component.ac, at)) return false;
    if (at >= kCoefficients) break;
    bits.fill();
    if (!pass(component.behind_start, *component.ac, at)) return false;
  }
  return !bits.is_overdrawn();
}

}  // namespace

HuffmanTable::HuffmanTable(Kind kind, std::span<const unsigned char, 16> counts,
                           std::span<const unsigned char> symbols) {
  constexpr int kLargestDc = 11, kLargestAc = 10;  // bits of values that 8-bit samples can have
  constexpr int kSixteenZeros = 0xF0;
  std::uint32_t code = 0;
  std::size_t place = 0;
  for (int length = 1; length <= 16; ++length, code <<= 1) {
    for (int i = 0; i < counts[std::size_t(length - 1)] && place < symbols.size(); ++i, ++place) {
      const int value = symbols[place], size = kind == Kind::dc ? value : value & 15;
      const auto run = std::uint8_t((value >> 4) + 1);
      Step step;
      const auto bits = std::uint8_t(length + size);
      if (kind == Kind::dc)
        step = size <= kLargestDc ? Step{bits, 1, 1} : Step();
      else if (size > 0)
        step = size <= kLargestAc ? Step{bits, run, run} : Step();
      // Zero bits behind a code say that it stands for zeros, or for all that are left.
      else if (value == kSixteenZeros)
        step = {bits, 16, 16};
      else if (value == 0)
        step = {bits, Step::kAll, 1};
      const std::uint32_t first = code++ << (16 - length);
      if (length > kShort)
        codes_.longs[codes_.long_count++] = {first, length, step};
      else if (first >> 16 == 0)
        std::fill_n(codes_.single + (first >> (16 - kShort)),
                    std::size_t{1} << (kShort - length), step);
    }
    // Codes of ones alone are reserved, so one more of this length would always be left.
    if (code >> length != 0) {
      *this = HuffmanTable();
      return;
    }
  }
  const bool has_large = std::ranges::any_of(symbols, [](int value) { return value > 15; });
  if (kind == Kind::dc && has_large) *this = HuffmanTable();
}

HuffmanTable::Steps HuffmanTable::followed_by(const HuffmanTable& ac) const {
  Steps steps;
  for (std::uint32_t bits = 0; bits < steps.size(); ++bits) {
    Step all = codes_.single[bits];
    if (all.bits > kShort) all = Step();
    while (all.bits > 0 && all.advances < Step::kAll) {
      const Step& next = ac.codes_.single[bits << all.bits & (steps.size() - 1)];
      if (next.bits == 0 || all.bits + next.bits > kShort) break;
      all.bits = std::uint8_t(all.bits + next.bits);
      all.advances = std::uint8_t(all.advances + next.advances);
      all.reaches = std::uint8_t(all.reaches + next.reaches);
    }
    steps[bits] = all;
  }
  return steps;
}

bool holds_units(std::span<const unsigned char> data, std::span<const ScanComponent> components,
                 std::size_t units) {
  Bits bits(data);
  for (std::size_t unit = 0; unit < units; ++unit)
    for (const ScanComponent& component : components)
      for (int block = 0; block < component.blocks; ++block)
        if (!holds_block(bits, component)) return false;
  bits.fill();
  return bits.is_at_end();
}

}  // namespace convfilt::jpeg
