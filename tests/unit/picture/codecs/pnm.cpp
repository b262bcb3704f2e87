/// Netpbm's formats, from and to bytes in memory. The files are written here byte by byte; OpenCV
/// is the witness.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <opencv2/imgcodecs.hpp>
#include <random>

#include "tests/support/files/codec.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

using Samples = std::vector<double>;

Samples samples_of(const Image& image) {
  Samples all;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      for (int c = 0; c < image.channels(); ++c) all.push_back(sample(image, x, y, c));
    }
  }
  return all;
}

Bytes bytes_of(const std::string& text) {
  return Bytes(text.begin(), text.end());
}

Read read(const Bytes& bytes, const ReadOptions& options = {}, int step = 0) {
  return read_by(kPnmCodec, bytes, options, step);
}

/// A file of text and then of bytes.
Read read(const std::string& text, const Bytes& more = {}) {
  Bytes bytes = bytes_of(text);
  bytes.insert(bytes.end(), more.begin(), more.end());
  return read(bytes);
}

bool equals(const Image& image, const cv::Mat& pixels) {
  const int depth = image.depth() == Depth::u8    ? CV_8U
                    : image.depth() == Depth::u16 ? CV_16U
                                                  : CV_32F;
  if (pixels.cols != image.width() || pixels.rows != image.height() ||
      pixels.type() != CV_MAKETYPE(depth, image.channels()))
    return false;
  for (int y = 0; y < image.height(); ++y) {
    if (std::memcmp(image.view().row(y), pixels.ptr(y), image.row_bytes()) != 0) return false;
  }
  return true;
}

cv::Mat by_opencv(const Bytes& bytes) {
  const TemporaryFolder folder;
  save(folder / "in.pfm", bytes);  // OpenCV goes by the contents
  return cv::imread(folder / "in.pfm", cv::IMREAD_UNCHANGED);
}

Bytes big_endian_floats(const std::vector<float>& values, bool little = false) {
  Bytes bytes;
  for (const float value : values)
    append_number(&bytes, std::bit_cast<std::uint32_t>(value), 4, little);
  return bytes;
}

struct Kind {
  FormatId format;
  int channels;
  Depth depth;
};

constexpr Kind kKinds[] = {
    {FormatId::pnm, 1, Depth::u8},  {FormatId::pnm, 3, Depth::u8},  {FormatId::pnm, 1, Depth::u16},
    {FormatId::pnm, 3, Depth::u16}, {FormatId::pam, 1, Depth::u8},  {FormatId::pam, 3, Depth::u8},
    {FormatId::pam, 4, Depth::u8},  {FormatId::pam, 1, Depth::u16}, {FormatId::pam, 3, Depth::u16},
    {FormatId::pam, 4, Depth::u16}, {FormatId::pfm, 1, Depth::f32}, {FormatId::pfm, 3, Depth::f32}};

}  // namespace

