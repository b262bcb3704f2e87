#include "src/picture/codecs/png/chunks.hpp"

#include <tiff.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <new>
#include <utility>

#include "src/picture/byte_order.hpp"
#include "src/picture/codecs/parts.hpp"

namespace convfilt::png {
namespace {

constexpr std::string_view kXmpKeyword = "XML:com.adobe.xmp";
constexpr std::string_view kBlockKeyword = "Raw profile type ";
constexpr std::string_view kXmpMark("http://ns.adobe.com/xap/1.0/\0", 29);
constexpr double kInchesPerMetre = 1 / 0.0254;

/// Metadata are smaller; what is larger is left out, so that a small file cannot take much memory.
constexpr std::size_t kMostBytes = std::size_t{1} << 26;

/// Empty where the stream is damaged or too long.
Bytes inflated(ByteView compressed) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  Bytes out;
  stream.next_in = const_cast<unsigned char*>(compressed.data());
  stream.avail_in = uInt(compressed.size());
  int result = Z_OK;
  while (result == Z_OK && out.size() < kMostBytes) {
    const std::size_t before = out.size();
    out.resize(before + (std::size_t{1} << 16));
    stream.next_out = out.data() + before;
    stream.avail_out = uInt(out.size() - before);
    result = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  return result == Z_STREAM_END ? out : Bytes{};
}

Bytes deflated(ByteView bytes) {
  Bytes out(compressBound(uLong(bytes.size())));
  uLongf size = uLongf(out.size());
  if (compress2(out.data(), &size, bytes.data(), uLong(bytes.size()), Z_BEST_COMPRESSION) != Z_OK)
    throw std::bad_alloc();
  out.resize(size);
  return out;
}

/// The bytes after a keyword and its 0; empty if the chunk has another keyword.
ByteView after_keyword(ByteView data, std::string_view keyword) {
  if (!starts_with(data, keyword) || data.size() <= keyword.size() || data[keyword.size()] != 0)
    return {};
  return data.subspan(keyword.size() + 1);
}

/// The text of an iTXt chunk behind its keyword: two flags, a language and a translated keyword
/// come before it.
Bytes international_text(ByteView data) {
  if (data.size() < 2) return {};
  const bool compressed = data[0] == 1;
  data = data.subspan(2);
  for (int skipped = 0; skipped < 2; ++skipped) {
    const auto end = std::find(data.begin(), data.end(), 0);
    if (end == data.end()) return {};
    data = data.subspan(std::size_t(end - data.begin()) + 1);
  }
  return compressed ? inflated(data) : Bytes(data.begin(), data.end());
}

/// The bytes of a profile that ImageMagick and ExifTool write as text: an empty line, its name and
/// its length, which the digits tell, too, in lines; then hexadecimal digits.
Bytes raw_profile(ByteView text) {
  constexpr int kLinesBefore = 3;
  int lines = 0;
  std::string digits;
  for (const unsigned char letter : text) {
    if (lines < kLinesBefore)
      lines += letter == '\n';
    else if (std::isxdigit(letter))
      digits += char(letter);
  }
  Bytes bytes(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    std::from_chars(&digits[2 * i], &digits[2 * i] + 2, bytes[i], 16);
  return bytes;
}

/// The kinds taken so far. The first chunk of each kind counts, as for libpng; inflating every one
/// would take minutes for a small file.
struct Taken {
  bool exif = false, icc = false, xmp = false, iptc = false;
  bool exif_text = false, icc_text = false, xmp_text = false;
  int app1 = 0;
  std::size_t kept = 0;  ///< bytes of the chunks that stay as they are
};

bool is_text(std::string_view type) {
  return type == "tEXt" || type == "zTXt" || type == "iTXt";
}

/// Takes a chunk that says what the colours are. Of each kind the first counts.
void take_label(std::string_view type, ByteView data, ColourLabel& label) {
  constexpr std::size_t kMastering = 24, kLightLevels = 8;
  const auto number = [&](std::size_t i) { return std::uint32_t(big_endian(data, 4 * i)); };
  if (type == "cICP" && data.size() == 4 && !label.codes) {
    // The third is a matrix, and PNGs have none.
    if (data[2] == 0) label.codes = {data[0], data[1], data[3] != 0};
  } else if (type == "gAMA" && data.size() == 4 && !label.gamma) {
    if (number(0) > 0) label.gamma = number(0);
  } else if (type == "cHRM" && data.size() == 32 && !label.chromaticities) {
    auto& all = label.chromaticities.emplace();
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = number(i);
  } else if (type == "sRGB" && data.size() == 1 && !label.srgb_intent) {
    label.srgb_intent = data[0];
  } else if (type == "mDCV" && data.size() == kMastering && label.mastering.empty()) {
    label.mastering.assign(data.begin(), data.end());
  } else if (type == "cLLI" && data.size() == kLightLevels && label.light_levels.empty()) {
    label.light_levels.assign(data.begin(), data.end());
  }
}

void append_label(ByteSink& sink, const ColourLabel& label) {
  const auto append = [&](std::string_view type, const auto& numbers) {
    Bytes data;
    for (const std::uint32_t number : numbers) append_big_endian(data, number);
    append_chunk(sink, type, data);
  };
  if (const auto& codes = label.codes)
    append_chunk(sink, "cICP", Bytes{codes->primaries, codes->transfer, 0, codes->full_range});
  if (!label.mastering.empty()) append_chunk(sink, "mDCV", label.mastering);
  if (!label.light_levels.empty()) append_chunk(sink, "cLLI", label.light_levels);
  if (label.srgb_intent) append_chunk(sink, "sRGB", Bytes{*label.srgb_intent});
  if (label.gamma) append("gAMA", std::array{*label.gamma});
  if (label.chromaticities) append("cHRM", *label.chromaticities);
}

/// Keeps a text that a PNG made of this one may have, too. Blocks as text do not stay: they repeat
/// metadata, and with those the orientation before.
void keep(std::string_view type, ByteView data, Taken& taken, Metadata& metadata) {
  const bool is_block =
      starts_with(data, kBlockKeyword) || !after_keyword(data, kXmpKeyword).empty();
  if (!is_text(type) || is_block) return;
  if (data.size() > kMostBytes - taken.kept) return;
  taken.kept += data.size();
  metadata.text_chunks.push_back({std::string(type), Bytes(data.begin(), data.end())});
}

/// Takes a block of metadata that a text holds in digits, as old ImageMagick writes it. A chunk of
/// its own counts more.
void take_block(std::string_view type, ByteView data, Taken& taken, Metadata& metadata) {
  if (!starts_with(data, kBlockKeyword)) return;
  data = data.subspan(kBlockKeyword.size());
  const auto end = std::find(data.begin(), data.end(), 0);
  if (data.end() - end < 3) return;
  const std::string_view name = text_of(data).substr(0, std::size_t(end - data.begin()));
  bool Taken::*known = name == "exif" || name == "APP1"   ? &Taken::exif_text
                       : name == "icc" || name == "icm"   ? &Taken::icc_text
                       : name == "xmp"                    ? &Taken::xmp_text
                       : name == "iptc" || name == "8bim" ? &Taken::iptc
                                                          : nullptr;
  // An EXIF block and an XMP packet may both be called APP1.
  if (!known || (name != "APP1" && std::exchange(taken.*known, true))) return;
  if (name == "APP1" && ++taken.app1 > 2) return;
  const ByteView text = data.subspan(name.size() + 1);
  Bytes block = raw_profile(type == "zTXt" ? ByteView(inflated(text.subspan(1))) : text);
  if (name == "APP1" && starts_with(block, kXmpMark)) known = &Taken::xmp_text;
  for (const std::string_view mark : {kExifMark, kXmpMark})
    if (starts_with(block, mark))
      block.erase(block.begin(), block.begin() + std::ptrdiff_t(mark.size()));
  Bytes& to = known == &Taken::exif_text  ? metadata.exif
              : known == &Taken::icc_text ? metadata.icc
              : known == &Taken::xmp_text ? metadata.xmp
                                          : metadata.iptc;
  if (!to.empty()) return;
  // A resource of Photoshop may hold IIM records.
  const bool is_resource = known == &Taken::iptc && starts_with(block, "8BIM");
  to = is_resource ? iptc_in(block) : std::move(block);
}

void take(std::string_view type, ByteView data, Taken& taken, Contents& contents) {
  Metadata& metadata = contents.metadata;
  keep(type, data, taken, metadata);
  take_label(type, data, metadata.label);
  if (type == "eXIf") {
    // Some writers put JPEG's mark before the block.
    if (starts_with(data, kExifMark)) data = data.subspan(kExifMark.size());
    if (!std::exchange(taken.exif, true)) metadata.exif.assign(data.begin(), data.end());
  } else if (type == "iCCP") {
    const auto end = std::find(data.begin(), data.end(), 0);  // of the profile's name
    if (std::exchange(taken.icc, true)) return;
    if (data.end() - end > 2)
      metadata.icc = inflated(data.subspan(std::size_t(end - data.begin()) + 2));
    contents.lost_profile = metadata.icc.empty();
  } else if (type == "iTXt") {
    if (const ByteView text = after_keyword(data, kXmpKeyword);
        !text.empty() && !std::exchange(taken.xmp, true))
      metadata.xmp = international_text(text);
  } else if (type == "zTXt" || type == "tEXt") {
    take_block(type, data, taken, metadata);
  } else if (type == "pHYs") {
    if (data.size() != 9 || data[8] > 1) return;
    const bool has_unit = data[8] == 1;  // the metre
    const double unit = has_unit ? kInchesPerMetre : 1;
    metadata.resolution =
        resolution_in(has_unit ? RESUNIT_INCH : RESUNIT_NONE, double(big_endian(data, 0)) / unit,
                      double(big_endian(data, 4)) / unit);
  } else if (type == "acTL") {
    contents.is_animated = true;
    if (data.size() >= 8) contents.loops = int(std::min<std::uint64_t>(big_endian(data, 4), 65535));
  } else if (type == "fcTL") {
    const auto frame = frame_control(data);
    if (!frame) return;
    contents.clears |= frame->place.disposal == Disposal::clear;
    if (contents.frames++ > 0) return;
    contents.first = frame;
    contents.begins_with_frame = contents.pixels_at == 0;
  }
}

}  // namespace

std::optional<FrameControl> frame_control(ByteView data) {
  constexpr std::size_t kLength = 26;
  if (data.size() < kLength) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t count) {
    return int(std::min<std::uint64_t>(big_endian(data, at, count), INT32_MAX));
  };
  FrameControl frame;
  const bool is_first = number(0, 4) == 0;
  const int disposal = number(24, 1);
  frame.place = {number(12, 4),
                 number(16, 4),
                 number(4, 4),
                 number(8, 4),
                 number(25, 1) == 1,
                 disposal == 1 || (disposal == 2 && is_first) ? Disposal::clear
                 : disposal == 2                              ? Disposal::restore
                                                              : Disposal::keep};
  frame.time = number(20, 2);
  if (const int per_second = number(22, 2); per_second > 0) frame.per_second = per_second;
  return frame;
}

Contents contents_of(ByteSource& source) {
  constexpr std::uint64_t kSignature = 8, kFrame = 12;  // a chunk's length, type and checksum
  constexpr std::uint32_t kMostLength = 0x7fffffff;
  Contents contents;
  Taken taken;
  std::uint64_t at = kSignature;
  while (true) {
    std::array<unsigned char, 8> head{};
    if (source.read(at, head) < head.size()) break;
    const auto length = std::uint32_t(big_endian(head, 0));
    const std::string type(head.begin() + 4, head.end());
    const bool is_word = std::all_of(type.begin(), type.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
    const std::string place = " at byte " + std::to_string(at);
    if (!is_word || length > kMostLength) {
      contents.damage = data_damaged("no chunk begins" + place);
      return contents;
    }
    if (at + kFrame + length > source.size()) {
      contents.damage = ends_early("within chunk " + type + place);
      return contents;
    }
    if (type == "IDAT") {
      if (contents.pixels_at == 0) contents.pixels_at = at;
    } else if (length <= kMostBytes) {
      Bytes chunk(std::size_t(length) + 8);  // type, data and checksum
      source.read(at + 4, chunk);
      const ByteView data = ByteView(chunk).subspan(4, length);
      if (big_endian(chunk, std::size_t(length) + 4) == crc32(0, chunk.data(), uInt(length) + 4)) {
        take(type, data, taken, contents);
      } else if (contents.damage.empty()) {
        contents.damage = data_damaged("wrong checksum of chunk " + type + place);
      }
    }
    at += kFrame + length;
    if (type == "IEND") {
      if (at < source.size() && contents.damage.empty()) {
        contents.damage = bytes_follow(source.size() - at);
      }
      return contents;
    }
  }
  contents.damage = ends_early("no IEND chunk");
  return contents;
}

void append_chunk(ByteSink& sink, std::string_view type, ByteView data) {
  Bytes frame, end;
  append_big_endian(frame, data.size());
  frame.insert(frame.end(), type.begin(), type.end());
  uLong checksum = crc32(0, frame.data() + 4, 4);
  sink.append(frame);
  if (!data.empty()) {
    checksum = crc32_z(checksum, data.data(), data.size());
    sink.append(data);
  }
  append_big_endian(end, checksum);
  sink.append(end);
}

void append_metadata(ByteSink& sink, const Metadata& metadata) {
  const auto with_keyword = [](std::string_view keyword, std::initializer_list<unsigned char> rest,
                               const Bytes& content) {
    Bytes bytes;
    bytes.reserve(keyword.size() + rest.size() + content.size());
    bytes.insert(bytes.end(), keyword.begin(), keyword.end());
    bytes.insert(bytes.end(), rest);
    bytes.insert(bytes.end(), content.begin(), content.end());
    return bytes;
  };
  append_label(sink, metadata.label);
  if (!metadata.icc.empty()) {
    // The name's end, and deflate.
    append_chunk(sink, "iCCP", with_keyword("icc", {0, 0}, deflated(metadata.icc)));
  }
  if (metadata.resolution) {
    Bytes data;
    const bool has_unit = metadata.resolution->has_unit;  // the metre
    for (const double number : {metadata.resolution->x, metadata.resolution->y}) {
      const double in_unit = number * (has_unit ? kInchesPerMetre : 1);
      append_big_endian(data,
                        std::uint64_t(std::clamp(std::round(in_unit), 1.0, double(0x7fffffff))));
    }
    data.push_back(has_unit);
    append_chunk(sink, "pHYs", data);
  }
  if (!metadata.exif.empty()) append_chunk(sink, "eXIf", metadata.exif);
  if (!metadata.xmp.empty()) {
    // The keyword's end, no compression, and neither a language nor a translation.
    append_chunk(sink, "iTXt", with_keyword(kXmpKeyword, {0, 0, 0, 0, 0}, metadata.xmp));
  }
  if (!metadata.iptc.empty()) {
    const Bytes resource = iptc_resource(metadata.iptc);
    std::string length = std::to_string(resource.size());
    length.insert(0, 8 - std::min<std::size_t>(8, length.size()), ' ');
    std::string text = "\niptc\n" + length + "\n";
    constexpr char kDigits[] = "0123456789abcdef";
    constexpr std::size_t kLine = 36;  // bytes
    for (std::size_t i = 0; i < resource.size(); ++i) {
      text += {kDigits[resource[i] >> 4], kDigits[resource[i] & 15]};
      if (i % kLine == kLine - 1) text += '\n';
    }
    text += '\n';
    append_chunk(
        sink, "zTXt",
        with_keyword(std::string(kBlockKeyword) + "iptc", {0, 0}, deflated(bytes_of(text))));
  }
  for (const Metadata::Chunk& chunk : metadata.text_chunks)
    append_chunk(sink, chunk.type, chunk.data);
}

}  // namespace convfilt::png
