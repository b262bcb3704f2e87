/// Picture files in and out: damage is found, the EXIF orientation is applied once, alpha stays
/// straight, metadata go along, and an output appears whole or not at all.
///
/// Different objects may be used in several threads at once. Messages are one line: what, where,
/// remedy.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/base/atomic_file.hpp"
#include "src/picture/codec.hpp"
#include "src/picture/colour.hpp"
#include "src/picture/image.hpp"
#include "src/picture/region.hpp"

namespace convfilt {

namespace jpeg {
struct KeptChroma;
}

/// A file whose rows come as it stores them.
class PictureReader {
 public:
  /// Opens a picture and reads its header; "-" is standard input. Throws IoError when it cannot be
  /// read, is not a picture, is damaged or too large.
  PictureReader(const std::string& path, const ReadOptions& options);
  PictureReader(const PictureReader&) = delete;
  PictureReader& operator=(const PictureReader&) = delete;

  const Header& header() const { return header_; }

  /// See RowReader.
  bool take_luma() {
    const bool takes = reader_->take_luma();
    if (takes) header_.channels = 1;
    return takes;
  }

  /// See RowReader.
  std::int64_t held_bytes() const { return reader_->held_bytes() + file_held_; }

  /// Reads the next rows; the last of them make it look at the end of the file, too. Throws
  /// IoError.
  void read(PictureView<std::byte> rows);

  /// Whether next() goes on to the file's other pictures, as ReadOptions::several says.
  bool takes_all() const { return takes_all_; }

  /// Goes on to the next picture, after the last row; false where there is none that is taken.
  /// Throws IoError.
  bool next();

  /// Throws IoError where `out` names the file that is read, by whatever path or link, and a result
  /// made of its rows would lack a part of it. Call it after the last row.
  void check_replaced_by(const std::string& out) const;

  /// The file's bytes, which live as long as the reader. Throws IoError.
  ByteView file() { return source_->whole(); }
  std::uint64_t file_bytes() const { return source_->size(); }

  /// The same, admitted before they take memory, with those that the caller takes beside. They
  /// count among held_bytes().
  ByteView admitted_file(std::int64_t beside = 0) {
    file_held_ = std::int64_t(file_bytes()) + beside;
    context_.admit(file_held_);
    return source_->whole();
  }

  /// The chroma that a result of its luma alone keeps as it is coded; null where it cannot. Its
  /// memory counts among held_bytes(). Call it before take_luma().
  std::shared_ptr<const jpeg::KeptChroma> chroma_for(const std::string& out,
                                                     const WriteOptions& options);

  /// Throws IoError that names the file.
  [[noreturn]] void fail(const std::string& why) const { context_.fail(why); }

  /// All warnings until now.
  const std::vector<std::string>& warnings() const { return context_.warnings(); }

 private:
  void take_header();
  void choose_pictures();

