/// PNG from and to bytes in memory. OpenCV is the witness for pixels; the kinds that it does not
/// write are put together here, chunk by chunk.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <opencv2/imgcodecs.hpp>
#include <random>
#include <set>
#include <thread>

#include "src/picture/codecs/png/chunks.hpp"
#include "src/picture/io.hpp"
#ifdef CONVFILT_HAS_ISAL
#include "src/picture/codecs/png/stream.hpp"
#endif
#include "tests/support/files/codec.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

Read read(const Bytes& bytes, const ReadOptions& options = {}, int step = 0) {
  return read_by(kPngCodec, bytes, options, step);
}

Bytes write(const Image& image, const WriteOptions& options = {}, const Metadata& metadata = {}) {
  return write_by(kPngCodec, image, header_for(image, FormatId::png, metadata), options);
}

/// What OpenCV makes of the file, if it is of our kinds.
Image by_opencv(const Bytes& bytes) {
  const cv::Mat pixels = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  if (pixels.empty()) return {};
  const Depth depth = pixels.depth() == CV_8U ? Depth::u8 : Depth::u16;
  Image image(pixels.cols, pixels.rows, pixels.channels(), depth);
  for (int y = 0; y < pixels.rows; ++y)
    std::memcpy(image.view().row(y), pixels.ptr(y), image.row_bytes());
  return image;
}

void append_chunk(Bytes* png, const std::string& type, const Bytes& data) {
  append_number(png, std::uint32_t(data.size()), 4, false);
  Bytes body(type.begin(), type.end());
  body.insert(body.end(), data.begin(), data.end());
  png->insert(png->end(), body.begin(), body.end());
  append_number(png, std::uint32_t(crc32(0, body.data(), uInt(body.size()))), 4, false);
}

Bytes deflated(const Bytes& raw) {
  Bytes data(compressBound(uLong(raw.size())));
  uLongf size = uLongf(data.size());
  compress(data.data(), &size, raw.data(), uLong(raw.size()));
  data.resize(size);
  return data;
}

struct Kind {
  int width, height, bits, colour;
  bool interlaced = false;
  Bytes palette{}, transparent{};
};

/// A file of this kind whose samples are pseudo-random bits.
Bytes made(const Kind& kind) {
  Bytes png = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  Bytes header;
  append_number(&header, std::uint32_t(kind.width), 4, false);
  append_number(&header, std::uint32_t(kind.height), 4, false);
  for (const int value : {kind.bits, kind.colour, 0, 0, kind.interlaced ? 1 : 0})
    header.push_back(static_cast<unsigned char>(value));
  append_chunk(&png, "IHDR", header);
  if (!kind.palette.empty()) append_chunk(&png, "PLTE", kind.palette);
  if (!kind.transparent.empty()) append_chunk(&png, "tRNS", kind.transparent);

  constexpr int kChannels[] = {1, 0, 3, 1, 2, 0, 4};
  const int pixel_bits = kind.bits * kChannels[kind.colour];
  std::mt19937 random(unsigned(kind.bits * 8 + kind.colour));
  const int entries = int(kind.palette.size() / 3);
  Bytes raw;
  const auto add_rows = [&](int width, int height) {
    if (width == 0) return;
    for (int y = 0; y < height; ++y) {
      raw.push_back(0);
      for (int i = 0; i < (width * pixel_bits + 7) / 8; ++i) {
        unsigned byte = random() & 255;
        if (entries > 0 && kind.bits == 8) byte %= unsigned(entries);
        raw.push_back(static_cast<unsigned char>(byte));
      }
    }
  };
  if (kind.interlaced) {
    constexpr int kX[] = {0, 4, 0, 2, 0, 1, 0}, kY[] = {0, 0, 4, 0, 2, 0, 1};
    constexpr int kStepX[] = {8, 8, 4, 4, 2, 2, 1}, kStepY[] = {8, 8, 8, 4, 4, 2, 2};
    for (int pass = 0; pass < 7; ++pass) {
      add_rows((kind.width - kX[pass] + kStepX[pass] - 1) / kStepX[pass],
               (kind.height - kY[pass] + kStepY[pass] - 1) / kStepY[pass]);
    }
  } else {
    add_rows(kind.width, kind.height);
  }
  append_chunk(&png, "IDAT", deflated(raw));
  append_chunk(&png, "IEND", {});
  return png;
}

