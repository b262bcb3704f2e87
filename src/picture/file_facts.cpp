#include "src/picture/file_facts.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "src/picture/tiff_tags.hpp"

namespace convfilt {
namespace {

using Bytes = std::span<const unsigned char>;

std::uint32_t big_endian(Bytes bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
         std::uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

bool starts_with(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

constexpr std::string_view kExifMark("Exif\0\0", 6);

/// Walks over the markers, and over entropy-coded data by searching 0xFF: a cut file has no end
/// marker, whatever a decoder makes of it, and this costs a thousandth of decoding.
void inspect_jpeg(Bytes bytes, FileFacts* facts) {
  constexpr unsigned kEnd = 0xD9, kScan = 0xDA, kApp1 = 0xE1;
  std::size_t at = 2;
  bool scanned = false, has_exif = false;
  while (true) {
    const void* found =
        at < bytes.size() ? std::memchr(bytes.data() + at, 0xFF, bytes.size() - at) : nullptr;
    if (!found) break;
    at = static_cast<std::size_t>(static_cast<const unsigned char*>(found) - bytes.data()) + 1;
    if (at >= bytes.size()) break;
    const unsigned marker = bytes[at];
    if (marker == 0xFF) continue;  // fill byte: look again from here
    ++at;
    const bool alone = marker <= 0x01 || (marker >= 0xD0 && marker <= 0xD8);
    if (marker == kEnd) {
      if (!scanned) facts->damage = "the file ends too early (no image data before its end marker)";
      return;
    }
    if (alone) continue;
    if (at + 2 > bytes.size()) break;
    const std::size_t length = std::size_t{bytes[at]} << 8 | bytes[at + 1];
    if (length < 2 || at + length > bytes.size()) break;
    const Bytes segment = bytes.subspan(at + 2, length - 2);
    if (marker == kApp1 && !has_exif && starts_with(segment, kExifMark)) {
      facts->orientation = exif_orientation(segment.subspan(kExifMark.size()));
      has_exif = true;
    }
    if (marker == kScan) scanned = true;
    at += length;
  }
  facts->damage = "the file ends too early (no end-of-image marker)";
}

void inspect_png(Bytes bytes, FileFacts* facts) {
  constexpr std::size_t kColourType = 25;
  const bool grey = bytes.size() > kColourType && bytes[kColourType] == 0;
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    const std::size_t length = big_endian(bytes, at);
    const Bytes type = bytes.subspan(at + 4, 4);
    if (length > bytes.size() - at - 12) return;  // libpng will refuse it
    if (starts_with(type, "eXIf")) {
      facts->orientation = exif_orientation(bytes.subspan(at + 8, length));
    }
    if (starts_with(type, "tRNS") && grey) {
      facts->warnings.push_back("the transparent grey level of this PNG is read as opaque");
    }
    if (starts_with(type, "IEND")) return;
    at += length + 12;
  }
}

void inspect_webp(Bytes bytes, FileFacts* facts) {
  const std::size_t whole = bytes.size() >= 12 ? std::size_t{little_endian(bytes, 4)} + 8 : 12;
  if (whole > bytes.size()) {
    facts->damage = "the file ends too early (" + std::to_string(bytes.size()) + " of " +
                    std::to_string(whole) + " bytes)";
  }
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    const std::size_t length = little_endian(bytes, at + 4);
    const Bytes type = bytes.subspan(at, 4);
    if (length > bytes.size() - at - 8) return;
    Bytes data = bytes.subspan(at + 8, length);
    if (starts_with(type, "VP8X") && !data.empty() && (data[0] & 2)) {
      facts->refusal = "it is an animated WebP; extract a frame first (webpmux -get frame 1)";
    }
    if (starts_with(type, "EXIF")) {
      if (starts_with(data, kExifMark)) data = data.subspan(kExifMark.size());
      facts->orientation = exif_orientation(data);
    }
    at += 8 + length + length % 2;
  }
}

/// The picture's size stands in the codestream's first marker segment, SIZ. OpenJPEG takes memory
/// for each tile before OpenCV can be asked for the size.
void inspect_jpeg2000(Bytes bytes, FileFacts* facts) {
  constexpr unsigned char kStart[] = {0xFF, 0x4F, 0xFF, 0x51};
  const auto found = std::search(bytes.begin(), bytes.end(), std::begin(kStart), std::end(kStart));
  if (bytes.end() - found < 24) return;
  const auto at = static_cast<std::size_t>(found - bytes.begin()) + 8;
  facts->width = std::int64_t{big_endian(bytes, at)} - big_endian(bytes, at + 8);
  facts->height = std::int64_t{big_endian(bytes, at + 4)} - big_endian(bytes, at + 12);
}

}  // namespace

FileFacts inspect(FormatId format, std::vector<unsigned char>* bytes) {
  FileFacts facts;
  switch (format) {
    case FormatId::jpeg:
      inspect_jpeg(*bytes, &facts);
      // OpenCV stops in silence where the bytes end, but libjpeg warns when an end marker comes
      // too early, and fills the rest in a defined way.
      bytes->push_back(0xFF);
      bytes->push_back(0xD9);
      break;
    case FormatId::png: inspect_png(*bytes, &facts); break;
    case FormatId::webp: inspect_webp(*bytes, &facts); break;
    case FormatId::tiff: inspect_tiff(bytes, &facts); break;
    case FormatId::bmp: inspect_bmp(*bytes, &facts); break;
    case FormatId::pnm: inspect_pnm(bytes, &facts); break;
    case FormatId::pam: inspect_pam(*bytes, &facts); break;
    case FormatId::jp2: inspect_jpeg2000(*bytes, &facts); break;
    default: break;
  }
  return facts;
}

}  // namespace convfilt