  const std::string path_;
  std::unique_ptr<ByteSource> source_;
  ReadContext context_;
  std::unique_ptr<RowReader> reader_;
  Header header_;
  int rows_read_ = 0;
  bool takes_all_ = false;
  std::int64_t file_held_ = 0;
};

/// A picture in memory, upright, and what its file said.
struct Picture {
  Image image;
  Header header;  ///< its orientation is still the file's
};

/// Reads a whole picture; "-" is standard input. Depths u8, u16 and f32 stay; others become f32
/// with a warning. Grey with alpha becomes BGRA. `warnings` may be null. Throws as PictureReader
/// does.
Picture read_picture(const std::string& path, const ReadOptions& options,
                     std::vector<std::string>* warnings);
Image read_image(const std::string& path, const ReadOptions& options,
                 std::vector<std::string>* warnings);

/// The rest of an opened picture, of which no row was read yet.
Picture read_all(PictureReader& reader);

/// Which pictures a result holds beside its first.
Several several_in(const std::string& out, const WriteOptions& options);

/// Throws UsageError if the name of `out` and the options give no format, or one that is only read.
void check_format(const std::string& out, const WriteOptions& options);

/// Throws UsageError for what is wrong with every picture: a format that is unknown or only read, a
/// quality or a compression out of range.
void check_options(const WriteOptions& options);

/// Checks before any work whether PictureWriter would refuse `out` for its name or place.
/// Throws UsageError for an unknown or missing format, an option out of range, or the file of `in`
/// without `in_place`; IoError for a folder that is missing or not writable.
void check_output(const std::string& in, const std::string& out, const WriteOptions& options,
                  bool in_place);

/// The picture from which a result differs in some regions, or in luma, alone.
struct Original {
  PictureReader& reader;  ///< must outlive the result's writer
  const std::vector<Region>& regions;
  std::shared_ptr<const jpeg::KeptChroma> chroma{};  ///< of a result whose rows are luma
};

/// A file that is written by rows, and is there after finish() and commit().
class PictureWriter {
 public:
  /// `shape` says the size, channels and depth of the rows that will come, upright, and the
  /// metadata of the input. "-" is standard output. Depth is kept where the format can, else the
  /// nearest it has, with a warning; alpha is laid on white where the format has none, with a
  /// warning. A JPEG keeps the coefficients that an `original` has outside its regions, or a
  /// warning says why not. Throws IoError when the file cannot be written, UsageError when the
  /// format cannot hold the picture.
  PictureWriter(const std::string& path, const Header& shape, const WriteOptions& options,
                const Original* original = nullptr);

  /// See RowWriter.
  int rows_at_a_time() const { return writer_->rows_at_a_time(); }
  std::int64_t held_bytes() const { return writer_->held_bytes(); }

  struct PreparedRows {
    Image fitted;  ///< empty where the rows can be written as they are
    EncodedRows encoded;
    bool is_cut = false;  ///< samples were beyond the range of the format
  };

  /// Does what needs no other rows. Several threads may call it at once. `first` is the number of
  /// the first row.
  PreparedRows prepare(PictureView<const std::byte> rows, int first) const;

  /// Writes the next rows, which prepare() has seen.
  void write(PictureView<const std::byte> rows, PreparedRows prepared);

  /// Begins the next picture, after the last rows of the one before. Throws as the constructor.
  void next(const Header& shape);

  /// Encodes and writes what is left, after the last rows.
  void finish();

  /// Gives the finished file its name. An existing file is replaced at once, keeping its mode, or
  /// stays as it was; links are followed. `before` and `replaces` are as for AtomicFile::commit(),
  /// and so is what it throws.
  void commit(const std::function<void(const FileStamp&)>& before = {}, bool replaces = true);

  /// Complete after finish().
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::string path_;
  WriteOptions options_;
  Header written_;  ///< what the format gets
  std::optional<ColourConversion> conversion_;
  Header shape_;         ///< what the caller gives
  bool is_cut_ = false;  ///< some rows were
  std::vector<std::string> warnings_;
  std::unique_ptr<AtomicFile> file_;
  std::unique_ptr<ByteSink> sink_;
  std::unique_ptr<RowWriter> writer_;
};

/// The options, completed by the settings that a JPEG takes over from its input, and by defaults.
WriteOptions jpeg_settings(const Header& shape, WriteOptions options);

/// Writes a JPEG that another codec encoded, with the metadata of `shape`, as PictureWriter does.
void write_encoded_jpeg(const std::string& path, const Header& shape, const WriteOptions& options,
                        ByteView encoded, std::vector<std::string>& warnings,
                        const std::function<void(const FileStamp&)>& before, bool replaces);

/// Writes a whole picture. An existing file is replaced at once, keeping its mode, or stays as it
/// was. `header` gives the metadata and the settings that follow the input. Throws as
/// PictureWriter.
void write_picture(const std::string& path, const Image& image, const Header& header,
                   const WriteOptions& options, std::vector<std::string>* warnings);
void write_image(const std::string& path, const Image& image, const WriteOptions& options,
                 std::vector<std::string>* warnings);

}  // namespace convfilt
