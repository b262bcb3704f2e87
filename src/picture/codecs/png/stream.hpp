/// A PNG file as libpng gets to see it: its pixels inflated by ISA-L, which takes a third of zlib's
/// time, and stored in the file's place of them without compression.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "src/picture/bytes.hpp"

namespace convfilt::png {

/// The bytes of the file before its first IDAT chunk, then IDAT chunks of stored blocks, then the
/// bytes behind the last. The file's checksums are checked here; those of the chunks that it makes
/// are 0, but the stream's is right, since not every libpng can be told to pass over it.
class StoredPixels {
 public:
  /// `pixels_at` is the offset of the first IDAT chunk.
  StoredPixels(ByteSource& source, std::uint64_t pixels_at);
  ~StoredPixels();

  /// Gives the next bytes, and says how many; 0 where there are no more. Throws IoError.
  std::size_t next(std::span<unsigned char> into);

  /// Why there were no more before the end; empty where the file simply ends.
  const std::string& trouble() const { return trouble_; }

  /// A checksum that is wrong, told once; else empty.
  std::string take_damage() { return std::exchange(damage_, {}); }

 private:
  struct Inflater;

  void make_more();
  void make_chunk();
  bool read_compressed();

  ByteSource& source_;
  std::uint64_t at_ = 0;  ///< of what comes next in the file
  std::uint64_t pixels_at_;
  Bytes ready_;            ///< for libpng
  std::size_t given_ = 0;  ///< what of it was given
  Bytes compressed_;
  std::uint64_t left_in_chunk_ = 0;
  std::uint32_t checksum_ = 0;  ///< of the chunk as far as it was read
  enum { head, pixels, tail } part_ = head;
  bool ended_ = false;
  std::unique_ptr<Inflater> inflater_;
  std::string trouble_, damage_, damage_at_end_;
};

}  // namespace convfilt::png
