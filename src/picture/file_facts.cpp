#include "src/picture/file_facts.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "src/picture/tiff_tags.hpp"

namespace convfilt {
namespace {

using Bytes = std::span<const unsigned char>;

/// The 32-bit number at `at`, least byte first; the four bytes must be there.
std::uint32_t little_endian(Bytes bytes, std::size_t at) {
  return std::uint32_t{bytes[at + 3]} << 24 | std::uint32_t{bytes[at + 2]} << 16 |
         std::uint32_t{bytes[at + 1]} << 8 | bytes[at];
}

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

/// Why run-length coded rows cannot be right; empty when they can. OpenCV goes on with rubbish
/// where a row is longer than the picture is wide, or the end mark is missing.
std::string run_length_damage(Bytes runs, std::int64_t width, std::int64_t height, bool nibbles) {
  std::int64_t x = 0, y = 0;
  std::size_t at = 0;
  while (at + 2 <= runs.size()) {
    const unsigned count = runs[at], code = runs[at + 1];
    at += 2;
    if (count > 0) {
      x += count;
    } else if (code == 0) {  // end of row
      x = 0;
      ++y;
    } else if (code == 1) {  // end of picture
      return "";
    } else if (code == 2) {  // move right and up
      if (at + 2 > runs.size()) break;
      x += runs[at];
      y += runs[at + 1];
      at += 2;
    } else {  // `code` pixels follow as they are, padded to a word
      x += code;
      at += ((nibbles ? (code + 1) / 2 : code) + 1) / 2 * 2;
    }
    if (x > width || y > height)
      return "its data is damaged (a run-length coded row is longer than the picture is wide)";
  }
  return "the file ends too early (its run-length coded rows have no end mark)";
}

/// The number after `at`, past blanks and comments; moves `at` behind it. -1 when there is none.
long next_number(Bytes bytes, std::size_t* at) {
  while (*at < bytes.size() && (std::isspace(bytes[*at]) || bytes[*at] == '#')) {
    if (bytes[*at] == '#') {
      while (*at < bytes.size() && bytes[*at] != '\n' && bytes[*at] != '\r') ++*at;
    } else {
      ++*at;
    }
  }
  long value = -1;
  for (; *at < bytes.size() && std::isdigit(bytes[*at]) && value < 100'000'000; ++*at) {
    value = std::max(value, 0L) * 10 + (bytes[*at] - '0');
  }
  return value;
}

/// OpenCV leaves samples as they are when the file's largest value is not the depth's own. It
/// scales only ASCII files of 8 bits itself.
void set_scale(long largest, bool scaled_by_opencv, FileFacts* facts) {
  if (largest > 0 && largest < 255 && !scaled_by_opencv) facts->scale = 255.0 / largest;
  if (largest > 255 && largest < 65535) facts->scale = 65535.0 / largest;
}

void inspect_tiff(std::vector<unsigned char>* bytes, FileFacts* facts) {
  constexpr std::uint32_t kRgb = 2, kSeparated = 5, kAssociated = 1, kUnassociated = 2;
  const TiffTags tags(*bytes);
  const std::uint32_t bits = tags.first(kBitsPerSample).value_or(1);
  const std::uint32_t samples = tags.first(kSamplesPerPixel).value_or(1);
  const std::uint32_t photometric = tags.first(kPhotometric).value_or(0);
  const auto extra = tags.first(kExtraSamples);
  const bool raw =
      bits > 8 && photometric <= kRgb && (samples == 1 || samples == 3 || samples == 4);

  // OpenCV turns pictures as this tag says, but tiled ones wrongly, so this program turns all of
  // them.
  const std::uint32_t orientation = tags.first(kOrientation).value_or(1);
  if (orientation >= 2 && orientation <= 8 && tags.patch(*bytes, kOrientation, 1)) {
    facts->orientation = static_cast<int>(orientation);
  }
  // libtiff would multiply colours by a straight alpha, with loss. If the tag says that they are
  // multiplied already, it hands them over as they are.
  if (extra == kUnassociated) tags.patch(*bytes, kExtraSamples, kAssociated);
  if (samples == 4 && photometric == kRgb) {
    facts->premultiplied = extra == kAssociated;
    facts->drop_alpha = extra == 0u;
  }
  facts->drop_alpha |= photometric == kSeparated;
  facts->invert = raw && samples == 1 && photometric == 0 && bits < 32;

  if (raw && samples > 1 && tags.first(kPlanarConfig) == 2u) {
    facts->refusal =
        "OpenCV does not read TIFF of separate planes and more than 8 bits; "
        "convert it first (tiffcp -p contig)";
  }
  if (bits > 8 && !raw) {
    facts->warnings.push_back("this kind of TIFF is read with 8 of its " + std::to_string(bits) +
                              " bits a sample");
  }
  if (samples == 2 && extra) facts->warnings.push_back("the alpha of a grey TIFF is not read");
  if (tags.is_cut())
    facts->damage = "the file ends too early (its directory points beyond the end)";
  if (tags.has_next_directory()) {
    facts->warnings.push_back("only the first of several pictures in this TIFF is read");
  }
}

void inspect_bmp(Bytes bytes, FileFacts* facts) {
  constexpr std::size_t kHeader = 54;
  constexpr std::uint32_t kRunLength8 = 1, kRunLength4 = 2;
  if (bytes.size() < kHeader || little_endian(bytes, 14) < 40) return;
  const std::size_t pixels_at = little_endian(bytes, 10);
  const std::uint32_t coding = little_endian(bytes, 30);
  if ((coding != kRunLength8 && coding != kRunLength4) || pixels_at > bytes.size()) return;
  facts->damage = run_length_damage(bytes.subspan(pixels_at), little_endian(bytes, 18),
                                    little_endian(bytes, 22), coding == kRunLength4);
}

void inspect_pnm(std::vector<unsigned char>* bytes, FileFacts* facts) {
  const bool bitmap = (*bytes)[1] == '1' || (*bytes)[1] == '4';
  const bool ascii = (*bytes)[1] <= '3';
  if (ascii) bytes->push_back('\n');  // OpenCV reads one byte past the last number
  std::size_t at = 2;
  next_number(*bytes, &at);
  next_number(*bytes, &at);
  if (!bitmap) set_scale(next_number(*bytes, &at), ascii, facts);
}

void inspect_pam(Bytes bytes, FileFacts* facts) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view header = all.substr(0, all.find("ENDHDR"));
  const auto field = [&](std::string_view name) {
    std::size_t at = header.find(name);  // with the line break before it
    if (at == header.npos) return -1L;
    at += name.size();
    return next_number(bytes, &at);
  };
  const long channels = field("\nDEPTH ");
  facts->swap_red_blue = channels >= 3;
  if (field("\nMAXVAL ") > 1) set_scale(field("\nMAXVAL "), false, facts);
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
