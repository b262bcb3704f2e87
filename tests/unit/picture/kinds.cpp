/// Kinds of picture files that decoders pass on wrongly, or not at all: what is read, and what is
/// said. The files are written byte by byte here, and the pixels are computed by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/picture/io.hpp"
#include "tests/support/files/picture.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

struct ReadFile {
  Image image;
  std::vector<std::string> warnings;
  std::string refusal;
};

ReadFile read(const Bytes& bytes, const ReadOptions& options = {}) {
  const TemporaryFolder folder;
  save(folder / "in", bytes);
  ReadFile result;
  try {
    result.image = read_image(folder / "in", options, &result.warnings);
  } catch (const IoError& error) {
    result.refusal = error.what();
  }
  return result;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.npos, end) == 0;
}

/// The samples as a list, row by row, in the order of memory: blue, green, red, alpha.
std::vector<double> samples_of(const Image& image) {
  std::vector<double> all;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      for (int c = 0; c < image.channels(); ++c) all.push_back(sample(image, x, y, c));
    }
  }
  return all;
}

using Samples = std::vector<double>;

}  // namespace

TEST_CASE("colours of a TIFF that are multiplied by alpha are divided by it") {
  TiffKind kind{.width = 3, .height = 1, .samples = 4, .photometric = 2, .extra_samples = 1};
  const ReadFile u8 = read(tiff(kind, {60, 100, 25, 100, 7, 8, 9, 255, 0, 0, 0, 0}));
  CHECK(u8.warnings.empty());
  REQUIRE(u8.refusal == "");
  REQUIRE(u8.image.channels() == 4);
  // 25 * 255 / 100 = 63.75, 100 * 2.55 = 255, 60 * 2.55 = 153.
  CHECK(samples_of(u8.image) == Samples{64, 255, 153, 100, 9, 8, 7, 255, 0, 0, 0, 0});

  kind.bits = 16;
  const ReadFile u16 = read(tiff(kind, {6000, 10000, 2500, 10000, 7, 8, 9, 65535, 0, 0, 0, 0}));
  CHECK(u16.warnings.empty());
  REQUIRE(u16.image.depth() == Depth::u16);
  // 2500 * 6.5535 = 16383.75, 10000 * 6.5535 = 65535, 6000 * 6.5535 = 39321.
  CHECK(samples_of(u16.image) == Samples{16384, 65535, 39321, 10000, 9, 8, 7, 65535, 0, 0, 0, 0});
}

TEST_CASE("colours of a TIFF beside a straight alpha stay") {
  for (const int bits : {8, 16}) {
    const TiffKind kind{
        .width = 2, .height = 1, .bits = bits, .samples = 4, .photometric = 2, .extra_samples = 2};
    const ReadFile file = read(tiff(kind, {50, 100, 25, 10, 7, 8, 9, 0}));
    CAPTURE(bits);
    CHECK(file.warnings.empty());
    CHECK(samples_of(file.image) == Samples{25, 100, 50, 10, 9, 8, 7, 0});
  }
}

TEST_CASE("a fourth sample of a TIFF that is said to mean nothing is no alpha") {
  for (const int bits : {8, 16}) {
    const TiffKind kind{
        .width = 2, .height = 1, .bits = bits, .samples = 4, .photometric = 2, .extra_samples = 0};
    const ReadFile file = read(tiff(kind, {50, 100, 25, 10, 7, 8, 9, 0}));
    CAPTURE(bits);
    CHECK(file.image.channels() == 3);
    CHECK(samples_of(file.image) == Samples{25, 100, 50, 9, 8, 7});
  }
}

TEST_CASE("a TIFF whose white is zero is turned") {
  TiffKind kind{.width = 3, .height = 1, .photometric = 0};
  CHECK(samples_of(read(tiff(kind, {0, 55, 255})).image) == Samples{255, 200, 0});
  kind.bits = 16;
  CHECK(samples_of(read(tiff(kind, {0, 535, 65535})).image) == Samples{65535, 65000, 0});
  kind.photometric = 1;
  CHECK(samples_of(read(tiff(kind, {0, 535, 65535})).image) == Samples{0, 535, 65535});
}

