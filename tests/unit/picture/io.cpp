#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <thread>

#include "src/base/errors.hpp"
#include "src/picture/bytes.hpp"
#include "src/picture/formats.hpp"
#include "src/picture/io.hpp"
#include "tests/support/files/picture.hpp"

using namespace convfilt;
using namespace convfilt::testing;
namespace fs = std::filesystem;

namespace {

std::string message_of(auto&& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

/// Where the pixel at x, y of the upright picture is stored, by the EXIF standard's table.
std::pair<int, int> stored_at(int orientation, int x, int y, int width, int height) {
  switch (orientation) {
    case 2: return {width - 1 - x, y};
    case 3: return {width - 1 - x, height - 1 - y};
    case 4: return {x, height - 1 - y};
    case 5: return {y, x};
    case 6: return {y, height - 1 - x};
    case 7: return {width - 1 - y, height - 1 - x};
    case 8: return {width - 1 - y, x};
    default: return {x, y};
  }
}

bool is_upright(const Image& stored, const Image& read, int orientation) {
  const bool turned = orientation >= 5;
  if (read.width() != (turned ? stored.height() : stored.width()) ||
      read.height() != (turned ? stored.width() : stored.height()) ||
      read.channels() != stored.channels() || read.depth() != stored.depth()) {
    return false;
  }
  for (int y = 0; y < read.height(); ++y) {
    for (int x = 0; x < read.width(); ++x) {
      const auto [sx, sy] = stored_at(orientation, x, y, stored.width(), stored.height());
      for (int c = 0; c < read.channels(); ++c) {
        if (sample(read, x, y, c) != sample(stored, sx, sy, c)) return false;
      }
    }
  }
  return true;
}

}  // namespace

TEST_CASE("round trips keep what the format can hold, and warn of the rest") {
  const TemporaryFolder folder;
  constexpr int kWidth = 67, kHeight = 45;  // OpenCV's JPEG 2000 needs sides of 32
  for (const Format& format : written_formats()) {
    for (const Depth depth : kDepths) {
      for (const int channels : {1, 3, 4}) {
        const Image image = pattern(kWidth, kHeight, channels, depth);
        const std::string path = folder / ("picture." + std::string(format.extension()));
        CAPTURE(path);
        CAPTURE(name_of(depth));
        CAPTURE(channels);
        std::vector<std::string> warnings;
        if (channels > 1 && !format.colour) {
          CHECK_THROWS_AS(write_image(path, image, {}, &warnings), UsageError);
          continue;
        }
        write_image(path, image, {}, &warnings);
        const Image back = read_image(path, {}, &warnings);
        const bool keeps_alpha = channels < 4 || format.alpha;
        const bool keeps_channels = keeps_alpha && (channels > 1 || format.grey);
        const bool loses_depth = !format.holds(depth) && back.depth() < depth;
        CHECK(warnings.size() == (keeps_alpha ? 0 : 1) + (loses_depth ? 1 : 0));
        if (format.holds(depth)) CHECK(back.depth() == depth);
        const bool rough = format.id == FormatId::jpeg || format.id == FormatId::heic ||
                           format.id == FormatId::avif;
        const bool lossy = rough || format.id == FormatId::hdr ||
                           (format.id == FormatId::exr && channels == 4);  // multiplied by alpha
        if (format.holds(depth) && keeps_channels && !lossy) CHECK(same(image, back));
        if (channels == 1 && !format.grey) {
          // Grey becomes colours, which are three times the same.
          REQUIRE(back.channels() == 3);
          for (int x = 0; x < kWidth; ++x)
            for (int c = 1; c < 3; ++c) CHECK(sample(back, x, 1, c) == sample(back, x, 1, 0));
        }
        // Whatever is converted, a level stays the level it was.
        if (keeps_alpha) {
          double worst = 0;
          for (int y = 0; y < kHeight; ++y) {
            for (int x = 0; x < kWidth; ++x) {
              const double was = sample(image, x, y, 0) / full_range(depth);
              const double is = sample(back, x, y, 0) / full_range(back.depth());
              worst = std::max(worst, std::abs(was - is));
            }
          }
          CHECK(worst < (rough ? 0.4 : 0.0051));  // chroma of four noisy pixels is one
        }
      }
    }
  }
}

TEST_CASE("u16 becomes u8 by a division by 257, rounded") {
  const TemporaryFolder folder;
  Image image(65536, 1, 1, Depth::u16);
  for (int x = 0; x < 65536; ++x) set_sample(&image, x, 0, 0, x);
  write_image(folder / "a.bmp", image, {}, nullptr);
  const Image back = read_image(folder / "a.bmp", {}, nullptr);
  int wrong = 0;
  for (int x = 0; x < 65536; ++x) wrong += sample(back, x, 0, 0) != std::floor(x / 257.0 + 0.5);
  CHECK(wrong == 0);
}

TEST_CASE("alpha is laid on white") {
  const TemporaryFolder folder;
  Image image(3, 1, 4, Depth::u8);
  for (int x = 0; x < 3; ++x) {
    for (int c = 0; c < 3; ++c) set_sample(&image, x, 0, c, 100);
    set_sample(&image, x, 0, 3, x == 0 ? 0 : x == 1 ? 255 : 51);
  }
  write_image(folder / "a.ppm", image, {}, nullptr);
  const Image back = read_image(folder / "a.ppm", {}, nullptr);
  CHECK(sample(back, 0, 0, 1) == 255);
  CHECK(sample(back, 1, 0, 1) == 100);
  CHECK(sample(back, 2, 0, 1) == 224);  // 100 * 0.2 + 255 * 0.8
}

TEST_CASE("orientation is applied once, with and without alpha") {
  const TemporaryFolder folder;
  constexpr int kWidth = 69, kHeight = 43;
  const std::string path = folder / "turned";
  for (const int channels : {3, 4}) {
    const Image image = pattern(kWidth, kHeight, channels, Depth::u8);
    write_image(folder / "a.jpg", image, {}, nullptr);
    write_image(folder / "a.png", image, {}, nullptr);
    write_image(folder / "a.webp", image, {}, nullptr);
    const Image jpeg = read_image(folder / "a.jpg", {}, nullptr);
    for (int orientation = 1; orientation <= 8; ++orientation) {
      CAPTURE(orientation);
      CAPTURE(channels);
      for (const bool little : {false, true}) {
        const Bytes exif_data = exif(orientation, little);
        save(path, jpeg_with_exif(load(folder / "a.jpg"), exif_data));
        CHECK(is_upright(jpeg, read_image(path, {}, nullptr), orientation));
        save(path, png_with_exif(load(folder / "a.png"), exif_data));
        CHECK(is_upright(image, read_image(path, {}, nullptr), orientation));
        save(path,
             webp_with_exif(load(folder / "a.webp"), exif_data, kWidth, kHeight, channels == 4));
        CHECK(is_upright(image, read_image(path, {}, nullptr), orientation));
      }
      for (const Depth depth : {Depth::u8, Depth::u16}) {
        for (const bool tiled : {false, true}) {
          CAPTURE(tiled);
          const Image stored = pattern(kWidth, kHeight, channels, depth);
          save(path, tiff(stored, orientation, tiled));
          CHECK(is_upright(stored, read_image(path, {}, nullptr), orientation));
        }
      }
    }
  }
}

TEST_CASE("a header that promises too much is refused") {
  const TemporaryFolder folder;
  const Image image = pattern(40, 33, 3, Depth::u8);
  for (const Format& format : written_formats()) {
    const bool grey = !format.colour;
    const std::string path = folder / ("a." + std::string(format.extension()));
    write_image(path, grey ? pattern(40, 33, 1, Depth::u8) : image.clone(), {}, nullptr);
    CAPTURE(path);
    CHECK_NOTHROW(read_image(path, {.max_pixels = 40 * 33}, nullptr));
    const auto read = [&] { read_image(path, {.max_pixels = 40 * 33 - 1}, nullptr); };
    CHECK_THROWS_AS(read(), IoError);
    CHECK(contains(message_of(read), "40x33"));
  }
  const std::string path = folder / "huge.ppm";
  for (const std::string size : {"30000 30000", "65000 65000", "2000000 1", "1 2000000"}) {
    Bytes bytes;
    append(&bytes, "P6 " + size + " 255\n...");
    save(path, bytes);
    CHECK_THROWS_AS(read_image(path, {}, nullptr), IoError);
  }
}

TEST_CASE("long and narrow pictures are read") {
  const TemporaryFolder folder;
  for (const auto& [width, height] : {std::pair{1, 200'000}, {200'000, 1}}) {
    const Image image = pattern(width, height, 3, Depth::u8);
    write_image(folder / "a.png", image, {}, nullptr);
    CHECK(same(image, read_image(folder / "a.png", {}, nullptr)));
  }
}

TEST_CASE("PNM of other largest values fills its depth") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.pnm";
  const auto level = [&](const std::string& text) {
    Bytes bytes;
    append(&bytes, text);
    save(path, bytes);
    return sample(read_image(path, {}, nullptr), 0, 0, 0);
  };
  CHECK(level(std::string("P5 1 1 15\n\x0F", 11)) == 255);
  CHECK(level(std::string("P5 1 1 1023\n\x03\xFF", 14)) == 65535);
  CHECK(level("P2 1 1 15 15") == 255);
  CHECK(level("P2 # comment\n1 1 1023\n1023") == 65535);
  CHECK(level(std::string("P5 1 1 255\n\x0F", 12)) == 15);
}

