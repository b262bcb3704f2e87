/// libFuzzer target: whatever bytes a picture file holds, its codec gives pixels or an IoError.
///
/// CONVFILT_FUZZED_CODEC is an expression for the codec of `format`, or null where this target is
/// for other formats. Beside what the sanitizers see, these hold:
/// - No sample that is handed out was left as it lay in memory. libheif 1.15 does that in grids
/// whose
///   tiles are too small, and OpenCV 4.6 in TIFF; CONVFILT_FUZZED_LEAVES_SAMPLES says so.
/// - What is accepted strictly is the same picture, without damage, where damage is taken.
/// - It can be written again; and read back, it has the same pixels in a format without loss.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "src/base/errors.hpp"
#include "src/picture/codec.hpp"
#include "src/picture/image.hpp"
#include "src/picture/modules.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/support/files/picture.hpp"

namespace {

using namespace convfilt;
using testing::require;

using Bytes = std::span<const unsigned char>;

const Codec* codec_of([[maybe_unused]] FormatId format) {
  return CONVFILT_FUZZED_CODEC;
}

struct Read {
  Header header;
  Image image;
  bool damaged = false;
};

/// Reads as PictureReader does, `step` rows at a time; nothing where the file is refused. Samples
/// that the codec does not set keep bytes of `fill`. Of several pictures it is the last one.
std::optional<Read> read(Bytes bytes, const ReadOptions& options, int step, int fill) {
  FormatId format;
  if (!sniff(bytes.first(std::min(bytes.size(), kSniffedBytes)), &format)) return std::nullopt;
  const Codec* const codec = codec_of(format);
  if (!codec) return std::nullopt;
  const auto source = source_of(bytes);
  ReadContext context("'in'", options);
  try {
    constexpr int kMostPictures = 20;
    const auto reader = codec->open(*source, context);
    const Header& header = reader->header();
    int pictures = 0;
    Image image;
    do {
      require(header.orientation >= 1 && header.orientation <= 8, "an orientation of 1 to 8");
      require(std::int64_t{header.width} * header.height <= options.max_pixels, "a size in limits");
      image = Image(header.width, header.height, header.channels, header.depth);
      const PictureView<std::byte> all = image.view();
      std::memset(all.data, fill, image.row_bytes() * std::size_t(all.height));
      for (int y = 0; y < all.height; y += step) {
        PictureView<std::byte> rows = all;
        rows.data = all.row(y);
        rows.height = std::min(step, all.height - y);
        reader->read(rows);
      }
      if (!context.is_damaged()) reader->finish();
    } while (options.several == Several::all && ++pictures < kMostPictures && reader->next());
    return Read{header, std::move(image), context.is_damaged()};
  } catch (const IoError&) {
  } catch (const std::bad_alloc&) {
  }
  return std::nullopt;
}

/// The format as which such a picture is written without a change; null where there is none.
const Format* format_for(const Header& header) {
  for (const Format& format : written_formats()) {
    const bool holds_channels = header.channels == 1   ? format.grey
                                : header.channels == 3 ? format.colour
                                                       : format.alpha;
    if (format.id == header.format && holds_channels && format.holds(header.depth)) return &format;
  }
  return nullptr;
}

std::vector<unsigned char> written(const Codec& codec, const Read& picture, Metadata metadata) {
  Header header = picture.header;
  header.orientation = header.pages = 1;
  header.frame.reset();
  header.metadata = std::move(metadata);
  MemorySink sink;
  const auto writer = codec.create(sink, header, {});
  const PictureView<const std::byte> all = picture.image.view();
  const int step = std::max(1, writer->rows_at_a_time());
  for (int y = 0; y < all.height; y += step) {
    PictureView<const std::byte> rows = all;
    rows.data = all.row(y);
    rows.height = std::min(step, all.height - y);
    writer->write(rows, writer->encode(rows, y));
  }
  writer->finish();
  return sink.bytes();
}

bool same_samples(const Image& a, const Image& b) {
#ifdef CONVFILT_FUZZED_LEAVES_SAMPLES
  return a.width() == b.width() && a.height() == b.height();
#else
  return testing::same(a, b);
#endif
}

bool is_lossless(FormatId format) {
  switch (format) {
    case FormatId::png:
    case FormatId::tiff:
#ifndef CONVFILT_FUZZED_OPENCV  // it leaves out the colours of clear pixels
    case FormatId::webp:
#endif
    case FormatId::bmp:
    case FormatId::pnm:
    case FormatId::pam:
    case FormatId::pfm:
    case FormatId::jxl: return true;
    default: return false;
  }
}

void check_written_again(const Read& picture, const ReadOptions& options) {
  // A large picture would cost as much as a hundred small ones, and show no more.
  constexpr std::int64_t kMostPixels = 1 << 14;
  const Header& header = picture.header;
  const Format* const format = format_for(header);
  if (!format || std::int64_t{header.width} * header.height > kMostPixels) return;
  // Encoders of video lose some, take their time, and x265 3.5 leaks.
  if (header.format == FormatId::heic || header.format == FormatId::avif) return;
  const Codec& codec = *codec_of(header.format);
  if (!codec.create) return;

  Metadata metadata = header.metadata;
  metadata.exif = exif_of_result(metadata.exif, header.width, header.height);
  std::vector<unsigned char> bytes;
  try {
    bytes = written(codec, picture, metadata);
  } catch (const IoError&) {  // a profile that lies, metadata that are too long: --strip helps
    bytes = written(codec, picture, {});
  }
  const auto back = read(bytes, options, 3, 0x5A);
  require(back.has_value(), "what was written is read");
  require(back->header.width == header.width && back->header.height == header.height,
          "the size, written and read");
  if (!is_lossless(header.format)) return;
  // WebP drops an alpha that is opaque everywhere, and has no grey.
  if (back->header.channels != header.channels) {
    require(header.format == FormatId::webp, "the channels, written and read");
    return;
  }
  require(testing::same(picture.image, back->image), "the pixels, written and read");
}

}  // namespace

/// For pictures in strips and tiles of a TIFF. Those of modules are fuzzed by themselves.
const Codec& convfilt::codec_for(FormatId format, Loader) {
  if (format != FormatId::png) throw IoError("only PNG is read here");
  return kPngCodec;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;  // open_source() refuses it
  const Bytes bytes(data, size);
  ReadOptions strict;
  strict.max_pixels = 1 << 20;
  ReadOptions lenient = strict;
  lenient.refuse_damaged = false;

  const auto whole = read(bytes, strict, 7, 0xA5);
  const auto taken = read(bytes, lenient, 1 << 20, 0x5A);
  if (whole) {
    require(taken && !taken->damaged, "what is whole is not damaged");
    require(same_samples(whole->image, taken->image), "the same pixels, strictly and not");
    check_written_again(*whole, strict);
  } else if (taken) {
    const auto again = read(bytes, lenient, 1 << 20, 0xA5);
    require(again && same_samples(taken->image, again->image), "the same pixels each time");
  }
  if (taken && taken->header.pages > 1) {
    ReadOptions last = lenient;
    last.page = taken->header.pages - 1;
    read(bytes, last, 16, 0);
    ReadOptions all = lenient;
    all.several = Several::all;
    read(bytes, all, 16, 0);
  }
  return 0;
}