TEST_CASE("a CMYK TIFF becomes colours without alpha") {
  const TiffKind kind{.width = 2, .height = 1, .samples = 4, .photometric = 5};
  const ReadFile file = read(tiff(kind, {255, 0, 0, 0, 0, 0, 0, 255}));  // cyan, black
  REQUIRE(file.image.channels() == 3);
  CHECK(samples_of(file.image) == Samples{255, 255, 0, 0, 0, 0});
}

TEST_CASE("a TIFF whose palette is missing or too short is damaged") {
  TiffKind kind{.width = 2, .height = 1, .photometric = 3};
  const Bytes none = tiff(kind, {7, 200});
  kind.extra_samples = 0;  // whose entry becomes a palette of one level
  Bytes short_one = tiff(kind, {7, 200});
  const unsigned char extra[] = {338 & 255, 338 >> 8, 3, 0};
  const auto at = std::search(short_one.begin(), short_one.end(), extra, extra + 4);
  REQUIRE(at != short_one.end());
  *at = 320 & 255;
  for (const Bytes& bytes : {none, short_one}) {
    const ReadFile strict = read(bytes);
    CHECK(strict.refusal.find("its header is damaged (it has no palette of 256 colours)") !=
          std::string::npos);
    const ReadFile grey = read(bytes, {.refuse_damaged = false});
    CHECK(grey.warnings.size() == 1);
    CHECK(samples_of(grey.image) == Samples{7, 200});
  }
}

TEST_CASE("other pictures of a TIFF are told of, and can be had") {
  const TiffKind pages{.width = 2, .height = 1, .pictures = 2};
  const Bytes both = tiff(pages, {10, 20});
  const ReadFile first = read(both);
  CHECK(samples_of(first.image) == Samples{10, 20});
  REQUIRE(first.warnings.size() == 1);
  CHECK(first.warnings[0].find("--page") != std::string::npos);

  ReadOptions second;
  second.page = 1;
  CHECK(read(both, second).warnings.empty());
  CHECK(samples_of(read(both, second).image).size() == 2);
  second.page = 2;
  CHECK(read(both, second).refusal.find("there are 2") != std::string::npos);
}

TEST_CASE("a grey TIFF with alpha keeps it, in every depth") {
  TiffKind grey{.width = 2, .height = 1, .samples = 2, .extra_samples = 2};
  const ReadFile bytes = read(tiff(grey, {10, 255, 20, 128}));
  CHECK(bytes.warnings.empty());
  CHECK(samples_of(bytes.image) == Samples{10, 10, 10, 255, 20, 20, 20, 128});
  grey.bits = 16;
  const ReadFile deep = read(tiff(grey, {65535, 65535, 2570, 300}));
  CHECK(deep.warnings.empty());
  CHECK(samples_of(deep.image) == Samples{65535, 65535, 65535, 65535, 2570, 2570, 2570, 300});
}

TEST_CASE("a TIFF of planes is read in every depth, and refused by OpenCV with the remedy") {
  TiffKind kind{.width = 2, .height = 1, .bits = 16, .samples = 3, .photometric = 2, .planes = 2};
  CHECK(samples_of(read(tiff(kind, {1, 2, 3, 4, 5, 6})).image) == Samples{5, 3, 1, 6, 4, 2});
  ReadOptions opencv;
  opencv.loader = Loader::opencv;
  CHECK(ends_with(read(tiff(kind, {1, 2, 3, 4, 5, 6}), opencv).refusal,
                  "in': OpenCV does not read TIFF of separate planes and more than 8 bits; convert "
                  "it first (tiffcp -p contig)"));
  kind.bits = 8;
  Bytes bytes = tiff(kind, {1, 2, 3, 4, 5, 6});
  CHECK(samples_of(read(bytes).image) == Samples{5, 3, 1, 6, 4, 2});
  CHECK(samples_of(read(bytes, opencv).image) == Samples{5, 3, 1, 6, 4, 2});

  // The last plane's strip, which begins at byte 12, moves behind the file's end.
  const Bytes offsets = {10, 0, 0, 0, 12, 0, 0, 0};
  const auto found = std::ranges::search(bytes, offsets);
  REQUIRE(!found.empty());
  found[4] = static_cast<unsigned char>(bytes.size());
  CHECK(read(bytes).refusal.find("the file ends too early") != std::string::npos);
}