/// The file with more chunks behind its header.
Bytes with_chunks(const Bytes& png, const std::vector<std::pair<std::string, Bytes>>& chunks) {
  constexpr long kBehindHeader = 8 + 25;
  Bytes more(png.begin(), png.begin() + kBehindHeader);
  for (const auto& [type, data] : chunks) append_chunk(&more, type, data);
  more.insert(more.end(), png.begin() + kBehindHeader, png.end());
  return more;
}

/// A text of `size` letters under this keyword, deflated.
Bytes compressed_text(const std::string& keyword, std::size_t size) {
  Bytes data(keyword.begin(), keyword.end());
  data.insert(data.end(), {0, 0});
  const Bytes text = deflated(Bytes(size, '\n'));
  data.insert(data.end(), text.begin(), text.end());
  return data;
}

std::size_t place_of(const Bytes& png, const std::string& type) {
  for (std::size_t at = 8;;) {
    REQUIRE(at + 8 <= png.size());
    if (std::memcmp(&png[at + 4], type.data(), 4) == 0) return at;
    at += 12 + (std::size_t{png[at]} << 24 | std::size_t{png[at + 1]} << 16 |
                std::size_t{png[at + 2]} << 8 | png[at + 3]);
  }
}

}  // namespace

TEST_CASE("a PNG gives back the samples that went into it, to us and to OpenCV") {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {61, 47}, {700, 300}}) {
    for (const int channels : {1, 3, 4}) {
      for (const Depth depth : {Depth::u8, Depth::u16}) {
        const Image image = pattern(width, height, channels, depth);
        for (const std::optional<int> compression :
             {std::optional<int>{}, std::optional(0), std::optional(1), std::optional(9)}) {
          WriteOptions options;
          options.compression = compression;
          const Bytes png = write(image, options);
          const Read back = read(png, {}, 7);
          CAPTURE(width);
          CAPTURE(channels);
          CAPTURE(compression.value_or(-1));
          CHECK(back.refusal == "");
          CHECK(same(back.image, image));
          CHECK(same(by_opencv(png), image));
        }
      }
    }
  }
}

TEST_CASE("a black and white PNG has one bit a sample, to us and to OpenCV") {
  for (const Depth depth : kDepths) {
    for (const int width : {1, 7, 8, 9, 64, 301}) {
      for (const int level : {-1, 0, 1, 6, 9}) {
        CAPTURE(std::string(name_of(depth)));
        CAPTURE(width);
        CAPTURE(level);
        const Image image = black_and_white(width, 23, depth);
        Header header = header_for(image, FormatId::png);
        header.two_levels = true;
        WriteOptions options;
        if (level >= 0) options.compression = level;
        const Bytes file = write_by(kPngCodec, image, header, options);
        CHECK(file[8 + 8 + 8] == 1);  // IHDR's depth
        const Image expected = black_and_white(width, 23, Depth::u8);
        CHECK(same(read(file).image, expected));
        CHECK(same(by_opencv(file), expected));
      }
    }
  }
}

TEST_CASE("a grey level is not written with one bit") {
  for (const auto& [codec, format] :
       {std::pair{&kPngCodec, FormatId::png}, {&kTiffCodec, FormatId::tiff}}) {
    Image image = black_and_white(19, 5, Depth::u8);
    set_sample(&image, 18, 4, 0, 254);
    Header header = header_for(image, format);
    header.two_levels = true;
    CHECK_THROWS_AS(write_by(*codec, image, header), std::logic_error);
  }
}

