/// TIFF by libtiff.
///
/// A reader gives rows of strips or of rows of tiles as they are asked for. The samples of most
/// kinds are taken apart here, so that none of their bits is lost. What remains, as YCbCr without
/// JPEG, goes through libtiff's RGBA interface, which gives 8 bits.
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/picture/codec.hpp"
#include "src/picture/codecs/parts.hpp"
#include "src/picture/codecs/tiff/directory.hpp"
#include "src/picture/codecs/tiff/tags.hpp"
#include "src/picture/colour.hpp"
#include "src/picture/sample_type.hpp"
#include "src/picture/samples.hpp"

namespace convfilt {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// A file that libtiff reads or writes, and the data of its callbacks. No exception passes through
/// libtiff: it is kept, and thrown once libtiff has returned.
struct OpenTiff {
  explicit OpenTiff(ByteStore& source) : bytes(&source) {}
  explicit OpenTiff(ByteSink& to) : bytes(&to), sink(&to) {}
  OpenTiff(const OpenTiff&) = delete;
  ~OpenTiff() {
    bytes = sink = nullptr;  // a file that is not finished needs no directory
    close();
  }

  /// False where libtiff refuses; `complaint` then says why.
  bool open(const char* mode, std::uint64_t most_memory = 0);
  void close() {
    if (tiff) TIFFClose(std::exchange(tiff, nullptr));
  }
  void rethrow() {
    if (exception) std::rethrow_exception(std::exchange(exception, nullptr));
  }

  /// Throws what the callbacks caught, and reports libtiff's complaint as damage.
  void check(ReadContext& context, const std::string& place) {
    rethrow();
    const std::string told = std::exchange(complaint, "");
    if (!told.empty()) context.damaged(data_damaged(place + ": " + told));
  }

  TIFF* tiff = nullptr;
  ByteStore* bytes;
  ByteSink* sink = nullptr;  ///< null for a file that is only read
  std::uint64_t position = 0;
  std::map<std::uint64_t, unsigned char> patches;  ///< bytes that libtiff is to see instead
  std::exception_ptr exception;
  std::string complaint;  ///< libtiff's first one; empty when there was none
};

/// Moves bytes for libtiff, and says how many; -1 where it cannot.
template <class Move>
tmsize_t moved(OpenTiff& file, const Move& move) {
  try {
    const std::size_t count = move();
    file.position += count;
    return tmsize_t(count);
  } catch (...) {
    file.exception = std::current_exception();
    return -1;
  }
}

tmsize_t read_bytes(thandle_t handle, void* into, tmsize_t count) {
  OpenTiff& file = *static_cast<OpenTiff*>(handle);
  if (!file.bytes) return -1;
  return moved(file, [&] {
    const std::span<unsigned char> wanted(static_cast<unsigned char*>(into), std::size_t(count));
    const std::uint64_t from = file.position;
    const std::size_t got = file.bytes->read(from, wanted);
    for (auto patch = file.patches.lower_bound(from);
         patch != file.patches.end() && patch->first < from + got; ++patch)
      wanted[std::size_t(patch->first - from)] = patch->second;
    return got;
  });
}

tmsize_t write_bytes(thandle_t handle, void* bytes, tmsize_t count) {
  OpenTiff& file = *static_cast<OpenTiff*>(handle);
  if (!file.sink || file.exception) return -1;
  return moved(file, [&] {
    file.sink->write(file.position, {static_cast<const unsigned char*>(bytes), std::size_t(count)});
    return std::size_t(count);
  });
}

toff_t size_of_all(thandle_t handle) {
  const ByteStore* const bytes = static_cast<OpenTiff*>(handle)->bytes;
  return bytes ? bytes->size() : 0;
}

toff_t seek(thandle_t handle, toff_t offset, int whence) {
  OpenTiff& file = *static_cast<OpenTiff*>(handle);
  const std::uint64_t from = whence == SEEK_SET   ? 0
                             : whence == SEEK_CUR ? file.position
                                                  : size_of_all(handle);
  return file.position = from + offset;
}

int keep_complaint(TIFF*, void* user, const char* module, const char* format, va_list arguments) {
  std::string& complaint = static_cast<OpenTiff*>(user)->complaint;
  if (!complaint.empty()) return 1;
  char text[200];
  std::vsnprintf(text, sizeof text, format, arguments);
  complaint = module && *module ? std::string(module) + ": " + text : std::string(text);
  // Some are of two lines, and messages have one.
  std::ranges::replace(complaint, '\n', ' ');
  return 1;
}

int keep_warning(TIFF* tiff, void* user, const char* module, const char* format,
                 va_list arguments) {
  // Warnings are about tags that do not matter to the pixels, but for JPEG and fax codes, whose
  // decoders guess where data is damaged. That tags of subsampling are put right is no guess.
  const std::string_view from = module ? module : "";
  const bool guess = (from.find("JPEG") != from.npos && from.find("Fixup") == from.npos) ||
                     from.starts_with("Fax");
  return guess ? keep_complaint(tiff, user, module, format, arguments) : 1;
}

bool OpenTiff::open(const char* mode, std::uint64_t most_memory) {
  const std::unique_ptr<TIFFOpenOptions, Destroy<TIFFOpenOptionsFree>> options(
      TIFFOpenOptionsAlloc());
  if (!options) throw std::bad_alloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_complaint, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), keep_warning, this);
  if (most_memory > 0) TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), tmsize_t(most_memory));
  tiff = TIFFClientOpenExt(
      "TIFF", mode, this, read_bytes, write_bytes, seek, [](thandle_t) { return 0; }, size_of_all,
      nullptr, nullptr, options.get());
  return tiff != nullptr;
}

/// The value of a tag that the directory has, or libtiff's default for it; else `value`.
template <class T>
T field(TIFF* tiff, std::uint32_t tag, T value) {
  TIFFGetFieldDefaulted(tiff, tag, &value);
  return value;
}

// ---- reading ----------------------------------------------------------------------------------

/// How samples become rows.
enum class Colour { grey, rgb, palette, cmyk, xyz, lab, by_libtiff };

enum class Sample { unsigned_integer, signed_integer, real };

/// How a directory stores its pixels: in striles, which is libtiff's word for strips and tiles.
struct Layout {
  int width = 0, height = 0;
  int bits = 1, samples = 1;
  Sample sample = Sample::unsigned_integer;
  Colour colour = Colour::grey;
  bool separate = false;  ///< a plane a sample
  /// The samples whose planes are read; the first stands for all where there are no planes.
  std::vector<int> planes = {0};
  bool tiled = false;
  bool white_is_zero = false;
  bool icc_lab = false;  ///< Lab as ICC codes it: a and b have an offset
  int alpha = -1;        ///< the sample that is alpha, or -1
  bool premultiplied = false;
  int compression = COMPRESSION_NONE;
  int strile_width = 0;   ///< pixels of a strip or tile
  int strile_height = 0;  ///< rows of it; a strip has no more than the picture
  std::array<std::vector<std::uint16_t>, 3> palette;  ///< blue, green, red

  int colours() const {
    if (colour == Colour::cmyk) return 4;
    return colour == Colour::rgb || colour == Colour::xyz || colour == Colour::lab ? 3 : 1;
  }
  /// Samples of a pixel that lie together.
  int together() const { return separate ? 1 : samples; }
  std::size_t row_bytes(int pixels) const {
    return (std::size_t(pixels) * std::size_t(together()) * std::size_t(bits) + 7) / 8;
  }
};

bool same_in_8_bits(const std::vector<std::uint16_t>& levels) {
  return std::ranges::all_of(
      levels, [](int level) { return (level & 255) == 0 || (level & 255) == level >> 8; });
}

Depth depth_of(const Layout& layout) {
  if (layout.colour == Colour::by_libtiff) return Depth::u8;
  if (layout.colour == Colour::palette) {
    return std::ranges::all_of(layout.palette, same_in_8_bits) ? Depth::u8 : Depth::u16;
  }
  if (layout.sample != Sample::unsigned_integer || layout.bits > 16) return Depth::f32;
  return layout.bits > 8 ? Depth::u16 : Depth::u8;
}

/// How unpack() and whoever turns white and black round make a sample of a stored number.
Metadata::Stored stored_as(const Layout& layout) {
  Metadata::Stored stored;
  const Depth depth = depth_of(layout);
  const bool is_signed = layout.sample == Sample::signed_integer;
  if (layout.sample != Sample::real)
    stored.scale = (depth == Depth::f32 ? 1 : full_range(depth)) /
                   (std::ldexp(1.0, layout.bits - is_signed) - 1);
  if (!layout.white_is_zero || is_signed) return stored;
  return {-stored.scale, depth == Depth::f32 ? 1 : full_range(depth)};
}

/// The common data of a reader's parts.
struct Input {
  ByteSource& source;
  ReadContext& context;
  std::uint64_t directory;
  std::uint64_t shift;  ///< bytes from the first plane of a stack to the one that is read
  std::uint64_t most_memory;
  std::map<std::uint64_t, unsigned char> patches;
  std::set<std::uint32_t> shortened;  ///< strips or tiles that the patches end with the file
  std::uint64_t largest_strile = 0;   ///< bytes of a strip or tile as it stands in the file
  std::uint64_t striles = 0;          ///< whose places the directory tells

