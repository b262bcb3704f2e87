/// The TIFF codec: what it reads of files that libtiff and OpenCV write, and the other way round.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// OpenCV and libtiff both name int64; libtiff, which says that it should not be used, comes last.
#include <tiffio.h>

#include "src/base/errors.hpp"
#include "src/picture/codec.hpp"
#include "src/picture/image.hpp"
#include "tests/support/files/codec.hpp"
#include "tests/support/files/picture.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

struct Decoded {
  Image image;
  Header header;
  std::vector<std::string> warnings;
  std::string refusal;
};

/// Reads a file, `step` rows at a time.
Decoded decode(const Bytes& file, const ReadOptions& options = {}, int step = 1 << 20) {
  Decoded result;
  ReadContext context("'in'", options);
  const auto source = source_of(file);
  try {
    const auto reader = kTiffCodec.open(*source, context);
    result.header = reader->header();
    const Header& header = result.header;
    result.image = Image(header.width, header.height, header.channels, header.depth);
    for (int y = 0; y < header.height; y += step) {
      PictureView<std::byte> rows = result.image.view();
      rows.data = rows.row(y);
      rows.height = std::min(step, header.height - y);
      reader->read(rows);
    }
    reader->finish();
  } catch (const IoError& error) {
    result.refusal = error.what();
  }
  result.warnings = context.warnings();
  return result;
}

Bytes encode(const Image& image, const WriteOptions& options = {}, const Metadata& metadata = {}) {
  return write_by(kTiffCodec, image, header_for(image, FormatId::tiff, metadata), options);
}

cv::Mat mat_of(const Image& image) {
  const int depth = image.depth() == Depth::u8    ? CV_8U
                    : image.depth() == Depth::u16 ? CV_16U
                                                  : CV_32F;
  return cv::Mat(image.height(), image.width(), CV_MAKETYPE(depth, image.channels()),
                 const_cast<std::byte*>(image.view().data), std::size_t(image.view().pitch));
}

/// The largest difference of two pictures, or infinity where their shapes differ.
double difference(const Image& ours, const cv::Mat& theirs) {
  if (ours.empty() || theirs.empty()) return INFINITY;
  const cv::Mat mat = mat_of(ours);
  if (mat.size() != theirs.size() || mat.type() != theirs.type()) return INFINITY;
  return cv::norm(mat, theirs, cv::NORM_INF);
}

cv::Mat by_opencv(const Bytes& file) {
  return cv::imdecode(file, cv::IMREAD_UNCHANGED);
}

/// What a file is made of, in libtiff's terms.
struct Kind {
  int width = 61, height = 47;
  int bits = 8, samples = 1, format = SAMPLEFORMAT_UINT, photometric = PHOTOMETRIC_MINISBLACK;
  int compression = COMPRESSION_NONE, predictor = 0, planes = PLANARCONFIG_CONTIG;
  int tile_width = 0, tile_height = 0, rows = 10;  ///< tiles, or strips of so many rows
  std::vector<uint16_t> extra = {};
  std::string mode = "w";
  int fill_order = FILLORDER_MSB2LSB;
  std::function<void(TIFF*)> more = {};
};

using Values = std::function<std::uint64_t(int x, int y, int sample)>;

tmsize_t read_sink(thandle_t handle, void* into, tmsize_t count);
struct Place {
  MemorySink sink;
  std::uint64_t at = 0;
};
tmsize_t read_sink(thandle_t handle, void* into, tmsize_t count) {
  auto* place = static_cast<Place*>(handle);
  const std::size_t got =
      place->sink.read(place->at, {static_cast<unsigned char*>(into), std::size_t(count)});
  place->at += got;
  return tmsize_t(got);
}
tmsize_t write_sink(thandle_t handle, void* from, tmsize_t count) {
  auto* place = static_cast<Place*>(handle);
  place->sink.write(place->at, {static_cast<const unsigned char*>(from), std::size_t(count)});
  place->at += std::uint64_t(count);
  return count;
}
toff_t seek_sink(thandle_t handle, toff_t offset, int whence) {
  auto* place = static_cast<Place*>(handle);
  return place->at = whence == SEEK_SET   ? offset
                     : whence == SEEK_CUR ? place->at + offset
                                          : place->sink.size() + offset;
}
int close_sink(thandle_t) {
  return 0;
}
toff_t size_of_sink(thandle_t handle) {
  return static_cast<Place*>(handle)->sink.size();
}

/// Samples of one row from `left` on, as libtiff takes them.
Bytes packed(const Kind& kind, const Values& values, int y, int left, int columns, int plane) {
  const int first = kind.planes == PLANARCONFIG_SEPARATE ? plane : 0;
  const int last = kind.planes == PLANARCONFIG_SEPARATE ? plane + 1 : kind.samples;
  Bytes row;
  std::uint64_t held = 0;
  int filled = 0;
  for (int x = left; x < left + columns; ++x) {
    for (int s = first; s < last; ++s) {
      const bool inside = x < kind.width && y < kind.height;
      const std::uint64_t value = inside ? values(x, y, s) : 0;
      if (kind.bits % 8 == 0) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
        row.insert(row.end(), bytes, bytes + kind.bits / 8);
        continue;
      }
      held = held << kind.bits | value;
      filled += kind.bits;
      while (filled >= 8) {
        filled -= 8;
        row.push_back(static_cast<unsigned char>(held >> filled));
      }
    }
  }
  if (filled > 0) row.push_back(static_cast<unsigned char>(held << (8 - filled)));
  return row;
}

void write_page(TIFF* tiff, const Kind& kind, const Values& values) {
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, kind.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, kind.height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, kind.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind.samples);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, kind.format);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind.photometric);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind.compression);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, kind.planes);
  TIFFSetField(tiff, TIFFTAG_FILLORDER, kind.fill_order);
  if (kind.predictor) TIFFSetField(tiff, TIFFTAG_PREDICTOR, kind.predictor);
  if (!kind.extra.empty())
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, int(kind.extra.size()), kind.extra.data());
  if (kind.tile_width) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, kind.tile_width);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, kind.tile_height);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, kind.rows);
  }
  if (kind.more) kind.more(tiff);
  const int planes = kind.planes == PLANARCONFIG_SEPARATE ? kind.samples : 1;
  for (int plane = 0; plane < planes; ++plane) {
    if (kind.tile_width) {
      for (int top = 0; top < kind.height; top += kind.tile_height) {
        for (int left = 0; left < kind.width; left += kind.tile_width) {
          Bytes tile;
          for (int y = top; y < top + kind.tile_height; ++y) {
            const Bytes row = packed(kind, values, y, left, kind.tile_width, plane);
            tile.insert(tile.end(), row.begin(), row.end());
          }
          REQUIRE(TIFFWriteTile(tiff, tile.data(), uint32_t(left), uint32_t(top), 0,
                                uint16_t(plane)) >= 0);
        }
      }
    } else {
      for (int y = 0; y < kind.height; ++y) {
        Bytes row = packed(kind, values, y, 0, kind.width, plane);
        REQUIRE(TIFFWriteScanline(tiff, row.data(), uint32_t(y), uint16_t(plane)) == 1);
      }
    }
  }
  REQUIRE(TIFFWriteDirectory(tiff) == 1);
}

