#include "src/picture/tiff/tags.hpp"

#include <algorithm>

namespace convfilt {
namespace {

constexpr int kByte = 1, kShort = 3, kLong = 4, kLong8 = 16;

int value_size(int type) {
  switch (type) {
    case kByte: return 1;
    case kShort: return 2;
    case kLong: return 4;
    default: return 0;
  }
}

int field_size(int type) {  // bytes of one value of any TIFF type; unknown ones are not followed
  constexpr int sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
  return type < static_cast<int>(std::size(sizes)) ? sizes[type] : 0;
}

}  // namespace

TiffTags::TiffTags(std::span<const unsigned char> bytes) : bytes_(bytes) {
  if (bytes.size() < 8 || bytes[0] != bytes[1] || (bytes[0] != 'I' && bytes[0] != 'M')) return;
  little_ = bytes[0] == 'I';
  const auto version = number(2, 2);
  if (version != 42 && version != 43) return;
  const bool big = version == 43;
  const int word = big ? 8 : 4;  // bytes of an offset and of a value that is kept in the entry

  const auto directory = number(big ? 8 : 4, word);
  if (!directory || *directory >= bytes.size()) return;
  const auto count = number(*directory, big ? 8 : 2);
  if (!count) return;
  const std::size_t entry_size = big ? 20 : 12;
  std::size_t at = *directory + (big ? 8 : 2);
  bool outside = false;
  for (std::uint64_t i = 0; i < *count; ++i, at += entry_size) {
    const auto tag = number(at, 2), type = number(at + 2, 2), values = number(at + 4, word);
    const auto inside = number(at + 4 + word, word);
    if (!tag || !type || !values || !inside) return;
    const std::uint64_t size = field_size(static_cast<int>(*type));
    if (size == 0 || *values == 0) continue;
    const bool fits = *values <= static_cast<std::uint64_t>(word) / size;
    outside |= !fits && (*inside > bytes.size() || *values > (bytes.size() - *inside) / size);
    entries_.push_back({static_cast<std::uint16_t>(*tag), static_cast<std::uint16_t>(*type),
                        fits ? at + 4 + word : static_cast<std::size_t>(*inside), *values});
  }
  const auto next = number(at, word);
  has_next_ = next.value_or(0) != 0;
  cut_ = outside || !next || *next > bytes.size();
}

std::optional<std::uint64_t> TiffTags::number(std::size_t at, int bytes) const {
  const auto size = static_cast<std::size_t>(bytes);
  if (size > bytes_.size() || at > bytes_.size() - size) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value = value << 8 | bytes_[at + (little_ ? size - 1 - i : i)];
  }
  return value;
}

const TiffTags::Entry* TiffTags::find(TiffTag tag) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.tag == tag; });
  return found == entries_.end() ? nullptr : &*found;
}

std::optional<std::uint32_t> TiffTags::first(TiffTag tag) const {
  const Entry* entry = find(tag);
  if (!entry || value_size(entry->type) == 0) return std::nullopt;
  return number(entry->value_at, value_size(entry->type));
}

std::optional<std::size_t> TiffTags::strip_outside() const {
  const Entry *offsets = find(kStripOffsets), *counts = find(kStripByteCounts);
  if (!offsets || !counts) return std::nullopt;
  const auto value = [&](const Entry& entry, std::size_t i) -> std::optional<std::uint64_t> {
    const int size = entry.type == kLong8 ? 8 : value_size(entry.type);
    if (size == 0) return std::nullopt;
    return number(entry.value_at + i * static_cast<std::size_t>(size), size);
  };
  for (std::size_t i = 0; i < std::min(offsets->values, counts->values); ++i) {
    const auto offset = value(*offsets, i), count = value(*counts, i);
    if (!offset || !count || *offset > bytes_.size() || *count > bytes_.size() - *offset) return i;
  }
  return std::nullopt;
}

bool TiffTags::patch(std::span<unsigned char> bytes, TiffTag tag, std::uint16_t value) const {
  const Entry* entry = find(tag);
  if (!entry || entry->type != kShort || !first(tag) || entry->value_at + 2 > bytes.size()) {
    return false;
  }
  bytes[entry->value_at + (little_ ? 0 : 1)] = static_cast<unsigned char>(value & 255);
  bytes[entry->value_at + (little_ ? 1 : 0)] = static_cast<unsigned char>(value >> 8);
  return true;
}

int exif_orientation(std::span<const unsigned char> exif) {
  const std::uint32_t value = TiffTags(exif).first(kOrientation).value_or(1);
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

void mark_alpha_as_straight(std::vector<unsigned char>* tiff) {
  std::vector<unsigned char>& bytes = *tiff;
  if (bytes.size() < 8 || bytes[0] != 'I' || bytes[2] != 42 ||
      TiffTags(bytes).first(kExtraSamples)) {
    return;
  }
  const auto word = [&](std::size_t at, int size) {
    std::uint32_t value = 0;
    for (int i = size - 1; i >= 0; --i)
      value = value << 8 | bytes[at + static_cast<std::size_t>(i)];
    return value;
  };
  const std::size_t old = word(4, 4);
  const std::size_t count = old + 2 <= bytes.size() ? word(old, 2) : 0;
  if (count == 0 || old + 2 + count * 12 + 4 > bytes.size()) return;

  // The directory, one entry longer, goes to the end of the file; entries are in order of tags.
  constexpr unsigned char kEntry[12] = {kExtraSamples & 255,
                                        kExtraSamples >> 8,
                                        kShort,
                                        0,
                                        1,
                                        0,
                                        0,
                                        0,
                                        2 /* unassociated alpha */,
                                        0,
                                        0,
                                        0};
  std::vector<unsigned char> directory;
  const std::size_t longer = count + 1;
  directory.push_back(static_cast<unsigned char>(longer & 255));
  directory.push_back(static_cast<unsigned char>(longer >> 8));
  bool placed = false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = old + 2 + i * 12;
    if (!placed && word(at, 2) > kExtraSamples) {
      directory.insert(directory.end(), std::begin(kEntry), std::end(kEntry));
      placed = true;
    }
    directory.insert(directory.end(), &bytes[at], &bytes[at] + 12);
  }
  if (!placed) directory.insert(directory.end(), std::begin(kEntry), std::end(kEntry));
  directory.insert(directory.end(), 4, 0);  // no further directory

  if (bytes.size() % 2) bytes.push_back(0);  // a directory begins on a word
  const std::uint64_t at = bytes.size();
  if (at + directory.size() > UINT32_MAX) return;
  bytes.insert(bytes.end(), directory.begin(), directory.end());
  for (std::size_t i = 0; i < 4; ++i) bytes[4 + i] = static_cast<unsigned char>(at >> (8 * i));
}

}  // namespace convfilt