  /// Throws IoError where libtiff cannot read the directory.
  std::unique_ptr<OpenTiff> open() const {
    auto opened = std::make_unique<OpenTiff>(source);
    opened->patches = patches;
    // Headers only, no mapped memory, strips as they are, and their places loaded as needed: a
    // hostile header cannot make libtiff take memory for billions of strips.
    const bool read =
        opened->open("rhmcO", most_memory) && TIFFSetSubDirectory(opened->tiff, directory);
    opened->rethrow();
    if (!read) {
      const std::string& why = opened->complaint;
      context.fail("its header is damaged, or of a kind that is not read" +
                   (why.empty() ? "" : " (" + why + ")"));
    }
    TIFF* const tiff = opened->tiff;
    const auto compression = field<uint16_t>(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE),
               photometric = field<uint16_t>(tiff, TIFFTAG_PHOTOMETRIC, 0),
               planes = field<uint16_t>(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    if (compression == COMPRESSION_JPEG && photometric == PHOTOMETRIC_YCBCR &&
        planes == PLANARCONFIG_CONTIG)
      TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    // With libdeflate, libtiff accepts a stream that goes on behind its strip, and leaves the
    // strip's last bytes unchanged.
    if (compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE)
      TIFFSetField(tiff, TIFFTAG_DEFLATE_SUBCODEC, DEFLATE_SUBCODEC_ZLIB);
    if (photometric == PHOTOMETRIC_LOGL || photometric == PHOTOMETRIC_LOGLUV)
      TIFFSetField(tiff, TIFFTAG_SGILOGDATAFMT, SGILOGDATAFMT_FLOAT);
    opened->check(context, "header");
    return opened;
  }
};

/// Whether a file was written without a strip or tile that holds zeros alone.
bool is_sparse(OpenTiff& opened, const Input& input, std::uint32_t strile) {
  const bool is_nowhere = strile < input.striles && TIFFGetStrileOffset(opened.tiff, strile) == 0 &&
                          TIFFGetStrileByteCount(opened.tiff, strile) == 0;
  opened.rethrow();
  return is_nowhere && opened.complaint.empty();
}

/// Whether the bytes of a strip or tile lie in the file; where they do not, that is reported.
bool check_place(OpenTiff& opened, const Input& input, std::uint32_t strile,
                 const std::string& place) {
  const std::uint64_t at = TIFFGetStrileOffset(opened.tiff, strile);
  const std::uint64_t bytes = TIFFGetStrileByteCount(opened.tiff, strile);
  opened.check(input.context, place);
  if (at == 0 || bytes == 0) {
    input.context.damaged(data_damaged(place + ": it says no place for it"));
    return false;
  }
  if (at >= input.source.size() || bytes > input.source.size() - at) {
    input.context.damaged(ends_early(place));
    return at < input.source.size();
  }
  if (input.shortened.contains(strile)) input.context.damaged(ends_early(place));
  return true;
}

/// Reports damage where libtiff gave less than a whole strip or tile. Returns `whole`.
bool check_decoded(OpenTiff& opened, const Input& input, const std::string& place, bool whole) {
  if (!whole && opened.complaint.empty()) opened.complaint = "it is too short";
  opened.check(input.context, place);
  return whole;
}

std::string place_of(const Layout& layout, int row, std::uint32_t strile) {
  return row_text(row, layout.height) + (layout.tiled ? ", tile " : ", strip ") +
         std::to_string(strile);
}

/// Whether the bytes of strips are samples, which need no decoder.
bool is_raw(TIFF* tiff, const Layout& layout) {
  const auto order = field<uint16_t>(tiff, TIFFTAG_FILLORDER, FILLORDER_MSB2LSB);
  const bool turned = layout.bits == 24 && TIFFIsByteSwapped(tiff);
  return layout.compression == COMPRESSION_NONE && order == FILLORDER_MSB2LSB && !turned;
}

/// The rows of strips, of all samples or of one plane, as samples in the host's byte order.
class Strips {
 public:
  Strips(const Input& input, const Layout& layout, int plane)
      : input_(input),
        layout_(layout),
        plane_(plane),
        opened_(input.open()),
        row_bytes_(layout.row_bytes(layout.width)) {
    const std::size_t promised = std::size_t(TIFFScanlineSize64(opened_->tiff));
    if (promised != row_bytes_) input.context.fail("it is a kind of TIFF that is not read");
    const std::size_t strip = row_bytes_ * std::size_t(layout.strile_height);
    if (is_raw(opened_->tiff, layout))
      way_ = Way::copy;
    else
      way_ = strip <= kLargestWhole || !decodes_by_rows() ? Way::whole : Way::rows;
    const std::size_t buffer = way_ == Way::whole  ? strip
                               : way_ == Way::copy ? std::min(strip, kMiB)
                                                   : row_bytes_;
    buffer_bytes_ = std::max(buffer, row_bytes_);
    buffer_ = std::make_unique_for_overwrite<unsigned char[]>(buffer_bytes_);
  }

  /// libtiff reads a strip's bytes from the file all at once. Codecs that do not decode by rows
  /// hold one more strip.
  std::uint64_t held_bytes() const {
    if (way_ == Way::copy) return buffer_bytes_;
    return buffer_bytes_ * (decodes_by_rows() ? 1 : 2) + input_.largest_strile;
  }

  /// The next row, y; null where it is lost.
  const unsigned char* row(int y) {
    const int first = y / layout_.strile_height * layout_.strile_height;
    const auto strips = std::uint32_t((layout_.height - 1) / layout_.strile_height + 1);
    strip_ = std::uint32_t(y / layout_.strile_height) + std::uint32_t(plane_) * strips;
    if (y == first) begin_strip(y);
    if (y >= lost_from_ && y < lost_end_) return nullptr;
    if (is_sparse_) return buffer_.get();
    if (way_ == Way::copy) return copied(y, first);
    if (way_ == Way::whole && !by_rows_) return buffer_.get() + row_bytes_ * std::size_t(y - first);
    const int done =
        TIFFReadScanline(opened_->tiff, buffer_.get(), std::uint32_t(y), std::uint16_t(plane_));
    if (done == 1 && opened_->complaint.empty()) return buffer_.get();
    opened_->check(input_.context, place_of(layout_, y, strip_));
    if (done == 1) return buffer_.get();
    lose_from(y);
    return nullptr;
  }

 private:
  /// Copy: bytes are samples. Whole: a strip is decoded at once, which some codecs need. Rows: it
  /// is decoded row by row, so that a large strip takes no memory of its size.
  enum class Way { copy, whole, rows };
  static constexpr std::size_t kLargestWhole = 4 * kMiB;

  bool decodes_by_rows() const {
    constexpr int kByRows[] = {
        COMPRESSION_NONE,      COMPRESSION_CCITTRLE,      COMPRESSION_CCITTRLEW,
        COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4,     COMPRESSION_LZW,
        COMPRESSION_JPEG,      COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,
        COMPRESSION_PACKBITS,  COMPRESSION_SGILOG,        COMPRESSION_SGILOG24,
        COMPRESSION_LZMA,      COMPRESSION_ZSTD};
    return std::ranges::find(kByRows, layout_.compression) != std::end(kByRows);
  }

  int end_of_strip(int y) const {
    return std::min(layout_.height, (y / layout_.strile_height + 1) * layout_.strile_height);
  }

  void lose_from(int y) {
    lost_from_ = y;
    lost_end_ = end_of_strip(y);
  }

  void begin_strip(int y) {
    by_rows_ = false;
    copied_end_ = y;
    const std::string place = place_of(layout_, y, strip_);
    is_sparse_ = is_sparse(*opened_, input_, strip_);
    if (is_sparse_) std::memset(buffer_.get(), 0, row_bytes_);
    if (way_ == Way::copy || is_sparse_) return;  // each row's bytes are checked as it is copied
    if (!check_place(*opened_, input_, strip_, place)) return lose_from(y);
    if (way_ != Way::whole) return;
    const std::size_t bytes = row_bytes_ * std::size_t(end_of_strip(y) - y);
    const tmsize_t got =
        TIFFReadEncodedStrip(opened_->tiff, strip_, buffer_.get(), tmsize_t(bytes));
    if (check_decoded(*opened_, input_, place, got == tmsize_t(bytes))) return;
    if (!decodes_by_rows()) return lose_from(y);
    // Row by row gives those before the damage. A decoder that stopped needs a new beginning.
    opened_ = input_.open();
    by_rows_ = true;
  }

  /// Many rows are read from the file at a time.
  const unsigned char* copied(int y, int first) {
    if (y >= copied_end_) {
      const int most = int(std::max<std::size_t>(1, kMiB / row_bytes_));
      const int rows = std::min(most, end_of_strip(y) - y);
      std::uint64_t at = TIFFGetStrileOffset(opened_->tiff, strip_);
      if (at != 0) at += input_.shift;
      const std::uint64_t promised = TIFFGetStrileByteCount(opened_->tiff, strip_);
      opened_->check(input_.context, place_of(layout_, y, strip_));
      const std::uint64_t skipped = row_bytes_ * std::uint64_t(y - first);
      const std::size_t wanted = row_bytes_ * std::size_t(rows);
      const std::size_t got = at == 0 || at >= input_.source.size()
                                  ? 0
                                  : input_.source.read(at + skipped, {buffer_.get(), wanted});
      // Files of old programs lack the number of bytes.
      const std::uint64_t there = promised == 0 ? UINT64_MAX : promised;
      const std::uint64_t valid =
          std::min<std::uint64_t>(got, there > skipped ? there - skipped : 0);
      const int whole = int(valid / row_bytes_);
      if (whole < rows) {
        const std::string place = place_of(layout_, y + whole, strip_);
        input_.context.damaged(
            at == 0 ? data_damaged(place + ": it says no place for it")
            : got < wanted
                ? ends_early(place)
                : data_damaged(place + ": " + std::to_string(promised) + " bytes are too few"));
        lose_from(y + whole);
        if (whole == 0) return nullptr;
      }
      copied_from_ = y;
      copied_end_ = y + whole;
      to_host_order(row_bytes_ * std::size_t(whole));
    }
    return buffer_.get() + row_bytes_ * std::size_t(y - copied_from_);
  }

