#include "src/picture/codecs/jpeg/stream.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <optional>

#include "src/picture/byte_order.hpp"
#include "src/picture/codecs/jpeg/entropy.hpp"
#include "src/picture/codecs/jpeg/segments.hpp"

namespace convfilt::jpeg {
namespace {

using View = std::span<const unsigned char>;

enum StreamMarker : unsigned char {
  kBaseline = 0xC0,
  kHuffmanTables = 0xC4,
  kLastFrame = 0xCF,
  kFirstRestart = 0xD0,
  kStart = 0xD8,
  kEnd = 0xD9,
  kScan = 0xDA,
  kQuantisation = 0xDB,
  kRestartInterval = 0xDD,
};

/// A segment between the start and the scan, with where the next one begins.
struct Piece {
  unsigned char marker = 0;
  View payload;
  std::size_t next = 0;
};

std::optional<Piece> piece_at(View file, std::size_t at) {
  if (at + 4 > file.size() || file[at] != 0xFF) return std::nullopt;
  const std::size_t length = big_endian(file, at + 2, 2);
  if (length < 2 || at + 2 + length > file.size()) return std::nullopt;
  return Piece{file[at + 1], file.subspan(at + 4, length - 2), at + 2 + length};
}

/// The contents of the segments before the scan.
class Frame {
 public:
  /// Takes a segment; false where the file is not plain by it.
  bool take(const Piece& piece) {
    switch (piece.marker) {
      case kBaseline: return take_frame(piece.payload);
      case kHuffmanTables: return take_tables(piece.payload);
      case kQuantisation: return take_steps(piece.payload);
      case kRestartInterval:
        if (piece.payload.size() != 2) return false;
        interval_ = big_endian(piece.payload, 0, 2);
        return true;
      case kApp14: adobe_rgb_ |= is_adobe_rgb(piece.payload); return true;
      default: return piece.marker < kBaseline || piece.marker > kLastFrame;
    }
  }

  /// Whether the scan with this header, whose data begin at `at`, is plain and ends the file.
  bool scan_is_whole(View header, View file, std::size_t at) const {
    const std::size_t count = components_.size();
    if (count == 0 || header.size() != 1 + 2 * count + 3 || header[0] != count) return false;
    if (adobe_rgb_ && count == 3) return false;
    const View range = header.last(3);
    if (range[0] != 0 || range[1] != 63 || range[2] != 0) return false;
    std::vector<ScanComponent> components;
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned char name = header[1 + 2 * i], tables = header[2 + 2 * i];
      const Component& component = components_[i];
      if (name != component.name || (tables & 0xCC) != 0) return false;
      if (component.steps >= has_steps_.size() || !has_steps_[component.steps]) return false;
      const auto &dc = tables_[0][tables >> 4], &ac = tables_[1][tables & 15];
      if (!dc || !ac) return false;
      components.emplace_back(*dc, *ac, count == 1 ? 1 : component.across * component.down);
    }
    const auto units = [](std::size_t samples, int factor) {
      const std::size_t side = 8 * std::size_t(factor);
      return (samples + side - 1) / side;
    };
    std::size_t left =
        count == 1 ? units(width_, 1) * units(height_, 1)
                   : units(width_, components_[0].across) * units(height_, components_[0].down);
    std::size_t begin = at;
    for (std::size_t restarts = 0; at < file.size();) {
      const void* found = std::memchr(file.data() + at, 0xFF, file.size() - at);
      if (!found) return false;
      at = std::size_t(static_cast<const unsigned char*>(found) - file.data()) + 2;
      if (at > file.size()) return false;
      const unsigned char marker = file[at - 1];
      if (marker == 0) continue;
      const std::size_t here = interval_ > 0 ? std::min(interval_, left) : left;
      if (!holds_units(file.subspan(begin, at - 2 - begin), components, here)) return false;
      left -= here;
      begin = at;
      if (marker == kEnd) return left == 0 && at == file.size();
      if (left == 0 || marker != kFirstRestart + restarts % 8) return false;
      ++restarts;
    }
    return false;
  }

