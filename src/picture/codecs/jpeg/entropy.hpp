/// The Huffman-coded data of a baseline JPEG, looked at without decoding pixels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "kernels/huffman/walk.hpp"
#include "src/picture/bytes.hpp"

namespace convfilt::jpeg {

/// Whether one of the eight bytes is 0xFF.
inline bool has_marker(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u;
  return ((~word - kOnes) & word & (kOnes << 7)) != 0;
}

/// The next bits of a scan's data, on top of a word.
class Bits {
 public:
  static constexpr int kReady = 56;  ///< bits behind a fill(), unless the data end

  explicit Bits(ByteView data) : at_(data.data()), end_(data.data() + data.size()) {}

  /// Makes kReady bits or more ready.
  void fill() {
    std::uint64_t word;
    if (end_ - at_ >= std::ptrdiff_t(sizeof word)) {
      std::memcpy(&word, at_, sizeof word);
      if (!has_marker(word)) {
        // The bits of a byte that is not counted yet are set once more by the next fill.
        window_ |= __builtin_bswap64(word) >> ready_;
        at_ += (63 - ready_) >> 3;
        ready_ |= kReady;
        return;
      }
    }
    while (ready_ < kReady && at_ < end_) {
      const unsigned char byte = *at_++;
      if (byte == 0xFF) ++at_;
      window_ |= std::uint64_t{byte} << (kReady - ready_);
      ready_ += 8;
    }
  }

  std::uint64_t next() const { return window_; }
  std::uint32_t next_16() const { return std::uint32_t(window_ >> 48); }

  void pass(int bits) {
    window_ <<= bits;
    ready_ -= bits;
  }

  /// Whether more bits were passed than there are.
  bool is_overdrawn() const { return ready_ < 0; }

  bool is_at_end() const { return ready_ >= 0 && ready_ < 8 && at_ >= end_; }

 private:
  const unsigned char *at_, *end_;
  std::uint64_t window_ = 0;
  int ready_ = 0;
};

/// Writes bits as a scan's data, with a zero behind each 0xFF.
class BitWriter {
 public:
  /// Takes that memory at once, and more only where it is not enough.
  explicit BitWriter(std::size_t bytes = 0) : data_(bytes) {}

  /// Appends so many bits, 1 to 63, from the top of a word.
  void put(std::uint64_t bits, int count) {
    bits &= ~(~std::uint64_t{0} >> count);
    window_ |= bits >> held_;
    held_ += count;
    if (held_ < 64) return;
    put_bytes(8);
    held_ -= 64;
    window_ = bits << (count - held_);
  }

  /// Fills the last byte with ones, and appends a marker.
  void end(unsigned char marker) {
    if (held_ % 8 != 0) put(~std::uint64_t{0}, 8 - held_ % 8);
    put_bytes(held_ / 8);
    window_ = std::uint64_t(held_ = 0);
    data_[size_++] = 0xFF;
    data_[size_++] = marker;
  }

  /// What was put, but for up to 63 bits that are held until more come, or the end.
  ByteView data() const { return {data_.data(), size_}; }

  /// Forgets data().
  void clear() { size_ = 0; }

 private:
  /// Appends bytes of the window, 8 at the most.
  void put_bytes(int count) {
    constexpr std::size_t kMost = 18;  // with a zero behind each, and a marker
    if (data_.size() - size_ < kMost) data_.resize(2 * data_.size() + kMost);
    if (count == 8 && !has_marker(window_)) {
      const std::uint64_t bytes = __builtin_bswap64(window_);
      std::memcpy(data_.data() + size_, &bytes, sizeof bytes);
      size_ += sizeof bytes;
      return;
    }
    for (int shift = 56; count > 0; --count, shift -= 8) {
      data_[size_++] = static_cast<unsigned char>(window_ >> shift);
      if (data_[size_ - 1] == 0xFF) data_[size_++] = 0;
    }
  }