TEST_CASE("every kind of PNG has the pixels that OpenCV gives it") {
  int kinds = 0;
  Bytes palette;
  for (int i = 0; i < 3 * 256; ++i) palette.push_back(static_cast<unsigned char>(i * 37 % 251));
  for (const bool interlaced : {false, true}) {
    for (const auto& [colour, depths] : {std::pair<int, std::vector<int>>{0, {1, 2, 4, 8, 16}},
                                         {2, {8, 16}},
                                         {3, {1, 2, 4, 8}},
                                         {4, {8, 16}},
                                         {6, {8, 16}}}) {
      for (const int bits : depths) {
        for (const bool key : {false, true}) {
          if (key && colour >= 4) continue;
          for (const auto& [width, height] : {std::pair{1, 1}, {3, 2}, {37, 21}}) {
            Kind kind{width, height, bits, colour, interlaced};
            if (colour == 3)
              kind.palette.assign(palette.begin(), palette.begin() + 3 * (1L << bits));
            if (key && colour == 0) kind.transparent = {0, 1};
            if (key && colour == 2) kind.transparent = {0, 1, 0, 2, 0, 3};
            if (key && colour == 3) kind.transparent = {0, 100};
            const Bytes png = made(kind);
            CAPTURE(interlaced);
            CAPTURE(colour);
            CAPTURE(bits);
            CAPTURE(key);
            CAPTURE(width);
            const Read ours = read(png, {}, 2);
            CHECK(ours.refusal == "");
            CHECK(ours.warnings.empty());
            if (key && colour == 0)  // OpenCV takes that level for opaque
              CHECK(ours.image.channels() == 4);
            else
              CHECK(same(ours.image, by_opencv(png)));
            ++kinds;
          }
        }
      }
    }
  }
  CHECK(kinds == 2 * (5 + 2 + 4 + 2 + 2 + 5 + 2 + 4) * 3);
}

TEST_CASE("colours that a palette does not have are damage, with their row") {
  for (const int bits : {1, 2, 4, 8}) {
    for (const bool interlaced : {false, true}) {
      for (const bool key : {false, true}) {
        CAPTURE(bits);
        CAPTURE(interlaced);
        CAPTURE(key);
        const int last = (1 << bits) - 1;
        Kind kind{37, 21, bits, 3, interlaced};
        for (int i = 0; i <= last; ++i)  // red is the index
          kind.palette.insert(kind.palette.end(), {static_cast<unsigned char>(i), 200, 100});
        if (key) kind.transparent = {0};
        const Bytes whole = made(kind);
        const Image indices = read(whole).image;
        // The same without the last colour.
        Bytes less = whole;
        const auto at = std::ptrdiff_t(place_of(whole, "PLTE"));
        less.erase(less.begin() + at, less.begin() + at + 12 + 3 * (last + 1));
        Bytes chunk;
        append_chunk(&chunk, "PLTE", Bytes(kind.palette.begin(), kind.palette.end() - 3));
        less.insert(less.begin() + at, chunk.begin(), chunk.end());

        const std::string refusal = read(less).refusal;
        std::set<int> rows;
        const Read part = read(less, {.refuse_damaged = false});
        CHECK(part.refusal == "");
        REQUIRE(part.warnings.size() == 1);
        int wrong = 0;
        for (int y = 0; y < 21; ++y) {
          for (int x = 0; x < 37; ++x) {
            const bool is_beyond = sample(indices, x, y, 2) == last;
            if (is_beyond) rows.insert(y);
            for (int c = 0; c < 3; ++c)
              wrong += sample(part.image, x, y, c) != (is_beyond ? 0 : sample(indices, x, y, c));
          }
        }
        CHECK(wrong == 0);
        REQUIRE(!rows.empty());
        const auto says = [&](const std::string& text, int row) {
          return contains(text, "its data is damaged (row " + std::to_string(row) +
                                    " of 21: colour " + std::to_string(last) + " of a palette of " +
                                    std::to_string(last) + ")");
        };
        // Passes of an interlaced picture begin with rows 0, 8 and 16.
        const auto said =
            std::find_if(rows.begin(), rows.end(), [&](int row) { return says(refusal, row); });
        REQUIRE(said != rows.end());
        if (!interlaced) CHECK(said == rows.begin());
        CHECK(says(part.warnings[0], *said));
      }
    }
  }
}

