#include "src/picture/strip.hpp"

#include <tiff.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/picture/byte_order.hpp"
#include "src/picture/codecs/tiff/directory.hpp"
#include "src/picture/codecs/tiff/tags.hpp"
#include "src/picture/xmp.hpp"

namespace convfilt {
namespace {

/// Removes the GPS directory, and the tags of GeoTIFF and GDAL, and wipes out what they point to.
Bytes without_places(const Bytes& exif) {
  const TiffStructure file(exif);
  const auto first = file.big() ? std::nullopt : file.first_directory();
  const TiffEntry* const gps = first ? first->find(TIFFTAG_GPSIFD) : nullptr;
  if (gps && first->next_at == 0) return {};  // its entries are cut
  std::vector<std::uint16_t> tags(std::begin(kPlaceTags), std::end(kPlaceTags));
  tags.push_back(TIFFTAG_GPSIFD);
  if (!has_tags(exif, tags)) return exif;
  Bytes result = exif;
  const auto wipe = [&](std::uint64_t begin, std::uint64_t end) {
    if (begin >= 8 && begin < end && end <= result.size())
      std::fill(result.begin() + std::ptrdiff_t(begin), result.begin() + std::ptrdiff_t(end),
                static_cast<unsigned char>(0));
  };
  if (const auto places = file.directory(file.number(gps).value_or(0));
      gps && places && places->begin != first->begin) {
    for (const TiffEntry& entry : places->entries)
      wipe(entry.values_at, entry.values_at + entry.size);
    wipe(places->begin, places->end);
  }
  for (const TiffEntry& entry : first->entries)
    if (std::ranges::count(kPlaceTags, entry.tag) > 0)
      wipe(entry.values_at, entry.values_at + entry.size);
  return without_tags(result, tags);
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
    metadata.exif = without_places(metadata.exif);
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
