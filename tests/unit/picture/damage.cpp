#include <doctest/doctest.h>

#include <random>
#include <set>

#include "src/base/errors.hpp"
#include "src/picture/formats.hpp"
#include "src/picture/io.hpp"
#include "tests/support/files/picture.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

bool reads(const std::string& path, bool refuse_damaged = true) {
  try {
    read_image(path, {.refuse_damaged = refuse_damaged}, nullptr);
    return true;
  } catch (const IoError&) {
    return false;
  }
}

}  // namespace

TEST_CASE("a file cut anywhere is refused") {
  const TemporaryFolder folder;
  for (const Format& format : written_formats()) {
    for (const int channels : {1, 3, 4}) {
      if ((channels > 1 && !format.colour) || (channels == 4 && !format.alpha)) continue;
      const Depth depth = format.holds(Depth::u8) ? Depth::u8 : Depth::f32;
      const std::string path = folder / ("whole." + std::string(format.extension()));
      write_image(path, pattern(61, 47, channels, depth), {}, nullptr);
      const Bytes whole = load(path);
      REQUIRE(reads(path));
      std::set<std::size_t> lengths;
      for (std::size_t i = 0; i < 40; ++i) lengths.insert(whole.size() * i / 40);
      for (std::size_t i = 1; i <= 8; ++i) lengths.insert(whole.size() - i);
      for (const std::size_t length : lengths) {
        save(folder / "cut",
             Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
        CAPTURE(path);
        CAPTURE(channels);
        CAPTURE(length);
        CAPTURE(whole.size());
        CHECK(!reads(folder / "cut"));
      }
    }
  }
}

TEST_CASE("a cut file gives its beginning when that is asked for") {
  const TemporaryFolder folder;
  for (const std::string extension : {"jpg", "png", "bmp", "ppm", "pam"}) {
    CAPTURE(extension);
    const std::string path = folder / ("a." + extension);
    write_image(path, pattern(120, 90, 3, Depth::u8), {}, nullptr);
    const Image whole = read_image(path, {}, nullptr);
    Bytes bytes = load(path);
    bytes.resize(bytes.size() * 2 / 3);
    save(path, bytes);
    std::vector<std::string> warnings;
    const Image part = read_image(path, {.refuse_damaged = false}, &warnings);
    CHECK(warnings.size() == 1);
    REQUIRE(part.width() == 120);
    const bool from_below = extension == "bmp";
    if (extension == "pam") continue;  // OpenCV reads it as one piece
    for (int x = 0; x < 120; ++x) {
      const int y = from_below ? 89 : 0;
      CHECK(sample(part, x, y, 1) == sample(whole, x, y, 1));
    }
  }
}

TEST_CASE("a cut WebP gives its beginning, or nothing, but never a black picture") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.webp";
  write_image(path, pattern(120, 90, 3, Depth::u8), {}, nullptr);
  Bytes bytes = load(path);
  bytes.resize(bytes.size() * 2 / 3);
  save(path, bytes);
  std::vector<std::string> warnings;
  const Image part = read_image(path, {.refuse_damaged = false}, &warnings);
  CHECK(warnings.size() == 1);
  for (int x = 0; x < 120; ++x)
    CHECK(sample(part, x, 0, 1) == sample(pattern(120, 90, 3, Depth::u8), x, 0, 1));
  CHECK(sample(part, 0, 89, 1) == 0);
  bytes.resize(60);
  save(path, bytes);
  CHECK_THROWS_WITH_AS(read_image(path, {.refuse_damaged = false}, nullptr),
                       doctest::Contains("nothing of this WebP can be read"), IoError);
}

TEST_CASE("bytes changed in a checked format are found") {
  const TemporaryFolder folder;
  write_image(folder / "a.png", pattern(61, 47, 3, Depth::u8), {}, nullptr);
  const Bytes whole = load(folder / "a.png");
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    Bytes changed = whole;
    changed[random() % changed.size()] ^= static_cast<unsigned char>(1u << random() % 8);
    save(folder / "changed", changed);
    CHECK(!reads(folder / "changed"));
  }
}