  void to_host_order(std::size_t bytes) {
    if (!TIFFIsByteSwapped(opened_->tiff)) return;
    void* begin = buffer_.get();
    switch (layout_.bits) {
      case 16: TIFFSwabArrayOfShort(static_cast<uint16_t*>(begin), tmsize_t(bytes / 2)); break;
      case 32: TIFFSwabArrayOfLong(static_cast<uint32_t*>(begin), tmsize_t(bytes / 4)); break;
      case 64: TIFFSwabArrayOfLong8(static_cast<uint64_t*>(begin), tmsize_t(bytes / 8)); break;
      default: break;
    }
  }

  const Input& input_;
  const Layout& layout_;
  int plane_;
  std::unique_ptr<OpenTiff> opened_;
  std::size_t row_bytes_;
  Way way_;
  std::size_t buffer_bytes_;
  std::unique_ptr<unsigned char[]> buffer_;
  std::uint32_t strip_ = 0;
  bool by_rows_ = false;                  ///< this strip only
  bool is_sparse_ = false;                ///< the same
  int lost_from_ = 0, lost_end_ = 0;      ///< rows without pixels
  int copied_from_ = 0, copied_end_ = 0;  ///< rows in the buffer
};

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t(half & 0x8000) << 16;
  const int exponent = half >> 10 & 31;
  const std::uint32_t fraction = half & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000 | fraction << 13);
  if (exponent == 0) {
    const float tiny = std::ldexp(float(fraction), -24);
    return sign ? -tiny : tiny;
  }
  return std::bit_cast<float>(sign | std::uint32_t(exponent + 112) << 23 | fraction << 13);
}

/// The samples of a row one after the other, each of `bits` bits, most significant bit first.
class BitReader {
 public:
  BitReader(const unsigned char* bytes, int bits) : next_(bytes), bits_(bits) {}
  std::uint32_t operator()() {
    while (filled_ < bits_) {
      held_ = held_ << 8 | *next_++;
      filled_ += 8;
    }
    filled_ -= bits_;
    return std::uint32_t(held_ >> filled_ & ((std::uint64_t{1} << bits_) - 1));
  }

 private:
  const unsigned char* next_;
  int bits_, filled_ = 0;
  std::uint64_t held_ = 0;
};

template <class From>
From load(const unsigned char* raw, std::size_t i) {
  From value;
  std::memcpy(&value, raw + i * sizeof(From), sizeof value);
  return value;
}

/// Samples as those of the rows' depth, at full range; a palette's indices as they are.
template <class T>
void unpack(const Layout& layout, const unsigned char* raw, std::size_t count, T* out) {
  const auto each = [&](auto&& sample) {
    for (std::size_t i = 0; i < count; ++i) out[i] = sample(i);
  };
  if constexpr (std::is_same_v<T, float>) {
    if (layout.sample == Sample::real) {
      if (layout.bits == 16)
        return each([&](std::size_t i) { return half_to_float(load<std::uint16_t>(raw, i)); });
      return each([&](std::size_t i) { return float(load<double>(raw, i)); });
    }
    const auto scaled = [&]<class From>(TypeTag<From>) {
      const double scale = 1.0 / double(std::numeric_limits<From>::max());
      each([&](std::size_t i) { return float(double(load<From>(raw, i)) * scale); });
    };
    if (layout.sample == Sample::signed_integer) {
      switch (layout.bits) {
        case 8: return scaled(TypeTag<std::int8_t>{});
        case 16: return scaled(TypeTag<std::int16_t>{});
        case 32: return scaled(TypeTag<std::int32_t>{});
        default: return scaled(TypeTag<std::int64_t>{});
      }
    }
    if (layout.bits == 32) return scaled(TypeTag<std::uint32_t>{});
    if (layout.bits == 64) return scaled(TypeTag<std::uint64_t>{});
    const double scale = 1.0 / double((std::uint64_t{1} << layout.bits) - 1);
    if (layout.bits == 24) {  // libtiff turns three bytes into the host's order
      return each([&](std::size_t i) {
        const unsigned char* bytes = raw + 3 * i;
        const int value =
            bytes[kHostIsLittle ? 2 : 0] << 16 | bytes[1] << 8 | bytes[kHostIsLittle ? 0 : 2];
        return float(value * scale);
      });
    }
    BitReader next(raw, layout.bits);
    return each([&](std::size_t) { return float(next() * scale); });
  } else {
    if (layout.bits == 8) return each([&](std::size_t i) { return T(raw[i]); });
    if (layout.bits == 16)
      return each([&](std::size_t i) { return T(load<std::uint16_t>(raw, i)); });
    BitReader next(raw, layout.bits);
    if (layout.colour == Colour::palette) return each([&](std::size_t) { return T(next()); });
    const std::uint32_t most = (1u << layout.bits) - 1, full = std::numeric_limits<T>::max();
    each([&](std::size_t) { return T((next() * full + most / 2) / most); });
  }
}

/// Turns samples as the file has them into pixels of the rows.
class Converter {
 public:
  Converter(const Layout& layout, const Header& header)
      : layout_(layout), channels_(header.channels), depth_(header.depth) {}

  /// `planes` are the samples of `pixels` pixels, a pointer for each plane, or one for all.
  void operator()(const unsigned char* const planes[], int pixels, std::byte* out) {
    if (layout_.colour == Colour::palette) return look_up(planes, pixels, out);
    with_depth(depth_,
               [&]<class T>(TypeTag<T>) { convert<T>(planes, pixels, reinterpret_cast<T*>(out)); });
    if (layout_.premultiplied)
      unpremultiply({out, pixels, 1, 4, std::ptrdiff_t(pixels) * 4}, depth_);
  }

 private:
  /// The rows' samples of each plane, or of all. `T` is their type.
  template <class T>
  std::array<const T*, 5> samples_of(const unsigned char* const planes[], int pixels) {
    const std::size_t count = std::size_t(pixels) * std::size_t(layout_.together());
    const int arrays = int(layout_.planes.size());
    const bool as_they_are =
        layout_.bits == int(8 * sizeof(T)) &&
        (std::is_same_v<T, float> ? layout_.sample == Sample::real
                                  : layout_.sample == Sample::unsigned_integer);
    std::array<const T*, 5> samples{};
    if (as_they_are) {
      for (int p = 0; p < arrays; ++p)
        samples[std::size_t(p)] = reinterpret_cast<const T*>(planes[p]);
      return samples;
    }
    unpacked_.resize(count * std::size_t(arrays) * sizeof(T));
    T* next = reinterpret_cast<T*>(unpacked_.data());
    for (int p = 0; p < arrays; ++p, next += count) {
      unpack(layout_, planes[p], count, next);
      samples[std::size_t(p)] = next;
    }
    return samples;
  }

  template <class T>
  void convert(const unsigned char* const planes[], int pixels, T* out) {
    const std::array<const T*, 5> samples = samples_of<T>(planes, pixels);
    const std::ptrdiff_t stride = layout_.together();
    const auto source = [&](int sample) {
      if (!layout_.separate) return samples[0] + sample;
      return samples[std::size_t(sample == layout_.alpha ? layout_.colours() : sample)];
    };
    const auto each = [&](auto&& pixel) {
      for (std::ptrdiff_t x = 0; x < pixels; ++x) pixel(out + x * channels_, x * stride);
    };
    const T* alpha = layout_.alpha >= 0 ? source(layout_.alpha) : nullptr;
    switch (layout_.colour) {
      case Colour::grey: {
        const T* grey = source(0);
        const bool inverted = layout_.white_is_zero && layout_.sample != Sample::signed_integer;
        const T full = T(full_range(depth_));
        if (!alpha && stride == 1 && !inverted) {
          std::memcpy(out, grey, std::size_t(pixels) * sizeof(T));
          break;
        }
        each([&](T* to, std::ptrdiff_t at) {
          const T level = inverted ? T(full - grey[at]) : grey[at];
          if (!alpha) {
            *to = level;
            return;
          }
          to[0] = to[1] = to[2] = level;
          to[3] = alpha[at];
        });
        break;
      }
      case Colour::rgb: {
        const T *red = source(0), *green = source(1), *blue = source(2);
        if (stride == 3 && !alpha) {
          for (std::ptrdiff_t i = 0; i < 3 * std::ptrdiff_t(pixels); i += 3) {
            out[i] = red[i + 2];
            out[i + 1] = red[i + 1];
            out[i + 2] = red[i];
          }
          break;
        }
        each([&](T* to, std::ptrdiff_t at) {
          to[0] = blue[at];
          to[1] = green[at];
          to[2] = red[at];
          if (alpha) to[3] = alpha[at];
        });
        break;
      }
      case Colour::cmyk: {
        using Wide = std::conditional_t<std::is_same_v<T, float>, float, std::uint32_t>;
        const Wide full = Wide(full_range(depth_));
        const std::array<const T*, 4> ink = {source(2), source(1), source(0), source(3)};
        each([&](T* to, std::ptrdiff_t at) {
          const Wide light = full - ink[3][at];
          for (std::size_t c = 0; c < 3; ++c) to[c] = T(light * (full - ink[c][at]) / full);
        });
        break;
      }
      case Colour::xyz: {
        const T *big_x = source(0), *big_y = source(1), *big_z = source(2);
        each([&](T* to, std::ptrdiff_t at) {
          const double x = big_x[at], y = big_y[at], z = big_z[at];
          to[0] = T(0.055648 * x - 0.204043 * y + 1.057311 * z);
          to[1] = T(-0.969256 * x + 1.875991 * y + 0.041556 * z);
          to[2] = T(3.240479 * x - 1.53715 * y - 0.498535 * z);
        });
        break;
      }
      case Colour::lab: {
        const T *lightness = source(0), *green_red = source(1), *blue_yellow = source(2);
        each([&](T* to, std::ptrdiff_t at) {
          lab_to_srgb(lightness[at], green_red[at], blue_yellow[at], to);
        });
        break;
      }
      case Colour::palette:
      case Colour::by_libtiff: break;
    }
  }

