/// Pictures through one codec, in memory.
#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/picture/codec.hpp"
#include "src/picture/image.hpp"
#include "tests/support/files/picture.hpp"

namespace convfilt::testing {

struct Read {
  Image image;
  Header header;
  std::vector<std::string> warnings;
  std::string refusal;  ///< empty when the picture was read
};

/// Bytes in memory that are never to be had as a whole.
class PiecewiseSource : public ByteSource {
 public:
  explicit PiecewiseSource(const Bytes& bytes) : source_(source_of(bytes)) { size_ = bytes.size(); }
  std::size_t read(std::uint64_t offset, std::span<unsigned char> into) override {
    return source_->read(offset, into);
  }
  std::span<const unsigned char> whole() override {
    throw std::logic_error("the codec asks for all bytes at once");
  }

 private:
  std::unique_ptr<ByteSource> source_;
};

/// Reads a picture `step` rows at a time, as PictureReader does; 0 is all of them.
inline Read read_by(const Codec& codec, const Bytes& bytes, const ReadOptions& options = {},
                    int step = 0) {
  keep_seed(bytes);
  Read result;
  PiecewiseSource source(bytes);
  ReadContext context("'in'", options);
  try {
    const auto reader = codec.open(source, context);
    const Header& header = result.header = reader->header();
    result.image = Image(header.width, header.height, header.channels, header.depth);
    const PictureView<std::byte> all = result.image.view();
    for (int y = 0; y < all.height;) {
      PictureView<std::byte> rows = all;
      rows.data = all.row(y);
      rows.height = step > 0 ? std::min(step, all.height - y) : all.height;
      reader->read(rows);
      y += rows.height;
    }
    if (!context.is_damaged()) reader->finish();
  } catch (const IoError& error) {
    result.refusal = error.what();
    result.image = {};
  }
  result.warnings = context.warnings();
  return result;
}

inline Header header_for(const Image& image, FormatId format, const Metadata& metadata = {}) {
  Header header;
  header.format = format;
  header.width = image.width();
  header.height = image.height();
  header.channels = image.channels();
  header.depth = image.depth();
  header.metadata = metadata;
  return header;
}

/// Strips of TIFF must have rows_at_a_time() rows. The other writers take any number of rows at a
/// time, and get different ones.
inline Bytes write_by(const Codec& codec, const Image& image, const Header& header,
                      const WriteOptions& options = {},
                      std::vector<std::string>* warnings = nullptr) {
  MemorySink sink;
  const auto writer = codec.create(sink, header, options);
  if (warnings) *warnings = writer->warnings();
  const PictureView<const std::byte> all = image.view();
  constexpr int kSteps[] = {1, 5, 16, 3};
  for (int y = 0, i = 0; y < all.height; ++i) {
    const int step = header.format == FormatId::tiff ? writer->rows_at_a_time() : kSteps[i % 4];
    PictureView<const std::byte> rows = all;
    rows.data = all.row(y);
    rows.height = std::min(step, all.height - y);
    writer->write(rows, writer->encode(rows, y));
    y += rows.height;
  }
  writer->finish();
  return sink.bytes();
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace convfilt::testing