TEST_CASE("broken entropy-coded data of a JPEG is found") {
  const TemporaryFolder folder;
  write_image(folder / "a.jpg", pattern(200, 200, 3, Depth::u8), {}, nullptr);
  const Bytes whole = load(folder / "a.jpg");
  Bytes hole = whole;  // a marker where data should go on
  hole[whole.size() / 2] = 0xFF;
  hole[whole.size() / 2 + 1] = 0xD0;
  save(folder / "hole.jpg", hole);
  CHECK(!reads(folder / "hole.jpg"));
  CHECK(reads(folder / "hole.jpg", false));

  Bytes ended = whole;  // cut, with an end marker after it
  ended.resize(whole.size() / 2);
  ended.insert(ended.end(), {0xFF, 0xD9});
  save(folder / "ended.jpg", ended);
  CHECK(!reads(folder / "ended.jpg"));

  Bytes longer = whole;
  append(&longer, "trailing bytes");
  save(folder / "longer.jpg", longer);
  CHECK(!reads(folder / "longer.jpg"));
  CHECK(reads(folder / "longer.jpg", false));
}

TEST_CASE("a TIFF strip that does not decode is found") {
  const TemporaryFolder folder;
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    write_image(folder / "a.tif", pattern(61, 47, 3, depth), {}, nullptr);  // LZW
    Bytes bytes = load(folder / "a.tif");
    for (std::size_t i = 40; i < 80; ++i) bytes[i] = 0xFF;
    save(folder / "a.tif", bytes);
    CHECK(!reads(folder / "a.tif"));
  }
}

TEST_CASE("a TIFF directory that points beyond the end is found") {
  // Only the pointer to the next directory, which does not matter to the pixels, is cut.
  const TemporaryFolder folder;
  const Image image = pattern(61, 47, 4, Depth::u8);
  Bytes bytes = tiff(image, 1, false);
  save(folder / "a.tif", bytes);
  CHECK(same(image, read_image(folder / "a.tif", {}, nullptr)));
  bytes.pop_back();
  save(folder / "a.tif", bytes);
  CHECK(!reads(folder / "a.tif"));
}

TEST_CASE("the missing part of a cut JPEG is grey, not what memory held") {
  const TemporaryFolder folder;
  write_image(folder / "a.jpg", pattern(64, 640, 1, Depth::u8), {}, nullptr);
  Bytes bytes = load(folder / "a.jpg");
  bytes.resize(bytes.size() / 2);
  save(folder / "a.jpg", bytes);
  const Image part = read_image(folder / "a.jpg", {.refuse_damaged = false}, nullptr);
  const double level = sample(part, 0, 639, 0);
  for (int x = 0; x < 64; ++x) {
    CHECK(sample(part, x, 639, 0) == level);
    CHECK(sample(part, x, 600, 0) == level);
  }
}

TEST_CASE("a run-length coded BMP with a row too long is refused") {
  const TemporaryFolder folder;
  const auto bitmap = [&](const Bytes& runs) {
    Bytes bytes;
    append(&bytes, "BM");
    for (const std::uint32_t value : {54u + 1024 + 6, 0u, 54u + 1024, 40u, 4u, 2u}) {
      append_number(&bytes, value, 4, true);
    }
    for (const std::uint32_t value : {1u | 8u << 16, 1u, 6u, 1u, 1u, 256u, 0u}) {
      append_number(&bytes, value, 4, true);
    }
    bytes.resize(54 + 1024, 0x40);
    bytes.insert(bytes.end(), runs.begin(), runs.end());
    save(folder / "a.bmp", bytes);
    return reads(folder / "a.bmp");
  };
  CHECK(bitmap({4, 1, 0, 0, 4, 2, 0, 1}));
  CHECK(!bitmap({5, 1, 0, 0, 4, 2, 0, 1}));
  CHECK(!bitmap({4, 1, 0, 0, 4, 2}));
}
