/// How a format is read and written: by rows, from top to bottom. One file implements each codec.
///
/// Rows are interleaved samples in the host's byte order: grey, BGR or BGRA, alpha straight. They
/// lie as the file stores them; the caller applies the EXIF orientation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/problem.hpp"
#include "src/picture/bytes.hpp"
#include "src/picture/formats.hpp"
#include "src/picture/metadata.hpp"
#include "src/picture/strip.hpp"

namespace convfilt {

enum class Loader { automatic, opencv };

struct ReadOptions {
  bool refuse_damaged = true;  ///< false: read what can be read, the rest black, with a warning
  std::int64_t max_pixels = std::int64_t{1}
                            << 29;  ///< width * height; above: refused, nothing taken
  std::optional<int> page{};        ///< of a file with several pictures, from 0
  Several several =
      Several::none;  ///< those beside the first that are read, where no page is given
  Loader loader = Loader::automatic;                ///< opencv: OpenCV's codecs for every format
  std::function<void(std::int64_t bytes)> admit{};  ///< see ReadContext::admit()
};

/// Chroma subsampling of a JPEG: luma samples per chroma sample, across and down.
struct Subsampling {
  int across = 2, down = 2;
  bool operator==(const Subsampling&) const = default;
};

inline constexpr int kDefaultJpegQuality = 95;

struct WriteOptions {
  std::string format{};  ///< such as "png"; wins over the extension, and must be said for "-"
  std::optional<int> quality{};  ///< 0..100: JPEG (default: the input's, else 95), WebP (the
                                 ///< input's, else lossless)
  std::optional<Subsampling> subsampling{};  ///< JPEG (default: the input's, else 2x2)
  bool progressive = false;                  ///< JPEG
  bool optimize = false;                     ///< JPEG: the shortest Huffman codes

  /// Whether the CPU's codec must have all of a JPEG's coefficients before it writes one.
  bool needs_coefficients() const { return progressive || optimize; }
  std::optional<int> compression{};  ///< 0..9: PNG, TIFF
  Strip strip = Strip::none;
  Loader loader = Loader::automatic;
};

/// How a frame of an animation is shown.
struct Frame {
  int loops = 0;                    ///< of the animation; 0 = without end
  int time = 0, per_second = 1000;  ///< a fraction of a second
};

/// The contents of a file's header.
struct Header {
  FormatId format = FormatId::png;
  int width = 0, height = 0;     ///< pixels, as stored
  int channels = 1;              ///< of the rows: 1, 3 or 4
  Depth depth = Depth::u8;       ///< of the rows
  bool two_levels = false;       ///< to write grey rows of 0 and the full range with a bit a sample
  int orientation = 1;           ///< EXIF's 1..8, still to be applied
  int pages = 1;                 ///< pictures that can be read
  std::optional<Frame> frame{};  ///< of an animation
  std::int64_t bytes_behind = 0;  ///< about, of the rows of all pictures behind this one
  bool is_response = false;       ///< to write rows that are no colours, as edges are
  Metadata metadata;
  std::optional<int> quality;              ///< of a JPEG or a lossy WebP, as its tables tell
  std::optional<Subsampling> subsampling;  ///< of a colour JPEG
  std::int64_t coefficient_bytes = 0;  ///< of a JPEG whose coefficients a result may keep, else 0
};

/// Bytes of the samples of a row, and of all.
std::size_t row_bytes(const Header& header);
std::int64_t bytes_of(const Header& header);

/// Damage in words, with its place or kind.
std::string ends_early(const std::string& where);
std::string data_damaged(const std::string& where);

/// "colour 9 of a palette of 8".
std::string foreign_colour(std::int64_t index, std::int64_t colours);

/// "row 3 of 480"; rows count from `y`.
std::string row_text(std::int64_t y, std::int64_t height);

/// The damage of a file of so few bytes that its header cannot be true.
std::string cannot_hold(std::uint64_t bytes, const Header& header);

/// Throws IoError with the remedy. `why` may be empty.
[[noreturn]] void fail_to_encode(const Header& header, const std::string& why);

/// Takes a reader's errors and warnings. Messages are one line: what, where, remedy.
class ReadContext {
 public:
  /// `name` is the file as messages show it, e.g. 'in.jpg' with its quotes.
  ReadContext(std::string name, const ReadOptions& options)
      : name_(std::move(name)), options_(options) {}

  const std::string& name() const { return name_; }
  const ReadOptions& options() const { return options_; }

  /// Throws IoError: "cannot read NAME: WHY". `why` ends with the remedy where there is one.
  [[noreturn]] void fail(const std::string& why) const;

  /// Reports damage, with its place. Throws IoError with the remedy --on-damage=warn. With that
  /// option it adds a warning and returns; the reader then gives the rows it can, and black for the
  /// rest. Only the first damage of a file becomes a warning.
  void damaged(const std::string& why);
  bool is_damaged() const { return damaged_; }

  /// Warns, but not again of what holds for another picture of the file, too.
  void warn(const std::string& text);
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// Reports pixels or bytes of the file that its rows do not hold: other pages, frames, planes,
  /// parts behind the picture. A reader reports each such part here and not by warn(), since the
  /// result must not replace such a file. It becomes a warning, with the remedy where there is one.
  void leaves_out(const std::string& what, const std::string& remedy = "");

  /// The same without a warning, because the user chose to leave it out.
  void leaves_out_as_asked(const std::string& what) { left_out_.push_back(what); }

  /// All that leaves_out() and damaged() reported; complete after the last row.
  const std::vector<std::string>& left_out() const { return left_out_; }

  /// The page that is read first. Throws IoError where a file of so many pictures has no such page.
  int first_page(int count) const;

  /// Has messages name the picture that follows.
  void begin_next();