TEST_CASE("files of other programs, in chunks of any size, are read to their last row") {
  int kinds = 0;
  for (const int level : {0, 1, 6, 9}) {
    for (const int strategy : {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED}) {
      for (const auto& [width, height] : {std::pair{1, 1}, {37, 53}, {512, 512}, {700, 301}}) {
        const Image image = pattern(width, height, 3, Depth::u8);
        cv::Mat pixels(height, width, CV_8UC3);
        for (int y = 0; y < height; ++y)
          std::memcpy(pixels.ptr(y), image.view().row(y), image.row_bytes());
        Bytes png;
        cv::imencode(".png", pixels, png,
                     {cv::IMWRITE_PNG_COMPRESSION, level, cv::IMWRITE_PNG_STRATEGY, strategy});
        CAPTURE(level);
        CAPTURE(strategy);
        CAPTURE(width);
        const Read file = read(png, {}, 5);
        CHECK(file.refusal == "");
        CHECK(same(file.image, image));
        ++kinds;
      }
    }
  }
  CHECK(kinds == 80);
}

TEST_CASE("the size is that of OpenCV's default, within 5 %") {
  for (const char* name : {"rocket.jpg", "camera.png"}) {
    const cv::Mat pixels =
        cv::imread(std::string(CONVFILT_SAMPLES) + "/" + name, cv::IMREAD_UNCHANGED);
    REQUIRE(!pixels.empty());
    Image image(pixels.cols, pixels.rows, pixels.channels(), Depth::u8);
    for (int y = 0; y < pixels.rows; ++y)
      std::memcpy(image.view().row(y), pixels.ptr(y), image.row_bytes());
    Bytes theirs;
    cv::imencode(".png", pixels, theirs);
    MemorySink sink;
    const auto writer = kPngCodec.create(sink, header_for(image, FormatId::png), {});
    for (int y = 0; y < image.height(); y += writer->rows_at_a_time()) {
      const int rows = std::min(writer->rows_at_a_time(), image.height() - y);
      const Image strip = image.part(0, y, image.width(), rows);
      writer->write(strip.view(), writer->encode(strip.view(), y));
    }
    writer->finish();
    CHECK(double(sink.size()) <= 1.05 * double(theirs.size()));
  }
}

TEST_CASE("a PNG that is cut anywhere is refused, with the place") {
  const Image image = pattern(300, 211, 3, Depth::u8);
  const Bytes whole = write(image);
  std::set<std::size_t> lengths;
  for (std::size_t i = 0; i < 64; ++i) lengths.insert(8 + (whole.size() - 8) * i / 64);
  for (std::size_t i = 1; i <= 16; ++i) lengths.insert(whole.size() - i);
  for (const std::size_t length : lengths) {
    const Bytes cut(whole.begin(), whole.begin() + long(length));
    CAPTURE(length);
    const Read strict = read(cut);
    CHECK(contains(strict.refusal, "the file ends too early ("));
    CHECK(contains(strict.refusal, "; --on-damage=warn takes what can be read"));
    ReadOptions lenient;
    lenient.refuse_damaged = false;
    const Read taken = read(cut, lenient);
    if (length < 8 + 25) {
      CHECK(contains(taken.refusal, "nothing of this PNG can be read"));
      continue;
    }
    if (contains(taken.refusal, "nothing of this PNG can be read")) {
      CHECK(length < whole.size() / 50);
      continue;
    }
    CHECK(taken.refusal == "");
    CHECK(taken.warnings.size() == 1);
    REQUIRE(taken.image.width() == 300);
    int right = 0;
    for (int y = 0; y < 211; ++y)
      right += std::memcmp(taken.image.view().row(y), image.view().row(y), image.row_bytes()) == 0;
    // Rows come in the order of the file, so what is left of it gives about its share of them.
    CHECK(right >= int(211.0 * double(length) / double(whole.size())) - 40);
    if (right < 200) CHECK(sample(taken.image, 5, 210, 1) == 0);
  }
}

