#include "src/picture/codecs/tiff/directory.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "src/base/errors.hpp"
#include "src/picture/byte_order.hpp"

namespace convfilt {

std::uint64_t tiff_type_size(std::uint16_t type) {
  constexpr std::uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
  return type < std::size(sizes) ? sizes[type] : 0;
}

const TiffEntry* TiffDirectory::find(std::uint16_t tag) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const TiffEntry& entry) { return entry.tag == tag; });
  return found == entries.end() ? nullptr : &*found;
}

TiffStructure::TiffStructure(ByteStore& bytes) : bytes_(bytes) {
  read_header();
}

TiffStructure::TiffStructure(ByteView bytes) : own_(source_of(bytes)), bytes_(*own_) {
  read_header();
}

void TiffStructure::read_header() {
  std::array<unsigned char, 4> mark{};
  if (bytes_.read(0, mark) < mark.size()) return;
  if (mark[0] != mark[1] || (mark[0] != 'I' && mark[0] != 'M')) return;
  little_ = mark[0] == 'I';
  const std::uint64_t version = number_in(std::span(mark).subspan(2));
  if (version != 42 && version != 43) return;
  big_ = version == 43;
  const std::uint64_t first = number_at(big_ ? 8 : 4, big_ ? 8 : 4).value_or(0);
  if (first >= (big_ ? 16u : 8u) && first < bytes_.size()) first_ = first;
}

std::uint64_t TiffStructure::number_in(ByteView bytes) const {
  return convfilt::number_in(bytes, little_);
}

std::optional<std::uint64_t> TiffStructure::number_at(std::uint64_t at, std::size_t bytes) const {
  std::array<unsigned char, 8> raw{};
  const auto wanted = std::span(raw).first(bytes);
  if (bytes_.read(at, wanted) < bytes) return std::nullopt;
  return number_in(wanted);
}

std::optional<TiffDirectory> TiffStructure::directory(std::uint64_t at) const {
  constexpr std::uint64_t kMostEntries = 65535;
  const std::size_t word = big_ ? 8 : 4, count_size = big_ ? 8 : 2, entry_size = big_ ? 20 : 12;
  const std::uint64_t size = bytes_.size();
  if (at >= size) return std::nullopt;
  const auto promised = number_at(at, count_size);
  if (!promised) return std::nullopt;

  TiffDirectory found;
  found.begin = at;
  const std::uint64_t entries_at = at + count_size;
  const std::uint64_t count = std::min({*promised, kMostEntries, (size - entries_at) / entry_size});
  found.cut = count < *promised;
  Bytes raw(std::size_t(count) * entry_size);
  raw.resize(bytes_.read(entries_at, raw) / entry_size * entry_size);
  for (std::size_t i = 0; i < raw.size(); i += entry_size) {
    const auto field = [&](std::size_t from, std::size_t bytes) {
      return number_in(std::span(raw).subspan(i + from, bytes));
    };
    TiffEntry entry;
    entry.tag = std::uint16_t(field(0, 2));
    entry.type = std::uint16_t(field(2, 2));
    entry.count = field(4, word);
    entry.entry_at = entries_at + i;
    const std::uint64_t each = tiff_type_size(entry.type);
    if (each == 0 || entry.count == 0) continue;
    const bool inside = entry.count <= word / each;
    entry.values_at = inside ? entry.entry_at + 4 + word : field(4 + word, word);
    if (entry.values_at > size || entry.count > (size - entry.values_at) / each) {
      found.cut = true;
      continue;
    }
    entry.size = entry.count * each;
    found.entries.push_back(entry);
  }
  found.end = entries_at + count * entry_size;
  if (found.cut) return found;
  found.next_at = found.end;
  found.end = std::min(size, found.end + word);
  const auto next = number_at(found.next_at, word);
  found.next = next.value_or(0);
  found.cut |= !next || found.next >= size;
  return found;
}

Bytes TiffStructure::bytes_of(const TiffEntry& entry, std::uint64_t most) const {
  if (entry.size > most) return {};
  Bytes bytes(std::size_t(entry.size));
  if (bytes_.read(entry.values_at, bytes) < bytes.size()) bytes.clear();
  return bytes;
}

std::vector<std::uint64_t> TiffStructure::numbers(const TiffEntry* entry,
                                                  std::uint64_t most) const {
  std::vector<std::uint64_t> all;
  if (!entry) return all;
  const Bytes bytes = bytes_of(*entry, most);
  const std::size_t each = std::size_t(tiff_type_size(entry->type));
  for (std::size_t at = 0; at + each <= bytes.size(); at += each)
    all.push_back(number_in(std::span(bytes).subspan(at, each)));
  return all;
}

std::optional<std::uint64_t> TiffStructure::number(const TiffEntry* entry) const {
  if (!entry) return std::nullopt;
  switch (entry->type) {
    case TIFF_BYTE:
    case TIFF_SHORT:
    case TIFF_LONG:
    case TIFF_IFD:
    case TIFF_LONG8:
    case TIFF_IFD8: return number_at(entry->values_at, std::size_t(tiff_type_size(entry->type)));
    default: return std::nullopt;
  }
}

