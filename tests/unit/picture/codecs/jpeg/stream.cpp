/// JPEGs as bytes: which of them devices may take, and how metadata get into those that devices
/// give.
#include "src/picture/codecs/jpeg/stream.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include <opencv2/imgcodecs.hpp>

#include "src/picture/io.hpp"
#include "tests/support/files/codec.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

Bytes jpeg_of(const Image& image, const WriteOptions& options = {}, const Metadata& metadata = {}) {
  return write_by(kJpegCodec, image, header_for(image, FormatId::jpeg, metadata), options, nullptr);
}

WriteOptions sampled(int across, int down) {
  WriteOptions options;
  options.subsampling = Subsampling{across, down};
  return options;
}

/// With a restart marker after each MCU, which here are of 16 by 16 pixels.
Bytes with_restarts(const Image& image) {
  cv::Mat pixels(image.height(), image.width(), CV_8UC3);
  for (int y = 0; y < image.height(); ++y)
    std::copy_n(reinterpret_cast<const unsigned char*>(image.view().row(y)), image.row_bytes(),
                pixels.ptr(y));
  Bytes bytes;
  cv::imencode(".jpg", pixels, bytes, {cv::IMWRITE_JPEG_RST_INTERVAL, 1});
  return bytes;
}

std::size_t find(const Bytes& bytes, unsigned char marker, std::size_t from = 0) {
  for (std::size_t i = from; i + 1 < bytes.size(); ++i)
    if (bytes[i] == 0xFF && bytes[i + 1] == marker) return i;
  FAIL("no such marker");
  return 0;
}

bool opens(const Bytes& bytes) {
  const auto source = source_of(bytes);
  ReadContext context("'in'", {});
  try {
    kJpegCodec.open(*source, context);
    return true;
  } catch (const IoError&) {
    return false;
  }
}

}  // namespace

TEST_CASE("plain JPEGs are known from others") {
  const Image image = pattern(50, 34, 3, Depth::u8);
  for (const int across : {1, 2})
    for (const int down : {1, 2}) CHECK(jpeg::is_plain(jpeg_of(image, sampled(across, down))));
  CHECK(jpeg::is_plain(jpeg_of(pattern(1, 1, 1, Depth::u8))));
  CHECK(jpeg::is_plain(with_restarts(image)));
  Metadata metadata;
  metadata.exif = exif(6, true);
  CHECK(jpeg::is_plain(jpeg_of(image, {}, metadata)));

  CHECK_FALSE(jpeg::is_plain(jpeg_of(image, sampled(4, 1))));
  WriteOptions progressive;
  progressive.progressive = true;
  CHECK_FALSE(jpeg::is_plain(jpeg_of(image, progressive)));
  CHECK_FALSE(jpeg::is_plain({}));
  CHECK_FALSE(jpeg::is_plain(Bytes{0xFF, 0xD8, 0xFF, 0xD9}));
}

TEST_CASE("no end of a JPEG is enough, and nothing may follow") {
  for (const Bytes& whole :
       {jpeg_of(pattern(50, 34, 3, Depth::u8)), with_restarts(pattern(50, 34, 3, Depth::u8))}) {
    for (std::size_t size = 0; size < whole.size(); ++size)
      REQUIRE_FALSE(jpeg::is_plain(std::span(whole).first(size)));
    Bytes more = whole;
    more.push_back(0);
    CHECK_FALSE(jpeg::is_plain(more));
  }
}

TEST_CASE("restart markers are counted, and come in turn") {
  const Bytes whole = with_restarts(pattern(170, 34, 3, Depth::u8));
  const std::size_t scan = find(whole, 0xDA);
  const std::size_t third = find(whole, 0xD2, scan);
  Bytes changed = whole;
  changed[third + 1] = 0xD3;
  CHECK_FALSE(jpeg::is_plain(changed));
  Bytes fewer = whole;
  const std::size_t last = whole.size() - 2;
  // The data between the last restart marker and the end go, with the marker.
  std::size_t cut = third;
  for (std::size_t i = third; i < last; ++i)
    if (whole[i] == 0xFF && whole[i + 1] >= 0xD0 && whole[i + 1] <= 0xD7) cut = i;
  fewer.erase(fewer.begin() + std::ptrdiff_t(cut), fewer.begin() + std::ptrdiff_t(last));
  CHECK_FALSE(jpeg::is_plain(fewer));
}