TEST_CASE("every flipped bit of a PNG is noticed") {
  const Image image = pattern(60, 40, 3, Depth::u8);
  Metadata metadata;
  metadata.exif = exif(1, true);
  const Bytes whole = write(image, {}, metadata);
  std::mt19937 random(5);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    Bytes bytes = whole;
    bytes[8 + random() % (bytes.size() - 8)] ^= static_cast<unsigned char>(1u << random() % 8);
    const Read strict = read(bytes);
    refused += !strict.refusal.empty();
    ReadOptions lenient;
    lenient.refuse_damaged = false;
    read(bytes, lenient);
  }
  CHECK(refused == 500);
}

TEST_CASE("trailing bytes, a wrong sum and a missing end are damage, with the place") {
  const Image image = pattern(60, 40, 3, Depth::u8);
  Bytes bytes = write(image);
  append(&bytes, "rubbish");
  CHECK(contains(read(bytes).refusal, "7 bytes follow the end of the picture"));
  bytes = write(image);
  const std::size_t end = place_of(bytes, "IEND");
  bytes.resize(end);
  CHECK(contains(read(bytes).refusal, "the file ends too early (no IEND chunk)"));
  // The sum of the pixels is wrong, and the chunk's own is right.
  bytes = write(image);
  Bytes wrong(bytes.begin() + long(end) - 18 + 8, bytes.begin() + long(end) - 4);
  bytes.resize(end - 18);
  REQUIRE(wrong.size() == 6);
  wrong.back() ^= 1;
  append_chunk(&bytes, "IDAT", wrong);
  append_chunk(&bytes, "IEND", {});
  CHECK(read(bytes).refusal ==
        "cannot read 'in': its data is damaged (after its last row: IDAT: incorrect data check); "
        "--on-damage=warn takes what can be read");
  // A text's sum is wrong.
  Metadata metadata;
  metadata.exif = exif(1, true);
  bytes = write(image, {}, metadata);
  const std::size_t at = place_of(bytes, "eXIf");
  bytes[at + 10] ^= 1;
  CHECK(
      contains(read(bytes).refusal, "wrong checksum of chunk eXIf at byte " + std::to_string(at)));
}

#ifdef CONVFILT_HAS_ISAL
TEST_CASE("the stored pixels are a zlib stream with a true checksum, whatever the file's is") {
  // Blocks end at 65535 bytes.
  for (const auto& [width, height] :
       {std::pair{1, 1}, {65534, 1}, {65535, 1}, {65533, 2}, {700, 300}}) {
    for (const bool right : {true, false}) {
      CAPTURE(width);
      CAPTURE(right);
      Bytes png = made({width, height, 8, 0});
      const Bytes::iterator end = png.begin() + std::ptrdiff_t(place_of(png, "IEND"));
      if (!right) end[-5] ^= 1;  // before the chunk's checksum
      const auto source = source_of(png);
      png::StoredPixels pixels(*source, png::contents_of(*source).pixels_at);
      Bytes stored, part(1000);
      while (const std::size_t count = pixels.next(part))
        stored.insert(stored.end(), part.begin(), part.begin() + std::ptrdiff_t(count));
      CHECK(pixels.trouble() == "");
      CHECK((pixels.take_damage() == "") == right);

      Bytes stream;
      for (std::size_t at = place_of(stored, "IDAT");
           stored[at + 4] == 'I' && stored[at + 5] == 'D';) {
        const std::size_t length =
            std::size_t{stored[at + 1]} << 16 | std::size_t{stored[at + 2]} << 8 | stored[at + 3];
        stream.insert(stream.end(), &stored[at + 8], &stored[at + 8 + length]);
        at += 12 + length;
      }
      Bytes raw(std::size_t(height) * std::size_t(width + 1));
      uLongf size = uLongf(raw.size());
      CHECK(uncompress(raw.data(), &size, stream.data(), uLong(stream.size())) == Z_OK);
      CHECK(size == raw.size());
      CHECK(read(png).refusal.empty() == right);
    }
  }
}
#endif

