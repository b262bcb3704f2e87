/// Sources and sinks of bytes for codecs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/picture/formats.hpp"

namespace convfilt {

using Bytes = std::vector<unsigned char>;
using ByteView = std::span<const unsigned char>;

class AtomicFile;

/// An input as messages show it: its name in quotes, or "standard input" for "-".
std::string shown_input(const std::string& path);

/// Bytes that can be read at any place. Only one thread at a time may use it.
class ByteStore {
 public:
  virtual ~ByteStore() = default;

  std::uint64_t size() const { return size_; }

  /// Copies bytes from `offset` on. It copies fewer than `into` has only where the bytes end, and
  /// says how many. Throws IoError when they cannot be read.
  virtual std::size_t read(std::uint64_t offset, std::span<unsigned char> into) = 0;

 protected:
  std::uint64_t size_ = 0;
};

/// The bytes of a file.
class ByteSource : public ByteStore {
 public:
  /// All bytes in memory, read when first asked for; the file is closed then. Throws IoError, and
  /// std::bad_alloc.
  virtual ByteView whole() = 0;
};

/// Opens a file; "-" is standard input. That, and a pipe, is copied to a file of open_nameless() up
/// to its end. Throws IoError for what cannot be opened, for a folder, for an empty file, and for a
/// stream that begins like no picture or gives more than 2 GiB.
std::unique_ptr<ByteSource> open_source(const std::string& path);

/// The format by a file's first bytes. Throws IoError if they are those of no picture.
FormatId format_of(ByteSource& source, const std::string& path);

/// Bytes that already lie in memory and stay there.
std::unique_ptr<ByteSource> source_of(ByteView bytes);

/// Where an encoder writes, and reads back what it wrote.
class ByteSink : public ByteStore {
 public:
  /// Writes at `offset`, which may be anywhere up to size() or beyond; a gap holds zeros. Throws
  /// IoError.
  virtual void write(std::uint64_t offset, ByteView bytes) = 0;

  void append(ByteView bytes) { write(size_, bytes); }
};

/// Writes into a file, which must outlive the sink and is not committed by it.
std::unique_ptr<ByteSink> sink_of(AtomicFile& file);

/// A sink that keeps all bytes in memory.
class MemorySink : public ByteSink {
 public:
  void write(std::uint64_t offset, ByteView bytes) override;
  std::size_t read(std::uint64_t offset, std::span<unsigned char> into) override;
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

}  // namespace convfilt