Bytes by_libtiff(const std::vector<std::pair<Kind, Values>>& pages) {
  Place place;
  TIFF* tiff = TIFFClientOpen("test", pages.front().first.mode.c_str(), &place, read_sink,
                              write_sink, seek_sink, close_sink, size_of_sink, nullptr, nullptr);
  REQUIRE(tiff);
  for (const auto& [kind, values] : pages) write_page(tiff, kind, values);
  TIFFClose(tiff);
  return place.sink.bytes();
}

Bytes by_libtiff(const Kind& kind, const Values& values) {
  return by_libtiff({{kind, values}});
}

/// Different in every sample, and smooth enough to compress.
std::uint64_t level(int x, int y, int sample, int bits) {
  const std::uint64_t mixed = std::uint64_t(x * 3 + y * 5 + sample * 57 + x * y / 16);
  const std::uint64_t wide = mixed * 0x0101010101010101u + mixed * 0x1234567u;
  return bits == 64 ? wide : wide & ((std::uint64_t{1} << bits) - 1);
}

template <class From>
std::uint64_t bits_of(From value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// Which sample of the file a channel of ours is: BGR(A) of RGB(A).
int sample_of_channel(int channels, int c) {
  return channels == 1 ? 0 : c < 3 ? 2 - c : 3;
}

}  // namespace

TEST_CASE("TIFF: what is written is read back, by OpenCV too") {
  for (const Depth depth : kDepths) {
    for (const int channels : {1, 3, 4}) {
      const Image image = pattern(300, 517, channels, depth);
      for (const std::optional<int> compression : {std::optional<int>(), {0}, {1}, {6}, {9}}) {
        CAPTURE(int(depth));
        CAPTURE(channels);
        CAPTURE(compression.value_or(-1));
        WriteOptions options;
        options.compression = compression;
        const Bytes file = encode(image, options);
        const Decoded back = decode(file);
        CHECK(back.refusal == "");
        CHECK(back.warnings.empty());
        CHECK(back.header.orientation == 1);
        CHECK(back.header.metadata.empty());
        CHECK(same(back.image, image));
        const int expected = !compression        ? (depth == Depth::f32 ? 1 : 5)
                             : *compression == 0 ? 1
                                                 : 8;
        CHECK(tiff_tag(file, TIFFTAG_COMPRESSION) == expected);
        CHECK(tiff_tag(file, TIFFTAG_EXTRASAMPLES) ==
              (channels == 4 ? std::optional(EXTRASAMPLE_UNASSALPHA) : std::nullopt));
        // OpenCV multiplies 8-bit colours by a straight alpha, which loses bits.
        if (channels < 4) CHECK(difference(image, by_opencv(file)) == 0);
      }
    }
  }
}

TEST_CASE("TIFF: black and white has one bit a sample, to us and to OpenCV") {
  constexpr int kBits = 258, kCompression = 259, kPredictor = 317;
  for (const Depth depth : kDepths) {
    for (const int width : {1, 7, 8, 9, 64, 3001}) {
      for (const int level : {-1, 0, 1, 9}) {
        for (const bool little : {true, false}) {
          CAPTURE(std::string(name_of(depth)));
          CAPTURE(width);
          CAPTURE(level);
          const Image image = black_and_white(width, 123, depth);  // some strips, if it is wide
          Metadata metadata;
          metadata.exif = exif(1, little);
          Header header = header_for(image, FormatId::tiff, metadata);
          header.two_levels = true;
          WriteOptions options;
          if (level >= 0) options.compression = level;
          const Bytes file = write_by(kTiffCodec, image, header, options);
          if (little) {
            CHECK(tiff_tag(file, kBits) == 1);
            CHECK(tiff_tag(file, kCompression) == (level < 0 ? 5 : level == 0 ? 1 : 8));
            CHECK(tiff_tag(file, kPredictor).value_or(1) == 1);
          }
          const Image expected = black_and_white(width, 123, Depth::u8);
          CHECK(same(decode(file, {}, 7).image, expected));
          CHECK(difference(expected, by_opencv(file)) == 0);
        }
      }
    }
  }
}

TEST_CASE("TIFF: integers are written as OpenCV writes them: LZW with a predictor") {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    const Image image = pattern(300, 200, 3, depth);
    Bytes theirs;
    cv::imencode(".tiff", mat_of(image), theirs);
    const Bytes ours = encode(image);
    for (const int tag : {TIFFTAG_COMPRESSION, TIFFTAG_PREDICTOR, TIFFTAG_PHOTOMETRIC})
      CHECK(tiff_tag(ours, tag) == tiff_tag(theirs, tag));
    CHECK(double(ours.size()) < 1.05 * double(theirs.size()));
  }
}

TEST_CASE("TIFF: a higher level of deflate makes a smaller file") {
  const Image image = pattern(400, 300, 3, Depth::u8);
  std::size_t size = SIZE_MAX;
  for (const int level : {0, 1, 6}) {
    WriteOptions options;
    options.compression = level;
    CHECK(encode(image, options).size() < size);
    size = encode(image, options).size();
  }
}

TEST_CASE("TIFF: rows come the same one at a time, a few, and all") {
  for (const int samples : {1, 3}) {
    for (const int tile : {0, 16}) {
      for (const int planes : {PLANARCONFIG_CONTIG, PLANARCONFIG_SEPARATE}) {
        Kind kind{.samples = samples,
                  .photometric = samples == 1 ? 1 : 2,
                  .planes = planes,
                  .tile_width = tile,
                  .tile_height = tile};
        const Bytes file = by_libtiff(kind, [](int x, int y, int s) { return level(x, y, s, 8); });
        const Image whole = decode(file).image;
        REQUIRE(!whole.empty());
        for (const int step : {1, 7, 16}) CHECK(same(whole, decode(file, {}, step).image));
      }
    }
  }
}

TEST_CASE("TIFF: what OpenCV writes is read the same") {
  for (const Depth depth : kDepths) {
    for (const int channels : {1, 3}) {
      const Image image = pattern(123, 97, channels, depth);
      for (const int compression : {1, 5, 8, 32773, 32946}) {
        CAPTURE(compression);
        Bytes file;
        cv::imencode(".tiff", mat_of(image), file, {cv::IMWRITE_TIFF_COMPRESSION, compression});
        const Decoded back = decode(file);
        CHECK(back.refusal == "");
        CHECK(same(back.image, image));
      }
    }
  }
}