  /// A colour relative to the white D50, as Photoshop and libtiff take it, becomes sRGB, whose
  /// white is D65, by Bradford's adaptation.
  template <class T>
  void lab_to_srgb(T lightness, T green_red, T blue_yellow, T* to) const {
    const double full = full_range(depth_), step = double(sizeof(T) == 1 ? 1 : 256);
    const auto chroma = [&](T sample) {
      if (layout_.icc_lab) return double(sample) / step - 128;
      return (double(sample) > full / 2 ? double(sample) - full - 1 : double(sample)) / step;
    };
    const double most = layout_.icc_lab ? 255 * step : full;
    const double y = (100 * double(lightness) / most + 16) / 116;
    const auto light = [](double f) {
      return f > 6.0 / 29 ? f * f * f : (f - 4.0 / 29) * 108 / 841;
    };
    const double big_x = 0.96422 * light(y + chroma(green_red) / 500), big_y = light(y),
                 big_z = 0.82521 * light(y - chroma(blue_yellow) / 200);
    const auto code = [&](double value) { return to_sample<T>(full * srgb_of_light(value)); };
    to[0] = code(0.0719453 * big_x - 0.2289914 * big_y + 1.4052427 * big_z);
    to[1] = code(-0.9787684 * big_x + 1.9161415 * big_y + 0.0334540 * big_z);
    to[2] = code(3.1338561 * big_x - 1.6168667 * big_y - 0.4906146 * big_z);
  }

  void look_up(const unsigned char* const planes[], int pixels, std::byte* out) {
    const std::uint16_t* index = samples_of<std::uint16_t>(planes, pixels)[0];
    const std::ptrdiff_t stride = layout_.together();
    const int dropped_bits = depth_ == Depth::u8 ? 8 : 0;
    with_depth(depth_, [&]<class T>(TypeTag<T>) {
      T* to = reinterpret_cast<T*>(out);
      for (std::ptrdiff_t x = 0; x < pixels; ++x)
        for (const auto& levels : layout_.palette)
          *to++ = T(levels[index[x * stride]] >> dropped_bits);
    });
  }

  const Layout& layout_;
  int channels_;
  Depth depth_;
  Bytes unpacked_;
};

/// Gives rows of finished samples from top to bottom.
class FinishedRows {
 public:
  virtual ~FinishedRows() = default;
  virtual void next(int y, std::byte* out) = 0;
  virtual std::uint64_t held_bytes() const = 0;
};

class StripRows : public FinishedRows {
 public:
  StripRows(const Input& input, const Layout& layout, const Header& header)
      : layout_(layout), converter_(layout, header), row_bytes_(row_bytes(header)) {
    // A handle for each plane, because each plane is read at another place of the file.
    for (const int plane : layout.planes)
      planes_.push_back(std::make_unique<Strips>(input, layout, plane));
  }

  void next(int y, std::byte* out) override {
    std::array<const unsigned char*, 5> rows{};
    bool lost = false;
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      rows[p] = planes_[p]->row(y);
      lost |= !rows[p];
    }
    if (lost)
      std::memset(out, 0, row_bytes_);
    else
      converter_(rows.data(), layout_.width, out);
  }

  std::uint64_t held_bytes() const override {
    std::uint64_t bytes = 0;
    for (const auto& plane : planes_) bytes += plane->held_bytes();
    return bytes;
  }

 private:
  const Layout& layout_;
  Converter converter_;
  std::size_t row_bytes_;
  std::vector<std::unique_ptr<Strips>> planes_;
};

/// Decodes several rows at a time, and keeps them.
class BandRows : public FinishedRows {
 public:
  BandRows(const Input& input, const Layout& layout, const Header& header)
      : input_(input), layout_(layout), opened_(input.open()), row_bytes_(row_bytes(header)) {
    band_bytes_ = row_bytes_ * std::size_t(std::min(layout.strile_height, layout.height));
    band_ = std::make_unique_for_overwrite<std::byte[]>(band_bytes_);
  }

  void next(int y, std::byte* out) override {
    const int in_band = y % layout_.strile_height;
    if (in_band == 0) decode(y, std::min(layout_.strile_height, layout_.height - y));
    std::memcpy(out, row(in_band), row_bytes_);
  }

 protected:
  /// Decodes these rows into the band.
  virtual void decode(int first, int rows) = 0;
  std::byte* row(int in_band) { return band_.get() + row_bytes_ * std::size_t(in_band); }

  const Input& input_;
  const Layout& layout_;
  const std::unique_ptr<OpenTiff> opened_;
  std::size_t row_bytes_, band_bytes_;

 private:
  std::unique_ptr<std::byte[]> band_;
};

class TileRows : public BandRows {
 public:
  TileRows(const Input& input, const Layout& layout, const Header& header)
      : BandRows(input, layout, header),
        converter_(layout, header),
        pixel_bytes_(std::size_t(header.channels) * size_of(header.depth)),
        tile_row_bytes_(layout.row_bytes(layout.strile_width)),
        tile_bytes_(tile_row_bytes_ * std::size_t(layout.strile_height)) {
    if (TIFFTileSize64(opened_->tiff) != tile_bytes_)
      input.context.fail("it is a kind of TIFF that is not read");
    for (std::size_t p = 0; p < layout.planes.size(); ++p)
      tiles_.push_back(std::make_unique_for_overwrite<unsigned char[]>(tile_bytes_));
  }

  std::uint64_t held_bytes() const override {
    return band_bytes_ + tile_bytes_ * tiles_.size() + input_.largest_strile;
  }

 private:
  void decode(int first, int rows) override {
    for (int left = 0; left < layout_.width; left += layout_.strile_width) {
      const int columns = std::min(layout_.strile_width, layout_.width - left);
      bool whole = true;
      for (std::size_t p = 0; p < tiles_.size(); ++p)
        whole &= decode_tile(left, first, layout_.planes[p], tiles_[p].get());
      for (int y = 0; y < rows; ++y) {
        std::byte* to = row(y) + std::size_t(left) * pixel_bytes_;
        std::array<const unsigned char*, 5> from{};
        for (std::size_t p = 0; p < tiles_.size(); ++p)
          from[p] = tiles_[p].get() + tile_row_bytes_ * std::size_t(y);
        if (whole)
          converter_(from.data(), columns, to);
        else
          std::memset(to, 0, std::size_t(columns) * pixel_bytes_);
      }
    }
  }

  bool decode_tile(int x, int y, int sample, unsigned char* into) {
    const std::uint32_t tile = TIFFComputeTile(opened_->tiff, std::uint32_t(x), std::uint32_t(y), 0,
                                               std::uint16_t(sample));
    const std::string place = place_of(layout_, y, tile);
    if (is_sparse(*opened_, input_, tile)) {
      std::memset(into, 0, tile_bytes_);
      return true;
    }
    if (!check_place(*opened_, input_, tile, place)) return false;
    const tmsize_t got = TIFFReadEncodedTile(opened_->tiff, tile, into, tmsize_t(tile_bytes_));
    return check_decoded(*opened_, input_, place, got == tmsize_t(tile_bytes_));
  }

  Converter converter_;
  std::size_t pixel_bytes_, tile_row_bytes_, tile_bytes_;
  std::vector<std::unique_ptr<unsigned char[]>> tiles_;
};

/// Rows of the kinds that only libtiff's RGBA interface reads.
class ConvertedRows : public BandRows {
 public:
  ConvertedRows(const Input& input, const Layout& layout, const Header& header)
      : BandRows(input, layout, header) {
    const int stop_at_errors = 1;
    begun_ = TIFFRGBAImageBegin(&converter_, opened_->tiff, stop_at_errors, why_) == 1;
    opened_->rethrow();
    if (!begun_) {
      const std::string why = why_[0] ? why_ : opened_->complaint;
      input.context.fail("it is a kind of TIFF that is not read (" + why + ")");
    }
    converter_.req_orientation = converter_.orientation = ORIENTATION_TOPLEFT;
    const std::size_t rows = std::size_t(std::min(layout.strile_height, layout.height));
    pixels_ = std::make_unique_for_overwrite<uint32_t[]>(rows * std::size_t(layout.width));
  }
  ~ConvertedRows() override {
    if (begun_) TIFFRGBAImageEnd(&converter_);
  }

  std::uint64_t held_bytes() const override {
    const auto rows = std::uint64_t(layout_.strile_height);
    const std::uint64_t planes = layout_.separate ? std::uint64_t(layout_.samples) : 1;
    return band_bytes_ + rows * std::uint64_t(layout_.width) * sizeof(uint32_t) +
           rows * layout_.row_bytes(layout_.strile_width) * planes + input_.largest_strile;
  }