TEST_CASE("what is written is read again, by any number of rows") {
  for (const Kind& kind : kKinds) {
    for (const auto& [width, height] : {std::pair{1, 1}, {37, 29}, {3, 700}, {70'000, 2}}) {
      const Image image = pattern(width, height, kind.channels, kind.depth);
      const Bytes bytes = write_by(kPnmCodec, image, header_for(image, kind.format));
      CAPTURE(name_of(kind.format));
      CAPTURE(kind.channels);
      CAPTURE(width);
      for (const int step : {0, 1, 7}) {
        const Read back = read(bytes, {}, step);
        REQUIRE(back.refusal == "");
        CHECK(back.warnings.empty());
        CHECK(back.header.format == kind.format);
        CHECK(same(back.image, image));
      }
    }
  }
}

TEST_CASE("OpenCV reads what is written") {
  for (const Kind& kind : kKinds) {
    const Image image = pattern(37, 29, kind.channels, kind.depth);
    const Bytes bytes = write_by(kPnmCodec, image, header_for(image, kind.format));
    CAPTURE(name_of(kind.format));
    CAPTURE(kind.channels);
    if (kind.format == FormatId::pam && kind.channels >= 3) {
      // OpenCV takes the RGB of a PAM for BGR.
      const cv::Mat swapped = by_opencv(bytes);
      REQUIRE(swapped.channels() == kind.channels);
      for (const int c : {0, 1, 2}) {
        const double theirs = kind.depth == Depth::u8
                                  ? swapped.ptr<std::uint8_t>(5)[7 * kind.channels + 2 - c]
                                  : swapped.ptr<std::uint16_t>(5)[7 * kind.channels + 2 - c];
        CHECK(theirs == sample(image, 7, 5, c));
      }
    } else {
      CHECK(equals(image, by_opencv(bytes)));
    }
  }
}

TEST_CASE("PNM is byte for byte what OpenCV writes") {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    for (const int channels : {1, 3}) {
      Image image = pattern(37, 29, channels, depth);
      const cv::Mat pixels(29, 37, CV_MAKETYPE(depth == Depth::u8 ? CV_8U : CV_16U, channels),
                           image.view().data);
      Bytes theirs;
      cv::imencode(channels == 1 ? ".pgm" : ".ppm", pixels, theirs);
      CHECK(write_by(kPnmCodec, image, header_for(image, FormatId::pnm)) == theirs);
    }
  }
}

TEST_CASE("ASCII and binary files of each kind") {
  CHECK(samples_of(read("P1\n3 2\n1 0 1\n0 1 0\n").image) == Samples{0, 255, 0, 255, 0, 255});
  CHECK(samples_of(read("P1 3 2 101010").image) == Samples{0, 255, 0, 255, 0, 255});
  CHECK(samples_of(read("P2 2 1 255 7 200").image) == Samples{7, 200});
  CHECK(samples_of(read("P3 1 2 255 1 2 3\n4 5 6\n").image) == Samples{3, 2, 1, 6, 5, 4});
  // Eleven pixels a row take two bytes, whose last five bits mean nothing.
  const Samples bits = {0, 255, 0, 255, 0, 255, 0, 255, 0, 0, 255};
  Samples two_rows = bits;
  two_rows.insert(two_rows.end(), 11, 255);
  CHECK(samples_of(read("P4 11 2\n", {0xAA, 0xDF, 0, 0}).image) == two_rows);
  CHECK(samples_of(read("P5 2 1 255\n", {7, 200}).image) == Samples{7, 200});
  CHECK(samples_of(read("P5 2 1 65535\n", {1, 2, 3, 4}).image) == Samples{0x102, 0x304});
  CHECK(samples_of(read("P6 1 2 255\n", {1, 2, 3, 4, 5, 6}).image) == Samples{3, 2, 1, 6, 5, 4});
  CHECK(samples_of(read("P6 1 1 65535\n", {0, 1, 0, 2, 0, 3}).image) == Samples{3, 2, 1});
  for (const std::string text : {"P1\n3 2\n1 0 1\n0 1 0\n", "P2 2 1 255 7 200 ",
                                 "P3 1 2 255 1 2 3\n4 5 6\n", "P2 3 1 65535 0 300 65535\n"}) {
    CAPTURE(text);
    CHECK(equals(read(text).image, by_opencv(bytes_of(text))));
  }
}

TEST_CASE("bitmaps of every width") {
  std::mt19937 random(3);
  for (int width = 1; width <= 130; ++width) {
    Bytes bytes = bytes_of("P4 " + std::to_string(width) + " 3\n");
    for (int i = 0; i < (width + 7) / 8 * 3; ++i)
      bytes.push_back(static_cast<unsigned char>(random() & 255));
    CAPTURE(width);
    CHECK(equals(read(bytes).image, by_opencv(bytes)));
  }
}

TEST_CASE("comments stand between the numbers of a header and of ASCII data") {
  CHECK(samples_of(read("P2 # a\n2 # 7 7\n1#b\n 255\n 7 # 9 9\n8").image)
            .empty());  // "1#" is no number
  CHECK(samples_of(read("P2 # a\n#\n2 # 7 7\n1\n#b\r255\n 7 # 9 9\n8\n#end").image) ==
        Samples{7, 8});
  CHECK(samples_of(read("P2 2 1 255\n7#9 9\n8").image) == Samples{7, 8});
  // After the largest value there is one blank, then data, whatever they look like.
  CHECK(samples_of(read("P5 2 1 255\n", {'#', '\n'}).image) == Samples{'#', '\n'});
}

TEST_CASE("every largest value fills its depth, rounded to the nearest") {
  for (const int largest : {1, 2, 15, 100, 127, 254, 255, 256, 1023, 4095, 40'000, 65534, 65535}) {
    const double full = largest > 255 ? 65535 : 255;
    const int bytes_each = largest > 255 ? 2 : 1;
    std::vector<int> levels;
    for (int i = 0; i <= 200; ++i) levels.push_back(int(std::int64_t{largest} * i / 200));
    const std::string size = " 201 1 " + std::to_string(largest) + "\n";
    std::string ascii = "P2" + size;
    Bytes binary = bytes_of("P5" + size);
    Bytes pam = bytes_of("P7\nWIDTH 201\nHEIGHT 1\nDEPTH 1\nMAXVAL " + std::to_string(largest) +
                         "\nTUPLTYPE GRAYSCALE\nENDHDR\n");
    for (const int level : levels) {
      ascii += std::to_string(level) + "\n";
      append_number(&binary, std::uint32_t(level), bytes_each, false);
      append_number(&pam, std::uint32_t(level), bytes_each, false);
    }
    CAPTURE(largest);
    for (const Read& file : {read(ascii), read(binary), read(pam)}) {
      REQUIRE(file.refusal == "");
      REQUIRE(file.image.depth() == (largest > 255 ? Depth::u16 : Depth::u8));
      double worst = 0;
      for (int i = 0; i <= 200; ++i) {
        worst = std::max(
            worst, std::abs(sample(file.image, i, 0, 0) - levels[std::size_t(i)] * full / largest));
      }
      CHECK(worst <= 0.5);
    }
  }
}

TEST_CASE("tuple types of PAM") {
  const auto pam = [](int samples, const std::string& largest, const std::string& type,
                      const Bytes& data) {
    return read("P7\n# a comment\nWIDTH 1\n\nHEIGHT 1\nDEPTH " + std::to_string(samples) +
                    "\nMAXVAL " + largest + "\n" + type + "ENDHDR\n",
                data);
  };
  CHECK(samples_of(pam(1, "255", "TUPLTYPE GRAYSCALE\n", {7}).image) == Samples{7});
  CHECK(samples_of(pam(1, "1", "TUPLTYPE BLACKANDWHITE\n", {1}).image) == Samples{255});
  CHECK(samples_of(pam(1, "1", "TUPLTYPE BLACKANDWHITE\n", {0}).image) == Samples{0});
  CHECK(samples_of(pam(3, "255", "TUPLTYPE RGB\n", {1, 2, 3}).image) == Samples{3, 2, 1});
  CHECK(samples_of(pam(4, "255", "TUPLTYPE RGB_ALPHA\n", {1, 2, 3, 4}).image) ==
        Samples{3, 2, 1, 4});
  CHECK(samples_of(pam(2, "255", "TUPLTYPE GRAYSCALE_ALPHA\n", {9, 4}).image) ==
        Samples{9, 9, 9, 4});
  CHECK(samples_of(pam(2, "1", "TUPLTYPE BLACKANDWHITE_ALPHA\n", {1, 0}).image) ==
        Samples{255, 255, 255, 0});
  CHECK(samples_of(pam(2, "65535", "TUPLTYPE GRAYSCALE_ALPHA\n", {1, 0, 0, 2}).image) ==
        Samples{256, 256, 256, 2});
  CHECK(samples_of(pam(3, "255", "", {1, 2, 3}).image) == Samples{3, 2, 1});
  CHECK(contains(pam(4, "255", "TUPLTYPE CMYK\n", {1, 2, 3, 4}).refusal, "tuple type CMYK"));
  CHECK(contains(pam(4, "255", "TUPLTYPE RGB\n", {1, 2, 3, 4}).refusal, "4 samples a pixel"));
  CHECK(contains(pam(5, "255", "", {1, 2, 3, 4, 5}).refusal, "5 samples a pixel"));
  CHECK(contains(pam(1, "0", "", {1}).refusal, "largest value is 0"));
  CHECK(contains(pam(1, "12x", "", {1}).refusal, "no number for MAXVAL"));
}

TEST_CASE("a row of grey with alpha") {
  for (int width = 1; width < 20; ++width) {
    Bytes bytes = bytes_of("P7\nWIDTH " + std::to_string(width) +
                           "\nHEIGHT 2\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n");
    Samples expected;
    for (int i = 0; i < 2 * width; ++i) {
      bytes.push_back(static_cast<unsigned char>(i));
      bytes.push_back(static_cast<unsigned char>(200 - i));
      expected.insert(expected.end(), {double(i), double(i), double(i), double(200 - i)});
    }
    CHECK(samples_of(read(bytes).image) == expected);
  }
}

TEST_CASE("PFM of both byte orders, its rows from below, its scale taken away") {
  const std::vector<float> values = {0.5f, -1, 2, 1e-20f, 7, 8};
  const Samples upright = {float(1e-20), 7, 8, 0.5, -1, 2};
  for (const bool little : {false, true}) {
    Bytes bytes = bytes_of(little ? "Pf\n3 2\n-1.000000\n" : "Pf\n3 2\n1.0\n");
    const Bytes data = big_endian_floats(values, little);
    bytes.insert(bytes.end(), data.begin(), data.end());
    for (const int step : {0, 1}) {
      const Read file = read(bytes, {}, step);
      REQUIRE(file.refusal == "");
      CHECK(samples_of(file.image) == upright);
    }
    CHECK(equals(read(bytes).image, by_opencv(bytes)));
  }
  Bytes colour = bytes_of("PF\n1 2\n-4\n");
  const Bytes data = big_endian_floats({1, 2, 3, 4, 5, 6}, true);
  colour.insert(colour.end(), data.begin(), data.end());
  CHECK(samples_of(read(colour).image) == Samples{1.5, 1.25, 1, 0.75, 0.5, 0.25});
  CHECK(equals(read(colour).image, by_opencv(colour)));
  for (const std::string scale : {"0", "x", "nan", "1e999", "--1"})
    CHECK(contains(read("Pf 1 1 " + scale + "\nabcd").refusal, "no number for its scale"));
}

TEST_CASE("a file cut anywhere is refused, with the row") {
  for (const Kind& kind : kKinds) {
    const int height = 29;
    const Image image = pattern(37, height, kind.channels, kind.depth);
    const Bytes whole = write_by(kPnmCodec, image, header_for(image, kind.format));
    const std::size_t row = image.row_bytes(), data = whole.size() - row * height;
    CAPTURE(name_of(kind.format));
    CAPTURE(kind.channels);
    for (std::size_t length = 3; length < whole.size(); length += 1 + whole.size() / 48) {
      const Bytes cut(whole.begin(), whole.begin() + std::ptrdiff_t(length));
      CAPTURE(length);
      const Read refused = read(cut);
      CHECK(contains(refused.refusal, "cannot read 'in': the file ends too early ("));
      CHECK(contains(refused.refusal, "; --on-damage=warn takes what can be read"));
      const Read taken = read(cut, {.refuse_damaged = false}, 4);
      if (length < data + row) {
        CHECK(contains(taken.refusal, "cannot read 'in': nothing of this P"));
        continue;
      }
      const int rows = int((length - data) / row);
      const bool from_below = kind.format == FormatId::pfm;
      const int broken = from_below ? height - rows : rows + 1;
      CHECK(contains(refused.refusal, "(row " + std::to_string(broken) + " of 29)"));
      REQUIRE(taken.refusal == "");
      CHECK(taken.warnings.size() == 1);
      for (int y = 0; y < height; ++y) {
        const bool there = from_below ? y >= height - rows : y < rows;
        CHECK(sample(taken.image, 36, y, 0) == (there ? sample(image, 36, y, 0) : 0));
      }
    }
  }
}

TEST_CASE("ASCII data that end or go wrong are refused with the row") {
  const std::string whole = "P2 2 3 255\n1 2\n3 4\n5 6\n";
  CHECK(read(whole).refusal == "");
  CHECK(
      contains(read("P2 2 3 255\n100 2\n3 4\n5").refusal, "the file ends too early (row 3 of 3)"));
  CHECK(contains(read("P2 2 3 255\n1 2").refusal, "bytes cannot hold 2x3 pixels"));
  CHECK(contains(read("P2 2 3 255\n1 2\n3 x4\n5 6").refusal, "('x' is no digit, row 2 of 3)"));
  CHECK(contains(read("P2 2 3 255\n1 2\n3 -4\n5 6").refusal, "('-' is no digit, row 2 of 3)"));
  CHECK(contains(read("P2 2 3 255\n1 2\n3 256\n5 6").refusal,
                 "(a sample above the largest value, 255, row 2 of 3)"));
  CHECK(contains(read("P1 2 3\n1 0 1 2 1 1").refusal,
                 "(a sample above the largest value, 255, row 2"));
  const Read taken = read(bytes_of("P2 2 3 255\n100 2\n3 x4\n5 6"), {.refuse_damaged = false}, 1);
  CHECK(samples_of(taken.image) == Samples{100, 2, 3, 0, 0, 0});
  REQUIRE(taken.warnings.size() == 1);
  CHECK(contains(taken.warnings[0], "row 2 of 3); read as far as possible"));
  CHECK(contains(read(bytes_of("P2 2 3 255\nx x x x x x"), {.refuse_damaged = false}).refusal,
                 "nothing of this PNM can be read"));
}

TEST_CASE("binary samples above the largest value are damage") {
  const Bytes bytes = bytes_of("P5 2 2 100\n\x01\x64\x65\x02");
  CHECK(contains(read(bytes).refusal, "(a sample above the largest value, 100, row 2 of 2)"));
  CHECK(samples_of(read(bytes, {.refuse_damaged = false}).image) == Samples{3, 255, 255, 5});
}

TEST_CASE("what follows the picture is blank, another picture, or damage") {
  const std::string whole = "P5 2 1 255\n12";
  CHECK(read(whole + "\n").refusal == "");
  CHECK(read(whole, {0, 0, 0}).refusal == "");
  CHECK(contains(read(whole + "\nabc").refusal, "4 bytes follow the end of the picture"));
  CHECK(contains(read(whole + "a").refusal, "1 byte follows the end of the picture"));
  CHECK(contains(read("P2 1 1 255 12 13").refusal, "2 bytes follow the end of the picture"));
  CHECK(read("P2 1 1 255 12 # end").refusal == "");
  const Read two = read(whole + whole);
  CHECK(two.refusal == "");
  REQUIRE(two.warnings.size() == 1);
  CHECK(two.warnings[0] == "'in': only the first of several pictures in this PNM is read");
}

TEST_CASE("headers that promise too much or nothing are refused") {
  for (const std::string start : {"P4 ", "P5 ", "P6 ", "P1 ", "P2 ", "Pf ", "PF "}) {
    const std::string end = start == "P4 " || start == "P1 " ? "\n" : " 255\n";
    CAPTURE(start);
    CHECK(contains(read(start + "0 5" + end + "abcdef").refusal, "promises 0x5 pixels"));
    CHECK(contains(read(start + "5 0" + end + "abcdef").refusal, "promises 5x0 pixels"));
    CHECK(contains(read(start + "30000 30000" + end + "abc").refusal,
                   "promises 30000x30000 pixels, more than the limit of"));
    CHECK(contains(read(start + "99999999999999999999 1" + end + "abc").refusal, "promises"));
    CHECK(contains(read(start + "20000 20000" + end + "abc").refusal, "the file ends too early ("));
    CHECK(contains(read(start + "-5 5" + end + "abcdef").refusal, "no number for its width"));
  }
  CHECK(contains(read("P5 1 1 65536\nab").refusal, "largest value is 65536"));
  CHECK(contains(read("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\n").refusal,
                 "the file ends too early (in its header)"));
  CHECK(contains(read("P7\nWIDTH 1\nLENGTH 1\nENDHDR\n").refusal, "a line that PAM does not know"));
}

TEST_CASE("changed bits of a file never do worse than a refusal") {
  std::mt19937 random(5);
  std::vector<Bytes> files;
  for (const Kind& kind : kKinds) {
    const Image image = pattern(9, 7, kind.channels, kind.depth);
    files.push_back(write_by(kPnmCodec, image, header_for(image, kind.format)));
  }
  files.push_back(bytes_of("P1\n3 2\n1 0 1\n0 1 0\n"));
  files.push_back(bytes_of("P3 1 2 255 1 2 3\n4 5 6\n"));
  for (const Bytes& whole : files) {
    for (int i = 0; i < 500; ++i) {
      Bytes changed = whole;
      const std::size_t reach = std::min<std::size_t>(whole.size(), 70) - 2;
      changed[2 + random() % reach] ^= static_cast<unsigned char>(1u << random() % 8);
      for (const bool refuse : {true, false}) {
        const Read file = read(changed, {.refuse_damaged = refuse, .max_pixels = 1 << 20}, 3);
        CHECK(file.refusal.empty() == !file.image.empty());
      }
    }
  }
}
