/// The structure of TIFF files and of EXIF data: directories of entries, each a tag with values.
///
/// It is read and written here without libtiff, because libtiff changes the values of the tags that
/// it knows and drops the others. Values stay bytes in the order of their file.
#pragma once

#include <tiff.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "src/picture/bytes.hpp"

namespace convfilt {

/// Bytes of one value of a TIFFDataType; 0 for a type that is not known.
std::uint64_t tiff_type_size(std::uint16_t type);

struct TiffEntry {
  std::uint16_t tag = 0, type = 0;
  std::uint64_t count = 0;
  std::uint64_t entry_at = 0;   ///< offset of the entry itself
  std::uint64_t values_at = 0;  ///< offset of the values, which may lie in the entry
  std::uint64_t size = 0;       ///< bytes of all values
};

struct TiffDirectory {
  std::uint64_t begin = 0, end = 0;  ///< the bytes it takes, without values
  std::vector<TiffEntry> entries;    ///< those whose values lie inside the file
  std::uint64_t next = 0;            ///< offset of the next directory, or 0
  std::uint64_t next_at = 0;         ///< where that stands; 0 where the entries are cut
  bool cut = false;  ///< it, or something it points to, lies beyond the end of the file

  const TiffEntry* find(std::uint16_t tag) const;
};

/// Reads directories of bytes that may be cut or hostile. Classic and big TIFF, both byte orders.
class TiffStructure {
 public:
  explicit TiffStructure(ByteStore& bytes);

  /// For bytes that stay in memory, as an EXIF block.
  explicit TiffStructure(ByteView bytes);

  bool valid() const { return first_ != 0; }
  bool little() const { return little_; }
  bool big() const { return big_; }  ///< BigTIFF, with offsets of 8 bytes
  std::uint64_t first() const { return first_; }

  /// The directory at an offset; nothing where none can lie there.
  std::optional<TiffDirectory> directory(std::uint64_t at) const;

  /// The directory that the header points to; nothing where there is none.
  std::optional<TiffDirectory> first_directory() const {
    return valid() ? directory(first_) : std::nullopt;
  }

  /// All values of an entry of integers; none where it is absent or has more bytes than `most`.
  std::vector<std::uint64_t> numbers(const TiffEntry* entry, std::uint64_t most) const;

  /// The bytes of all values; none where there are more than `most`.
  Bytes bytes_of(const TiffEntry& entry, std::uint64_t most) const;

  /// The first value of an entry of integers; nothing for another type, or without entry.
  std::optional<std::uint64_t> number(const TiffEntry* entry) const;

  std::uint64_t number_in(ByteView bytes) const;

 private:
  std::optional<std::uint64_t> number_at(std::uint64_t at, std::size_t bytes) const;

  void read_header();

  std::unique_ptr<ByteSource> own_;  ///< of bytes in memory
  ByteStore& bytes_;
  bool little_ = true, big_ = false;
  std::uint64_t first_ = 0;
};

/// An entry to write.
struct TiffValue {
  std::uint16_t tag = 0, type = 0;
  std::uint64_t count = 0;
  Bytes bytes;  ///< in the order of the file
};

/// The beginning of a file, to which values and directories are added. Its first bytes are left for
/// the header, unless it begins with bytes of such a file.
class TiffArea {
 public:
  TiffArea(bool little, bool big, Bytes begin);

  /// A later part of a file, from this offset on, or its beginning if that is 0.
  TiffArea(bool little, bool big, std::uint64_t at = 0);

  bool little() const { return little_; }
  std::uint64_t begin() const { return begin_; }
  std::size_t header_size() const { return big_ ? 16 : 8; }

  /// Puts bytes at this place, which nothing else takes then. Only one such piece is possible, and
  /// only before all else; false if it cannot lie there.
  bool keep_at(std::uint64_t at, ByteView bytes);

  /// Puts bytes at the next free place and returns its offset.
  std::uint64_t add(ByteView bytes);

  /// Adds a directory and its values, and returns its offset.
  std::uint64_t add_directory(std::vector<TiffValue> values);

  /// The entry as it stands in a directory. Its values are added where they do not fit into it.
  Bytes entry(const TiffValue& value);

  /// An entry with one number as its value.
  TiffValue number_value(std::uint16_t tag, std::uint16_t type, std::uint64_t number) const;

  void append_number(Bytes& to, std::uint64_t number, std::size_t size) const;

  Bytes& bytes() { return bytes_; }

 private:
  bool little_, big_;
  std::uint64_t begin_ = 0;  ///< the offset of the first byte
  Bytes bytes_;
  std::size_t next_;                        ///< the next free place
  std::size_t kept_at_ = 0, kept_end_ = 0;  ///< what keep_at() put
};

/// Entries, as TiffArea::entry() makes them.
using TiffEntries = std::vector<Bytes>;

/// Adds entries to the directories of a finished TIFF, from the first on. Entries that a directory
/// has already stay. Directories that get entries move to the end of the file. Throws IoError.
void add_entries(ByteSink& tiff, const std::vector<TiffEntries>& directories);

}  // namespace convfilt