  Bytes data_;
  std::size_t size_ = 0;
  std::uint64_t window_ = 0;
  int held_ = 0;  ///< bits on top of the window
};

/// A Huffman table as a file defines it (ISO/IEC 10918-1, annex C), made for passing over values: a
/// symbol says how many bits follow it.
class HuffmanTable {
 public:
  enum class Kind { dc, ac };

  HuffmanTable() = default;

  /// `counts` has the number of codes of each length, 1 to 16. A table that no baseline encoder
  /// writes has no symbols.
  HuffmanTable(Kind kind, std::span<const unsigned char, 16> counts, ByteView symbols);

  using Step = huffman::Step;
  static constexpr int kShort = huffman::Codes::kShort;
  struct Steps {
    int unread;  ///< how far to shift a word right to get an index
    std::vector<Step> by_bits;
  };

  const huffman::Codes& codes() const { return codes_; }

  /// Looked up by `bits` of the next bits, kShort or more: a symbol of this table and as many of
  /// `ac` as they hold whole; none where they hold none.
  Steps followed_by(const HuffmanTable& ac, int bits) const;

 private:
  huffman::Codes codes_;
};

/// The tables of a component, and how many of its blocks are in each unit of the scan. The tables
/// must live as long. `scan_bytes`: about how many bytes the scan has. A long scan repays larger
/// tables.
struct ScanComponent {
  static constexpr std::size_t kLongData = 128 * 1024;

  ScanComponent(const HuffmanTable& dc_table, const HuffmanTable& ac_table, int block_count,
                std::size_t scan_bytes)
      : dc(&dc_table),
        ac(&ac_table),
        blocks(block_count),
        at_start(dc->followed_by(*ac, bits_at_once(scan_bytes))),
        behind_start(ac->followed_by(*ac, bits_at_once(scan_bytes))) {}

  static int bits_at_once(std::size_t scan_bytes) {
    return HuffmanTable::kShort + (scan_bytes < kLongData ? 0 : 2);
  }

  const HuffmanTable *dc, *ac;
  int blocks;
  /// A block's first symbols, and others; the last may be the next block's.
  HuffmanTable::Steps at_start, behind_start;
};

/// Chroma of a scan, unit by unit.
struct CodedChroma {
  BitWriter bits;
  std::vector<std::uint16_t> lengths;  ///< bits of each unit
  std::size_t scan_bytes = 0;          ///< of all components, about
};

/// Whether the data hold that many units, and end with them but for the bits that fill the last
/// byte. Each 0xFF of the data must have a zero behind it. Libraries may take data that it refuses,
/// such as those with values too large for 8-bit samples. All bits of components but the first are
/// appended to `chroma`, if there is one: means are stored as differences, which stay.
bool holds_units(ByteView data, std::span<const ScanComponent> components, std::size_t units,
                 CodedChroma* chroma = nullptr);

/// Makes the data of a scan of luma that was coded by itself, in the order of the scan, and of
/// chroma.
class Interleaver {
 public:
  /// Luma has that many blocks in each unit. `dc` and `ac` are the payloads of the segments that
  /// define its tables: `dc` the standard's.
  Interleaver(const CodedChroma& chroma, int blocks, std::size_t restart_interval, ByteView dc,
              ByteView ac);

  /// Appends units. The first block's mean in `luma` is no difference.
  void add(ByteView luma, std::size_t units);

  BitWriter out;

 private:
  int next_difference(Bits& luma) const;
  void put_difference(int difference, BitWriter& to) const;

  struct Code {
    std::uint64_t bits = 0;  ///< on top
    int length = 0;
  };
  std::array<Code, 12> codes_;                ///< of differences of so many bits
  std::array<std::uint8_t, 1 << 9> sizes_{};  ///< of differences, by the next 9 bits
  const HuffmanTable dc_, ac_;
  const ScanComponent component_;
  const CodedChroma& chroma_;
  Bits chroma_bits_;
  const std::size_t restart_interval_;
  std::size_t unit_ = 0;
  int mean_ = 0;  ///< of the block before
};

}  // namespace convfilt::jpeg
