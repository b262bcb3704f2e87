/// WebP from and to bytes in memory. OpenCV, which is built on the same libwebp, is the witness;
/// libwebpmux makes the animations.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include <cstring>
#include <opencv2/imgcodecs.hpp>
#include <random>

#include "tests/support/files/codec.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

Read read(const Bytes& bytes, const ReadOptions& options = {}, const Codec& codec = kWebpCodec) {
  Read result;
  const auto source = source_of(bytes);  // the codec wants all bytes at once
  ReadContext context("'in'", options);
  try {
    const auto reader = codec.open(*source, context);
    const Header& header = result.header = reader->header();
    result.image = Image(header.width, header.height, header.channels, header.depth);
    reader->read(result.image.view());
    if (!context.is_damaged()) reader->finish();
  } catch (const IoError& error) {
    result.refusal = error.what();
    result.image = {};
  }
  result.warnings = context.warnings();
  return result;
}

Bytes write(const Image& image, const WriteOptions& options = {}, const Metadata& metadata = {}) {
  return write_by(kWebpCodec, image, header_for(image, FormatId::webp, metadata), options);
}

cv::Mat mat_of(const Image& image) {
  cv::Mat pixels(image.height(), image.width(), CV_8UC(image.channels()));
  for (int y = 0; y < image.height(); ++y)
    std::memcpy(pixels.ptr(y), image.view().row(y), image.row_bytes());
  return pixels;
}

bool same_as(const Image& image, const cv::Mat& pixels) {
  if (image.empty() || pixels.cols != image.width() || pixels.rows != image.height() ||
      pixels.channels() != image.channels())
    return false;
  for (int y = 0; y < image.height(); ++y)
    if (std::memcmp(pixels.ptr(y), image.view().row(y), image.row_bytes()) != 0) return false;
  return true;
}

/// An animation of two frames of one colour each.
Bytes animation(int width, int height) {
  WebPAnimEncoder* const encoder = WebPAnimEncoderNew(width, height, nullptr);
  WebPConfig config;
  WebPConfigInit(&config);
  config.lossless = 1;
  for (const std::uint32_t colour : {0xff102030u, 0xff405060u}) {
    WebPPicture picture;
    WebPPictureInit(&picture);
    picture.use_argb = 1;
    picture.width = width;
    picture.height = height;
    WebPPictureAlloc(&picture);
    for (int i = 0; i < picture.argb_stride * height; ++i) picture.argb[i] = colour;
    WebPAnimEncoderAdd(encoder, &picture, colour == 0xff102030u ? 0 : 100, &config);
    WebPPictureFree(&picture);
  }
  WebPAnimEncoderAdd(encoder, nullptr, 200, nullptr);
  WebPData data;
  WebPDataInit(&data);
  WebPAnimEncoderAssemble(encoder, &data);
  Bytes bytes(data.bytes, data.bytes + data.size);
  WebPDataClear(&data);
  WebPAnimEncoderDelete(encoder);
  return bytes;
}

}  // namespace

TEST_CASE("a WebP has the bytes that OpenCV writes, and the pixels that it reads") {
  for (const auto& [width, height] : {std::pair{1, 1}, {61, 47}, {300, 200}}) {
    for (const int channels : {3, 4}) {
      const Image image = pattern(width, height, channels, Depth::u8);
      for (const std::optional<int> quality :
           {std::optional<int>{}, std::optional(1), std::optional(50), std::optional(100)}) {
        WriteOptions options;
        options.quality = quality;
        const Bytes ours = write(image, options);
        Bytes theirs;
        std::vector<int> parameters;
        if (quality) parameters = {cv::IMWRITE_WEBP_QUALITY, *quality};
        cv::imencode(".webp", mat_of(image), theirs, parameters);
        CAPTURE(width);
        CAPTURE(channels);
        CAPTURE(quality.value_or(-1));
        CHECK(ours == theirs);
        const Read back = read(ours);
        CHECK(back.refusal == "");
        CHECK(same_as(back.image, cv::imdecode(ours, cv::IMREAD_UNCHANGED)));
        if (!quality && channels == 3) CHECK(same(back.image, image));
      }
    }
  }
}

TEST_CASE("metadata come back from a WebP") {
  const Image image = pattern(20, 10, 3, Depth::u8);
  Metadata metadata;
  metadata.icc.assign(301, 7);
  metadata.exif = exif(6, false);
  append(&metadata.xmp, "<x:xmpmeta/>");
  const Read back = read(write(image, {}, metadata));
  CHECK(back.refusal == "");
  CHECK(same(back.image, image));
  CHECK(back.header.metadata.icc == metadata.icc);
  CHECK(back.header.metadata.exif == metadata.exif);
  CHECK(back.header.metadata.xmp == metadata.xmp);
  CHECK(back.header.orientation == 6);
}

TEST_CASE("a WebP's EXIF may have JPEG's mark") {
  const Image image = pattern(20, 10, 3, Depth::u8);
  Metadata metadata;
  append(&metadata.exif, std::string("Exif\0\0", 6));
  const Bytes block = exif(6, true);
  metadata.exif.insert(metadata.exif.end(), block.begin(), block.end());
  const Read back = read(write(image, {}, metadata));
  CHECK(back.header.metadata.exif == block);
  CHECK(back.header.orientation == 6);
}

