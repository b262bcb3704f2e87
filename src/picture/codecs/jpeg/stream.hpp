/// JPEGs as bytes, for a codec that decodes and encodes whole ones.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "src/picture/codecs/jpeg/entropy.hpp"
#include "src/picture/metadata.hpp"

namespace convfilt::jpeg {

inline constexpr unsigned char kScan = 0xDA, kHuffmanTables = 0xC4;

/// A segment between the start and the scan's data, with where the next one begins.
struct SegmentInFile {
  unsigned char marker = 0;
  ByteView payload;
  std::size_t next = 0;
};

/// Nothing where there is none whole.
std::optional<SegmentInFile> segment_at(ByteView file, std::size_t at);

void append_segment(unsigned char marker, ByteView payload, Bytes& to);

/// Whether the file is of the kind that every decoder reads alike, and has no damage that shows
/// without making pixels: Huffman-coded baseline of 8 bits in one scan; grey, or YCbCr of
/// 4:4:4, 4:4:0, 4:2:2 or 4:2:0; the code words of all blocks, with each restart marker in its
/// turn; and nothing behind the end marker. What libjpeg would warn of is not plain.
bool is_plain(ByteView file);

/// The codes of a file that is plain in all but them: none were walked. A file that is too large
/// for a device, or has too many restart markers, is walked here, and its codes have no segments.
/// Null where the file is not plain.
std::unique_ptr<huffman::Scan> codes_of_plain(ByteView file);

/// The parts of a JPEG that stay where luma alone changes.
struct KeptChroma {
  ByteView head;           ///< of the file, up to the scan's data
  std::size_t tables = 0;  ///< bytes of that before the scan's segment
  CodedChroma coded;
};

/// Those of a file, which must stay in memory; null where it is grey or not plain, or luma's
/// Huffman tables are those of chroma, too. Other parts may follow the picture, which has at most
/// so many units.
std::unique_ptr<const KeptChroma> chroma_of(ByteView file, std::size_t units);

/// An encoder's JPEG with the metadata in place of the encoder's application segments.
Bytes with_metadata(ByteView encoded, const Metadata& metadata);

}  // namespace convfilt::jpeg