TEST_CASE("colours that are no YCbCr are not plain") {
  Bytes rgb = jpeg_of(pattern(50, 34, 3, Depth::u8), sampled(1, 1));
  const std::size_t frame = find(rgb, 0xC0);
  const char names[] = {'R', 'G', 'B'};
  for (std::size_t i = 0; i < 3; ++i)
    rgb[frame + 10 + 3 * i] = static_cast<unsigned char>(names[i]);
  CHECK_FALSE(jpeg::is_plain(rgb));

  Bytes adobe = jpeg_of(pattern(50, 34, 3, Depth::u8), sampled(1, 1));
  const Bytes segment = {0xFF, 0xEE, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0};
  adobe.insert(adobe.begin() + 2, segment.begin(), segment.end());
  CHECK_FALSE(jpeg::is_plain(adobe));
  adobe[2 + segment.size() - 1] = 1;  // YCbCr
  CHECK(jpeg::is_plain(adobe));
}

TEST_CASE("metadata take the place of an encoder's segments, and pixels stay") {
  Metadata metadata;
  metadata.exif = exif(1, false);
  metadata.resolution = Metadata::Resolution{300, 300};
  const Image image = pattern(50, 34, 3, Depth::u8);
  // libjpeg's own files are the standard: with the same metadata, the same bytes.
  metadata.comments = {{'W', 'o', 'r', 'd'}};
  const Bytes expected = jpeg_of(image, {}, metadata);
  Metadata other;
  other.resolution = Metadata::Resolution{72, 72};
  CHECK(jpeg::with_metadata(jpeg_of(image, {}, other), metadata) == expected);
  CHECK(jpeg::with_metadata(jpeg_of(image), {}) == jpeg_of(image));
}

TEST_CASE("what libjpeg warns of, or refuses, is not plain, wherever a byte is changed") {
  int plain = 0, refused = 0;
  const auto compare = [&](const Bytes& changed) {
    if (!opens(changed)) return;  // libjpeg has looked at the header before anybody asks
    const bool is_plain = jpeg::is_plain(changed);
    const std::string refusal = read_by(kJpegCodec, changed).refusal;
    plain += is_plain;
    refused += !refusal.empty();
    if (is_plain) REQUIRE(refusal == "");
  };
  const Image colours = pattern(64, 50, 3, Depth::u8);
  for (const Bytes& whole : {jpeg_of(colours), jpeg_of(colours, sampled(1, 2)),
                             jpeg_of(pattern(45, 30, 1, Depth::u8)), with_restarts(colours)}) {
    REQUIRE(jpeg::is_plain(whole));
    for (std::size_t at = 2; at < whole.size(); ++at) {
      for (const unsigned char value : {0x00, 0xFF, 0x55, 0xD9}) {
        Bytes changed = whole;
        changed[at] = value;
        compare(changed);
      }
      Bytes changed = whole;
      changed[at] ^= static_cast<unsigned char>(1 << at % 8);
      compare(changed);
      changed = whole;
      changed.erase(changed.begin() + std::ptrdiff_t(at));
      compare(changed);
    }
  }
  // Most changes of compressed data are other pixels, and no damage that anybody can see.
  CHECK(plain > 3000);
  CHECK(refused > 3000);
}

TEST_CASE("few changed files that libjpeg takes are left to the CPU") {
  const Bytes whole = jpeg_of(pattern(120, 90, 3, Depth::u8));
  const std::size_t scan = find(whole, 0xDA) + 14;
  int read = 0, plain = 0;
  for (std::size_t at = scan; at + 2 < whole.size(); ++at) {
    Bytes changed = whole;
    changed[at] ^= static_cast<unsigned char>(1 << at % 8);
    if (!read_by(kJpegCodec, changed).refusal.empty()) continue;
    ++read;
    plain += jpeg::is_plain(changed);
  }
  CHECK(plain > read / 2);
}
