/// Metadata as the application segments and comments of a JPEG hold them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/picture/bytes.hpp"
#include "src/picture/metadata.hpp"

namespace convfilt::jpeg {

/// The second byte of the markers whose segments hold metadata.
enum Marker : unsigned char {
  kApp0 = 0xE0,
  kApp1 = 0xE1,
  kApp2 = 0xE2,
  kApp13 = 0xED,
  kApp14 = 0xEE,
  kApp15 = 0xEF,
  kComment = 0xFE,
};

/// A segment without its length.
struct Segment {
  unsigned char marker = 0;
  Bytes payload;
};

/// Bytes of one of several pictures, from the beginning of the index's directory on; of the first,
/// from that of the file.
struct IndexedPicture {
  std::uint64_t at = 0, size = 0;
};

struct Contents {
  Metadata metadata;            ///< without the resolution, which libjpeg reads itself
  bool announces_more = false;  ///< other pictures, a video or such follow the end of the picture
  std::vector<IndexedPicture> pictures;  ///< of a multi-picture index
  std::vector<std::string> left_out;     ///< what could not be understood, a sentence each
};

/// The offset of the directory of a multi-picture index in a file; nothing if it has none.
std::optional<std::uint64_t> index_place(ByteSource& file);

/// The height that a JPEG names behind its first scan (DNL).
struct LateHeight {
  std::uint64_t at = 0;  ///< where it belongs, in the frame header
  std::array<unsigned char, 2> bytes{};
};

/// That of a file whose frame header has a height of 0; nothing where it names none.
std::optional<LateHeight> late_height(ByteSource& file);

/// The contents of the segments APP1, APP2, APP13 and COM of a file, in its order.
Contents contents_of(const std::vector<Segment>& segments);

struct Segments {
  std::vector<Segment> list;
  std::vector<std::string> left_out;  ///< what segments cannot hold, a sentence each
};

/// The segments that hold the metadata, without the resolution.
Segments segments_of(const Metadata& metadata);

/// The whole numbers of a JFIF header that say a resolution, per inch or per centimetre.
struct Density {
  std::uint8_t unit = 0;  ///< 0 says that only the ratio counts
  std::uint16_t x = 1, y = 1;
};

Density density_of(const std::optional<Metadata::Resolution>& resolution);

/// The segment with which a JFIF file begins.
Segment jfif_segment(const std::optional<Metadata::Resolution>& resolution);

}  // namespace convfilt::jpeg
