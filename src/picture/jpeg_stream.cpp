#include "src/picture/jpeg_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "src/picture/jpeg_segments.hpp"

namespace convfilt::jpeg {
namespace {

using View = std::span<const unsigned char>;

enum Marker : unsigned char {
  kBaseline = 0xC0,
  kHuffmanTables = 0xC4,
  kLastFrame = 0xCF,
  kFirstRestart = 0xD0,
  kLastRestart = 0xD7,
  kStart = 0xD8,
  kEnd = 0xD9,
  kScan = 0xDA,
  kRestartInterval = 0xDD,
  kApp0 = 0xE0,
  kApp14 = 0xEE,
  kApp15 = 0xEF,
  kComment = 0xFE,
};

/// A segment between the start and the scan, with where the next one begins.
struct Piece {
  unsigned char marker = 0;
  View payload;
  std::size_t next = 0;
};

std::size_t two_bytes(View bytes, std::size_t at) {
  return std::size_t{bytes[at]} << 8 | bytes[at + 1];
}

std::optional<Piece> piece_at(View file, std::size_t at) {
  if (at + 4 > file.size() || file[at] != 0xFF) return std::nullopt;
  const std::size_t length = two_bytes(file, at + 2);
  if (length < 2 || at + 2 + length > file.size()) return std::nullopt;
  return Piece{file[at + 1], file.subspan(at + 4, length - 2), at + 2 + length};
}

/// What the segments before the scan say.
struct Frame {
  bool known = false;
  std::size_t width = 0, height = 0, components = 0;
  std::size_t across = 1, down = 1;  ///< luma samples per chroma sample
  std::size_t interval = 0;          ///< MCUs between restart markers; 0 = there are none
};

bool read_frame(View payload, Frame& frame) {
  constexpr std::size_t kHead = 6, kComponent = 3;
  if (frame.known || payload.size() < kHead || payload[0] != 8) return false;
  frame.known = true;
  frame.height = two_bytes(payload, 1);
  frame.width = two_bytes(payload, 3);
  frame.components = payload[5];
  if (frame.components != 1 && frame.components != 3) return false;
  if (payload.size() != kHead + kComponent * frame.components) return false;
  if (frame.width == 0 || frame.height == 0) return false;
  if (frame.components == 1) return true;
  const auto component = [&](std::size_t i) { return payload.subspan(kHead + kComponent * i, 3); };
  // Without a word on colours the names R, G and B say that they are no YCbCr.
  if (component(0)[0] == 'R' && component(1)[0] == 'G' && component(2)[0] == 'B') return false;
  constexpr unsigned char kOne = 0x11;
  if (component(1)[1] != kOne || component(2)[1] != kOne) return false;
  frame.across = component(0)[1] >> 4;
  frame.down = component(0)[1] & 15;
  return (frame.across == 1 || frame.across == 2) && (frame.down == 1 || frame.down == 2);
}

/// Adobe's segment says whether three colours are YCbCr.
bool is_adobe_rgb(View payload) {
  constexpr std::size_t kTransform = 11;
  return payload.size() > kTransform && std::memcmp(payload.data(), "Adobe", 5) == 0 &&
         payload[kTransform] == 0;
}

/// Whether the compressed data from `at` on have their restart markers, and end with the file.
bool scan_is_whole(View file, std::size_t at, const Frame& frame) {
  constexpr std::size_t kBlock = 8;
  const auto units = [](std::size_t samples, std::size_t side) {
    return (samples + side - 1) / side;
  };
  const std::size_t all =
      units(frame.width, kBlock * frame.across) * units(frame.height, kBlock * frame.down);
  const std::size_t restarts = frame.interval > 0 ? (all - 1) / frame.interval : 0;
  std::size_t seen = 0;
  while (at < file.size()) {
    const void* found = std::memchr(file.data() + at, 0xFF, file.size() - at);
    if (!found) return false;
    at = std::size_t(static_cast<const unsigned char*>(found) - file.data()) + 2;
    if (at > file.size()) return false;
    const unsigned char marker = file[at - 1];
    if (marker == 0) continue;
    if (marker == kEnd) return at == file.size() && seen == restarts;
    if (marker < kFirstRestart || marker > kLastRestart) return false;
    if (marker != kFirstRestart + seen % 8 || seen == restarts) return false;
    ++seen;
  }
  return false;
}

}  // namespace

bool is_plain(View file) {
  if (file.size() < 4 || file[0] != 0xFF || file[1] != kStart) return false;
  Frame frame;
  bool adobe_rgb = false;
  for (std::size_t at = 2;;) {
    const std::optional<Piece> piece = piece_at(file, at);
    if (!piece) return false;
    at = piece->next;
    if (piece->marker == kScan) {
      const View payload = piece->payload;
      const bool all_at_once = !payload.empty() && payload[0] == frame.components;
      return frame.known && all_at_once && !(adobe_rgb && frame.components == 3) &&
             scan_is_whole(file, at, frame);
    }
    if (piece->marker == kBaseline) {
      if (!read_frame(piece->payload, frame)) return false;
    } else if (piece->marker > kBaseline && piece->marker <= kLastFrame &&
               piece->marker != kHuffmanTables) {
      return false;
    } else if (piece->marker == kRestartInterval) {
      if (piece->payload.size() != 2) return false;
      frame.interval = two_bytes(piece->payload, 0);
    } else if (piece->marker == kApp14) {
      adobe_rgb |= is_adobe_rgb(piece->payload);
    }
  }
}

std::vector<unsigned char> with_metadata(View encoded, const Metadata& metadata) {
  std::vector<unsigned char> file = {0xFF, kStart};
  const auto append = [&](int number, View payload) {
    const std::size_t length = payload.size() + 2;
    file.insert(file.end(), {0xFF, static_cast<unsigned char>(kApp0 + number),
                             static_cast<unsigned char>(length >> 8),
                             static_cast<unsigned char>(length & 255)});
    file.insert(file.end(), payload.begin(), payload.end());
  };
  append(0, jfif_payload(metadata.resolution));
  for (const Segment& segment : segments_of(metadata).list) append(segment.number, segment.payload);
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