 private:
  void decode(int first, int rows) override {
    const auto strile = std::uint32_t(first / layout_.strile_height);
    check_places(first);
    converter_.row_offset = first;
    converter_.col_offset = 0;
    const int done = TIFFRGBAImageGet(&converter_, pixels_.get(), std::uint32_t(layout_.width),
                                      std::uint32_t(rows));
    if (!done && opened_->complaint.empty())
      opened_->complaint = why_[0] ? why_ : "it does not decode";
    // Tiles beside each other are read together, so their row is named.
    const std::string place = row_text(first, layout_.height) +
                              (layout_.tiled ? ", row of tiles " : ", strip ") +
                              std::to_string(strile);
    opened_->check(input_.context, place);
    for (int y = 0; y < rows; ++y) {
      auto* out = reinterpret_cast<std::uint8_t*>(row(y));
      const uint32_t* from = pixels_.get() + std::size_t(y) * std::size_t(layout_.width);
      for (int x = 0; x < layout_.width; ++x, out += 3) {
        const uint32_t pixel = done ? from[x] : 0;
        out[0] = std::uint8_t(TIFFGetB(pixel));
        out[1] = std::uint8_t(TIFFGetG(pixel));
        out[2] = std::uint8_t(TIFFGetR(pixel));
      }
    }
  }

  void check_places(int first) {
    TIFF* tiff = opened_->tiff;
    const auto y = std::uint32_t(first);
    for (std::uint16_t plane = 0; plane < (layout_.separate ? layout_.samples : 1); ++plane) {
      for (int x = 0; x < layout_.width; x += layout_.strile_width) {
        const std::uint32_t strile = layout_.tiled
                                         ? TIFFComputeTile(tiff, std::uint32_t(x), y, 0, plane)
                                         : TIFFComputeStrip(tiff, y, plane);
        check_place(*opened_, input_, strile, place_of(layout_, first, strile));
      }
    }
  }

  TIFFRGBAImage converter_{};
  char why_[1024] = "";
  bool begun_ = false;
  std::unique_ptr<uint32_t[]> pixels_;
};

/// The format that stands whole in each strip or tile; nothing for compressions of libtiff.
std::optional<FormatId> embedded_format(int compression) {
  switch (compression) {
    case 33005:  // Aperio's
    case COMPRESSION_JP2000: return FormatId::jp2;
    case 34933: return FormatId::png;
    case 50002:
    case 52546: return FormatId::jxl;  // of DNG 1.7
    default: return std::nullopt;
  }
}

/// Rows of strips or tiles that are files of another format.
class EmbeddedRows : public BandRows {
 public:
  EmbeddedRows(const Input& input, const Layout& layout, const Header& header, FormatId format)
      : BandRows(input, layout, header), header_(header), format_(format) {
    try {
      codec_ = &codec_for(format, Loader::automatic);
    } catch (const IoError& error) {
      input.context.fail(error.what());
    }
  }

  /// Libraries hold more than one picture; what they take for a sample is less than this.
  std::uint64_t held_bytes() const override {
    constexpr std::uint64_t kOfSample = 16;
    return band_bytes_ + input_.largest_strile +
           kOfSample * std::uint64_t(header_.channels) * std::uint64_t(pixels());
  }

 private:
  std::int64_t pixels() const { return std::int64_t{layout_.strile_width} * layout_.strile_height; }

  void decode(int first, int rows) override {
    const std::size_t pixel_bytes = row_bytes_ / std::size_t(layout_.width);
    for (int left = 0; left < layout_.width; left += layout_.strile_width) {
      const Image image = decoded(left, first, rows);
      const std::size_t bytes =
          std::size_t(std::min(layout_.strile_width, layout_.width - left)) * pixel_bytes;
      for (int y = 0; y < rows; ++y) {
        std::byte* const to = row(y) + std::size_t(left) * pixel_bytes;
        if (image.empty())
          std::memset(to, 0, bytes);
        else
          std::memcpy(to, image.view().row(y), bytes);
      }
    }
    if (layout_.premultiplied)
      unpremultiply({row(0), layout_.width, rows, 4, std::ptrdiff_t(row_bytes_)}, header_.depth);
  }

  /// A strip or tile; empty where nothing can be read of it.
  Image decoded(int x, int y, int rows) {
    TIFF* const tiff = opened_->tiff;
    const std::uint32_t strile =
        layout_.tiled ? TIFFComputeTile(tiff, std::uint32_t(x), std::uint32_t(y), 0, 0)
                      : TIFFComputeStrip(tiff, std::uint32_t(y), 0);
    const std::string place = place_of(layout_, y, strile);
    if (!check_place(*opened_, input_, strile, place)) return {};
    const std::uint64_t at = TIFFGetStrileOffset(tiff, strile);
    Bytes bytes(std::size_t(
        std::min<std::uint64_t>(TIFFGetStrileByteCount(tiff, strile), input_.source.size() - at)));
    bytes.resize(input_.source.read(at, bytes));
    const auto lost = [&](const std::string& why) -> Image {
      input_.context.damaged(data_damaged(place + ": " + why));
      return {};
    };
    FormatId found;
    if (!sniff(bytes, &found) || found != format_)
      return lost("it is no " + std::string(name_of(format_)));
    ReadOptions options;
    options.refuse_damaged = false;
    options.max_pixels = pixels();
    ReadContext context(place, options);
    try {
      const auto source = source_of(bytes);
      const auto reader = codec_->open(*source, context);
      const Header& header = reader->header();
      if (header.width != layout_.strile_width || header.height < rows ||
          header.channels != header_.channels || header.depth != header_.depth)
        return lost("it has " + size_text(header.width, header.height) + " pixels of " +
                    plural(std::uint64_t(header.channels), "channel") + " in " +
                    std::string(name_of(header.depth)) + ", which the TIFF's header contradicts");
      Image image(header.width, header.height, header.channels, header.depth);
      reader->read(image.view());
      if (!context.is_damaged()) reader->finish();
      if (context.is_damaged()) lost(context.left_out().front());
      return image;
    } catch (const IoError& error) {
      return lost(error.what());
    }
  }

  const Header& header_;
  const FormatId format_;
  const Codec* codec_ = nullptr;
};

/// The offsets of a file's directories, which form a chain.
std::vector<std::uint64_t> pages_of(const TiffStructure& file, ReadContext& context) {
  constexpr std::size_t kMost = 65535;
  std::vector<std::uint64_t> pages;
  std::set<std::uint64_t> seen;
  // A chain that bites its tail ends there.
  for (std::uint64_t at = file.first();
       at != 0 && pages.size() < kMost && seen.insert(at).second;) {
    const auto directory = file.directory(at);
    if (!directory || directory->cut)
      context.damaged(ends_early("its directory points beyond the end"));
    if (!directory) break;
    pages.push_back(at);
    at = directory->next;
  }
  return pages;
}

/// For --on-damage=warn: patches the lengths of striles that lie across the file's end, so that
/// decoders get the rest of them. `most` is the number of striles that the picture has.
void shorten_striles(const TiffStructure& file, const TiffDirectory& directory, std::size_t most,
                     Input& input) {
  const std::uint64_t size = input.source.size();
  for (const auto& [places_tag, lengths_tag] :
       {std::pair<std::uint16_t, std::uint16_t>{TIFFTAG_STRIPOFFSETS, TIFFTAG_STRIPBYTECOUNTS},
        {TIFFTAG_TILEOFFSETS, TIFFTAG_TILEBYTECOUNTS}}) {
    const TiffEntry *places = directory.find(places_tag), *lengths = directory.find(lengths_tag);
    if (!places || !lengths) continue;
    const auto all_places = file.numbers(places, 64 * kMiB);
    const auto all_lengths = file.numbers(lengths, 64 * kMiB);
    const std::size_t length = std::size_t(tiff_type_size(lengths->type));
    for (std::size_t i = 0; i < std::min({all_places.size(), all_lengths.size(), most}); ++i) {
      const std::uint64_t at = all_places[i];
      if (at >= size || all_lengths[i] <= size - at) continue;
      Bytes number;
      append_number(number, size - at, length, file.little());
      for (std::size_t b = 0; b < length; ++b)
        input.patches[lengths->values_at + i * length + b] = number[b];
      input.shortened.insert(std::uint32_t(i));
    }
  }
}

/// Bytes of the largest strip or tile as it stands in the file. What lies beyond the file's end is
/// not read.
std::uint64_t largest_strile(const TiffStructure& file, const TiffDirectory& directory,
                             ByteSource& source) {
  std::uint64_t largest = 0;
  for (const auto tag : {TIFFTAG_STRIPBYTECOUNTS, TIFFTAG_TILEBYTECOUNTS}) {
    const TiffEntry* lengths = directory.find(std::uint16_t(tag));
    if (!lengths) continue;
    const auto each = std::size_t(tiff_type_size(lengths->type));
    Bytes part(std::size_t(std::min<std::uint64_t>(lengths->size, 1 << 16)));
    for (std::uint64_t at = 0; at < lengths->size; at += part.size()) {
      const std::uint64_t left = std::min<std::uint64_t>(part.size(), lengths->size - at);
      part.resize(source.read(lengths->values_at + at, std::span(part).first(std::size_t(left))));
      if (part.size() < each) break;
      for (std::size_t i = 0; i + each <= part.size(); i += each)
        largest = std::max(largest, file.number_in(std::span(part).subspan(i, each)));
    }
  }
  return std::min(largest, source.size());
}

/// Finds the sample that is alpha. A fourth sample of RGB without a declared meaning is straight
/// alpha.
void find_alpha(TIFF* tiff, bool says_extra, Layout& layout, ReadContext& context) {
  const int extra = layout.samples - layout.colours();
  if (extra <= 0) return;
  uint16_t count = 0;
  const uint16_t* meanings = nullptr;
  // libtiff makes up meanings where the file says none.
  if (!says_extra || !TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &meanings)) count = 0;
  const bool takes_alpha = layout.colour == Colour::grey || layout.colour == Colour::rgb;
  for (int i = 0; takes_alpha && i < std::min<int>(count, extra) && layout.alpha < 0; ++i) {
    const int meaning = meanings[count - std::min<int>(count, extra) + i];
    if (meaning != EXTRASAMPLE_ASSOCALPHA && meaning != EXTRASAMPLE_UNASSALPHA) continue;
    layout.alpha = layout.samples - std::min<int>(count, extra) + i;
    layout.premultiplied = meaning == EXTRASAMPLE_ASSOCALPHA;
  }
  if (count == 0 && layout.colour == Colour::rgb && layout.samples == 4) layout.alpha = 3;
  const int left_out = extra - (layout.alpha >= 0 ? 1 : 0);
  if (left_out > 0) {
    context.leaves_out(
        "the samples of a pixel beside its colours, which are no alpha, are not read (" +
        std::to_string(left_out) + ")");
  }
}