TEST_CASE("TIFF: integers of every size, layout and byte order") {
  int seen_by_opencv = 0;
  for (const int bits : {1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 24, 31, 32, 64}) {
    for (const int channels : {1, 3, 4}) {
      for (const int planes : {PLANARCONFIG_CONTIG, PLANARCONFIG_SEPARATE}) {
        for (const int shape : {0, 1, 2, 3}) {
          for (const std::string mode : {"wl", "wb", "w8l", "w8b"}) {
            for (const int compression :
                 {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE}) {
              if (channels == 1 && planes == PLANARCONFIG_SEPARATE) continue;
              // libtiff does not turn odd sizes when it writes.
              if (bits == 24 && mode.back() == 'b' && compression != COMPRESSION_NONE) continue;
              const bool white_is_zero = channels == 1 && shape == 0;
              Kind kind{.bits = bits,
                        .samples = channels,
                        .photometric = white_is_zero   ? PHOTOMETRIC_MINISWHITE
                                       : channels == 1 ? PHOTOMETRIC_MINISBLACK
                                                       : PHOTOMETRIC_RGB,
                        .compression = compression,
                        .planes = planes,
                        .tile_width = shape == 2   ? 16
                                      : shape == 3 ? 80
                                                   : 0,
                        .tile_height = shape == 2 ? 32 : 16,
                        .rows = shape == 0 ? 7 : 47,
                        .mode = mode};
              if (channels == 4) kind.extra = {EXTRASAMPLE_UNASSALPHA};
              if (compression != COMPRESSION_NONE && (bits == 8 || bits == 16 || bits == 32))
                kind.predictor = PREDICTOR_HORIZONTAL;
              CAPTURE(bits);
              CAPTURE(channels);
              CAPTURE(planes);
              CAPTURE(shape);
              CAPTURE(mode);
              CAPTURE(compression);
              const Bytes file =
                  by_libtiff(kind, [&](int x, int y, int s) { return level(x, y, s, bits); });
              const Decoded read = decode(file);
              REQUIRE(read.refusal == "");
              REQUIRE(read.image.channels() == channels);
              const Depth depth = bits <= 8 ? Depth::u8 : bits <= 16 ? Depth::u16 : Depth::f32;
              REQUIRE(read.image.depth() == depth);
              CHECK(read.warnings.size() == (bits > 16 ? 1 : 0));
              const double most = bits == 64 ? 18446744073709551615.0 : std::ldexp(1, bits) - 1;
              double worst = 0;
              for (int y = 0; y < kind.height; ++y) {
                for (int x = 0; x < kind.width; ++x) {
                  for (int c = 0; c < channels; ++c) {
                    double value = double(level(x, y, sample_of_channel(channels, c), bits)) / most;
                    if (white_is_zero) value = 1 - value;
                    value *= full_range(depth);
                    worst = std::max(worst, std::abs(value - sample(read.image, x, y, c)));
                  }
                }
              }
              CHECK(worst <= (depth == Depth::f32 ? 1.2e-7 : 0.5));
              if ((bits == 8 || bits == 16) && channels < 4 && !white_is_zero &&
                  planes == PLANARCONFIG_CONTIG && shape != 3 &&
                  !(shape == 2 && compression == COMPRESSION_NONE)) {
                CHECK(difference(read.image, by_opencv(file)) == 0);
                ++seen_by_opencv;
              }
            }
          }
        }
      }
    }
  }
  CHECK(seen_by_opencv > 100);
}

TEST_CASE("TIFF: signed integers and floats") {
  const auto check = [](Kind kind, const Values& values, auto&& expected, std::size_t warnings) {
    for (const int tile : {0, 32}) {
      for (const std::string mode : {"wl", "wb"}) {
        for (const int compression : {COMPRESSION_NONE, COMPRESSION_ADOBE_DEFLATE}) {
          kind.tile_width = kind.tile_height = tile;
          kind.mode = mode;
          kind.compression = compression;
          CAPTURE(kind.bits);
          CAPTURE(mode);
          const Decoded read = decode(by_libtiff(kind, values));
          REQUIRE(read.refusal == "");
          REQUIRE(read.image.depth() == Depth::f32);
          CHECK(read.warnings.size() == warnings);
          double worst = 0;
          for (int y = 0; y < kind.height; ++y)
            for (int x = 0; x < kind.width; ++x)
              worst = std::max(worst, std::abs(sample(read.image, x, y, 0) - expected(x, y)));
          CHECK(worst <= 1e-7);
        }
      }
    }
  };
  for (const int bits : {8, 16, 32, 64}) {
    const auto value = [bits](int x, int y) {
      const std::uint64_t raw = level(x, y, 0, bits);
      return bits == 64 ? std::int64_t(raw) : std::int64_t(raw << (64 - bits)) >> (64 - bits);
    };
    check(
        {.bits = bits, .format = SAMPLEFORMAT_INT},
        [bits](int x, int y, int) { return level(x, y, 0, bits); },
        [&](int x, int y) { return double(value(x, y)) / (std::ldexp(1, bits - 1) - 1); }, 1);
  }
  const auto real = [](int x, int y) { return x * 0.25 - y * 0.5; };
  check(
      {.bits = 32, .format = SAMPLEFORMAT_IEEEFP},
      [&](int x, int y, int) { return bits_of(float(real(x, y))); }, real, 0);
  check(
      {.bits = 64, .format = SAMPLEFORMAT_IEEEFP},
      [&](int x, int y, int) { return bits_of(real(x, y)); }, real, 1);
  const auto half = [](int x, int y) {  // every exponent, denormal numbers and both signs
    return std::uint64_t(((x * 1031 + y * 517) & 0x7BFF) | (y % 2 << 15));
  };
  check(
      {.bits = 16, .format = SAMPLEFORMAT_IEEEFP}, [&](int x, int y, int) { return half(x, y); },
      [&](int x, int y) {
        const int bits = int(half(x, y)), exponent = bits >> 10 & 31, fraction = bits & 1023;
        const double size =
            exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
        return bits & 0x8000 ? -size : size;
      },
      0);
}

TEST_CASE("TIFF: alpha beside colours and beside grey") {
  const Values values = [](int x, int y, int s) {
    return s == 1 || s == 3 ? std::uint64_t(x % 200 + 50) : std::uint64_t((x + y + 30 * s) % 50);
  };
  for (const int samples : {2, 4}) {
    for (const int meaning : {-1, 0, 1, 2}) {
      CAPTURE(samples);
      CAPTURE(meaning);
      Kind kind{.samples = samples, .photometric = samples == 4 ? 2 : 1};
      if (meaning >= 0) kind.extra = {uint16_t(meaning)};
      const Decoded read = decode(by_libtiff(kind, values));
      REQUIRE(read.refusal == "");
      const bool alpha = meaning > 0 || (meaning < 0 && samples == 4);
      CHECK(read.image.channels() == (alpha ? 4 : samples == 4 ? 3 : 1));
      CHECK(read.warnings.size() == (alpha ? 0 : 1));
      const double a = double(values(9, 5, samples - 1)), grey = double(values(9, 5, 0));
      const double expected = meaning == 1 ? std::nearbyint(grey * 255 / a) : grey;
      CHECK(sample(read.image, 9, 5, samples == 4 && read.image.channels() > 1 ? 2 : 0) ==
            expected);
      if (alpha) CHECK(sample(read.image, 9, 5, 3) == a);
    }
  }
}

TEST_CASE("TIFF: samples beyond colours and alpha are left out, which is said") {
  const Kind kind{.samples = 6, .photometric = PHOTOMETRIC_RGB, .extra = {0, 2, 0}};
  const Decoded read =
      decode(by_libtiff(kind, [](int, int, int s) { return std::uint64_t(10 * s); }));
  REQUIRE(read.image.channels() == 4);
  CHECK(read.warnings.size() == 1);
  for (const auto& [c, value] : {std::pair{0, 20}, {1, 10}, {2, 0}, {3, 40}})
    CHECK(sample(read.image, 3, 3, c) == value);
}