TEST_CASE("signed samples become floats, which is said") {
  for (const auto& [bits, lowest] : {std::pair{8, 0x81u}, {16, 0x8001u}}) {
    const TiffKind kind{.width = 3, .height = 1, .bits = bits, .sample_format = 2};
    const ReadFile file = read(tiff(kind, {lowest - 2, 0, lowest}));
    CAPTURE(bits);
    REQUIRE(file.warnings.size() == 1);
    CHECK(ends_with(file.warnings[0], "in': its signed samples become floats, full range 1"));
    REQUIRE(file.image.depth() == Depth::f32);
    CHECK(samples_of(file.image) == Samples{1, 0, -1});
  }
}

TEST_CASE("a PNG whose one grey level is transparent is read as opaque, which is said") {
  const TemporaryFolder folder;
  const Image grey = pattern(5, 4, 1, Depth::u8);
  write_image(folder / "grey.png", grey, {}, nullptr);
  const ReadFile file = read(png_with_chunk(load(folder / "grey.png"), "tRNS", {0, 7}));
  CHECK(file.warnings.empty());
  REQUIRE(file.image.channels() == 4);
  for (int y = 0; y < grey.height(); ++y)
    for (int x = 0; x < grey.width(); ++x) {
      const double level = sample(grey, x, y, 0);
      for (int c = 0; c < 3; ++c) CHECK(sample(file.image, x, y, c) == level);
      CHECK(sample(file.image, x, y, 3) == (level == 7 ? 0 : 255));
    }
}

TEST_CASE("an animated WebP without frames is refused, by OpenCV too") {
  Bytes bytes;
  append(&bytes, "RIFF");
  append_number(&bytes, 4 + 8 + 10, 4, true);
  append(&bytes, "WEBPVP8X");
  append_number(&bytes, 10, 4, true);
  append_number(&bytes, 2 /* animation */, 4, true);
  append_number(&bytes, 15, 3, true);  // 16 pixels a side
  append_number(&bytes, 15, 3, true);
  ReadOptions opencv;
  opencv.loader = Loader::opencv;
  CHECK(ends_with(read(bytes, opencv).refusal,
                  "in': OpenCV does not read it (the decoder gave up); leave out "
                  "--loader=opencv"));
  CHECK(
      ends_with(read(bytes).refusal,
                "in': its data is damaged (row 0 of 16); --on-damage=warn takes what can be read"));
}

TEST_CASE("the alpha of a TIFF that is written is marked as straight") {
  const TemporaryFolder folder;
  constexpr int kExtraSamples = 338, kStraight = 2;
  for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
    const Image image = pattern(9, 7, 4, depth);
    write_image(folder / "a.tif", image, {}, nullptr);
    CHECK(tiff_tag(load(folder / "a.tif"), kExtraSamples) == kStraight);
    CHECK(same(read_image(folder / "a.tif", {}, nullptr), image));
    write_image(folder / "a.tif", pattern(9, 7, 3, depth), {}, nullptr);
    CHECK(tiff_tag(load(folder / "a.tif"), kExtraSamples) == std::nullopt);
  }
}

TEST_CASE("a lower quality makes a smaller file and a rougher picture") {
  const TemporaryFolder folder;
  const Image image = pattern(120, 90, 3, Depth::u8);
  for (const std::string extension : {"jpg", "webp"}) {
    CAPTURE(extension);
    const std::string path = folder / ("a." + extension);
    std::size_t size = SIZE_MAX;
    double nearest = -1;  // sum of differences
    for (const int quality : {95, 60, 10}) {
      write_image(path, image, {.format = "", .quality = quality}, nullptr);
      const Samples before = samples_of(image), after = samples_of(read_image(path, {}, nullptr));
      double sum = 0;
      for (std::size_t i = 0; i < before.size(); ++i) sum += std::abs(before[i] - after[i]);
      CAPTURE(quality);
      CHECK(load(path).size() < size);
      CHECK(sum > nearest);
      size = load(path).size();
      nearest = sum;
    }
  }
  // 0 is the least, and neither 1 nor a default.
  write_image(folder / "0.webp", image, {.format = "", .quality = 0}, nullptr);
  write_image(folder / "1.webp", image, {.format = "", .quality = 1}, nullptr);
  CHECK(load(folder / "0.webp").size() < load(folder / "1.webp").size());
  write_image(folder / "a.webp", image, {}, nullptr);
  CHECK(same(read_image(folder / "a.webp", {}, nullptr), image));
}