void read_palette(TIFF* tiff, Layout& layout, ReadContext& context) {
  uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
  if (layout.bits > 16 || layout.sample != Sample::unsigned_integer ||
      !TIFFGetField(tiff, TIFFTAG_COLORMAP, &red, &green, &blue))
    context.fail("its header is damaged (it has no palette)");
  const std::size_t count = std::size_t{1} << layout.bits;
  layout.palette = {std::vector(blue, blue + count), std::vector(green, green + count),
                    std::vector(red, red + count)};
  // Old programs wrote levels of 8 bits where 16 are due.
  const bool coarse = std::ranges::all_of(layout.palette, [](const auto& map) {
    return std::ranges::all_of(map, [](int level) { return level < 256; });
  });
  if (coarse)
    for (auto& map : layout.palette)
      for (std::uint16_t& level : map) level = std::uint16_t(level << 8);
}

/// For messages: its number, and the name where libtiff may have no decoder for it.
std::string compression_name(int compression) {
  constexpr std::pair<int, const char*> kNames[] = {{COMPRESSION_OJPEG, "old-style JPEG"},
                                                    {COMPRESSION_JPEG, "JPEG"},
                                                    {33003, "JPEG 2000 of YCbCr"},
                                                    {33005, "JPEG 2000"},
                                                    {COMPRESSION_JBIG, "JBIG"},
                                                    {COMPRESSION_JP2000, "JPEG 2000"},
                                                    {COMPRESSION_LERC, "LERC"},
                                                    {34892, "lossy JPEG"},
                                                    {COMPRESSION_LZMA, "LZMA"},
                                                    {34933, "PNG"},
                                                    {COMPRESSION_ZSTD, "Zstandard"},
                                                    {COMPRESSION_WEBP, "WebP"},
                                                    {50002, "JPEG XL"},
                                                    {52546, "JPEG XL"}};
  const auto* const found =
      std::ranges::find(kNames, compression, &std::pair<int, const char*>::first);
  const std::string number = "number " + std::to_string(compression);
  return found == std::end(kNames) ? number : found->second + (" (" + number + ")");
}

Layout layout_of(TIFF* tiff, bool says_extra, ReadContext& context) {
  Layout layout;
  const auto width = field<uint32_t>(tiff, TIFFTAG_IMAGEWIDTH, 0),
             height = field<uint32_t>(tiff, TIFFTAG_IMAGELENGTH, 0);
  context.check_size(width, height);
  layout.width = int(width);
  layout.height = int(height);

  const auto number = [&](std::uint32_t tag, int value) {
    return field<uint16_t>(tiff, tag, uint16_t(value));
  };
  const auto compression = number(TIFFTAG_COMPRESSION, COMPRESSION_NONE),
             bits = number(TIFFTAG_BITSPERSAMPLE, 1), samples = number(TIFFTAG_SAMPLESPERPIXEL, 1),
             format = number(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT),
             planes = number(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG),
             inks = number(TIFFTAG_INKSET, INKSET_CMYK),
             photometric = number(TIFFTAG_PHOTOMETRIC,
                                  samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  const bool is_embedded = embedded_format(compression).has_value();
  if (!is_embedded && !TIFFIsCODECConfigured(compression)) {
    context.fail("its compression, " + compression_name(compression) +
                 ", is not one that libtiff decodes here; convert it first");
  }
  layout.compression = compression;
  layout.bits = bits;
  layout.samples = samples;
  layout.separate = planes == PLANARCONFIG_SEPARATE && samples > 1;
  layout.tiled = TIFFIsTiled(tiff) != 0;
  layout.white_is_zero = photometric == PHOTOMETRIC_MINISWHITE;
  layout.sample = format == SAMPLEFORMAT_INT      ? Sample::signed_integer
                  : format == SAMPLEFORMAT_IEEEFP ? Sample::real
                                                  : Sample::unsigned_integer;
  switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_LOGL: layout.colour = Colour::grey; break;
    case PHOTOMETRIC_RGB: layout.colour = Colour::rgb; break;
    case PHOTOMETRIC_PALETTE: layout.colour = Colour::palette; break;
    case PHOTOMETRIC_LOGLUV: layout.colour = Colour::xyz; break;
    case PHOTOMETRIC_SEPARATED:
      layout.colour = inks == INKSET_CMYK ? Colour::cmyk : Colour::by_libtiff;
      break;
    case PHOTOMETRIC_YCBCR:
      layout.colour = compression == COMPRESSION_JPEG && planes == PLANARCONFIG_CONTIG
                          ? Colour::rgb
                          : Colour::by_libtiff;
      break;
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
      if (samples < 3 || (bits != 8 && bits != 16) || format == SAMPLEFORMAT_IEEEFP) {
        layout.colour = Colour::by_libtiff;
        break;
      }
      layout.colour = Colour::lab;
      layout.icc_lab = photometric == PHOTOMETRIC_ICCLAB;
      layout.sample = Sample::unsigned_integer;  // the conversion knows which have a sign
      context.warn("its CIELab becomes sRGB");
      break;
    default: layout.colour = Colour::by_libtiff; break;
  }
  if (is_embedded && (layout.separate || layout.white_is_zero ||
                      (layout.colour != Colour::grey && layout.colour != Colour::rgb))) {
    context.fail("its compression, " + compression_name(compression) +
                 ", is read for grey levels and RGB alone, in one plane; convert it first");
  }
  // Old-style JPEG needs what the RGBA interface does for it.
  if (compression == COMPRESSION_OJPEG) layout.colour = Colour::by_libtiff;
  if (layout.colour == Colour::by_libtiff) {
    if (bits > 8) {
      context.warn("this kind of TIFF is read with 8 of its " + std::to_string(bits) +
                   " bits a sample");
    }
  } else {
    const bool integer = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID;
    const bool known =
        (integer && (bits <= 32 || bits == 64)) ||
        (format == SAMPLEFORMAT_INT && (bits == 8 || bits == 16 || bits == 32 || bits == 64)) ||
        (format == SAMPLEFORMAT_IEEEFP && (bits == 16 || bits == 32 || bits == 64));
    if (!known || bits == 0 || samples < layout.colours()) {
      context.fail("its samples, " + std::to_string(samples) + " of " + std::to_string(bits) +
                   " bits and format " + std::to_string(format) +
                   ", are of a kind that is not read; convert it first");
    }
    if (layout.colour == Colour::palette) read_palette(tiff, layout, context);
    find_alpha(tiff, says_extra, layout, context);
    if (layout.sample == Sample::signed_integer)
      context.warn("its signed samples become floats, full range 1");
    else if (layout.sample == Sample::real && bits == 64)
      context.warn("its 64-bit samples become 32-bit floats");
    else if (layout.sample == Sample::unsigned_integer && bits > 16)
      context.warn("its " + std::to_string(bits) + "-bit samples become floats, full range 1");
  }

  const auto strile_width = layout.tiled ? field<uint32_t>(tiff, TIFFTAG_TILEWIDTH, 0) : width,
             strile_height =
                 layout.tiled
                     ? field<uint32_t>(tiff, TIFFTAG_TILELENGTH, 0)
                     : std::min(field<uint32_t>(tiff, TIFFTAG_ROWSPERSTRIP, height), height);
  // A tile may stick out of the picture, but not by so much that it takes memory for nothing.
  constexpr std::uint64_t kSmall = 1 << 24;
  const std::uint64_t strile = std::uint64_t(strile_width) * strile_height;
  const bool too_large = strile > kSmall && strile / 4 > std::uint64_t(width) * height;
  if (strile == 0 || too_large || strile_width > INT32_MAX || strile_height > INT32_MAX) {
    context.fail("its header is damaged (tiles of " + size_text(strile_width, strile_height) +
                 " pixels)");
  }
  layout.strile_width = int(strile_width);
  layout.strile_height = int(strile_height);
  for (int sample = 1; layout.separate && sample < layout.colours(); ++sample)
    layout.planes.push_back(sample);
  if (layout.separate && layout.alpha >= 0) layout.planes.push_back(layout.alpha);
  return layout;
}

std::optional<Metadata::Resolution> resolution_of(TIFF* tiff) {
  const auto x = field<float>(tiff, TIFFTAG_XRESOLUTION, 0),
             y = field<float>(tiff, TIFFTAG_YRESOLUTION, 0);
  return resolution_in(field<uint16_t>(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH), x, y);
}

/// A picture of a file.
struct Page {
  std::uint64_t directory = 0;
  std::uint64_t described_by = 0;  ///< the directory that has its metadata
  std::uint64_t shift = 0;         ///< of Input
  bool is_lesser = false;          ///< a smaller copy of another, or a mask for it
};