TEST_CASE("TIFF: palettes") {
  for (const int bits : {1, 2, 4, 8, 16}) {
    for (const int scale : {1, 256, 257, 251}) {
      if (scale == 1 && bits > 8) continue;
      const int count = 1 << bits;
      std::vector<uint16_t> maps[3];
      for (int c = 0; c < 3; ++c)
        for (int i = 0; i < count; ++i)
          maps[c].push_back(uint16_t((i * (c + 3) + 5 * c + 1) % 256 * scale));
      const Kind kind{.bits = bits, .photometric = PHOTOMETRIC_PALETTE, .more = [&](TIFF* tiff) {
                        TIFFSetField(tiff, TIFFTAG_COLORMAP, maps[0].data(), maps[1].data(),
                                     maps[2].data());
                      }};
      const Values values = [&](int x, int y, int) { return std::uint64_t((x + 7 * y) % count); };
      CAPTURE(bits);
      CAPTURE(scale);
      const Bytes file = by_libtiff(kind, values);
      const Decoded read = decode(file);
      REQUIRE(read.refusal == "");
      REQUIRE(read.image.channels() == 3);
      const bool fine = scale == 251;
      REQUIRE(read.image.depth() == (fine ? Depth::u16 : Depth::u8));
      bool right = true;
      for (int y = 0; y < kind.height; ++y) {
        for (int x = 0; x < kind.width; ++x) {
          for (int c = 0; c < 3; ++c) {
            const int entry = maps[2 - c][values(x, y, 0)];
            const int expected = fine ? entry : scale == 1 ? entry : entry >> 8;
            right &= sample(read.image, x, y, c) == expected;
          }
        }
      }
      CHECK(right);
      if (bits == 8 && !fine) CHECK(difference(read.image, by_opencv(file)) == 0);
    }
  }
}

TEST_CASE("TIFF: inks become colours") {
  for (const int bits : {8, 16}) {
    for (const int planes : {PLANARCONFIG_CONTIG, PLANARCONFIG_SEPARATE}) {
      const Kind kind{
          .bits = bits, .samples = 4, .photometric = PHOTOMETRIC_SEPARATED, .planes = planes};
      const Bytes file =
          by_libtiff(kind, [&](int x, int y, int s) { return level(x, y, s, bits); });
      const Decoded read = decode(file);
      REQUIRE(read.image.channels() == 3);
      const double full = bits == 8 ? 255 : 65535;
      double worst = 0;
      for (int x = 0; x < kind.width; ++x) {
        for (int c = 0; c < 3; ++c) {
          const double ink = double(level(x, 11, 2 - c, bits)),
                       black = double(level(x, 11, 3, bits));
          const double expected = (full - ink) * (full - black) / full;
          worst = std::max(worst, std::abs(expected - sample(read.image, x, 11, c)));
        }
      }
      CHECK(worst < 1);
      if (bits == 8 && planes == PLANARCONFIG_CONTIG) {
        cv::Mat theirs = by_opencv(file), colours;
        cv::cvtColor(theirs, colours, cv::COLOR_BGRA2BGR);
        CHECK(difference(read.image, theirs.channels() == 4 ? colours : theirs) == 0);
      }
    }
  }
}

TEST_CASE("TIFF: compressed kinds give OpenCV's pixels") {
  const Values smooth = [](int x, int y, int s) {
    return std::uint64_t(128 + 100 * std::sin(x * 0.05 + s) * std::cos(y * 0.07));
  };
  const Values dots = [](int x, int y, int) { return std::uint64_t((x / 5 + y / 3) % 2); };
  struct Case {
    const char* name;
    Kind kind;
    Values values;
  };
  const auto ycbcr = [](TIFF* tiff) {
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, 90);
  };
  const auto whole = [](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, 1, 1); };
  const Kind jpeg{.width = 200,
                  .height = 120,
                  .samples = 3,
                  .photometric = PHOTOMETRIC_YCBCR,
                  .compression = COMPRESSION_JPEG,
                  .rows = 32,
                  .more = ycbcr};
  Kind jpeg_tiles = jpeg, jpeg_rgb = jpeg, jpeg_grey = jpeg, jpeg_one = jpeg;
  jpeg_tiles.tile_width = jpeg_tiles.tile_height = 64;
  jpeg_rgb.photometric = PHOTOMETRIC_RGB;
  jpeg_rgb.more = {};
  jpeg_grey.photometric = PHOTOMETRIC_MINISBLACK;
  jpeg_grey.samples = 1;
  jpeg_grey.more = {};
  jpeg_one.rows = 120;
  const Kind ycc{.samples = 3,
                 .photometric = PHOTOMETRIC_YCBCR,
                 .compression = COMPRESSION_LZW,
                 .more = whole};
  Kind ycc_tiles = ycc;
  ycc_tiles.tile_width = ycc_tiles.tile_height = 32;
  const Kind fax{
      .bits = 1, .photometric = PHOTOMETRIC_MINISWHITE, .compression = COMPRESSION_CCITTFAX4};
  Kind fax3 = fax, rle = fax, lsb = fax;
  fax3.compression = COMPRESSION_CCITTFAX3;
  rle.compression = COMPRESSION_CCITTRLE;
  lsb.fill_order = FILLORDER_LSB2MSB;
  Kind deflate{
      .samples = 3, .photometric = PHOTOMETRIC_RGB, .compression = COMPRESSION_ADOBE_DEFLATE};
  Kind zstd = deflate, lzma = deflate, webp = deflate, packbits = deflate;
  zstd.compression = COMPRESSION_ZSTD;
  lzma.compression = COMPRESSION_LZMA;
  webp.compression = COMPRESSION_WEBP;
  webp.rows = 47;
  packbits.compression = COMPRESSION_PACKBITS;
  for (const Case& one : std::vector<Case>{{"JPEG", jpeg, smooth},
                                           {"JPEG, tiles", jpeg_tiles, smooth},
                                           {"JPEG, RGB", jpeg_rgb, smooth},
                                           {"JPEG, grey", jpeg_grey, smooth},
                                           {"JPEG, one strip", jpeg_one, smooth},
                                           {"YCbCr", ycc, smooth},
                                           {"YCbCr, tiles", ycc_tiles, smooth},
                                           {"fax 4", fax, dots},
                                           {"fax 4, other bit order", lsb, dots},
                                           {"fax 3", fax3, dots},
                                           {"fax RLE", rle, dots},
                                           {"deflate", deflate, smooth},
                                           {"ZSTD", zstd, smooth},
                                           {"LZMA", lzma, smooth},
                                           {"WebP", webp, smooth},
                                           {"PackBits", packbits, smooth}}) {
    if (!TIFFIsCODECConfigured(uint16_t(one.kind.compression))) continue;
    CAPTURE(one.name);
    const Bytes file = by_libtiff(one.kind, one.values);
    const Decoded read = decode(file);
    CHECK(read.refusal == "");
    CHECK(read.warnings.empty());
    CHECK(difference(read.image, by_opencv(file)) == 0);
    CHECK(same(read.image, decode(file, {}, 5).image));
  }
}