 private:
  bool take_frame(View payload) {
    constexpr std::size_t kHead = 6, kComponent = 3;
    if (!components_.empty() || payload.size() < kHead || payload[0] != 8) return false;
    height_ = big_endian(payload, 1, 2);
    width_ = big_endian(payload, 3, 2);
    const std::size_t count = payload[5];
    if (width_ == 0 || height_ == 0 || (count != 1 && count != 3) ||
        payload.size() != kHead + kComponent * count)
      return false;
    for (std::size_t i = 0; i < count; ++i) {
      const View component = payload.subspan(kHead + kComponent * i, kComponent);
      components_.push_back({component[0], component[1] >> 4, component[1] & 15, component[2]});
    }
    const Component& luma = components_[0];
    // The scan of one component has one block a unit, whatever its factors.
    if (count == 1) return true;
    const auto is_chroma = [](const Component& c) { return c.across == 1 && c.down == 1; };
    // If no segment names the colours, the names R, G and B mean that they are no YCbCr.
    const bool is_rgb =
        luma.name == 'R' && components_[1].name == 'G' && components_[2].name == 'B';
    return !is_rgb && is_chroma(components_[1]) && is_chroma(components_[2]) &&
           (luma.across == 1 || luma.across == 2) && (luma.down == 1 || luma.down == 2);
  }

  bool take_tables(View payload) {
    constexpr std::size_t kHead = 17;
    while (!payload.empty()) {
      if (payload.size() < kHead || (payload[0] & 0xEC) != 0) return false;
      const auto counts = payload.subspan(1, 16).first<16>();
      const std::size_t symbols = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
      if (payload.size() < kHead + symbols) return false;
      const bool is_ac = payload[0] >> 4 != 0;
      tables_[is_ac][payload[0] & 3].emplace(
          is_ac ? HuffmanTable::Kind::ac : HuffmanTable::Kind::dc, counts,
          payload.subspan(kHead, symbols));
      payload = payload.subspan(kHead + symbols);
    }
    return true;
  }

  bool take_steps(View payload) {
    constexpr std::size_t kTable = 65;
    for (; payload.size() >= kTable; payload = payload.subspan(kTable)) {
      // Baseline has steps of one byte.
      if (payload[0] >= has_steps_.size()) return false;
      has_steps_[payload[0]] = true;
    }
    return payload.empty();
  }

  /// Adobe's segment says whether three colours are YCbCr.
  static bool is_adobe_rgb(View payload) {
    constexpr std::size_t kTransform = 11;
    return payload.size() > kTransform && std::memcmp(payload.data(), "Adobe", 5) == 0 &&
           payload[kTransform] == 0;
  }

  struct Component {
    unsigned char name = 0;
    int across = 1, down = 1;
    unsigned char steps = 0;  ///< which quantisation table it has
  };

  std::size_t width_ = 0, height_ = 0;
  std::vector<Component> components_;
  std::array<bool, 4> has_steps_{};  ///< quantisation tables that were defined
  std::size_t interval_ = 0;         ///< units between restart markers; 0 = there are none
  bool adobe_rgb_ = false;
  std::array<std::array<std::optional<HuffmanTable>, 4>, 2> tables_;  ///< DC, AC
};

}  // namespace

bool is_plain(View file) {
  if (file.size() < 4 || file[0] != 0xFF || file[1] != kStart) return false;
  Frame frame;
  for (std::size_t at = 2;;) {
    const std::optional<Piece> piece = piece_at(file, at);
    if (!piece) return false;
    at = piece->next;
    if (piece->marker == kScan) return frame.scan_is_whole(piece->payload, file, at);
    if (!frame.take(*piece)) return false;
  }
}

std::vector<unsigned char> with_metadata(View encoded, const Metadata& metadata) {
  std::vector<unsigned char> file = {0xFF, kStart};
  std::vector<Segment> segments = segments_of(metadata).list;
  segments.insert(segments.begin(), jfif_segment(metadata.resolution));
  for (const Segment& segment : segments) {
    file.insert(file.end(), {0xFF, segment.marker});
    append_big_endian(file, segment.payload.size() + 2, 2);
    file.insert(file.end(), segment.payload.begin(), segment.payload.end());
  }
  std::size_t at = 2;
  for (std::optional<Piece> piece; (piece = piece_at(encoded, at)); at = piece->next) {
    const bool is_metadata =
        (piece->marker >= kApp0 && piece->marker <= kApp15) || piece->marker == kComment;
    if (!is_metadata) break;
  }
  file.insert(file.end(), encoded.begin() + std::ptrdiff_t(at), encoded.end());
  return file;
}

}  // namespace convfilt::jpeg
