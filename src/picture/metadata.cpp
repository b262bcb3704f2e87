#include "src/picture/metadata.hpp"

#include <tiff.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "src/picture/byte_order.hpp"
#include "src/picture/codecs/tiff/directory.hpp"
#include "src/picture/codecs/tiff/tags.hpp"

namespace convfilt {
namespace {

constexpr std::string_view kResource = "8BIM";
constexpr std::uint16_t kIptcResource = 0x0404;

/// Tags of a TIFF's first directory that describe the picture and belong to EXIF. Structure,
/// orientation and resolution are kept elsewhere.
constexpr std::uint16_t kDescribing[] = {
    269 /* DocumentName */, 270 /* ImageDescription */, 271 /* Make */,
    272 /* Model */,        285 /* PageName */,         305 /* Software */,
    306 /* DateTime */,     315 /* Artist */,           316 /* HostComputer */,
    18246 /* Rating */,     18249 /* RatingPercent */,  33432 /* Copyright */,
    40091 /* XPTitle */,    40092 /* XPComment */,      40093 /* XPAuthor */,
    40094 /* XPKeywords */, 40095 /* XPSubject */,      50341 /* PrintImageMatching */};

std::optional<TiffDirectory> follow(const TiffStructure& file, const TiffDirectory& from,
                                    std::uint16_t tag) {
  const auto at = file.number(from.find(tag));
  return at ? file.directory(*at) : std::nullopt;
}

/// Collects values of EXIF tags, of a total size that no honest file reaches.
class ExifValues {
 public:
  explicit ExifValues(const TiffStructure& file) : file_(file) {}

  void add(const TiffEntry& entry, std::vector<TiffValue>& to) {
    constexpr int kLastExifType = 12;
    if (entry.type > kLastExifType) return;
    Bytes bytes = file_.bytes_of(entry, left_);
    if (bytes.empty()) return;
    left_ -= bytes.size();
    to.push_back({entry.tag, entry.type, entry.count, std::move(bytes)});
  }

  /// All values of a directory but its pointer to another one.
  std::vector<TiffValue> all(const TiffDirectory& directory) {
    std::vector<TiffValue> values;
    for (const TiffEntry& entry : directory.entries)
      if (entry.tag != TIFFTAG_INTEROPERABILITYIFD) add(entry, values);
    return values;
  }