TEST_CASE("of an animated WebP the first frame is read by default") {
  const Read file = read(animation(30, 20));
  CHECK(file.refusal == "");
  CHECK(file.warnings.empty());
  REQUIRE(file.image.width() == 30);
  CHECK(sample(file.image, 29, 19, 0) == 0x30);
  CHECK(sample(file.image, 0, 0, 2) == 0x10);
  CHECK(sample(file.image, 0, 0, 3) == 255);
}

TEST_CASE("an animated WebP that OpenCV does not read is refused") {
  const Read file = read(animation(30, 20), {}, codec_for(FormatId::webp, Loader::opencv));
  if (file.refusal.empty()) {
    CHECK(file.image.width() == 30);  // a newer OpenCV may read it
    CHECK(file.image.height() == 20);
  } else {
    CHECK(file.refusal ==
          "cannot read 'in': OpenCV does not read it (the decoder gave up); leave out "
          "--loader=opencv");
  }
}

TEST_CASE(
    "a WebP that is cut, has trailing bytes or flipped ones is no crash, and cuts are refused") {
  const Bytes whole = write(pattern(120, 90, 3, Depth::u8));
  for (std::size_t i = 0; i < 64; ++i) {
    const Bytes cut(whole.begin(), whole.begin() + long(12 + (whole.size() - 12) * i / 64));
    CAPTURE(cut.size());
    CHECK(contains(read(cut).refusal, "the file ends too early ("));
  }
  Bytes longer = whole;
  append(&longer, "rubbish");
  CHECK(contains(read(longer).refusal, "bytes follow the end of the picture"));
  std::mt19937 random(3);
  ReadOptions lenient;
  lenient.refuse_damaged = false;
  for (int i = 0; i < 500; ++i) {
    Bytes bytes = whole;
    bytes[12 + random() % (bytes.size() - 12)] ^= static_cast<unsigned char>(1u << random() % 8);
    const Read strict = read(bytes);
    if (strict.refusal.empty())
      CHECK(same_as(strict.image, cv::imdecode(bytes, cv::IMREAD_UNCHANGED)));
    read(bytes, lenient);
  }
}

TEST_CASE("a byte that fills up the last chunk of a WebP may go uncounted") {
  int tried = 0;
  for (int width = 20; width < 40; ++width) {
    Bytes bytes = write(pattern(width, 10, 3, Depth::u8));
    if (bytes[16] % 2 == 0) continue;  // the length of its one chunk
    ++tried;
    REQUIRE(bytes[4] % 2 == 0);
    --bytes[4];
    CHECK(read(bytes).refusal == "");
  }
  CHECK(tried > 0);
}

TEST_CASE("an animated WebP whose sizes lie is refused") {
  const Bytes whole = animation(30, 20);
  const auto with_side = [&](std::size_t at, int side) {
    Bytes bytes = whole;
    for (std::size_t i = 0; i < 3; ++i)
      bytes[at + i] = static_cast<unsigned char>((side - 1) >> (8 * i));
    return bytes;
  };
  constexpr std::string_view kFrame = "ANMF";
  const auto frame = std::search(whole.begin(), whole.end(), kFrame.begin(), kFrame.end());
  const auto width_at = std::size_t(frame - whole.begin()) + 14;
  CHECK(contains(read(with_side(width_at, 29)).refusal, "has another size than its head says"));
  CHECK(contains(read(with_side(24, 2'000'000)).refusal, "must be held whole, in 915 MiB"));
}

TEST_CASE("WebP refuses what it cannot hold") {
  Header header;
  header.width = 16384;
  header.height = 1;
  header.channels = 3;
  MemorySink sink;
  CHECK_THROWS_WITH_AS(kWebpCodec.create(sink, header, {}),
                       doctest::Contains("at most 16383 pixels a side"), UsageError);
}

TEST_CASE("a lossless WebP keeps the colours of clear pixels") {
  Image image = pattern(61, 47, 4, Depth::u8);
  const PictureView<std::byte> view = image.view();
  for (int y = 0; y < view.height; ++y)
    for (int x = y % 3; x < view.width; x += 3) view.row(y)[4 * x + 3] = std::byte{0};
  const Bytes webp = write(image);
  CHECK(same(read(webp).image, image));
  CHECK(same_as(image, cv::imdecode(webp, cv::IMREAD_UNCHANGED)));
}

TEST_CASE("a WebP whose header lies takes no memory") {
  Bytes bytes = write(pattern(20, 10, 3, Depth::u8));
  REQUIRE(bytes[15] == 'L');
  // Width and height less one, 14 bits each, stand behind a byte that marks lossless.
  constexpr std::uint32_t kSide = 16383;
  const std::uint32_t sides = (kSide - 1) | (kSide - 1) << 14;
  for (std::size_t i = 0; i < 4; ++i)
    bytes[21 + i] =
        static_cast<unsigned char>((sides >> (8 * i)) | (bytes[21 + i] & (i == 3 ? 0xf0 : 0)));
  const auto peak = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // KiB
  };
  const long before = peak();
  const std::string refusal = read(bytes).refusal;
  CHECK(contains(refusal, "--on-damage=warn takes what can be read"));
  CHECK(peak() - before < 256 * 1024);
}