/// Bytes that no directory points to are no damage: a TIFF may hold anything anywhere, behind its
/// last strip, too.
class TiffReader : public RowReader {
 public:
  TiffReader(ByteSource& source, ReadContext& context)
      : file_(source), input_{source, context, 0, 0, 0, {}, {}, 0} {
    if (!file_.valid()) {
      context.damaged(ends_early("its directory points beyond the end"));
      context.fail("nothing of this TIFF can be read: its directory is missing");
    }
    for (const std::uint64_t at : pages_of(file_, context)) add_page(at);
    if (pages_.empty()) context.fail("nothing of this TIFF can be read: its directory is missing");
    if (!context.options().page) leave_out_lesser();
    if (pages_.size() == 1) {
      open();
      add_planes();
    }
    page_ = std::size_t(context.first_page(int(pages_.size())));
    header_.pages = int(pages_.size());
    if (context.options().several == Several::all)
      for (const Page& page : std::span(pages_).subspan(page_ + 1))
        header_.bytes_behind += bytes_of_rows(page);
    if (!rows_ || page_ > 0) open();
  }

  std::int64_t held_bytes() const override { return std::int64_t(rows_->held_bytes()); }

  void read(PictureView<std::byte> rows) override {
    for (int y = 0; y < rows.height; ++y) rows_->next(next_row_++, rows.row(y));
  }

  bool next() override {
    if (++page_ == pages_.size()) return false;
    header_.bytes_behind -= bytes_of_rows(pages_[page_]);
    open();
    return true;
  }

 private:
  /// Adds the page of a directory. Where that has a small copy of a picture below it, as a DNG has,
  /// the picture is the page.
  void add_page(std::uint64_t at) {
    const auto directory = file_.directory(at);
    const std::uint64_t kind = kind_of(*directory);
    Page page{at, at, 0, (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0};
    std::uint64_t most = 0;
    if (kind & FILETYPE_REDUCEDIMAGE) {
      for (const std::uint64_t below : below_of(*directory)) {
        const auto other = file_.directory(below);
        const std::uint64_t pixels =
            other ? number(*other, TIFFTAG_IMAGEWIDTH) * number(*other, TIFFTAG_IMAGELENGTH) : 0;
        if (pixels <= most || kind_of(*other) & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) continue;
        most = pixels;
        page = {below, at, 0, false};
      }
    }
    lesser_ += page.directory != at;
    pages_.push_back(page);
  }

  /// NewSubfileType, or what the older tag says.
  std::uint64_t kind_of(const TiffDirectory& directory) const {
    const bool is_reduced = number(directory, TIFFTAG_OSUBFILETYPE) == OFILETYPE_REDUCEDIMAGE;
    return number(directory, TIFFTAG_SUBFILETYPE) | (is_reduced ? FILETYPE_REDUCEDIMAGE : 0);
  }

  std::uint64_t number(const TiffDirectory& directory, std::uint16_t tag,
                       std::uint64_t otherwise = 0) const {
    constexpr std::uint64_t kMost = INT32_MAX;
    return std::min(file_.number(directory.find(tag)).value_or(otherwise), kMost);
  }

  std::vector<std::uint64_t> below_of(const TiffDirectory& directory) const {
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 16;
    return file_.numbers(directory.find(TIFFTAG_SUBIFD), kMostBytes);
  }

  /// Smaller copies and masks are no pages, unless there is nothing else.
  void leave_out_lesser() {
    const auto lesser = std::ranges::count(pages_, true, &Page::is_lesser);
    if (std::size_t(lesser) < pages_.size()) {
      std::erase_if(pages_, [](const Page& page) { return page.is_lesser; });
      lesser_ += int(lesser);
    }
    if (lesser_ > 0)
      input_.context.leaves_out("smaller copies of its picture, or masks for it, are not read (" +
                                std::to_string(lesser_) + ")");
  }

  /// The planes of an ImageJ stack lie behind the first, which has the only directory.
  void add_planes() {
    const std::uint64_t planes = is_raw(input_.open()->tiff, layout_)
                                     ? imagej_planes(*file_.directory(input_.directory))
                                     : 0;
    for (std::uint64_t plane = 1; plane < planes; ++plane) {
      pages_.push_back(pages_.front());
      pages_.back().shift = plane * plane_bytes();
    }
  }

  /// Bytes of a plane as the file stores it without compression.
  std::uint64_t plane_bytes() const {
    return layout_.row_bytes(layout_.width) * std::uint64_t(layout_.height) *
           std::uint64_t(layout_.separate ? layout_.samples : 1);
  }

  /// About.
  std::int64_t bytes_of_rows(const Page& page) const {
    const auto directory = file_.directory(page.directory);
    const std::uint64_t bits = number(*directory, TIFFTAG_BITSPERSAMPLE, 1);
    const bool has_palette = directory->find(TIFFTAG_COLORMAP);
    const std::uint64_t samples =
        has_palette ? 3
                    : std::min<std::uint64_t>(4, number(*directory, TIFFTAG_SAMPLESPERPIXEL, 1));
    return std::int64_t(double(number(*directory, TIFFTAG_IMAGEWIDTH)) *
                        double(number(*directory, TIFFTAG_IMAGELENGTH)) * double(samples) *
                        (bits <= 8    ? 1
                         : bits <= 16 ? 2
                                      : 4));
  }

  /// Reads the header of the page.
  void open() {
    ReadContext& context = input_.context;
    const Page& page = pages_[page_];
    rows_.reset();
    next_row_ = 0;
    input_.directory = page.directory;
    input_.shift = page.shift;
    input_.patches.clear();
    input_.striles = 0;
    input_.shortened.clear();
    const auto directory = file_.directory(page.directory);
    for (const std::uint16_t tag : {TIFFTAG_STRIPOFFSETS, TIFFTAG_TILEOFFSETS})
      if (const TiffEntry* places = directory->find(tag)) input_.striles = places->count;

    // libtiff may take as much as the file and its pixels need, of any depth.
    const auto side = [&](std::uint16_t tag) {
      return std::min<std::uint64_t>(file_.number(directory->find(tag)).value_or(0), INT64_MAX);
    };
    const std::uint64_t width = side(TIFFTAG_IMAGEWIDTH), height = side(TIFFTAG_IMAGELENGTH);
    context.check_size(std::int64_t(width), std::int64_t(height));
    constexpr std::uint64_t kBytesOfPixel = 32;
    input_.most_memory = 256 * kMiB + input_.source.size() + width * height * kBytesOfPixel;

    const auto opened = input_.open();
    TIFF* tiff = opened->tiff;
    layout_ = layout_of(tiff, directory->find(TIFFTAG_EXTRASAMPLES) != nullptr, context);
    // libtiff takes indices of a palette that is missing, or too short, for grey levels.
    if (layout_.colour == Colour::grey &&
        file_.number(directory->find(TIFFTAG_PHOTOMETRIC)) == PHOTOMETRIC_PALETTE)
      context.damaged("its header is damaged (it has no palette of " +
                      std::to_string(std::uint64_t{1} << layout_.bits) + " colours)");
    fill_header(tiff);
    const auto described_by = file_.directory(page.described_by);
    header_.metadata = metadata_of(file_, *described_by);
    header_.metadata.resolution = resolution_of(tiff);
    header_.metadata.stored = stored_as(layout_);
    if (page.described_by != page.directory) {
      const std::uint64_t orientation = number(*described_by, TIFFTAG_ORIENTATION, 1);
      if (!directory->find(TIFFTAG_ORIENTATION) && orientation >= 1 && orientation <= 8)
        header_.orientation = int(orientation);
      if (header_.metadata.icc.empty()) header_.metadata.icc = metadata_of(file_, *directory).icc;
    }
    // The text describes the stack, and stays with its first picture.
    if (page.shift > 0 && !context.options().page)
      header_.metadata.exif = without_tags(header_.metadata.exif, kDescriptionTag);
    leave_out_profile();
    find_parts(*directory);

    const bool copied =
        !layout_.tiled && layout_.colour != Colour::by_libtiff && is_raw(tiff, layout_);
    if (!context.options().refuse_damaged && !copied) {
      const auto striles = layout_.tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
      shorten_striles(file_, *directory, striles, input_);
    }
    input_.largest_strile = largest_strile(file_, *directory, input_.source);
    if (const auto format = embedded_format(layout_.compression))
      rows_ = std::make_unique<EmbeddedRows>(input_, layout_, header_, *format);
    else if (layout_.colour == Colour::by_libtiff)
      rows_ = std::make_unique<ConvertedRows>(input_, layout_, header_);
    else if (layout_.tiled)
      rows_ = std::make_unique<TileRows>(input_, layout_, header_);
    else
      rows_ = std::make_unique<StripRows>(input_, layout_, header_);
    context.check_plausible(header_, rows_->held_bytes(), input_.source.size());
  }

  /// Reports the parts of a directory beside its picture.
  void find_parts(const TiffDirectory& directory) {
    constexpr std::uint16_t kPhotoshopLayers = 37724;
    ReadContext& context = input_.context;
    const int below = pictures_below(directory);
    if (below > 0)
      context.leaves_out("the pictures in its subdirectories (" + std::to_string(below) +
                         ") are not read");
    // A volume: its first tiles are all that is read.
    if (const auto depth = file_.number(directory.find(TIFFTAG_IMAGEDEPTH)); depth && *depth > 1)
      context.leaves_out("only the first of its " + std::to_string(*depth) +
                         " planes of depth is read");
    if (directory.find(kPhotoshopLayers))
      context.leaves_out("Photoshop's layers in it are not read");
  }

  int pictures_below(const TiffDirectory& directory) const {
    int found = 0;
    for (const std::uint64_t at : below_of(directory)) {
      const auto below = file_.directory(at);
      found += below && below->find(TIFFTAG_IMAGEWIDTH);
    }
    return found;
  }

  /// ImageJ writes a stack as one directory with all planes behind the first; a text has their
  /// number. 0 if it has none. In a stack that is cut, planes that are there in part count.
  std::uint64_t imagej_planes(const TiffDirectory& directory) const {
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 16;
    const TiffEntry* entry = directory.find(TIFFTAG_IMAGEDESCRIPTION);
    if (!entry || layout_.tiled || layout_.compression != COMPRESSION_NONE) return 0;
    const auto bytes = file_.bytes_of(*entry, kMostBytes);
    const std::string text(bytes.begin(), bytes.end());
    const std::string_view key = "\nimages=";
    const std::size_t at = text.find(key);
    if (!text.starts_with("ImageJ=") || at == text.npos) return 0;
    std::uint64_t planes = 0;
    std::from_chars(text.data() + at + key.size(), text.data() + text.size(), planes);
    const std::uint64_t first = file_.number(directory.find(TIFFTAG_STRIPOFFSETS)).value_or(0);
    const std::uint64_t plane = plane_bytes();
    const std::uint64_t size = input_.source.size();
    if (first >= size) return 0;
    planes = std::min(planes, (size - first + plane - 1) / plane);
    const bool holds_directory =
        directory.begin >= first && directory.begin < first + planes * plane;
    return holds_directory ? 0 : planes;
  }

  void fill_header(TIFF* tiff) {
    const auto orientation = field<uint16_t>(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    header_.format = FormatId::tiff;
    header_.width = layout_.width;
    header_.height = layout_.height;
    header_.depth = depth_of(layout_);
    header_.channels = layout_.alpha >= 0 ? 4 : layout_.colour == Colour::grey ? 1 : 3;
    header_.orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
  }

  /// A profile for inks, or for Lab, does not fit the colours made of them.
  void leave_out_profile() {
    Bytes& icc = header_.metadata.icc;
    if (layout_.colour == Colour::cmyk) input_.context.warn(cmyk_becomes_rgb(!icc.empty()));
    if (layout_.colour == Colour::cmyk || layout_.colour == Colour::lab) icc.clear();
  }

  TiffStructure file_;
  Input input_;
  Layout layout_;
  std::vector<Page> pages_;
  std::size_t page_ = 0;
  int lesser_ = 0;  ///< smaller copies and masks that are left out
  std::unique_ptr<FinishedRows> rows_;
  int next_row_ = 0;
};

// ---- writing ----------------------------------------------------------------------------------

/// How pixels are stored.
struct Coding {
  int compression = COMPRESSION_NONE;
  int predictor = PREDICTOR_NONE;
  int level = 0;  ///< of deflate
  int rows_per_strip = 1;
  bool little = true, big = false;

  const char* mode() const {
    if (big) return little ? "w8l" : "w8b";
    return little ? "wl" : "wb";
  }
};

/// `little` is the byte order where the file has one already.
Coding coding_for(const Header& header, const WriteOptions& options,
                  std::optional<bool> little = {}) {
  constexpr std::size_t kStripBytes = std::size_t{128} << 10;
  Coding coding;
  coding.rows_per_strip =
      int(std::min(rows_of_strip(header, kStripBytes), std::size_t(header.height)));
  if (!little) little = exif_is_little(header.metadata.exif);
  coding.little = little.value_or(kHostIsLittle);
  const bool real = header.depth == Depth::f32 && !header.two_levels;
  if (options.compression.value_or(1) == 0 || (!options.compression && real)) {
    coding.compression = COMPRESSION_NONE;
  } else {
    coding.compression = options.compression ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_LZW;
    coding.level = options.compression.value_or(0);
    // libtiff turns floats into the file's byte order before its predictor, which expects the
    // host's.
    coding.predictor = header.two_levels                ? PREDICTOR_NONE
                       : !real                          ? PREDICTOR_HORIZONTAL
                       : coding.little == kHostIsLittle ? PREDICTOR_FLOATINGPOINT
                                                        : PREDICTOR_NONE;
  }
  // LZW may take 12 bits for 8.
  const std::uint64_t bytes =
      stored_row_bytes(header) * std::uint64_t(header.height) + std::uint64_t(header.bytes_behind);
  const std::uint64_t largest = coding.compression == COMPRESSION_NONE ? bytes : bytes / 2 * 3;
  constexpr std::uint64_t kSpare = std::uint64_t{64} << 20;
  coding.big = largest + kSpare + header.metadata.icc.size() > UINT32_MAX;
  return coding;
}

void set_structure(TIFF* tiff, const Header& header, const Coding& coding, int height) {
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, std::uint32_t(header.width));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, std::uint32_t(height));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits_of_sample(header));
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, header.channels);
  TIFFSetField(
      tiff, TIFFTAG_SAMPLEFORMAT,
      header.depth == Depth::f32 && !header.two_levels ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
               header.channels == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, std::uint32_t(coding.rows_per_strip));
  if (header.channels == 4) {
    const uint16_t straight = EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &straight);
  }
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, coding.compression);
  if (coding.compression == COMPRESSION_NONE) return;
  TIFFSetField(tiff, TIFFTAG_PREDICTOR, coding.predictor);
  if (coding.level > 0) TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, coding.level);
}