/// A TIFF whose strips or tiles are files of another format, each made by `encode`.
Bytes of_files(const Image& image, int compression, int columns, int rows,
               const std::function<Bytes(const Image&)>& encode) {
  const bool tiled = columns < image.width();
  Place place;
  TIFF* tiff = TIFFClientOpen("test", "wl", &place, read_sink, write_sink, seek_sink, close_sink,
                              size_of_sink, nullptr, nullptr);
  REQUIRE(tiff);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, image.width());
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, image.height());
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, int(8 * size_of(image.depth())));
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, image.channels());
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
               image.channels() == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  if (tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, columns);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, rows);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows);
  }
  std::uint32_t strile = 0;
  for (int y = 0; y < image.height(); y += rows) {
    for (int x = 0; x < image.width(); x += columns) {
      // Tiles that stick out repeat the last samples.
      Image part(columns, tiled ? rows : std::min(rows, image.height() - y), image.channels(),
                 image.depth());
      for (int v = 0; v < part.height(); ++v)
        for (int u = 0; u < part.width(); ++u)
          for (int c = 0; c < part.channels(); ++c)
            set_sample(&part, u, v, c,
                       sample(image, std::min(x + u, image.width() - 1),
                              std::min(y + v, image.height() - 1), c));
      Bytes file = encode(part);
      const tmsize_t bytes = tmsize_t(file.size());
      REQUIRE((tiled ? TIFFWriteRawTile(tiff, strile, file.data(), bytes)
                     : TIFFWriteRawStrip(tiff, strile, file.data(), bytes)) == bytes);
      ++strile;
    }
  }
  REQUIRE(TIFFWriteDirectory(tiff) == 1);
  TIFFClose(tiff);
  // libtiff does not write compressions that it has no codec for.
  Bytes bytes = place.sink.bytes();
  const unsigned char entry[] = {0x03, 0x01, 3, 0, 1, 0, 0, 0, 1, 0};
  const auto at = std::search(bytes.begin(), bytes.end(), std::begin(entry), std::end(entry));
  REQUIRE(at != bytes.end());
  at[8] = static_cast<unsigned char>(compression);
  at[9] = static_cast<unsigned char>(compression >> 8);
  return bytes;
}

TEST_CASE("TIFF: strips and tiles that are PNG, JPEG 2000 or JPEG XL") {
  for (const auto& [format, compression] : {std::pair{FormatId::png, 34933},
                                            {FormatId::jp2, 34712},
                                            {FormatId::jp2, 33005},
                                            {FormatId::jxl, 50002},
                                            {FormatId::jxl, 52546}}) {
    const Codec* codec = nullptr;
    try {
      codec = &codec_for(format, Loader::automatic);
    } catch (const IoError&) {
      continue;  // a module that is not built
    }
    const auto encode = [&, format = format](const Image& part) {
      return write_by(*codec, part, header_for(part, format), {});
    };
    for (const Depth depth : {Depth::u8, Depth::u16}) {
      for (const int channels : {1, 3}) {
        const Image image = pattern(100, 90, channels, depth);
        for (const auto& [columns, rows] : {std::pair{100, 90}, {100, 48}, {64, 48}}) {
          INFO(compression << ", " << name_of(depth) << ", " << columns << "x" << rows);
          const Bytes file = of_files(image, compression, columns, rows, encode);
          keep_seed(file);
          const Decoded whole = decode(file);
          CHECK(whole.refusal == "");
          CHECK(same(whole.image, image));
          CHECK(same(decode(file, {}, 7).image, image));
        }
      }
    }
    // One tile is of another format, or of another size; the others are read.
    const Image image = pattern(100, 90, 3, Depth::u8);
    int tiles = 0;
    const auto with_second = [&](const std::function<Bytes(const Image&)>& other) {
      tiles = 0;
      return of_files(image, compression, 64, 48,
                      [&](const Image& part) { return ++tiles == 2 ? other(part) : encode(part); });
    };
    const Bytes foreign = with_second([](const Image& part) { return ::encode(part); });
    CHECK(contains(decode(foreign).refusal, "row 0 of 90, tile 1: it is no "));
    const Decoded rest = decode(foreign, {.refuse_damaged = false});
    CHECK(rest.warnings.size() == 1);
    CHECK(sample(rest.image, 63, 47, 1) == sample(image, 63, 47, 1));
    CHECK(sample(rest.image, 64, 47, 1) == 0);
    const Bytes small =
        with_second([&](const Image& part) { return encode(part.part(0, 0, 40, 40)); });
    CHECK(
        contains(decode(small).refusal, "tile 1: it has 40x40 pixels of 3 channels in u8, which"));
    const Bytes large =
        with_second([&](const Image&) { return encode(pattern(400, 20, 3, Depth::u8)); });
    CHECK(contains(decode(large).refusal, "tile 1: "));
    const Bytes deep = with_second([&](const Image& part) {
      return encode(pattern(part.width(), part.height(), 3, Depth::u16));
    });
    CHECK(contains(decode(deep).refusal, "in u16, which the TIFF's header contradicts"));
    const Bytes cut = with_second([&](const Image& part) {
      Bytes file = encode(part);
      file.resize(file.size() / 2);
      return file;
    });
    CHECK(contains(decode(cut).refusal, "row 0 of 90, tile 1: "));
  }
  const Image image = pattern(20, 20, 3, Depth::u8);
  for (const auto& [compression, name] : {std::pair{33003, "JPEG 2000 of YCbCr (number 33003)"},
                                          {34661, "JBIG (number 34661)"},
                                          {1234, "number 1234"}}) {
    const Decoded none =
        decode(of_files(image, compression, 20, 20, [](const Image&) { return Bytes(99); }));
    if (!TIFFIsCODECConfigured(std::uint16_t(compression)))
      CHECK(contains(none.refusal, std::string("its compression, ") + name + ", is not one that"));
  }
}

TEST_CASE("TIFF: LogLuv gives floats, as OpenCV does") {
  cv::Mat colours(40, 50, CV_32FC3);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 50; ++x)
      colours.at<cv::Vec3f>(y, x) = {0.1f + float(x) * 0.1f, 0.2f + float(y) * 0.02f, 0.5f};
  Bytes file;
  cv::imencode(".tiff", colours, file, {cv::IMWRITE_TIFF_COMPRESSION, COMPRESSION_SGILOG});
  REQUIRE(tiff_tag(file, TIFFTAG_PHOTOMETRIC) == (PHOTOMETRIC_LOGLUV & 0xFFFF));
  const Decoded read = decode(file);
  CHECK(read.refusal == "");
  CHECK(difference(read.image, by_opencv(file)) < 1e-5);
}

TEST_CASE("TIFF: a strip as large as the picture needs no memory of its size") {
  // 64 MiB of pixels; OpenCV is not asked.
  const Kind kind{
      .width = 8192, .height = 8192, .compression = COMPRESSION_ADOBE_DEFLATE, .rows = 8192};
  const Bytes file =
      by_libtiff(kind, [](int x, int y, int) { return std::uint64_t(x / 64 + y / 64); });
  ReadContext context("'in'", {});
  const auto source = source_of(file);
  const auto reader = kTiffCodec.open(*source, context);
  Image row(8192, 1, 1, Depth::u8);
  bool right = true;
  for (int y = 0; y < 8192; ++y) {
    reader->read(row.view());
    for (int x = 0; x < 8192; x += 61)
      right &= sample(row, x, 0, 0) == double((x / 64 + y / 64) & 255);
  }
  CHECK(right);
}

TEST_CASE("TIFF: pages") {
  std::vector<std::pair<Kind, Values>> pages;
  for (int page = 0; page < 3; ++page)
    pages.push_back({Kind{.width = 20 + page, .height = 10},
                     [page](int, int, int) { return std::uint64_t(page * 40 + 3); }});
  const Bytes file = by_libtiff(pages);
  for (int page = 0; page < 3; ++page) {
    ReadOptions options;
    options.page = page;
    const Decoded read = decode(file, options);
    REQUIRE(read.refusal == "");
    CHECK(read.header.pages == 3);
    CHECK(read.header.width == 20 + page);
    CHECK(sample(read.image, 4, 4, 0) == page * 40 + 3);
    CHECK(read.warnings.empty());
  }
  ReadOptions options;
  options.page = 3;
  CHECK(decode(file, options).refusal.find("no page 3; --page counts from 0, and there are 3") !=
        std::string::npos);
}