  /// Throws IoError where the header promises more pixels than ReadOptions::max_pixels, or a side
  /// is below 1 or above 2^28. Readers call it before they take memory for pixels.
  void check_size(std::int64_t width, std::int64_t height) const;

  /// Throws IoError where a decoder would have to hold more than 768 MiB at once, or, where
  /// ReadOptions::max_pixels is above its default, three bytes for each two of them. So a small
  /// file that promises much stays below 1 GiB with all that is beside. Readers that cannot give
  /// rows as they come call it before they take that memory.
  void check_memory(std::uint64_t bytes) const;

  /// Throws IoError where a decoder would have to hold more than check_memory() allows, and the
  /// file has less than a byte for 8192 of these. So little can only be a picture of one colour, or
  /// a header that lies. Readers of formats that may compress without bound call it.
  void check_plausible(const Header& header, std::uint64_t bytes, std::uint64_t file_bytes) const;

  /// Throws where so many bytes, which the reader is going to hold while it is made, are not to be
  /// had (--max-memory). It is called before they are taken; a later
  /// call replaces the number.
  void admit(std::int64_t bytes) const {
    if (options_.admit) options_.admit(bytes);
  }

  /// All bytes of the file, which are admitted before.
  ByteView whole(ByteSource& source) const {
    admit(std::int64_t(source.size()));
    return source.whole();
  }

 private:
  std::uint64_t most_memory() const;

  std::string name_, file_ = name_;
  ReadOptions options_;
  std::vector<std::string> warnings_, left_out_;
  std::set<std::string> warned_;
  int pictures_ = 0;  ///< before this one
  bool damaged_ = false;
};

/// A reader takes no memory before it is admitted. Its constructor reads the header, from which
/// held_bytes() follows; it allocates those bytes in the first read(), when they are admitted.
/// Memory that it must take before, as for a file that its library needs whole, goes through
/// ReadContext::admit(). The same is true of a writer and its first write(). Memory that is neither
/// initialised nor touched does not count.
class RowReader {
 public:
  virtual ~RowReader() = default;

  const Header& header() const { return header_; }

  /// Decodes the next rows.height rows. `rows` has the header's width and channels and any pitch.
  /// Throws IoError.
  virtual void read(PictureView<std::byte> rows) = 0;

  /// Asked before the first row: gives luma alone from now on, as one channel, where the file holds
  /// that by itself, as a JPEG does. Whether it does so.
  virtual bool take_luma() { return false; }

  /// Bytes that it takes while it gives rows and that grow with the file or the picture. No file
  /// takes more: if the header does not tell, this is the most that the compression allows.
  virtual std::int64_t held_bytes() const { return 0; }

  /// Checks what follows the last row: checksums, end marks, trailing bytes. It is called once,
  /// after the last row. Throws IoError.
  virtual void finish() {}

  /// Goes on to the file's next picture, whose header it reads, after the last row; false where
  /// there is none. Only a reader whose header has several pages has a next one.
  virtual bool next() { return false; }

 protected:
  Header header_;
};

/// Encoded rows, as far as that needs no other rows.
struct EncodedRows {
  Bytes bytes;
  std::uint64_t length = 0;    ///< bytes before compression
  std::uint32_t checksum = 0;  ///< of those
};

class RowWriter {
 public:
  virtual ~RowWriter() = default;

  /// Rows that encode() should get at a time; the last time fewer. 1 where it does not matter.
  virtual int rows_at_a_time() const { return 1; }

  /// Bytes that it takes until its end and that grow with the picture.
  virtual std::int64_t held_bytes() const { return 0; }

  /// Does what needs no other rows, such as compressing a strip. Several threads may call it at
  /// once, in any order. `first` is the number of the first row.
  virtual EncodedRows encode(PictureView<const std::byte> /*rows*/, int /*first*/) const {
    return {};
  }

  /// Takes the next rows, and what encode() made of them. Throws IoError.
  virtual void write(PictureView<const std::byte> rows, EncodedRows encoded) = 0;

  /// Begins the next picture, after the last row. Only a format that holds several is asked, and
  /// frames have the first one's size, channels and depth. Throws IoError.
  virtual void next(const Header& header);

  /// Writes what follows the last row of all. It is called once. Throws IoError.
  virtual void finish() = 0;

  /// Sentences that say what was lost of the picture, as the format cannot hold it; complete after
  /// finish().
  const std::vector<std::string>& warnings() const { return warnings_; }

 protected:
  std::vector<std::string> warnings_;
};

/// A format's codec. `open` reads the header; source and context must outlive the reader. `create`
/// writes the header, whose channels and depth are among those that the format holds; the sink must
/// outlive the writer. It is null for a format that is only read. Both throw IoError.
struct Codec {
  std::unique_ptr<RowReader> (*open)(ByteSource&, ReadContext&) = nullptr;
  std::unique_ptr<RowWriter> (*create)(ByteSink&, const Header&, const WriteOptions&) = nullptr;
};

/// For codecs whose reader and writer are made of just that.
template <class Reader>
std::unique_ptr<RowReader> open_with(ByteSource& source, ReadContext& context) {
  return std::make_unique<Reader>(source, context);
}
template <class Writer>
std::unique_ptr<RowWriter> create_with(ByteSink& sink, const Header& header,
                                       const WriteOptions& options) {
  return std::make_unique<Writer>(sink, header, options);
}

extern const Codec kJpegCodec, kPngCodec, kTiffCodec, kWebpCodec, kPnmCodec;

/// A codec of a module, or OpenCV's for any format, which are loaded when first asked for. Throws
/// IoError that names the package where the module is missing.
const Codec& codec_for(FormatId format, Loader loader);

}  // namespace convfilt
