#include "src/picture/codecs/jpeg/entropy.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

namespace convfilt::jpeg {
namespace {

using huffman::kCoefficients;

/// Passes a block from coefficient `at` on, behind a fill(), and adds its bits to `length`. False
/// where that is no block.
bool pass_block(Bits& bits, const ScanComponent& component, int at, int& length) {
  // One or more symbols; the last of them may belong to the next block.
  const auto pass = [&](const HuffmanTable::Steps& steps, const HuffmanTable& table) {
    HuffmanTable::Step several = steps.by_bits[bits.next() >> steps.unread];
    if (at + several.reaches > kCoefficients) [[unlikely]] {
      several = table.codes().next(bits.next_16());
      if (at + several.reaches > kCoefficients) return false;
    }
    bits.pass(several.bits);
    length += several.bits;
    at += several.advances;
    return true;
  };
  if (at == 0 && !pass(component.at_start, *component.dc)) return false;
  // A symbol with its value has 27 bits at most, so that one fill is enough for two.
  while (at < kCoefficients) {
    if (!pass(component.behind_start, *component.ac)) return false;
    if (at >= kCoefficients) break;
    bits.fill();
    if (!pass(component.behind_start, *component.ac)) return false;
  }
  return !bits.is_overdrawn();
}

void move_bits(Bits& from, int count, BitWriter& to) {
  while (count > 0) {
    const int some = std::min(count, Bits::kReady);
    from.fill();
    to.put(from.next(), some);
    from.pass(some);
    count -= some;
  }
}

}  // namespace

HuffmanTable::HuffmanTable(Kind kind, std::span<const unsigned char, 16> counts, ByteView symbols) {
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
        std::fill_n(codes_.single + (first >> (16 - kShort)), std::size_t{1} << (kShort - length),
                    step);
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

HuffmanTable::Steps HuffmanTable::followed_by(const HuffmanTable& ac, int bits) const {
  const std::uint32_t all_ones = (1u << bits) - 1;
  const int more = bits - kShort;
  Steps steps{64 - bits, std::vector<Step>(std::size_t{1} << bits)};
  for (std::uint32_t next = 0; next <= all_ones; ++next) {
    Step all = codes_.single[next >> more];
    if (all.bits > bits) all = Step();
    while (all.bits > 0 && all.advances < Step::kAll) {
      const Step& one = ac.codes_.single[(next << all.bits & all_ones) >> more];
      if (one.bits == 0 || all.bits + one.bits > bits) break;
      all.bits = std::uint8_t(all.bits + one.bits);
      all.advances = std::uint8_t(all.advances + one.advances);
      all.reaches = std::uint8_t(all.reaches + one.reaches);
    }
    steps.by_bits[next] = all;
  }
  return steps;
}

bool holds_units(ByteView data, std::span<const ScanComponent> components, std::size_t units,
                 CodedChroma* chroma) {
  Bits bits(data);
  for (std::size_t unit = 0; unit < units; ++unit) {
    int length = 0;
    Bits kept = bits;
    for (const ScanComponent& component : components) {
      for (int block = 0; block < component.blocks; ++block) {
        bits.fill();
        if (!pass_block(bits, component, 0, length)) return false;
      }
      if (&component == components.data()) {
        kept = bits;
        length = 0;
      }
    }
    if (!chroma) continue;
    move_bits(kept, length, chroma->bits);
    chroma->lengths.push_back(std::uint16_t(length));
  }
  bits.fill();
  return bits.is_at_end();
}

Interleaver::Interleaver(const CodedChroma& chroma, int blocks, std::size_t restart_interval,
                         ByteView dc, ByteView ac)
    : dc_(HuffmanTable::Kind::dc, dc.subspan<1, 16>(), dc.subspan(17)),
      ac_(HuffmanTable::Kind::ac, ac.subspan<1, 16>(), ac.subspan(17)),
      component_(dc_, ac_, blocks, chroma.scan_bytes),
      chroma_(chroma),
      chroma_bits_(chroma.bits.data()),
      restart_interval_(restart_interval) {
  std::uint64_t code = 0;
  const unsigned char* symbol = dc.data() + 17;
  for (int length = 1; length <= 9; ++length, code <<= 1)
    for (int i = 0; i < dc[std::size_t(length)]; ++i, ++code, ++symbol) {
      codes_.at(*symbol) = {code << (64 - length), length};
      std::fill_n(sizes_.begin() + std::ptrdiff_t(code << (9 - length)), 1 << (9 - length),
                  *symbol);
    }
}

int Interleaver::next_difference(Bits& luma) const {
  luma.fill();
  const int size = sizes_[luma.next() >> 55], length = codes_[std::size_t(size)].length;
  const int value = size > 0 ? int(luma.next() << length >> (64 - size)) : 0;
  luma.pass(length + size);
  return size == 0 || value >> (size - 1) == 1 ? value : value - (1 << size) + 1;
}

void Interleaver::put_difference(int difference, BitWriter& to) const {
  const int size = std::bit_width(unsigned(std::abs(difference)));
  const auto [bits, length] = codes_[std::size_t(size)];
  const auto value = std::uint64_t(difference < 0 ? difference - 1 : difference);
  to.put(bits | (size > 0 ? value << (64 - size) >> length : 0), length + size);
}

void Interleaver::add(ByteView luma, std::size_t units) {
  Bits bits(luma);
  int mean = 0;
  for (const std::size_t end = unit_ + units; unit_ < end; ++unit_) {
    if (restart_interval_ > 0 && unit_ > 0 && unit_ % restart_interval_ == 0) {
      constexpr unsigned char kRestart = 0xD0;
      out.end(static_cast<unsigned char>(kRestart + (unit_ / restart_interval_ - 1) % 8));
      mean_ = 0;
    }
    for (int block = 0; block < component_.blocks; ++block) {
      mean += next_difference(bits);
      put_difference(mean - std::exchange(mean_, mean), out);
      bits.fill();
      Bits block_bits = bits;
      int length = 0;
      pass_block(bits, component_, 1, length);
      move_bits(block_bits, length, out);
    }
    move_bits(chroma_bits_, chroma_.lengths[unit_], out);
  }
}

}  // namespace convfilt::jpeg
