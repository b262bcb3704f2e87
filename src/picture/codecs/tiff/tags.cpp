#include "src/picture/codecs/tiff/tags.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>

#include "src/picture/byte_order.hpp"
#include "src/picture/codecs/tiff/directory.hpp"

namespace convfilt {
namespace {

/// The first directory of a block, which is no BigTIFF and whole.
std::optional<TiffDirectory> directory_of(const TiffStructure& file) {
  auto first = file.big() ? std::nullopt : file.first_directory();
  return first && first->next_at != 0 ? first : std::nullopt;
}

/// The text of a tag of the first directory; empty where there is none, or a longer one.
std::string text_in(const Bytes& exif, std::uint16_t tag, std::uint64_t most) {
  const TiffStructure file(exif);
  const auto first = directory_of(file);
  const TiffEntry* entry = first ? first->find(tag) : nullptr;
  return entry ? std::string(text_of(file.bytes_of(*entry, most))) : "";
}

/// Numbers of 8 bytes in a block.
class Doubles {
 public:
  Doubles(Bytes& block, std::uint64_t at, bool little) : block_(block), at_(at), little_(little) {}

  double get(std::size_t i) const {
    return std::bit_cast<double>(
        number_in(std::span(block_).subspan(std::size_t(at_) + 8 * i, 8), little_));
  }
  void add(std::size_t i, double value) {
    put_number(block_, at_ + 8 * i, std::bit_cast<std::uint64_t>(get(i) + value), 8, little_);
  }

 private:
  Bytes& block_;
  std::uint64_t at_;
  bool little_;
};

/// Overwrites statistics in GDAL's XML with blanks.
void blank_statistics(std::span<unsigned char> xml) {
  constexpr std::string_view kItem = "<Item name=\"STATISTICS_", kEnd = "</Item>";
  for (std::size_t at = 0; (at = text_of(xml).find(kItem, at)) != std::string_view::npos;) {
    const std::size_t end = text_of(xml).find(kEnd, at);
    if (end == std::string_view::npos) return;
    std::ranges::fill(xml.subspan(at, end + kEnd.size() - at), static_cast<unsigned char>(' '));
  }
}

}  // namespace

bool has_tags(const Bytes& exif, std::span<const std::uint16_t> tags) {
  const TiffStructure file(exif);
  const auto first = directory_of(file);
  return first && std::ranges::any_of(tags, [&](std::uint16_t tag) { return first->find(tag); });
}

Bytes without_tags(const Bytes& exif, std::span<const std::uint16_t> tags) {
  constexpr std::size_t kEntry = 12, kCount = 2;
  const TiffStructure file(exif);
  const auto first = directory_of(file);
  if (!first) return exif;
  Bytes kept;
  std::uint64_t count = 0;
  for (std::uint64_t at = first->begin + kCount; at < first->next_at; at += kEntry) {
    const auto entry = std::span(exif).subspan(std::size_t(at), kEntry);
    if (std::ranges::find(tags, file.number_in(entry.first(2))) != tags.end()) continue;
    kept.insert(kept.end(), entry.begin(), entry.end());
    ++count;
  }
  Bytes directory;
  append_number(directory, count, kCount, file.little());
  directory.insert(directory.end(), kept.begin(), kept.end());
  append_number(directory, first->next, 4, file.little());
  directory.resize(std::size_t(first->end - first->begin));
  Bytes result = exif;
  std::ranges::copy(directory, result.begin() + std::ptrdiff_t(first->begin));
  return result;
}

bool describes_stack(const Bytes& exif) {
  constexpr std::uint64_t kMost = std::uint64_t{16} << 20;
  const std::string text = text_in(exif, kDescriptionTag[0], kMost);
  return text.starts_with("ImageJ=") || text.starts_with("{\"shape\":") ||
         text.find("<OME ") != text.npos;
}

std::string nodata_of(const Bytes& exif) {
  constexpr std::uint64_t kMostText = 64;
  const std::string text = text_in(exif, kNodataTag[0], kMostText);
  return text.substr(0, text.find('\0'));
}

Bytes with_nodata(const Bytes& exif, float sample) {
  constexpr std::size_t kCountAt = 4,
                        kInside = 4;  // where an entry's count stands, its value behind
  const TiffStructure file(exif);
  const auto first = directory_of(file);
  const TiffEntry* entry = first ? first->find(kNodataTag[0]) : nullptr;
  if (!entry) return exif;
  char digits[32];
  Bytes text(std::begin(digits), std::to_chars(std::begin(digits), std::end(digits), sample).ptr);
  text.push_back(0);
  Bytes result = exif, place;
  append_number(place, text.size(), 4, file.little());
  if (text.size() <= kInside) {
    text.resize(kInside);
    place.insert(place.end(), text.begin(), text.end());
  } else {
    result.resize((result.size() + 1) / 2 * 2);
    append_number(place, result.size(), 4, file.little());
    result.insert(result.end(), text.begin(), text.end());
  }
  std::ranges::copy(place, result.begin() + std::ptrdiff_t(entry->entry_at + kCountAt));
  return result;
}

Bytes with_moved_place(const Bytes& exif, int x, int y) {
  constexpr std::uint16_t kTiepoint = 33922, kTransformation = 34264, kGdal = 42112, kDouble = 12;
  constexpr std::size_t kPoint = 6, kMatrix = 16, kRow = 4, kRows = 3;
  const TiffStructure file(exif);
  const auto first = directory_of(file);
  if (!first) return exif;
  Bytes result = exif;
  for (const TiffEntry& entry : first->entries) {
    Doubles values(result, entry.values_at, file.little());
    // A point of the raster, then the place of it.
    if (entry.tag == kTiepoint && entry.type == kDouble)
      for (std::size_t at = 0; at + kPoint <= entry.count; at += kPoint) {
        values.add(at, -x);
        values.add(at + 1, -y);
      }
    if (entry.tag == kTransformation && entry.type == kDouble && entry.count == kMatrix)
      for (std::size_t row = 0; row < kRows * kRow; row += kRow)
        values.add(row + 3, values.get(row) * x + values.get(row + 1) * y);
    if (entry.tag == kGdal)
      blank_statistics(
          std::span(result).subspan(std::size_t(entry.values_at), std::size_t(entry.size)));
  }
  return result;
}

}  // namespace convfilt
