#include "src/picture/jpeg_entropy.hpp"

#include <algorithm>
#include <cstring>

namespace convfilt::jpeg {
namespace {

/// The next bits of the data, on top of a word.
class Bits {
 public:
  explicit Bits(std::span<const unsigned char> data)
      : at_(data.data()), end_(data.data() + data.size()) {}

  /// Makes 32 bits or more ready, unless the data end.
  void fill() {
    if (ready_ > 32) return;
    if (end_ - at_ >= 4) {
      std::uint32_t word;
      std::memcpy(&word, at_, sizeof word);
      if (!has_marker(word)) {
        window_ |= std::uint64_t{__builtin_bswap32(word)} << (32 - ready_);
        ready_ += 32;
        at_ += 4;
        return;
      }
    }
    while (ready_ <= 56 && at_ < end_) {
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
  /// Whether one of the four bytes is 0xFF.
  static bool has_marker(std::uint32_t word) {
    return ((~word - 0x01010101u) & word & 0x80808080u) != 0;
  }

  const unsigned char *at_, *end_;
  std::uint64_t window_ = 0;
  int ready_ = 0;
};

bool holds_block(Bits& bits, const HuffmanTable& dc, const HuffmanTable& ac) {
  constexpr int kCoefficients = 64;
  bits.fill();
  const HuffmanTable::Step first = dc.next(bits.next_16());
  if (first.bits == 0) return false;
  bits.pass(first.bits);
  for (int at = 1; at < kCoefficients;) {
    bits.fill();
    const HuffmanTable::Step& several = ac.next_several(bits.next_16());
    HuffmanTable::Step step = several;
    // The last of several symbols may belong to the next block.
    const int end = at + several.advances + (several.ends ? 1 : 0);
    if (several.bits == 0 || end > kCoefficients) step = ac.next(bits.next_16());
    if (step.bits == 0) return false;
    bits.pass(step.bits);
    at += step.advances;
    if (step.ends) break;
    if (at > kCoefficients) return false;
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
      Step step;
      if (size <= (kind == Kind::dc ? kLargestDc : kLargestAc))
        step.bits = std::uint8_t(length + size);
      // Zero bits behind a code say that it stands for zeros, or for all that are left.
      if (kind == Kind::dc || size > 0)
        step.advances = std::uint8_t((kind == Kind::dc ? 0 : value >> 4) + 1);
      else if (value == kSixteenZeros)
        step.advances = 16;
      else if (value == 0)
        step.ends = true;
      else
        step.bits = 0;
      const std::uint32_t first = code++ << (16 - length);
      if (length > kShort)
        long_.push_back({length, first, step});
      else if (first >> 16 == 0)
        std::fill_n(single_.begin() + std::ptrdiff_t(first >> (16 - kShort)),
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
  if (kind == Kind::ac) combine();
}

void HuffmanTable::combine() {
  for (std::uint32_t bits = 0; bits < several_.size(); ++bits) {
    Step all;
    while (!all.ends) {
      const Step& next = single_[bits << all.bits & (several_.size() - 1)];
      if (next.bits == 0 || all.bits + next.bits > kShort) break;
      all.bits = std::uint8_t(all.bits + next.bits);
      all.advances = std::uint8_t(all.advances + next.advances);
      all.ends = next.ends;
    }
    several_[bits] = all;
  }
}

HuffmanTable::Step HuffmanTable::next_long(std::uint32_t bits) const {
  const auto after =
      std::upper_bound(long_.begin(), long_.end(), bits,
                       [](std::uint32_t b, const Code& code) { return b < code.first; });
  if (after == long_.begin()) return {};
  const Code& code = *(after - 1);
  return (bits ^ code.first) >> (16 - code.length) == 0 ? code.step : Step{};
}

bool holds_units(std::span<const unsigned char> data, std::span<const ScanComponent> components,
                 std::size_t units) {
  Bits bits(data);
  for (std::size_t unit = 0; unit < units; ++unit)
    for (const ScanComponent& component : components)
      for (int block = 0; block < component.blocks; ++block)
        if (!holds_block(bits, *component.dc, *component.ac)) return false;
  bits.fill();
  return bits.is_at_end();
}

}  // namespace convfilt::jpeg