TiffArea::TiffArea(bool little, bool big, Bytes begin)
    : little_(little), big_(big), bytes_(std::move(begin)) {
  bytes_.resize(std::max(bytes_.size(), header_size()));
  next_ = bytes_.size();
}

TiffArea::TiffArea(bool little, bool big, std::uint64_t at)
    : little_(little), big_(big), begin_(at + at % 2) {
  if (at == 0) bytes_.resize(header_size());
  next_ = bytes_.size();
}

bool TiffArea::keep_at(std::uint64_t at, ByteView bytes) {
  constexpr std::uint64_t kFarthest = 1 << 16;  // what lies farther would make a large gap
  if (begin_ != 0 || at < header_size() || at > kFarthest || next_ != header_size()) return false;
  kept_at_ = std::size_t(at);
  kept_end_ = kept_at_ + bytes.size();
  bytes_.resize(std::max(bytes_.size(), kept_end_));
  std::copy(bytes.begin(), bytes.end(), bytes_.begin() + std::ptrdiff_t(kept_at_));
  return true;
}

std::uint64_t TiffArea::add(ByteView bytes) {
  next_ += next_ % 2;  // values and directories begin on a word
  if (next_ < kept_end_ && next_ + bytes.size() > kept_at_) next_ = kept_end_ + kept_end_ % 2;
  const std::size_t at = next_;
  next_ += bytes.size();
  bytes_.resize(std::max(bytes_.size(), next_));
  std::copy(bytes.begin(), bytes.end(), bytes_.begin() + std::ptrdiff_t(at));
  return begin_ + at;
}

void TiffArea::append_number(Bytes& to, std::uint64_t number, std::size_t size) const {
  convfilt::append_number(to, number, size, little_);
}

TiffValue TiffArea::number_value(std::uint16_t tag, std::uint16_t type,
                                 std::uint64_t number) const {
  TiffValue value{tag, type, 1, {}};
  append_number(value.bytes, number, std::size_t(tiff_type_size(type)));
  return value;
}

Bytes TiffArea::entry(const TiffValue& value) {
  const std::size_t word = big_ ? 8 : 4;
  Bytes entry;
  append_number(entry, value.tag, 2);
  append_number(entry, value.type, 2);
  append_number(entry, value.count, word);
  if (value.bytes.size() <= word) {
    entry.insert(entry.end(), value.bytes.begin(), value.bytes.end());
    entry.resize(4 + 2 * word);
    return entry;
  }
  const bool kept =
      kept_end_ - kept_at_ == value.bytes.size() &&
      std::equal(value.bytes.begin(), value.bytes.end(), bytes_.begin() + std::ptrdiff_t(kept_at_));
  append_number(entry, kept ? kept_at_ : add(value.bytes), word);
  return entry;
}

std::uint64_t TiffArea::add_directory(std::vector<TiffValue> values) {
  const std::size_t word = big_ ? 8 : 4;
  std::stable_sort(values.begin(), values.end(),
                   [](const TiffValue& a, const TiffValue& b) { return a.tag < b.tag; });
  Bytes directory;
  append_number(directory, values.size(), big_ ? 8 : 2);
  for (const TiffValue& value : values) {
    const auto bytes = entry(value);
    directory.insert(directory.end(), bytes.begin(), bytes.end());
  }
  directory.insert(directory.end(), word, 0);  // no further directory
  return add(directory);
}

void add_entries(ByteSink& tiff, const std::vector<TiffEntries>& directories) {
  if (std::ranges::all_of(directories, &TiffEntries::empty)) return;
  const TiffStructure structure(tiff);
  const TiffArea area(structure.little(), structure.big());
  const std::size_t word = structure.big() ? 8 : 4, entry_size = 4 + 2 * word,
                    count_size = structure.big() ? 8 : 2;
  std::uint64_t pointer_at = word, next = structure.first();
  for (const TiffEntries& entries : directories) {
    const auto directory = next == 0 ? std::nullopt : structure.directory(next);
    if (!directory) throw IoError("the TIFF that was written cannot be read back");
    next = directory->next;
    if (entries.empty()) {
      pointer_at = directory->next_at;
      continue;
    }
    std::map<std::uint64_t, Bytes> by_tag;
    for (const auto& entry : entries)
      by_tag[structure.number_in(std::span(entry).first(2))] = entry;
    for (std::uint64_t at = directory->begin + count_size; at < directory->next_at;
         at += entry_size) {
      Bytes entry(entry_size);
      tiff.read(at, entry);
      by_tag[structure.number_in(std::span(entry).first(2))] = entry;
    }
    Bytes bytes, pointer;
    area.append_number(bytes, by_tag.size(), count_size);
    for (const auto& [tag, entry] : by_tag) bytes.insert(bytes.end(), entry.begin(), entry.end());
    area.append_number(bytes, next, word);
    const std::uint64_t at = tiff.size() + tiff.size() % 2;
    if (!structure.big() && at + bytes.size() > UINT32_MAX)
      throw IoError("the TIFF grew beyond 4 GiB");
    tiff.write(at, bytes);
    area.append_number(pointer, at, word);
    tiff.write(pointer_at, pointer);
    pointer_at = at + bytes.size() - word;
  }
}

}  // namespace convfilt
