/// JPEGs as bytes, for a codec that decodes and encodes whole ones.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/huffman/walk.hpp"
#include "src/picture/metadata.hpp"

namespace convfilt::jpeg {

/// Whether the file is of the kind that every decoder reads alike, and has no damage that shows
/// without making pixels: Huffman-coded baseline of 8 bits in one scan; grey, or YCbCr of
/// 4:4:4, 4:4:0, 4:2:2 or 4:2:0; the code words of all blocks, with each restart marker in its
/// turn; and nothing behind the end marker. What libjpeg would warn of is not plain.
bool is_plain(std::span<const unsigned char> file);

/// The codes of a file that is plain in all but them: none were walked. Null where the file is not
/// plain, or too large for a device's walk.
std::unique_ptr<huffman::Scan> codes_of_plain(std::span<const unsigned char> file);

/// An encoder's JPEG with the metadata in place of the encoder's application segments.
std::vector<unsigned char> with_metadata(std::span<const unsigned char> encoded,
                                         const Metadata& metadata);

}  // namespace convfilt::jpeg