TEST_CASE("headers that lie take no memory") {
  Bytes bytes = made({3, 2, 8, 2});
  const auto with_size = [&](std::uint32_t width, std::uint32_t height) {
    Bytes header;
    append_number(&header, width, 4, false);
    append_number(&header, height, 4, false);
    for (const int value : {8, 2, 0, 0, 0}) header.push_back(static_cast<unsigned char>(value));
    Bytes png(bytes.begin(), bytes.begin() + 8);
    append_chunk(&png, "IHDR", header);
    png.insert(png.end(), bytes.begin() + 8 + 25, bytes.end());
    return png;
  };
  CHECK(contains(read(with_size(60000, 60000)).refusal, "promises 60000x60000 pixels"));
  CHECK(contains(read(with_size(0x7fffffff, 0x7fffffff)).refusal, "pixels, more than"));
  CHECK(!read(with_size(0, 5)).refusal.empty());
  CHECK(!read(with_size(5, 0)).refusal.empty());
  CHECK(contains(read(with_size(3, 20000)).refusal, "row 2 of 20000"));

  const auto interlaced = [&](std::uint32_t side) {  // so all of it is held
    Bytes png = with_size(side, side);
    png[8 + 8 + 12] = 1;
    const auto sum = std::uint32_t(crc32(0, &png[8 + 4], 4 + 13));
    for (std::size_t i = 0; i < 4; ++i) png[8 + 8 + 13 + i] = (sum >> (24 - 8 * i)) & 255;
    return png;
  };
  CHECK(contains(read(interlaced(23000)).refusal, "must be held whole, in 1513 MiB"));
  CHECK(contains(read(interlaced(16000)).refusal, "bytes cannot hold 16000x16000 pixels"));
}

TEST_CASE("metadata come back from a PNG") {
  const Image image = pattern(20, 10, 3, Depth::u8);
  Metadata metadata;
  metadata.icc.assign(3000, 7);
  metadata.exif = exif(6, false);
  append(&metadata.xmp, "<x:xmpmeta/>");
  for (int i = 0; i < 300; ++i) metadata.iptc.push_back(static_cast<unsigned char>(i * 7));
  metadata.resolution = {300, 150};
  const Read back = read(write(image, {}, metadata));
  CHECK(back.refusal == "");
  CHECK(back.header.metadata.icc == metadata.icc);
  CHECK(back.header.metadata.exif == metadata.exif);
  CHECK(back.header.metadata.xmp == metadata.xmp);
  CHECK(back.header.metadata.iptc == metadata.iptc);
  REQUIRE(back.header.metadata.resolution);
  CHECK(std::abs(back.header.metadata.resolution->x - 300) < 0.02);
  CHECK(std::abs(back.header.metadata.resolution->y - 150) < 0.02);
  CHECK(back.header.orientation == 6);
  CHECK(read(write(image)).header.metadata.empty());
  // Without a unit pHYs says no more than the sides' ratio.
  const auto with_unit = [&](unsigned char unit, unsigned char across) {
    return read(with_chunks(write(image), {{"pHYs", {0, 0, 11, 184, 0, 0, across, 184, unit}}}))
        .header.metadata.resolution;
  };
  CHECK(with_unit(1, 11));
  CHECK(!with_unit(0, 11));
  REQUIRE(with_unit(0, 10));
  CHECK(!with_unit(0, 10)->has_unit);
}

TEST_CASE("texts and colour space of a PNG stay with PNGs, and the colour space when stripped") {
  const TemporaryFolder folder;
  const auto chunk = [](const std::string& type, const std::string& data) {
    return Metadata::Chunk{type, Bytes(data.begin(), data.end())};
  };
  const auto shown = [](const std::vector<Metadata::Chunk>& chunks) {
    std::string all;
    for (const Metadata::Chunk& each : chunks)
      all += each.type + ":" + std::string(each.data.begin(), each.data.end()) + ";";
    return all;
  };
  Header header;
  Metadata& metadata = header.metadata;
  ColourLabel& label = metadata.label;
  label.codes = {9, 16, true};
  label.gamma = 100000;
  label.chromaticities = {1, 2, 3, 4, 5, 6, 7, 8};
  label.srgb_intent = 1;
  label.mastering = Bytes(24, 7);
  label.light_levels = Bytes(8, 9);
  metadata.text_chunks = {chunk("tEXt", std::string("Title\0One", 9)),
                          chunk("tEXt", std::string("Title\0Two", 9)),
                          chunk("zTXt", std::string("Author\0\0damaged", 15)),
                          chunk("iTXt", std::string("Comment\0\0\0\0\0Three", 17))};
  const Image image = pattern(20, 10, 3, Depth::u8);
  const auto through = [&](const std::string& name, const WriteOptions& options) {
    const std::string path = folder / name;
    write_picture(path, image, header, options, nullptr);
    return read_picture(path, {}, nullptr).header.metadata;
  };
  const Metadata kept = through("a.png", {}), stripped = through("b.png", {.strip = Strip::all});
  CHECK(kept.label == label);
  CHECK(shown(kept.text_chunks) == shown(metadata.text_chunks));
  CHECK(stripped.label == label);
  CHECK(stripped.text_chunks.empty());
  CHECK(through("a.tif", {}).text_chunks.empty());

  // Blocks as text tell an orientation that the result has no more.
  metadata.text_chunks.push_back(chunk("tEXt", std::string("Raw profile type exif\0\nexif", 27)));
  const Metadata again = through("c.png", {});
  CHECK(shown(again.text_chunks) == shown(kept.text_chunks));
}