 private:
  const TiffStructure& file_;
  std::uint64_t left_ = std::uint64_t{16} << 20;
};

/// Adds the EXIF and GPS directories that `first` points to, and returns what describes the picture
/// in `first` itself, with the pointers to them.
std::vector<TiffValue> add_exif(const TiffStructure& file, const TiffDirectory& first,
                                TiffArea& area) {
  ExifValues values(file);
  std::vector<TiffValue> result;
  for (const TiffEntry& entry : first.entries) {
    if (std::ranges::find(kDescribing, entry.tag) != std::end(kDescribing) ||
        std::ranges::find(kPlaceTags, entry.tag) != std::end(kPlaceTags))
      values.add(entry, result);
  }
  const auto point_to = [&](std::uint16_t tag, std::vector<TiffValue> directory,
                            std::vector<TiffValue>& from) {
    if (directory.empty()) return;
    const std::uint64_t at = area.add_directory(std::move(directory));
    from.push_back(area.number_value(tag, TIFF_LONG, at));
  };
  if (const auto exif = follow(file, first, TIFFTAG_EXIFIFD)) {
    // Maker notes often count offsets from the start of the file, so they stay at theirs.
    constexpr std::uint64_t kLargestInEntry = 8, kLargestNote = 1 << 20;
    const TiffEntry* note = exif->find(EXIFTAG_MAKERNOTE);
    if (note && note->size > kLargestInEntry)
      area.keep_at(note->values_at, file.bytes_of(*note, kLargestNote));
    std::vector<TiffValue> inner = values.all(*exif);
    if (const auto interoperability = follow(file, *exif, TIFFTAG_INTEROPERABILITYIFD))
      point_to(TIFFTAG_INTEROPERABILITYIFD, values.all(*interoperability), inner);
    point_to(TIFFTAG_EXIFIFD, std::move(inner), result);
  }
  if (const auto gps = follow(file, first, TIFFTAG_GPSIFD))
    point_to(TIFFTAG_GPSIFD, values.all(*gps), result);
  return result;
}

/// An entry of one fraction; null for any other.
const TiffEntry* find_fraction(const TiffDirectory& directory, std::uint16_t tag) {
  const TiffEntry* entry = directory.find(tag);
  return entry && entry->type == TIFF_RATIONAL && entry->count == 1 ? entry : nullptr;
}

/// The fraction's value; 0 where it has none.
double fraction(const TiffStructure& file, const TiffEntry* entry) {
  if (!entry) return 0;
  const Bytes bytes = file.bytes_of(*entry, 8);
  if (bytes.size() != 8) return 0;
  const auto denominator = file.number_in(std::span(bytes).subspan(4));
  if (denominator == 0) return 0;
  return double(file.number_in(std::span(bytes).first(4))) / double(denominator);
}

/// A positive number as two of 32 bits.
TiffValue fraction_value(const TiffArea& area, std::uint16_t tag, double number) {
  constexpr double kMost = UINT32_MAX;
  double denominator = 1;
  while (denominator < 1e6 && number * denominator * 10 < kMost &&
         std::abs(number * denominator - std::round(number * denominator)) > 1e-6)
    denominator *= 10;
  TiffValue value{tag, TIFF_RATIONAL, 1, {}};
  const double numerator = std::clamp(std::round(number * denominator), 1.0, kMost);
  area.append_number(value.bytes, std::uint64_t(numerator), 4);
  area.append_number(value.bytes, std::uint64_t(denominator), 4);
  return value;
}

/// IIM records without what a TIFF does to them. They are bytes, but files call them 32-bit
/// numbers: some programs then turn them from one byte order to the other, and all fill up the last
/// one with zeros.
Bytes iim_records(Bytes bytes) {
  constexpr unsigned char kMarker = 0x1C;
  if (bytes.size() >= 4 && bytes[0] != kMarker && bytes[3] == kMarker) {
    for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4)
      std::reverse(bytes.begin() + std::ptrdiff_t(i), bytes.begin() + std::ptrdiff_t(i) + 4);
  }
  std::size_t end = 0;
  while (end + 5 <= bytes.size() && bytes[end] == kMarker) {
    const std::size_t length = big_endian(bytes, end + 3, 2);
    const bool extended = length >= 0x8000;
    if (extended || end + 5 + length > bytes.size()) return bytes;
    end += 5 + length;
  }
  const bool has_filling = end > 0 && bytes.size() - end < 4;
  if (has_filling && has_only_zeros(std::span(bytes).subspan(end))) bytes.resize(end);
  return bytes;
}

/// Bytes of a block, from the first to the one after the last.
struct Interval {
  std::uint64_t begin, end;
};

/// The same bytes in order, in intervals that do not overlap.
std::vector<Interval> merged(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> result;
  for (const Interval& interval : intervals) {
    if (interval.begin >= interval.end) continue;
    if (!result.empty() && interval.begin < result.back().end)
      result.back().end = std::max(result.back().end, interval.end);
    else
      result.push_back(interval);
  }
  return result;
}

void collect(const TiffDirectory& directory, std::vector<Interval>& to) {
  to.push_back({directory.begin, directory.end});
  for (const TiffEntry& entry : directory.entries)
    to.push_back({entry.values_at, entry.values_at + entry.size});
}

/// Where the pixels of a thumbnail lie: a JPEG or strips.
void collect_thumbnail(const TiffStructure& file, const TiffDirectory& directory,
                       std::uint64_t size, std::vector<Interval>& to) {
  const auto numbers = [&](std::uint16_t tag) {
    const TiffEntry* entry = directory.find(tag);
    const bool fits = entry && (entry->type == TIFF_SHORT || entry->type == TIFF_LONG);
    return file.numbers(fits ? entry : nullptr, size);
  };
  for (const auto& [at_tag, length_tag] : {std::pair{TIFFTAG_JPEGIFOFFSET, TIFFTAG_JPEGIFBYTECOUNT},
                                           {TIFFTAG_STRIPOFFSETS, TIFFTAG_STRIPBYTECOUNTS}}) {
    const auto at = numbers(at_tag), length = numbers(length_tag);
    for (std::size_t i = 0; i < std::min(at.size(), length.size()); ++i)
      if (at[i] < size) to.push_back({at[i], std::min(size, at[i] + length[i])});
  }
}

/// Overwrites dropped intervals with zeros, and cuts them off at the end. An interval that overlaps
/// a kept one stays.
void erase(const std::vector<Interval>& dropped, const std::vector<Interval>& kept, Bytes& block) {
  const std::vector<Interval> keep = merged(kept), drop = merged(dropped);
  for (auto interval = drop.rbegin(); interval != drop.rend(); ++interval) {
    const auto next =
        std::upper_bound(keep.begin(), keep.end(), interval->begin,
                         [](std::uint64_t at, const Interval& other) { return at < other.end; });
    if (next != keep.end() && next->begin < interval->end) continue;
    if (interval->end >= block.size())
      block.resize(std::size_t(interval->begin));
    else
      std::fill(block.begin() + std::ptrdiff_t(interval->begin),
                block.begin() + std::ptrdiff_t(interval->end), static_cast<unsigned char>(0));
  }
}

/// Calls take(number, resource, its data) for each resource.
template <class Take>
void each_resource(ByteView resources, const Take& take) {
  constexpr std::size_t kNumberAt = 4, kNameAt = 6, kLeast = 12;
  while (resources.size() >= kLeast) {
    const std::size_t number = big_endian(resources, kNumberAt, 2);
    const std::size_t name = (std::size_t{resources[kNameAt]} + 2) / 2 * 2;  // with its length
    const std::size_t data_at = kNameAt + name + 4;
    if (resources.size() < data_at) return;
    const std::size_t length = big_endian(resources, data_at - 4);
    if (length > resources.size() - data_at) return;
    take(number, resources.first(data_at + length), resources.subspan(data_at, length));
    resources = resources.subspan(std::min(data_at + length + length % 2, resources.size()));
  }
}

}  // namespace