TEST_CASE("what is not a picture is refused with its name") {
  const TemporaryFolder folder;
  Bytes text;
  append(&text, "Dear Sir,\n");
  save(folder / "letter.png", text);
  save(folder / "empty.png", {});
  for (const std::string name : {"letter.png", "empty.png", "missing.png", "."}) {
    const auto read = [&] { read_image(folder / name, {}, nullptr); };
    CHECK_THROWS_AS(read(), IoError);
    CHECK(contains(message_of(read), folder / name));
    CHECK(!contains(message_of(read), "\n"));
  }
}

TEST_CASE("check_output refuses before any work") {
  const TemporaryFolder folder;
  const std::string in = folder / "in.png";
  write_image(in, pattern(4, 4, 1, Depth::u8), {}, nullptr);
  const auto check = [&](const std::string& out, const WriteOptions& options = {}) {
    check_output(in, out, options, false);
  };
  CHECK_NOTHROW(check(folder / "out.png"));
  CHECK_NOTHROW(check(folder / "OUT.PNG"));
  CHECK_NOTHROW(check(folder / "out", {.format = "png", .quality = {}}));
  CHECK_NOTHROW(check("-", {.format = "jpg", .quality = 80}));
  CHECK_THROWS_AS(check(folder / "out"), UsageError);
  CHECK_THROWS_AS(check("-"), UsageError);
  CHECK_THROWS_AS(check(folder / "out.jpg", {.format = "", .quality = 101}), UsageError);
  CHECK(contains(message_of([&] { check(folder / "out.pnng"); }), "did you mean 'png'"));
  CHECK(contains(message_of([&] { check(folder / "out.jgp"); }), "did you mean 'jpg'"));
  CHECK(contains(message_of([&] { check(folder / "out.qqqqqq"); }), "known: jpg"));
  CHECK(contains(message_of([&] { check(folder / "out.gif"); }), "out.gif': GIF is only read"));
  CHECK(contains(message_of([&] { check("-", {.format = "gif", .quality = {}}); }),
                 "cannot write GIF, which is only read"));
  CHECK_THROWS_AS(check(folder / "missing/out.png"), IoError);
  fs::create_directory(folder / "d.png");
  CHECK_THROWS_AS(check(folder / "d.png"), IoError);

  fs::create_symlink("in.png", folder / "link.png");
  fs::create_hard_link(in, folder / "hard.png");
  for (const std::string name : {"in.png", "link.png", "hard.png", "./d.png/../in.png"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(check(folder / name), UsageError);
    CHECK_NOTHROW(check_output(in, folder / name, {}, true));
  }
}

TEST_CASE("a picture of a format that is only read is refused by its writer, too") {
  const TemporaryFolder folder;
  const Image image = pattern(4, 4, 1, Depth::u8);
  CHECK_THROWS_AS(write_image(folder / "out.gif", image, {}, nullptr), UsageError);
  CHECK_THROWS_AS(write_image(folder / "out", image, {.format = "gif", .quality = {}}, nullptr),
                  UsageError);
  CHECK(fs::is_empty(folder / ""));
}

TEST_CASE("threads that read at once get their own messages") {
  const TemporaryFolder folder;
  write_image(folder / "whole.jpg", pattern(200, 200, 3, Depth::u8), {}, nullptr);
  Bytes cut = load(folder / "whole.jpg");
  cut.resize(cut.size() / 2);
  save(folder / "cut.jpg", cut);
  int wrong[4] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string name = t % 2 ? "cut.jpg" : "whole.jpg";
        const bool refused = !message_of([&] { read_image(folder / name, {}, nullptr); }).empty();
        wrong[t] += refused != (t % 2 == 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : wrong) CHECK(count == 0);
}

TEST_CASE("a file that lies in memory is read from there, and is open no more") {
  const TemporaryFolder folder;
  const Bytes written = {1, 2, 3, 4, 5};
  save(folder / "file", written);
  const auto open_files = [] { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); };
  const auto before = open_files();
  const std::unique_ptr<ByteSource> source = open_source(folder / "file");
  Bytes part(3);
  const auto read_at = [&](std::uint64_t offset) {
    part.assign(3, 0);
    return source->read(offset, part);
  };
  for (const bool in_memory : {false, true}) {
    CAPTURE(in_memory);
    CHECK(open_files() == before + (in_memory ? 0 : 1));
    CHECK(read_at(1) == 3);
    CHECK(part == Bytes{2, 3, 4});
    CHECK(read_at(3) == 2);
    CHECK(part == Bytes{4, 5, 0});
    CHECK(read_at(7) == 0);
    const auto whole = source->whole();
    CHECK(Bytes(whole.begin(), whole.end()) == written);
  }
}