class TiffWriter : public RowWriter {
 public:
  TiffWriter(ByteSink& sink, const Header& header, const WriteOptions& options)
      : header_(header), options_(options), coding_(coding_for(header, options)), file_(sink) {
    if (!file_.open(coding_.mode())) fail(file_);
    begin(0);
  }

  int rows_at_a_time() const override { return coding_.rows_per_strip; }

  void next(const Header& header) override {
    end_directory();
    const bool big = coding_.big;
    header_ = header;
    coding_ = coding_for(header, options_, coding_.little);
    coding_.big = big;
    strips_ = 0;
    begin(file_.sink->size());
  }

  EncodedRows encode(PictureView<const std::byte> rows, int /*first*/) const override {
    EncodedRows encoded;
    const std::size_t row = stored_row_bytes(header_);
    encoded.bytes.resize(row * std::size_t(rows.height));
    encoded.length = encoded.bytes.size();
    for (int y = 0; y < rows.height; ++y) {
      unsigned char* const to = encoded.bytes.data() + row * std::size_t(y);
      if (header_.two_levels)
        pack_row(rows.row(y), header_, to);
      else
        copy_row_reversed(rows.row(y), reinterpret_cast<std::byte*>(to), header_);
    }
    if (coding_.compression != COMPRESSION_NONE || coding_.little != kHostIsLittle)
      encoded.bytes = compressed(std::move(encoded.bytes), rows.height);
    return encoded;
  }

  void write(PictureView<const std::byte> rows, EncodedRows encoded) override {
    const tmsize_t bytes = tmsize_t(encoded.bytes.size());
    const int left = header_.height - int(strips_) * coding_.rows_per_strip;
    if (rows.height != std::min(left, coding_.rows_per_strip))
      throw std::logic_error("a strip of a TIFF has other rows than rows_at_a_time() says");
    if (TIFFWriteRawStrip(file_.tiff, strips_, encoded.bytes.data(), bytes) != bytes) fail(file_);
    ++strips_;
  }

  void finish() override {
    end_directory();
    file_.close();
    file_.rethrow();
    add_entries(*file_.sink, entries_);
  }

 private:
  /// Begins a directory. Its metadata are written from `at` on.
  void begin(std::uint64_t at) {
    set_structure(file_.tiff, header_, coding_, header_.height);
    if (const auto& resolution = header_.metadata.resolution) {
      TIFFSetField(file_.tiff, TIFFTAG_XRESOLUTION, resolution->x);
      TIFFSetField(file_.tiff, TIFFTAG_YRESOLUTION, resolution->y);
      TIFFSetField(file_.tiff, TIFFTAG_RESOLUTIONUNIT,
                   resolution->has_unit ? RESUNIT_INCH : RESUNIT_NONE);
    }
    // Metadata come first, so that EXIF's values can lie where they lay in their block. libtiff
    // puts the strips after them.
    TiffArea area(coding_.little, coding_.big, at);
    entries_.push_back(add_metadata(header_.metadata, area));
    const std::size_t skipped = at == 0 ? area.header_size() : 0;
    const auto values = std::span(area.bytes()).subspan(skipped);
    if (!values.empty()) file_.sink->write(area.begin() + skipped, values);
    const auto is_little = exif_is_little(header_.metadata.exif);
    if (!header_.metadata.exif.empty() && is_little != coding_.little)
      warnings_.push_back("its EXIF data are damaged, and are left out");
    header_.metadata = {};
  }

  void end_directory() {
    if (!TIFFWriteDirectory(file_.tiff)) fail(file_);
    file_.rethrow();
  }

  [[noreturn]] void fail(OpenTiff& file) const {
    file.rethrow();
    fail_to_encode(header_, file.complaint.empty() ? "libtiff does not say why" : file.complaint);
  }

  /// Makes a strip in memory by a handle for it alone, so that several can be made at a time.
  Bytes compressed(Bytes strip, int height) const {
    MemorySink memory;
    OpenTiff file(memory);
    if (!file.open(coding_.mode())) fail(file);
    set_structure(file.tiff, header_, coding_, height);
    const tmsize_t bytes = tmsize_t(strip.size());
    if (TIFFWriteEncodedStrip(file.tiff, 0, strip.data(), bytes) != bytes ||
        !TIFFFlushData(file.tiff))
      fail(file);
    strip.resize(std::size_t(TIFFGetStrileByteCount(file.tiff, 0)));
    memory.read(TIFFGetStrileOffset(file.tiff, 0), strip);
    return strip;
  }

  Header header_;
  const WriteOptions options_;
  Coding coding_;
  OpenTiff file_;
  std::vector<TiffEntries> entries_;  ///< of each directory
  std::uint32_t strips_ = 0;
};

}  // namespace

const Codec kTiffCodec{open_with<TiffReader>, create_with<TiffWriter>};

}  // namespace convfilt