Bytes exif_of_values(std::vector<TiffValue> values, TiffArea& area) {
  if (values.empty()) return {};
  const std::uint64_t first = area.add_directory(std::move(values));
  Bytes header(2, area.little() ? 'I' : 'M');
  area.append_number(header, 42, 2);
  area.append_number(header, first, 4);
  std::copy(header.begin(), header.end(), area.bytes().begin());
  return std::move(area.bytes());
}

std::optional<bool> exif_is_little(const Bytes& exif) {
  const TiffStructure file(exif);
  return file.valid() ? std::optional(file.little()) : std::nullopt;
}

Bytes exif_of_result(const Bytes& exif, int width, int height) {
  const TiffStructure file(exif);
  const auto first = file.big() ? std::nullopt : file.first_directory();
  if (!first) return {};
  const auto details = follow(file, *first, TIFFTAG_EXIFIFD);

  Bytes result = exif;
  const auto put = [&](std::uint64_t at, std::uint64_t number, std::size_t bytes) {
    put_number(result, at, number, bytes, file.little());
  };
  const auto set = [&](const TiffDirectory& directory, std::uint16_t tag, int number) {
    for (const TiffEntry& entry : directory.entries) {
      if (entry.tag != tag) continue;
      if (entry.type != TIFF_BYTE && entry.type != TIFF_SHORT && entry.type != TIFF_LONG) continue;
      // The number goes into the entry itself. Several values lie elsewhere, and in a hostile block
      // anywhere, as in its header.
      const bool fits = std::uint64_t(number) >> 8 * tiff_type_size(entry.type) == 0;
      const std::uint16_t type = fits ? entry.type : std::uint16_t{TIFF_LONG};
      put(entry.entry_at + 2, type, 2);
      put(entry.entry_at + 4, 1, 4);
      put(entry.entry_at + 8, std::uint64_t(number), std::size_t(tiff_type_size(type)));
    }
  };
  const std::uint64_t orientation = file.number(first->find(TIFFTAG_ORIENTATION)).value_or(1);
  const TiffEntry* const x = find_fraction(*first, TIFFTAG_XRESOLUTION);
  const TiffEntry* const y = find_fraction(*first, TIFFTAG_YRESOLUTION);
  if (orientation >= 5 && orientation <= 8 && x && y) {
    // The sides that the two count along changed places.
    const Bytes across = file.bytes_of(*x, 8), down = file.bytes_of(*y, 8);
    std::copy(down.begin(), down.end(), result.begin() + std::ptrdiff_t(x->values_at));
    std::copy(across.begin(), across.end(), result.begin() + std::ptrdiff_t(y->values_at));
  }
  set(*first, TIFFTAG_ORIENTATION, 1);
  if (width > 0 && height > 0) {
    set(*first, TIFFTAG_IMAGEWIDTH, width);
    set(*first, TIFFTAG_IMAGELENGTH, height);
    if (details) {
      set(*details, EXIFTAG_PIXELXDIMENSION, width);
      set(*details, EXIFTAG_PIXELYDIMENSION, height);
    }
  }
  if (first->next == 0) return result;
  put(first->next_at, 0, 4);
  const auto thumbnail = file.directory(first->next);
  if (!thumbnail) return result;

  std::vector<Interval> kept = {{0, 8}}, dropped;
  collect(*first, kept);
  if (details) {
    collect(*details, kept);
    if (const auto inner = follow(file, *details, TIFFTAG_INTEROPERABILITYIFD))
      collect(*inner, kept);
  }
  if (const auto gps = follow(file, *first, TIFFTAG_GPSIFD)) collect(*gps, kept);
  collect(*thumbnail, dropped);
  collect_thumbnail(file, *thumbnail, exif.size(), dropped);
  erase(dropped, kept, result);
  return result;
}