TEST_CASE("an animated PNG gives its first picture, and that is said") {
  Bytes bytes = write(pattern(20, 10, 3, Depth::u8));
  Bytes animated(bytes.begin(), bytes.begin() + 8 + 25);
  append_chunk(&animated, "acTL", Bytes(8, 1));
  animated.insert(animated.end(), bytes.begin() + 8 + 25, bytes.end());
  const Read file = read(animated);
  CHECK(same(file.image, pattern(20, 10, 3, Depth::u8)));
  REQUIRE(file.warnings.size() == 1);
  CHECK(contains(file.warnings[0], "only the first picture of this animated PNG is read"));
}

TEST_CASE("small files whose texts are large take neither memory nor time") {
  const Bytes png = write(pattern(20, 10, 3, Depth::u8));
  const auto peak = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // KiB
  };
  // libpng keeps each of these texts where it is let.
  std::vector<std::pair<std::string, Bytes>> chunks(150,
                                                    {"zTXt", compressed_text("Note", 7900000)});
  const Bytes comments = with_chunks(png, chunks);
  REQUIRE(comments.size() < 2000000);
  const long before = peak();
  CHECK(read(comments).refusal == "");
  CHECK(peak() - before < 256 * 1024);
  // Those are metadata, of which one is taken.
  chunks.assign(100, {"zTXt", compressed_text("Raw profile type iptc", 60000000)});
  const Bytes profiles = with_chunks(png, chunks);
  const std::clock_t start = std::clock();
  CHECK(read(profiles).refusal == "");
  CHECK(std::clock() - start < 10 * CLOCKS_PER_SEC);
}

TEST_CASE("the first chunk of a kind counts, and EXIF may have JPEG's mark") {
  const Bytes png = write(pattern(20, 10, 3, Depth::u8));
  Bytes marked = {'E', 'x', 'i', 'f', 0, 0};
  const Bytes block = exif(6, true);
  marked.insert(marked.end(), block.begin(), block.end());
  const Read file = read(with_chunks(png, {{"eXIf", marked}, {"eXIf", exif(3, true)}}));
  CHECK(file.refusal == "");
  CHECK(file.header.orientation == 6);
  CHECK(file.header.metadata.exif == block);
}

TEST_CASE("transparency that cannot be used is damage, unless there is an alpha channel") {
  const Bytes opaque = with_chunks(write(pattern(20, 10, 3, Depth::u8)), {{"tRNS", {0, 1, 0}}});
  CHECK(read(opaque).refusal ==
        "cannot read 'in': its data is damaged (in its header: tRNS: invalid); "
        "--on-damage=warn takes what can be read");
  ReadOptions lenient;
  lenient.refuse_damaged = false;
  CHECK(same(read(opaque, lenient).image, pattern(20, 10, 3, Depth::u8)));
  const Image image = pattern(20, 10, 4, Depth::u8);
  const Read file = read(with_chunks(write(image), {{"tRNS", {0, 1, 0, 2, 0, 3}}}));
  CHECK(file.refusal == "");
  CHECK(file.warnings.empty());
  CHECK(same(file.image, image));
}