TEST_CASE("TIFF: a chain of directories that bites its tail ends") {
  const TiffKind kind{.width = 2, .height = 1};
  Bytes file = testing::tiff(kind, {10, 20});
  std::size_t directory = 0;
  for (int i = 3; i >= 0; --i) directory = directory << 8 | file[std::size_t(4 + i)];
  const std::size_t next = directory + 2 + 12 * std::size_t(file[directory]);
  for (std::size_t i = 0; i < 4; ++i) file[next + i] = file[4 + i];
  const Decoded read = decode(file);
  CHECK(read.refusal == "");
  CHECK(read.header.pages == 1);
  CHECK(sample(read.image, 1, 0, 0) == 20);
}

TEST_CASE("TIFF: a cut file is refused with the place, or read as far as possible") {
  const Image image = pattern(120, 90, 3, Depth::u8);
  const Values values = [&](int x, int y, int s) {
    return std::uint64_t(sample(image, x, y, 2 - s));
  };
  for (const int compression :
       {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS}) {
    for (const int rows : {1, 20, 90}) {
      Kind kind{.width = 120,
                .height = 90,
                .samples = 3,
                .photometric = 2,
                .compression = compression,
                .rows = rows};
      CAPTURE(compression);
      CAPTURE(rows);
      // The directory comes first, as many programs write it, so that the pixels are cut.
      Bytes file = by_libtiff(kind, values);
      const std::size_t pixels_end = [&] {
        std::size_t at = 0;
        for (int i = 3; i >= 0; --i) at = at << 8 | file[std::size_t(4 + i)];
        return at;
      }();
      // Cut anywhere, the directory at the end is gone.
      for (int i = 1; i < 16; ++i) {
        Bytes cut(file.begin(), file.begin() + std::ptrdiff_t(file.size() * std::size_t(i) / 16));
        const Decoded strict = decode(cut);
        CHECK(strict.refusal != "");
        decode(cut, {.refuse_damaged = false});
      }
      // Pixels at the end: they are moved behind the directory, and their offsets with them.
      const std::size_t moved = file.size();
      Bytes tail(file.begin() + 8, file.begin() + std::ptrdiff_t(pixels_end));
      const std::uint32_t shift = std::uint32_t(moved - 8);
      const auto entry_count = std::size_t(file[pixels_end] | file[pixels_end + 1] << 8);
      const auto number = [&](std::size_t at, int bytes) {
        std::uint32_t value = 0;
        for (int i = bytes - 1; i >= 0; --i) value = value << 8 | file[at + std::size_t(i)];
        return value;
      };
      for (std::size_t e = 0; e < entry_count; ++e) {
        const std::size_t at = pixels_end + 2 + 12 * e;
        if (number(at, 2) != TIFFTAG_STRIPOFFSETS) continue;
        const std::uint32_t count = number(at + 4, 4);
        const int each = number(at + 2, 2) == 3 ? 2 : 4;
        REQUIRE(each == 4);
        const std::size_t values_at = count == 1 ? at + 8 : number(at + 8, 4);
        for (std::uint32_t i = 0; i < count; ++i) {
          const std::uint32_t to = number(values_at + 4 * i, 4) + shift;
          for (std::size_t b = 0; b < 4; ++b)
            file[values_at + 4 * i + b] = static_cast<unsigned char>(to >> 8 * b);
        }
      }
      file.insert(file.end(), tail.begin(), tail.end());
      REQUIRE(same(decode(file).image, image));
      for (int i = 0; i < 16; ++i) {
        const std::size_t length = moved + tail.size() * std::size_t(i) / 16;
        const Bytes cut(file.begin(), file.begin() + std::ptrdiff_t(length));
        const Decoded strict = decode(cut);
        CHECK(strict.refusal.find("the file ends too early (row ") != std::string::npos);
        CHECK(strict.refusal.find(" of 90, strip ") != std::string::npos);
        CHECK(strict.refusal.find("--on-damage=warn") != std::string::npos);
        const Decoded part = decode(cut, {.refuse_damaged = false});
        REQUIRE(part.refusal == "");
        CHECK(part.warnings.size() == 1);
        // Rows are right from the top on, up to those that are cut, and black at the bottom.
        int right = 0;
        while (right < 90 && std::memcmp(part.image.view().row(right), image.view().row(right),
                                         image.row_bytes()) == 0)
          ++right;
        CHECK(right >=
              90 * i / 16 - (compression == COMPRESSION_NONE ? 1 : 12) - (rows == 20 ? 3 : 0));
        CHECK(sample(part.image, 60, 89, 0) == 0);
      }
    }
  }
}

TEST_CASE("TIFF: flipped bits neither crash nor hang, and lossless codes notice most") {
  const Image image = pattern(64, 64, 3, Depth::u8);
  std::vector<Bytes> files = {encode(image)};
  for (const int compression : {0, 6}) {
    WriteOptions options;
    options.compression = compression;
    files.push_back(encode(image, options));
  }
  const Values values = [&](int x, int y, int s) {
    return std::uint64_t(sample(image, x, y, 2 - s));
  };
  for (const int compression : {COMPRESSION_LZW, COMPRESSION_JPEG, COMPRESSION_PACKBITS}) {
    for (const int tile : {0, 32}) {
      files.push_back(by_libtiff(
          {.width = 64,
           .height = 64,
           .samples = 3,
           .photometric = compression == COMPRESSION_JPEG ? PHOTOMETRIC_YCBCR : PHOTOMETRIC_RGB,
           .compression = compression,
           .tile_width = tile,
           .tile_height = tile,
           .rows = 16,
           .more =
               [&](TIFF* tiff) {
                 if (compression == COMPRESSION_JPEG)
                   TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
               }},
          values));
    }
  }
  files.push_back(by_libtiff({.width = 64,
                              .height = 64,
                              .bits = 1,
                              .photometric = 0,
                              .compression = COMPRESSION_CCITTFAX4},
                             [](int x, int y, int) { return std::uint64_t((x / 5 + y / 3) % 2); }));
  std::mt19937 random(1);
  for (const Bytes& whole : files) {
    for (int i = 0; i < 200; ++i) {
      Bytes changed = whole;
      changed[random() % changed.size()] ^= static_cast<unsigned char>(1u << random() % 8);
      // Half of the flips go into the directory, which is the end of the file.
      if (i % 2)
        changed[changed.size() - 1 - random() % std::min<std::size_t>(200, changed.size())] ^=
            static_cast<unsigned char>(1u << random() % 8);
      const ReadOptions strict{.max_pixels = 1 << 24};
      const Decoded read = decode(changed, strict);
      decode(changed, {.refuse_damaged = false, .max_pixels = 1 << 24});
      if (read.refusal != "") CHECK(read.refusal.find("cannot read 'in': ") == 0);
    }
  }
}

TEST_CASE("TIFF: most flipped bits of a deflated strip are found by its checksum") {
  // libtiff takes a strip that has become longer without looking at its checksum.
  constexpr int kFlips = 400, kMostUnnoticed = kFlips / 10;
  WriteOptions options;
  options.compression = 6;
  const Image image = pattern(64, 64, 3, Depth::u8);
  const Bytes whole = encode(image, options);
  std::mt19937 random(1);
  int unnoticed = 0;
  for (int i = 0; i < kFlips; ++i) {
    Bytes changed = whole;
    const std::size_t pixels = whole.size() - 300;  // the directory lies behind them
    changed[8 + random() % (pixels - 8)] ^= static_cast<unsigned char>(1u << random() % 8);
    const Decoded read = decode(changed);
    unnoticed += read.refusal == "" && !same(read.image, image);
  }
  CHECK(unnoticed <= kMostUnnoticed);
}