int exif_orientation(ByteView exif) {
  const TiffStructure file(exif);
  const auto first = file.first_directory();
  const std::uint64_t value = first ? file.number(first->find(TIFFTAG_ORIENTATION)).value_or(1) : 1;
  return value >= 1 && value <= 8 ? int(value) : 1;
}

std::optional<Metadata::Resolution> resolution_in(std::uint64_t unit, double x, double y) {
  const bool has_unit = unit == RESUNIT_INCH || unit == RESUNIT_CENTIMETER;
  const bool says_nothing = !has_unit && (unit != RESUNIT_NONE || x == y);
  if (says_nothing || !(x > 0) || !(y > 0) || !std::isfinite(x) || !std::isfinite(y))
    return std::nullopt;
  const double factor = unit == RESUNIT_CENTIMETER ? Metadata::kCentimetresPerInch : 1;
  return Metadata::Resolution{x * factor, y * factor, has_unit};
}

std::optional<Metadata::Resolution> exif_resolution(const Bytes& exif) {
  const TiffStructure file(exif);
  const auto first = file.first_directory();
  if (!first) return std::nullopt;
  const std::uint64_t unit =
      file.number(first->find(TIFFTAG_RESOLUTIONUNIT)).value_or(RESUNIT_INCH);
  const double x = fraction(file, find_fraction(*first, TIFFTAG_XRESOLUTION));
  const double y = fraction(file, find_fraction(*first, TIFFTAG_YRESOLUTION));
  return resolution_in(unit, x, y);
}

Bytes exif_with_resolution(Bytes exif, Metadata::Resolution resolution) {
  TiffArea area(exif_is_little(exif).value_or(true), false, exif);
  std::vector<TiffValue> values = {
      fraction_value(area, TIFFTAG_XRESOLUTION, resolution.x),
      fraction_value(area, TIFFTAG_YRESOLUTION, resolution.y),
      area.number_value(TIFFTAG_RESOLUTIONUNIT, TIFF_SHORT,
                        resolution.has_unit ? RESUNIT_INCH : RESUNIT_NONE)};
  if (exif.empty()) return exif_of_values(std::move(values), area);

  const TiffStructure file(exif);
  const auto first = file.big() ? std::nullopt : file.first_directory();
  if (!first) return exif;
  std::vector<Bytes> added;
  for (const TiffValue& value : values) {
    const TiffEntry* const there = first->find(value.tag);
    if (there && there->type == value.type && there->count == 1)
      std::copy(value.bytes.begin(), value.bytes.end(),
                area.bytes().begin() + std::ptrdiff_t(there->values_at));
    else
      added.push_back(area.entry(value));
  }
  MemorySink sink;
  sink.append(area.bytes());
  add_entries(sink, {added});
  return sink.bytes();
}

void set_xmp_upright(Bytes& xmp) {
  constexpr std::string_view kName = "tiff:Orientation";
  const std::string_view text = text_of(xmp);
  for (std::size_t at = text.find(kName); at != text.npos; at = text.find(kName, at)) {
    const bool end_tag = at > 0 && text[at - 1] == '/';
    at += kName.size();
    if (end_tag) continue;
    // An attribute, tiff:Orientation="6", or an element, <tiff:Orientation>6</tiff:Orientation>.
    const std::size_t value = text.find_first_not_of(" \t\r\n=>\"'", at);
    if (value != text.npos && value > at && text[value] >= '1' && text[value] <= '8')
      xmp[value] = '1';
  }
}

