#include "src/picture/strip.hpp"

#include <tiff.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "src/picture/byte_order.hpp"
#include "src/picture/codecs/tiff/directory.hpp"
#include "src/picture/codecs/tiff/tags.hpp"
#include "src/picture/xmp.hpp"

namespace convfilt {
namespace {

using Bytes = Metadata::Bytes;

/// Removes an entry of the first directory, and wipes out what it points to. All else stays where
/// it is, because maker notes count offsets from the start of the block.
Bytes without_places(const Bytes& exif) {
  const TiffStructure file(exif);
  const auto first = file.big() ? std::nullopt : file.first_directory();
  const TiffEntry* const gps = first ? first->find(TIFFTAG_GPSIFD) : nullptr;
  if (!gps) return exif;
  if (first->next_at == 0) return {};  // its entries are cut
  Bytes result = exif;
  const auto wipe = [&](std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t size = result.size();
    if (begin >= 8 && begin < end && end <= size)
      std::fill(result.begin() + std::ptrdiff_t(begin), result.begin() + std::ptrdiff_t(end),
                static_cast<unsigned char>(0));
  };
  if (const auto places = file.directory(file.number(gps).value_or(0));
      places && places->begin != first->begin) {
    for (const TiffEntry& entry : places->entries)
      wipe(entry.values_at, entry.values_at + entry.size);
    wipe(places->begin, places->end);
  }
  // The entries behind move up, and so does the place of the next directory.
  constexpr std::size_t kEntry = 12, kNext = 4;
  const auto begin = result.begin() + std::ptrdiff_t(gps->entry_at);
  const auto end = exif.begin() + std::ptrdiff_t(first->next_at + kNext);
  const auto rest = exif.begin() + std::ptrdiff_t(gps->entry_at + kEntry);
  std::fill(std::copy(rest, end, begin), begin + (end - rest) + std::ptrdiff_t(kEntry),
            static_cast<unsigned char>(0));
  const std::size_t count_at = std::size_t(first->begin);
  const std::uint64_t count = file.number_in(std::span(exif).subspan(count_at, 2)) - 1;
  Bytes number;
  append_number(number, count, 2, file.little());
  std::copy(number.begin(), number.end(), result.begin() + std::ptrdiff_t(count_at));
  return result;
}

/// Removes the tags of GeoTIFF and GDAL, with what they point to.
Bytes without_maps(Bytes exif) {
  if (!tells_place(exif)) return exif;
  const auto entries = TiffStructure(exif).first_directory()->entries;
  for (const TiffEntry& entry : entries)
    if (std::ranges::count(kPlaceTags, entry.tag) > 0 &&
        entry.values_at + entry.size <= exif.size())
      std::fill_n(exif.begin() + std::ptrdiff_t(entry.values_at), entry.size,
                  static_cast<unsigned char>(0));
  return without_place(exif);
}

/// A block of the author and the copyright alone.
Bytes rights_in_exif(const Bytes& exif) {
  constexpr std::uint64_t kMost = 1 << 16;
  const TiffStructure file(exif);
  const auto first = file.big() ? std::nullopt : file.first_directory();
  TiffArea area(file.little(), false);
  std::vector<TiffValue> values;
  for (const std::uint16_t tag : {TIFFTAG_ARTIST, TIFFTAG_COPYRIGHT})
    if (const TiffEntry* entry = first ? first->find(tag) : nullptr)
      if (Bytes bytes = file.bytes_of(*entry, kMost); !bytes.empty())
        values.push_back({entry->tag, entry->type, entry->count, std::move(bytes)});
  return exif_of_values(std::move(values), area);
}

/// Calls `take` with each property of a packet, an attribute or an element, whose name begins with
/// one of these.
template <class Take>
void each_property(std::string xml, std::initializer_list<std::string_view> names,
                   const Take& take) {
  for (const std::string_view name : names) {
    for (std::size_t at = xml.find(name); at != xml.npos; at = xml.find(name, at)) {
      const char before = at > 0 ? xml[at - 1] : '\0';
      const std::size_t name_end = xml.find_first_of(" \t\r\n=>/", at);
      if (name_end == xml.npos) break;
      std::size_t begin = at, end = xml.npos;
      const bool is_element = before == '<';
      if (is_element) {
        const std::string close = "</" + xml.substr(at, name_end - at) + ">";
        const std::size_t tag_end = xml.find('>', at);
        begin = at - 1;
        if (tag_end != xml.npos && xml[tag_end - 1] == '/')
          end = tag_end + 1;
        else if (const std::size_t found = xml.find(close, at); found != xml.npos)
          end = found + close.size();
      } else if (before == ' ' || before == '\n' || before == '\t' || before == '\r') {
        const std::size_t open = xml.find_first_of("'\"", at);
        const std::size_t close = open == xml.npos ? xml.npos : xml.find(xml[open], open + 1);
        if (close != xml.npos) end = close + 1;
      }
      if (end == xml.npos) {
        at = name_end;
        continue;
      }
      take(is_element, xml.substr(begin, end - begin));
      xml.erase(begin, end - begin);
      at = begin;
    }
  }
}

Bytes rights_in_xmp(const Bytes& xmp) {
  std::string attributes, elements;
  each_property(std::string(text_of(xmp)),
                {"dc:rights", "dc:creator", "xmpRights:", "plus:", "cc:", "photoshop:Credit",
                 "photoshop:AuthorsPosition"},
                [&](bool is_element, const std::string& property) {
                  if (is_element)
                    elements += property;
                  else
                    attributes += " " + property;
                });
  if (attributes.empty() && elements.empty()) return {};
  const std::string packet =
      "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>"
      "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">"
      "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
      "<rdf:Description rdf:about=\"\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\""
      " xmlns:xmpRights=\"http://ns.adobe.com/xap/1.0/rights/\""
      " xmlns:plus=\"http://ns.useplus.org/ldf/xmp/1.0/\""
      " xmlns:cc=\"http://creativecommons.org/ns#\""
      " xmlns:photoshop=\"http://ns.adobe.com/photoshop/1.0/\"" +
      attributes + ">" + elements + "</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end=\"w\"?>";
  return Bytes(packet.begin(), packet.end());
}

/// Author, credit, source and copyright among IIM's data sets.
bool is_right(unsigned record, unsigned number) {
  constexpr unsigned kRights[] = {80, 85, 110, 115, 116};
  // 1:90 says how letters are coded.
  return (record == 1 && number == 90) || (record == 2 && std::ranges::count(kRights, number) > 0);
}

/// The place shown, by its code and name, and city, part of it, province, country.
bool is_place(unsigned record, unsigned number) {
  constexpr unsigned kPlaces[] = {26, 27, 90, 92, 95, 100, 101};
  return record == 2 && std::ranges::count(kPlaces, number) > 0;
}

/// The data sets that `wanted` takes, up to what is none. Each begins with 0x1C, the numbers of its
/// record and of itself, and its length, or the length's own length.
template <class Wanted>
Bytes data_sets(const Bytes& iptc, const Wanted& wanted) {
  constexpr std::size_t kLong = 0x8000;
  Bytes result;
  for (std::size_t at = 0; at + 5 <= iptc.size() && iptc[at] == 0x1C;) {
    std::size_t length = big_endian(iptc, at + 3, 2), begin = at + 5;
    if (length >= kLong) {
      const std::size_t bytes = length - kLong;
      if (bytes > 4 || begin + bytes > iptc.size()) break;
      length = big_endian(iptc, begin, bytes);
      begin += bytes;
    }
    const std::size_t end = begin + length;
    if (end > iptc.size()) break;
    if (wanted(iptc[at + 1], iptc[at + 2]))
      result.insert(result.end(), iptc.begin() + std::ptrdiff_t(at),
                    iptc.begin() + std::ptrdiff_t(end));
    at = end;
  }
  return result;
}

bool tells_rights(const Metadata::Chunk& text) {
  constexpr std::string_view kKeywords[] = {"Author", "Copyright", "Disclaimer"};
  return std::ranges::any_of(kKeywords, [&](std::string_view keyword) {
    return starts_with(text.data, std::string(keyword) + '\0');
  });
}

}  // namespace

Metadata stripped(Metadata metadata, Strip strip) {
  if (strip == Strip::none) return metadata;
  if (strip == Strip::gps) {
    metadata.exif = without_maps(without_places(metadata.exif));
    erase_places(metadata.xmp);
    metadata.iptc = data_sets(metadata.iptc, std::not_fn(is_place));
    // ImageMagick writes texts of EXIF's names.
    std::erase_if(metadata.text_chunks,
                  [](const auto& text) { return starts_with(text.data, "exif:GPS"); });
    return metadata;
  }
  // Without its profile the picture would be shown in other colours.
  Metadata left;
  left.icc = std::move(metadata.icc);
  left.label = std::move(metadata.label);
  if (strip == Strip::all) return left;
  left.exif = rights_in_exif(metadata.exif);
  left.xmp = rights_in_xmp(metadata.xmp);
  left.iptc = data_sets(metadata.iptc, is_right);
  std::ranges::copy_if(metadata.text_chunks, std::back_inserter(left.text_chunks), tells_rights);
  return left;
}

}  // namespace convfilt