TEST_CASE("the last row is taken where only what follows it is missing") {
  const Bytes whole = made({60, 40, 8, 2});
  const std::size_t at = place_of(whole, "IDAT"), end = place_of(whole, "IEND");
  const Bytes data(whole.begin() + long(at) + 8, whole.begin() + long(end) - 4 - 4);
  Bytes cut(whole.begin(), whole.begin() + long(at));
  append_chunk(&cut, "IDAT", data);
  append_chunk(&cut, "IEND", {});
  CHECK(contains(read(cut).refusal, "row 39 of 40"));
  ReadOptions lenient;
  lenient.refuse_damaged = false;
  const Read taken = read(cut, lenient);
  CHECK(taken.warnings.size() == 1);
  CHECK(same(taken.image, by_opencv(whole)));
}

TEST_CASE("compressed data behind the end of the stream are damage") {
  const Bytes whole = made({60, 40, 8, 2});
  const std::size_t at = place_of(whole, "IDAT"), end = place_of(whole, "IEND");
  Bytes data(whole.begin() + long(at) + 8, whole.begin() + long(end) - 4);
  append(&data, "more of them");
  Bytes longer(whole.begin(), whole.begin() + long(at));
  append_chunk(&longer, "IDAT", data);
  append_chunk(&longer, "IEND", {});
  CHECK(contains(read(longer).refusal, "xtra compressed data"));
  ReadOptions lenient;
  lenient.refuse_damaged = false;
  CHECK(same(read(longer, lenient).image, by_opencv(whole)));
}

TEST_CASE("an interlaced PNG that is damaged in a later pass gives the passes before") {
  const Bytes whole = made({60, 40, 8, 2, true});
  const std::size_t at = place_of(whole, "IDAT"), end = place_of(whole, "IEND");
  Bytes data(whole.begin() + long(at) + 8, whole.begin() + long(end) - 4);
  ReadOptions lenient;
  lenient.refuse_damaged = false;
  // The first pass has 5 rows of 8 pixels; rows of samples that are noise take as many bytes.
  for (std::size_t bytes = 5 * 25 + 20; bytes < data.size(); bytes += 20) {
    CAPTURE(bytes);
    Bytes cut(whole.begin(), whole.begin() + long(at));
    append_chunk(&cut, "IDAT", Bytes(data.begin(), data.begin() + long(bytes)));
    append_chunk(&cut, "IEND", {});
    const Read taken = read(cut, lenient);
    REQUIRE(taken.refusal == "");
    CHECK(taken.warnings.size() == 1);
    CHECK(sample(taken.image, 0, 0, 0) == sample(by_opencv(whole), 0, 0, 0));
  }
}

TEST_CASE("strips make the same file on any number of threads, in any order") {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    const Image image = pattern(500, 900, 3, depth);
    const auto file = [&](bool threads) {
      MemorySink sink;
      const auto writer = kPngCodec.create(sink, header_for(image, FormatId::png), {});
      const int step = writer->rows_at_a_time();
      const int strips = (image.height() + step - 1) / step;
      REQUIRE(strips > 2);
      std::vector<Image> rows;
      for (int i = 0; i < strips; ++i)
        rows.push_back(
            image.part(0, i * step, image.width(), std::min(step, image.height() - i * step)));
      std::vector<EncodedRows> encoded(rows.size());
      const auto encode = [&](int i) {
        const auto k = std::size_t(i);
        encoded[k] = writer->encode(std::as_const(rows[k]).view(), i * step);
      };
      if (threads) {
        std::vector<std::thread> pool;
        for (int i = strips; i-- > 0;) pool.emplace_back(encode, i);
        for (std::thread& thread : pool) thread.join();
      } else {
        for (int i = 0; i < strips; ++i) encode(i);
      }
      for (std::size_t i = 0; i < rows.size(); ++i)
        writer->write(std::as_const(rows[i]).view(), std::move(encoded[i]));
      writer->finish();
      return sink.bytes();
    };
    const Bytes alone = file(false);
    CHECK(alone == file(true));
    CHECK(same(by_opencv(alone), image));
  }
}
