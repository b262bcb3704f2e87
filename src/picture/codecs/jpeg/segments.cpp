#include "src/picture/codecs/jpeg/segments.hpp"

#include <lcms2_plugin.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <map>
#include <new>
#include <string_view>
#include <utility>

#include "src/picture/byte_order.hpp"
#include "src/picture/codecs/tiff/directory.hpp"
#include "src/picture/xmp.hpp"

namespace convfilt::jpeg {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kExif = kExifMark, kXmp = "http://ns.adobe.com/xap/1.0/\0"sv,
                           kExtension = "http://ns.adobe.com/xmp/extension/\0"sv,
                           kPhotoshop = "Photoshop 3.0\0"sv, kIcc = "ICC_PROFILE\0"sv,
                           kPictures = "MPF\0"sv;

constexpr unsigned char kStartOfScan = 0xDA;
constexpr std::size_t kLargestPayload = 65533;  // a length of 16 bits counts itself
constexpr std::size_t kLargestPacket = 65502;   // the XMP specification, part 3
constexpr std::size_t kExtensionPart = 65400;   // what other programs write
constexpr std::size_t kGuid = 32;               // digits of the MD5 sum of an extension

void append(Bytes& to, ByteView bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

Segment segment_of(Marker marker, std::initializer_list<ByteView> parts) {
  Segment segment{marker, {}};
  for (const ByteView part : parts) append(segment.payload, part);
  return segment;
}

/// As many of the bytes from `at` on as there are, up to `most`.
ByteView part_of(ByteView bytes, std::size_t at, std::size_t most) {
  return bytes.subspan(at, std::min(most, bytes.size() - at));
}

/// XMP names an extension by this sum.
std::string md5_in_hexadecimal(ByteView bytes) {
  const cmsHANDLE sum = cmsMD5alloc(nullptr);
  if (!sum) throw std::bad_alloc();
  cmsMD5add(sum, bytes.data(), cmsUInt32Number(bytes.size()));
  cmsProfileID made;
  cmsMD5finish(&made, sum);
  std::string digits;
  for (const unsigned byte : made.ID8)
    digits += {"0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
  return digits;
}

/// The profile of numbered segments, each "ICC_PROFILE\0", its number from 1, how many there are.
std::optional<Bytes> joined_profile(const std::vector<ByteView>& parts) {
  const std::size_t count = parts.front()[1];
  std::vector<ByteView> in_order(count);
  for (const ByteView part : parts) {
    const std::size_t number = part[0];
    if (number < 1 || number > count || part[1] != count || in_order[number - 1].data())
      return std::nullopt;
    in_order[number - 1] = part.subspan(2);
  }
  Bytes profile;
  for (const ByteView part : in_order) {
    if (!part.data()) return std::nullopt;
    append(profile, part);
  }
  return profile;
}

/// An element's start tag in XML text: where it begins and where it ends.
struct Tag {
  std::size_t begin = std::string_view::npos, end = 0;
  explicit operator bool() const { return begin != std::string_view::npos; }
};

Tag find_tag(std::string_view xml, std::string_view name) {
  Tag tag;
  tag.begin = xml.find(name);
  const std::size_t close = tag ? xml.find('>', tag.begin) : xml.npos;
  if (close == xml.npos || xml[close - 1] == '/') return {};
  tag.end = close + 1;
  return tag;
}

/// The namespaces that a start tag declares: prefix and URI, which keeps its quotes.
std::map<std::string, std::string> namespaces_in(std::string_view tag) {
  std::map<std::string, std::string> found;
  constexpr std::string_view kDeclares = "xmlns:";
  for (std::size_t at = tag.find(kDeclares); at != tag.npos; at = tag.find(kDeclares, at)) {
    at += kDeclares.size();
    const std::size_t equals = tag.find('=', at);
    const std::size_t open = equals == tag.npos ? tag.npos : tag.find_first_of("'\"", equals);
    const std::size_t close = open == tag.npos ? tag.npos : tag.find(tag[open], open + 1);
    if (close == tag.npos) break;
    std::string prefix(tag.substr(at, equals - at));
    while (!prefix.empty() && std::isspace(static_cast<unsigned char>(prefix.back())))
      prefix.pop_back();
    found[prefix] = tag.substr(open, close + 1 - open);
    at = close;
  }
  return found;
}

constexpr std::string_view kHasExtension = "xmpNote:HasExtendedXMP";

/// The packet with the descriptions of its extension among its own; nothing where one of the two is
/// not of the form that the specification gives.
std::optional<Bytes> joined_packet(ByteView packet, ByteView extension) {
  constexpr std::string_view kOpen = "<rdf:RDF", kClose = "</rdf:RDF>", kMeta = "<x:xmpmeta";
  std::string xml(text_of(packet));
  const std::string_view more = text_of(extension);
  const Tag more_rdf = find_tag(more, kOpen), rdf = find_tag(xml, kOpen);
  const std::size_t more_end = more.rfind(kClose), end = xml.rfind(kClose);
  if (!more_rdf || !rdf || more_end == more.npos || end == xml.npos || more_end < more_rdf.end ||
      end < rdf.end)
    return std::nullopt;

  const auto declared = [&](std::string_view all, const Tag& tag) {
    auto names = namespaces_in(all.substr(tag.begin, tag.end - tag.begin));
    if (const Tag meta = find_tag(all, kMeta))
      names.merge(namespaces_in(all.substr(meta.begin, meta.end - meta.begin)));
    return names;
  };
  const auto known = declared(xml, rdf);
  std::string added;
  for (const auto& [prefix, uri] : declared(more, more_rdf)) {
    const auto same = known.find(prefix);
    if (same == known.end())
      added += " xmlns:" + prefix + "=" + uri;
    else if (same->second.substr(1, same->second.size() - 2) != uri.substr(1, uri.size() - 2))
      return std::nullopt;
  }
  xml.insert(end, more.substr(more_rdf.end, more_end - more_rdf.end));
  xml.insert(rdf.end - 1, added);
  erase_first(xml, kHasExtension);
  return Bytes(xml.begin(), xml.end());
}

/// The parts of extensions by their names, each with its full length and where it belongs.
using Extensions = std::map<std::string, std::vector<ByteView>>;

/// The extension that the packet asks for; nothing where parts are missing or lie wrongly.
std::optional<Bytes> extension_of(ByteView packet, Extensions& extensions) {
  const auto asked = std::find_if(extensions.begin(), extensions.end(), [&](const auto& named) {
    return text_of(packet).find(named.first) != std::string_view::npos;
  });
  if (asked == extensions.end()) return std::nullopt;
  std::vector<ByteView>& parts = asked->second;
  std::sort(parts.begin(), parts.end(),
            [](ByteView a, ByteView b) { return big_endian(a, 4, 4) < big_endian(b, 4, 4); });
  Bytes bytes;
  for (const ByteView part : parts) {
    if (big_endian(part, 4, 4) != bytes.size()) return std::nullopt;
    append(bytes, part.subspan(8));
  }
  if (bytes.size() != big_endian(parts.front(), 0, 4)) return std::nullopt;
  return bytes;
}

/// XML without the "<?xpacket ...?>" around it.
std::string_view without_wrapper(std::string_view xml) {
  if (const std::size_t end = xml.rfind("<?xpacket end"); end != xml.npos) xml = xml.substr(0, end);
  if (const std::size_t begin = xml.find("<?xpacket begin"); begin != xml.npos) {
    const std::size_t close = xml.find("?>", begin);
    if (close != xml.npos) xml.remove_prefix(close + 2);
  }
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!xml.empty() && blank(xml.back())) xml.remove_suffix(1);
  while (!xml.empty() && blank(xml.front())) xml.remove_prefix(1);
  return xml;
}

void add_packet(ByteView xmp, std::vector<Segment>& list) {
  if (xmp.size() <= kLargestPacket) return list.push_back(segment_of(kApp1, {bytes_of(kXmp), xmp}));
  const ByteView extension = bytes_of(without_wrapper(text_of(xmp)));
  const std::string guid = md5_in_hexadecimal(extension);
  const std::string packet = packet_of(
      "xmlns:xmpNote=\"http://ns.adobe.com/xmp/note/\" xmpNote:HasExtendedXMP=\"" + guid + "\"/>");
  list.push_back(segment_of(kApp1, {bytes_of(kXmp), bytes_of(packet)}));
  for (std::size_t at = 0; at < extension.size(); at += kExtensionPart) {
    Bytes place;
    append_big_endian(place, extension.size(), 4);
    append_big_endian(place, at, 4);
    list.push_back(segment_of(kApp1, {bytes_of(kExtension), bytes_of(guid), place,
                                      part_of(extension, at, kExtensionPart)}));
  }
}

void add_profile(ByteView icc, Segments& segments) {
  constexpr std::size_t kPart = kLargestPayload - kIcc.size() - 2, kMostParts = 255;
  const std::size_t count = (icc.size() + kPart - 1) / kPart;
  if (count > kMostParts) {
    segments.left_out.push_back("its colour profile is larger than a JPEG holds and is left out");
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned char place[] = {static_cast<unsigned char>(i + 1),
                                   static_cast<unsigned char>(count)};
    segments.list.push_back(
        segment_of(kApp2, {bytes_of(kIcc), place, part_of(icc, i * kPart, kPart)}));
  }
}

/// Readers join the resources of all segments, so that one of them may be split anywhere.
void add_resources(const Metadata& metadata, std::vector<Segment>& list) {
  constexpr std::size_t kPart = kLargestPayload - kPhotoshop.size();
  Bytes resources = metadata.iptc.empty() ? Bytes() : iptc_resource(metadata.iptc);
  append(resources, metadata.paths);
  for (std::size_t at = 0; at < resources.size(); at += kPart)
    list.push_back(segment_of(kApp13, {bytes_of(kPhotoshop), part_of(resources, at, kPart)}));
}

/// CIPA DC-007: a directory has a value of 16 bytes for each picture.
std::vector<IndexedPicture> indexed_pictures(ByteView directory) {
  constexpr std::uint16_t kEntries = 0xB002;
  constexpr std::size_t kEntry = 16, kSizeAt = 4, kPlaceAt = 8;
  const TiffStructure index(directory);
  const auto all = index.first_directory();
  const TiffEntry* entry = all ? all->find(kEntries) : nullptr;
  if (!entry) return {};
  std::vector<IndexedPicture> pictures;
  const Bytes bytes = index.bytes_of(*entry, directory.size());
  for (std::size_t at = 0; at + kEntry <= bytes.size(); at += kEntry) {
    const ByteView values = ByteView(bytes).subspan(at, kEntry);
    pictures.push_back({index.number_in(values.subspan(kPlaceAt, 4)),
                        index.number_in(values.subspan(kSizeAt, 4))});
  }
  return pictures;
}

}  // namespace

std::optional<std::uint64_t> index_place(ByteSource& file) {
  std::array<unsigned char, 8> head{};
  for (std::uint64_t at = 2; file.read(at, head) == head.size() && head[0] == 0xFF;
       at += 2 + big_endian(head, 2, 2)) {
    if (head[1] == kApp2 && starts_with(ByteView(head).subspan(4), kPictures))
      return at + 4 + kPictures.size();
    if (head[1] == kStartOfScan) break;
  }
  return std::nullopt;
}

std::optional<LateHeight> late_height(ByteSource& file) {
  constexpr unsigned char kFirstFrame = 0xC0, kLastFrame = 0xCF, kLines = 0xDC, kRestart = 0xD0;
  constexpr std::size_t kHeightAt = 5;
  std::array<unsigned char, 8> head{};
  LateHeight height;
  std::uint64_t at = 2;
  for (bool is_scan = false; !is_scan; at += 2 + big_endian(head, 2, 2)) {
    if (file.read(at, head) < head.size() || head[0] != 0xFF) return std::nullopt;
    is_scan = head[1] == kStartOfScan;
    // Every fourth of this range, but for the first, is no frame.
    const bool is_frame = head[1] > kFirstFrame && head[1] <= kLastFrame && head[1] % 4 != 0;
    if (is_frame || head[1] == kFirstFrame) height.at = at + kHeightAt;
  }
  Bytes buffer(std::size_t{1} << 16);
  for (unsigned char before = 0; const std::size_t got = file.read(at, buffer); at += got) {
    for (std::size_t i = 0; i < got; before = buffer[i++]) {
      const unsigned char marker = buffer[i];
      if (before != 0xFF || marker == 0 || marker == 0xFF || marker / 8 == kRestart / 8) continue;
      if (marker != kLines || height.at == 0 || file.read(at + i + 3, height.bytes) < 2)
        return std::nullopt;
      return height;
    }
  }
  return std::nullopt;
}

Contents contents_of(const std::vector<Segment>& segments) {
  Contents contents;
  Metadata& metadata = contents.metadata;
  std::vector<ByteView> profile;
  Bytes resources;
  Extensions extensions;
  for (const Segment& segment : segments) {
    const ByteView payload = segment.payload;
    const auto is = [&](Marker marker, std::string_view mark) {
      return segment.marker == marker && starts_with(payload, mark);
    };
    if (is(kApp1, kExif) && metadata.exif.empty())
      append(metadata.exif, payload.subspan(kExif.size()));
    if (is(kApp1, kXmp) && metadata.xmp.empty()) append(metadata.xmp, payload.subspan(kXmp.size()));
    if (is(kApp1, kExtension) && payload.size() >= kExtension.size() + kGuid + 8) {
      const ByteView part = payload.subspan(kExtension.size());
      extensions[std::string(text_of(part.first(kGuid)))].push_back(part.subspan(kGuid));
    }
    if (is(kApp2, kIcc) && payload.size() >= kIcc.size() + 2)
      profile.push_back(payload.subspan(kIcc.size()));
    if (is(kApp2, kPictures) && !std::exchange(contents.announces_more, true))
      contents.pictures = indexed_pictures(payload.subspan(kPictures.size()));
    if (is(kApp13, kPhotoshop)) append(resources, payload.subspan(kPhotoshop.size()));
    if (segment.marker == kComment) metadata.comments.push_back(segment.payload);
  }
  metadata.iptc = iptc_in(resources);
  metadata.paths = paths_in(resources);
  if (!profile.empty()) {
    if (auto whole = joined_profile(profile))
      metadata.icc = std::move(*whole);
    else
      contents.left_out.push_back("parts of its colour profile are missing; it is left out");
  }
  if (text_of(metadata.xmp).find(kHasExtension) != std::string_view::npos) {
    const auto extension = extension_of(metadata.xmp, extensions);
    auto whole = extension ? joined_packet(metadata.xmp, *extension) : std::nullopt;
    if (whole) {
      metadata.xmp = std::move(*whole);
    } else {
      std::string alone(text_of(metadata.xmp));
      erase_first(alone, kHasExtension);
      metadata.xmp.assign(alone.begin(), alone.end());
      contents.left_out.push_back(
          "the extension of its XMP is incomplete or of unknown form; it is left out");
    }
  }
  for (const std::string_view word : {"MotionPhoto"sv, "MicroVideo"sv, "Container:Directory"sv})
    contents.announces_more |= text_of(metadata.xmp).find(word) != std::string_view::npos;
  return contents;
}

Segments segments_of(const Metadata& metadata) {
  Segments segments;
  if (metadata.exif.size() > kLargestPayload - kExif.size()) {
    segments.left_out.push_back("its EXIF data are larger than a JPEG holds and are left out");
  } else if (!metadata.exif.empty()) {
    segments.list.push_back(segment_of(kApp1, {bytes_of(kExif), metadata.exif}));
  }
  if (!metadata.xmp.empty()) add_packet(metadata.xmp, segments.list);
  add_resources(metadata, segments.list);
  if (!metadata.icc.empty()) add_profile(metadata.icc, segments);
  for (const Bytes& comment : metadata.comments)
    for (std::size_t at = 0; at == 0 || at < comment.size(); at += kLargestPayload) {
      const auto part =
          std::span(comment).subspan(at).first(std::min(kLargestPayload, comment.size() - at));
      segments.list.push_back({kComment, Bytes(part.begin(), part.end())});
    }
  return segments;
}

Density density_of(const std::optional<Metadata::Resolution>& resolution) {
  constexpr std::uint8_t kPerInch = 1, kPerCentimetre = 2;
  constexpr double kMost = 65535, kCentimetresPerInch = Metadata::kCentimetresPerInch;
  if (!resolution) return {};
  const auto fits = [](double value) { return value >= 0.5 && value <= kMost; };
  if (!resolution->has_unit && fits(resolution->x) && fits(resolution->y))
    return {0, std::uint16_t(std::lround(resolution->x)),
            std::uint16_t(std::lround(resolution->y))};
  if (!fits(resolution->x) || !fits(resolution->y)) return {};
  const double x = resolution->x / kCentimetresPerInch, y = resolution->y / kCentimetresPerInch;
  const auto misses = [](double value) { return std::abs(value - std::round(value)); };
  const bool per_centimetre = fits(x) && fits(y) && misses(x) + misses(y) < 1e-6 &&
                              misses(resolution->x) + misses(resolution->y) > 1e-6;
  const auto whole = [](double value) { return std::uint16_t(std::lround(value)); };
  if (per_centimetre) return {kPerCentimetre, whole(x), whole(y)};
  return {kPerInch, whole(resolution->x), whole(resolution->y)};
}

Segment jfif_segment(const std::optional<Metadata::Resolution>& resolution) {
  const Density density = density_of(resolution);
  Bytes resolved = {density.unit};
  append_big_endian(resolved, density.x, 2);
  append_big_endian(resolved, density.y, 2);
  // Version 1.01, as libjpeg writes it, and no thumbnail.
  return segment_of(kApp0, {bytes_of("JFIF\0\1\1"sv), resolved, bytes_of("\0\0"sv)});
}

}  // namespace convfilt::jpeg