TEST_CASE("TIFF: headers that lie") {
  const auto with = [](int tag, std::uint32_t value) {
    Bytes file = testing::tiff(pattern(40, 30, 3, Depth::u8), 1, tag == 322 || tag == 323);
    std::size_t directory = 0;
    for (int i = 3; i >= 0; --i) directory = directory << 8 | file[std::size_t(4 + i)];
    for (std::size_t e = 0; e < file[directory]; ++e) {
      const std::size_t at = directory + 2 + 12 * e;
      if ((file[at] | file[at + 1] << 8) != tag) continue;
      for (std::size_t b = 0; b < 4; ++b)
        file[at + 8 + b] = static_cast<unsigned char>(value >> 8 * b);
    }
    return file;
  };
  CHECK(decode(with(256, 1u << 30)).refusal.find("its header promises") != std::string::npos);
  CHECK(decode(with(257, 0)).refusal.find("its header promises") != std::string::npos);
  CHECK(decode(with(257, 3'000'000)).refusal.find("row ") != std::string::npos);
  CHECK(decode(with(322, 1 << 20)).refusal != "");
  CHECK(decode(with(323, 0x7FFFFFF0)).refusal != "");
  CHECK(decode(with(277, 60000)).refusal != "");
  CHECK(decode(with(259, 12345)).refusal.find("its compression, number 12345") !=
        std::string::npos);
  CHECK(decode(with(278, 0)).refusal != "");
  CHECK(decode(with(273, 0xFFFFFFF0)).refusal.find("the file ends too early (row 0 of 30") !=
        std::string::npos);
}

TEST_CASE("TIFF: a strip of too few bytes") {
  const Kind kind{.width = 40, .height = 30, .rows = 10};
  Bytes file = by_libtiff(kind, [](int x, int y, int) { return level(x, y, 0, 8); });
  const auto number = [&](std::size_t at, int bytes) {
    std::size_t value = 0;
    for (int i = bytes - 1; i >= 0; --i) value = value << 8 | file[at + std::size_t(i)];
    return value;
  };
  const std::size_t directory = number(4, 4);
  for (std::size_t at = directory + 2; at < directory + 2 + 12 * number(directory, 2); at += 12) {
    if (number(at, 2) != TIFFTAG_STRIPBYTECOUNTS) continue;
    const std::size_t each = number(at + 2, 2) == TIFF_SHORT ? 2 : 4;
    const std::size_t second = number(at + 8, 4) + each;
    REQUIRE(number(second, int(each)) == 400);
    file[second] = 100;
    file[second + 1] = 0;
  }
  CHECK(decode(file).refusal.find("(row 12 of 30, strip 1: 100 bytes are too few)") !=
        std::string::npos);
  const Decoded part = decode(file, {.refuse_damaged = false});
  CHECK(part.warnings.size() == 1);
  for (const auto& [y, value] :
       {std::pair{11, double(level(7, 11, 0, 8))}, {12, 0.0}, {20, double(level(7, 20, 0, 8))}})
    CHECK(sample(part.image, 7, y, 0) == value);
}

TEST_CASE("TIFF: raw strips that say no number of bytes") {
  const Kind kind{.width = 40, .height = 30, .rows = 10};
  const Bytes whole = by_libtiff(kind, [](int x, int y, int) { return level(x, y, 0, 8); });
  Bytes file = whole;
  const auto number = [&](std::size_t at) { return std::size_t(file[at] | file[at + 1] << 8); };
  for (std::size_t i = 0, directory = number(4); i < number(directory); ++i) {
    const std::size_t entry = directory + 2 + 12 * i;
    if (number(entry) != TIFFTAG_STRIPBYTECOUNTS) continue;
    const std::size_t each = number(entry + 2) == TIFF_SHORT ? 2 : 4;
    std::fill_n(file.begin() + std::ptrdiff_t(number(entry + 8)), 3 * each, 0);
  }
  REQUIRE(file != whole);
  const Decoded read = decode(file);
  CHECK(read.refusal == "");
  CHECK(same(read.image, decode(whole).image));
}

TEST_CASE("TIFF: a raw strip that promises more bytes than the file has, which no row needs") {
  const Kind kind{.width = 40, .height = 30, .rows = 10};
  Bytes file = by_libtiff(kind, [](int x, int y, int) { return level(x, y, 0, 8); });
  const auto number = [&](std::size_t at) { return std::size_t(file[at] | file[at + 1] << 8); };
  for (std::size_t i = 0, directory = number(4); i < number(directory); ++i) {
    const std::size_t entry = directory + 2 + 12 * i;
    if (number(entry) == TIFFTAG_STRIPBYTECOUNTS) file[number(entry + 8) + 1] |= 0x70;
  }
  const Decoded strict = decode(file), lenient = decode(file, {.refuse_damaged = false});
  CHECK(strict.refusal == "");
  CHECK(lenient.warnings.empty());
  CHECK(same(strict.image, lenient.image));
}

TEST_CASE("TIFF: a table of byte counts that lies over the header") {
  Bytes file = convfilt::testing::tiff(TiffKind{.width = 2, .height = 1}, {11, 22});
  const auto number = [&](std::size_t at) { return std::size_t(file[at] | file[at + 1] << 8); };
  for (std::size_t i = 0, directory = number(4); i < number(directory); ++i) {
    const std::size_t entry = directory + 2 + 12 * i;
    if (number(entry) != TIFFTAG_STRIPBYTECOUNTS) continue;
    file[entry + 4] = 5;  // values, the first of which is the offset of the directory, and more
    file[entry + 8] = 2;
    file[entry + 9] = file[entry + 10] = file[entry + 11] = 0;
  }
  const Decoded strict = decode(file), lenient = decode(file, {.refuse_damaged = false});
  CHECK(strict.refusal == "");
  CHECK(lenient.refusal == "");
  CHECK(same(strict.image, lenient.image));
}

TEST_CASE("TIFF: bytes after the last structure are no damage") {
  Bytes file = encode(pattern(30, 20, 3, Depth::u8));
  append(&file, "trailing bytes");
  CHECK(decode(file).refusal == "");
  CHECK(decode(file).warnings.empty());
}

TEST_CASE("TIFF: the orientation is told and the rows lie as stored") {
  const Image image = pattern(20, 10, 3, Depth::u8);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const bool tiled : {false, true}) {
      const Decoded read = decode(testing::tiff(image, orientation, tiled));
      CHECK(read.header.orientation == orientation);
      CHECK(same(read.image, image));
    }
  }
}

TEST_CASE("TIFF: resolution in inches and centimetres, or the ratio alone") {
  for (const int unit : {RESUNIT_INCH, RESUNIT_CENTIMETER, RESUNIT_NONE}) {
    const Kind kind{.more = [unit](TIFF* tiff) {
      TIFFSetField(tiff, TIFFTAG_XRESOLUTION, 100.0);
      TIFFSetField(tiff, TIFFTAG_YRESOLUTION, 50.0);
      TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, unit);
    }};
    const auto resolution =
        decode(by_libtiff(kind, [](int, int, int) { return 1; })).header.metadata.resolution;
    REQUIRE(resolution);
    CHECK(resolution->has_unit == (unit != RESUNIT_NONE));
    CHECK(resolution->x == doctest::Approx(unit != RESUNIT_CENTIMETER ? 100 : 254));
    CHECK(resolution->y == doctest::Approx(unit != RESUNIT_CENTIMETER ? 50 : 127));
  }
}