Bytes iptc_in(ByteView resources) {
  Bytes iptc;
  each_resource(resources, [&](std::size_t number, auto, auto data) {
    if (number == kIptcResource && iptc.empty()) iptc.assign(data.begin(), data.end());
  });
  return iptc;
}

Bytes paths_in(ByteView resources) {
  constexpr std::size_t kFirst = 2000, kLast = 2997, kNameOfPath = 2999;
  Bytes paths;
  each_resource(resources, [&](std::size_t number, auto whole, auto) {
    if ((number < kFirst || number > kLast) && number != kNameOfPath) return;
    paths.insert(paths.end(), whole.begin(), whole.end());
    if (paths.size() % 2) paths.push_back(0);
  });
  return paths;
}

Bytes iptc_resource(const Bytes& iptc) {
  Bytes resource(kResource.begin(), kResource.end());
  append_big_endian(resource, kIptcResource, 2);
  append_big_endian(resource, 0, 2);  // an empty name
  append_big_endian(resource, iptc.size());
  resource.insert(resource.end(), iptc.begin(), iptc.end());
  if (iptc.size() % 2) resource.push_back(0);
  return resource;
}

ColourLabel exif_label(const Bytes& exif) {
  constexpr std::uint64_t kAdobeRgb = 2, kOther = 0xFFFF;
  constexpr std::uint16_t kColourSpace = 40961, kInterop = 1;
  const TiffStructure file(exif);
  const auto first = file.first_directory();
  const auto details = first ? follow(file, *first, TIFFTAG_EXIFIFD) : std::nullopt;
  const auto space = details ? file.number(details->find(kColourSpace)) : std::nullopt;
  bool is_adobe = space == kAdobeRgb;
  if (space == kOther) {  // DCF: the index R03 says which
    const auto inner = follow(file, *details, TIFFTAG_INTEROPERABILITYIFD);
    const TiffEntry* index = inner ? inner->find(kInterop) : nullptr;
    is_adobe = index && starts_with(file.bytes_of(*index, 8), "R03");
  }
  ColourLabel label;
  if (!is_adobe) return label;
  label.in_exif = true;
  label.gamma = 45471;  // 1 / 2.19921875
  label.chromaticities = {31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000};
  return label;
}

Metadata metadata_of(const TiffStructure& file, const TiffDirectory& directory) {
  constexpr std::uint64_t kLargest = std::uint64_t{64} << 20;
  const auto bytes = [&](std::uint16_t tag) {
    const TiffEntry* entry = directory.find(tag);
    return entry ? file.bytes_of(*entry, kLargest) : Bytes();
  };
  Metadata metadata;
  metadata.icc = bytes(TIFFTAG_ICCPROFILE);
  metadata.xmp = bytes(TIFFTAG_XMLPACKET);
  metadata.iptc = iim_records(bytes(TIFFTAG_RICHTIFFIPTC));
  metadata.paths = paths_in(bytes(TIFFTAG_PHOTOSHOP));
  TiffArea area(file.little(), false);
  std::vector<TiffValue> values = add_exif(file, directory, area);
  metadata.exif = exif_of_values(std::move(values), area);
  return metadata;
}

std::vector<Bytes> add_metadata(const Metadata& metadata, TiffArea& area) {
  std::vector<Bytes> entries;
  const TiffStructure exif(metadata.exif);
  const auto first = exif.first_directory();
  if (first && exif.little() == area.little())
    for (const TiffValue& value : add_exif(exif, *first, area))
      entries.push_back(area.entry(value));
  const auto add = [&](std::uint16_t tag, std::uint16_t type, const Bytes& bytes) {
    if (!bytes.empty()) entries.push_back(area.entry({tag, type, bytes.size(), bytes}));
  };
  add(TIFFTAG_XMLPACKET, TIFF_BYTE, metadata.xmp);
  add(TIFFTAG_RICHTIFFIPTC, TIFF_UNDEFINED, metadata.iptc);
  add(TIFFTAG_ICCPROFILE, TIFF_UNDEFINED, metadata.icc);
  add(TIFFTAG_PHOTOSHOP, TIFF_BYTE, metadata.paths);
  return entries;
}

}  // namespace convfilt