TEST_CASE("TIFF: a directory that points beyond the end") {
  const Image image = pattern(61, 47, 4, Depth::u8);
  Bytes file = testing::tiff(image, 1, false);  // its last bytes are the pointer to the next one
  CHECK(same(decode(file).image, image));
  Bytes cut = file;
  cut.pop_back();
  CHECK(decode(cut).refusal.find("its directory points beyond the end") != std::string::npos);
  CHECK(same(decode(cut, {.refuse_damaged = false}).image, image));
  file[file.size() - 1] = 1;
  CHECK(decode(file).refusal.find("its directory points beyond the end") != std::string::npos);
}

TEST_CASE("TIFF: a tile beyond the end is named, and black") {
  const Image image = pattern(80, 70, 3, Depth::u8);
  const Kind kind{.width = 80,
                  .height = 70,
                  .samples = 3,
                  .photometric = PHOTOMETRIC_RGB,
                  .compression = COMPRESSION_LZW,
                  .tile_width = 32,
                  .tile_height = 32};
  Bytes file = by_libtiff(
      kind, [&](int x, int y, int s) { return std::uint64_t(sample(image, x, y, 2 - s)); });
  REQUIRE(same(decode(file).image, image));
  const auto number = [&](std::size_t at) {
    std::size_t value = 0;
    for (int i = 3; i >= 0; --i) value = value << 8 | file[at + std::size_t(i)];
    return value;
  };
  for (std::size_t at = number(4) + 2;; at += 12) {
    if ((file[at] | file[at + 1] << 8) != TIFFTAG_TILEOFFSETS) continue;
    file[number(at + 8) + 4 * 4 + 3] = 0x7F;  // the tile in the middle
    break;
  }
  CHECK(decode(file).refusal.find("the file ends too early (row 32 of 70, tile 4)") !=
        std::string::npos);
  const Decoded part = decode(file, {.refuse_damaged = false});
  REQUIRE(part.refusal == "");
  CHECK(part.warnings.size() == 1);
  bool right = true;
  for (int y = 0; y < 70; ++y) {
    for (int x = 0; x < 80; ++x) {
      const bool lost = x / 32 == 1 && y / 32 == 1;
      right &= sample(part.image, x, y, 1) == (lost ? 0 : sample(image, x, y, 1));
    }
  }
  CHECK(right);
}

TEST_CASE("TIFF: a file that can grow beyond 4 GiB is a BigTIFF") {
  constexpr int kClassic = 42, kBig = 43;
  const auto version = [](int side, std::optional<int> compression) {
    Header header;
    header.width = header.height = side;
    WriteOptions options;
    options.compression = compression;
    MemorySink sink;
    kTiffCodec.create(sink, header, options);
    return int(sink.bytes().at(2));
  };
  CHECK(version(40000, {}) == kClassic);
  CHECK(version(60000, 0) == kClassic);
  CHECK(version(60000, {}) == kBig);  // LZW can make pixels half as large again
  CHECK(version(66000, 0) == kBig);
  CHECK(version(100000, 6) == kBig);
}

TEST_CASE("TIFF: strips are encoded the same by many threads at once") {
  const Image image = pattern(300, 2000, 3, Depth::u16);
  Header header;
  header.width = 300;
  header.height = 2000;
  header.channels = 3;
  header.depth = Depth::u16;
  for (const std::optional<int> compression : {std::optional<int>(), {0}, {6}}) {
    WriteOptions options;
    options.compression = compression;
    MemorySink sink;
    const auto writer = kTiffCodec.create(sink, header, options);
    const int step = writer->rows_at_a_time();
    const int strips = (2000 + step - 1) / step;
    REQUIRE(strips > 8);
    const auto rows_of = [&](int strip) {
      PictureView<const std::byte> rows = image.view();
      rows.data = rows.row(strip * step);
      rows.height = std::min(step, 2000 - strip * step);
      return rows;
    };
    std::vector<EncodedRows> encoded{std::size_t(strips)};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int strip = strips - 1 - t; strip >= 0; strip -= 4)
          encoded[std::size_t(strip)] = writer->encode(rows_of(strip), strip * step);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (int strip = 0; strip < strips; ++strip)
      writer->write(rows_of(strip), std::move(encoded[std::size_t(strip)]));
    writer->finish();
    CHECK(sink.bytes() == encode(image, options));
  }
}

namespace {

/// Takes so many bytes and no more.
class FullSink : public MemorySink {
 public:
  explicit FullSink(std::uint64_t most) : most_(most) {}
  void write(std::uint64_t offset, std::span<const unsigned char> bytes) override {
    if (offset + bytes.size() > most_) throw IoError("the disk is full");
    MemorySink::write(offset, bytes);
  }

 private:
  std::uint64_t most_;
};

/// Fails from an offset on.
class FailingSource : public ByteSource {
 public:
  explicit FailingSource(Bytes bytes) : good(bytes.size()), bytes_(std::move(bytes)) {
    size_ = bytes_.size();
  }
  std::uint64_t good;
  std::size_t read(std::uint64_t offset, std::span<unsigned char> into) override {
    if (offset + into.size() > good && offset < size_) throw IoError("the disk is broken");
    return source_of(bytes_)->read(offset, into);
  }
  std::span<const unsigned char> whole() override { return bytes_; }

 private:
  Bytes bytes_;
};

}  // namespace

TEST_CASE("TIFF: errors of the disk pass through libtiff") {
  const Image image = pattern(300, 200, 3, Depth::u8);
  const Bytes file = encode(image);
  Header header;
  header.width = 300;
  header.height = 200;
  header.channels = 3;
  for (std::uint64_t most = 0; most < file.size(); most += file.size() / 50) {
    FullSink sink(most);
    const auto write = [&] {
      const auto writer = kTiffCodec.create(sink, header, {});
      for (int y = 0; y < 200; y += writer->rows_at_a_time()) {
        PictureView<const std::byte> rows = image.view();
        rows.data = rows.row(y);
        rows.height = std::min(writer->rows_at_a_time(), 200 - y);
        writer->write(rows, writer->encode(rows, y));
      }
      writer->finish();
    };
    CHECK_THROWS_WITH_AS(write(), "the disk is full", IoError);
  }
  // The directory lies at the end of the file.
  const Bytes strips = by_libtiff({.width = 300, .height = 200, .compression = COMPRESSION_LZW},
                                  [](int x, int y, int) { return level(x, y, 0, 8); });
  for (std::uint64_t good = 0; good < strips.size() / 2; good += strips.size() / 20) {
    FailingSource source(strips);
    source.good = good;
    ReadContext context("'in'", {});
    CHECK_THROWS_WITH_AS(kTiffCodec.open(source, context), "the disk is broken", IoError);
  }
  FailingSource source(strips);
  ReadContext context("'in'", {});
  const auto reader = kTiffCodec.open(source, context);
  Image into(300, 200, 1, Depth::u8);
  source.good = 100;
  CHECK_THROWS_WITH_AS(reader->read(into.view()), "the disk is broken", IoError);
}
