/// Codecs that are modules: what they read and write, what they say of damage, and what is said
/// where a module is missing.
#include "src/picture/modules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/picture/image.hpp"
#include "src/picture/transfer_curve.hpp"
#include "tests/support/files/codec.hpp"
#include "tests/support/files/gif.hpp"
#include "tests/support/files/picture.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

struct Decoded {
  Image image;
  Header header;
  std::vector<std::string> warnings;
};

Decoded decode(const Bytes& bytes, const ReadOptions& options = {}) {
  keep_seed(bytes);
  const auto source = source_of(bytes);
  ReadContext context("'in'", options);
  FormatId format;
  REQUIRE(sniff(std::span(bytes).first(std::min(bytes.size(), kSniffedBytes)), &format));
  const auto reader = codec_for(format, options.loader).open(*source, context);
  Decoded result{{}, reader->header(), {}};
  const Header& header = result.header;
  result.image = Image(header.width, header.height, header.channels, header.depth);
  PictureView<std::byte> rows = result.image.view();
  for (int y = 0; y < header.height; y += 7) {  // in bands
    rows.data = result.image.view().row(y);
    rows.height = std::min(7, header.height - y);
    reader->read(rows);
  }
  reader->finish();
  result.warnings = context.warnings();
  return result;
}

std::string refusal_of(const Bytes& bytes, const ReadOptions& options = {}) {
  try {
    decode(bytes, options);
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

Bytes encode(const Header& header, const Image& image, const WriteOptions& options = {}) {
  return write_by(codec_for(header.format, options.loader), image, header, options);
}

Bytes encode(FormatId format, const Image& image, const WriteOptions& options = {}) {
  return encode(header_for(image, format), image, options);
}

WriteOptions with_quality(int quality) {
  WriteOptions options;
  options.quality = quality;
  return options;
}

ReadOptions taking_damage() {
  ReadOptions options;
  options.refuse_damaged = false;
  return options;
}

/// Whether the codec is there; a build without the library says so.
bool has(FormatId format) {
  try {
    codec_for(format, Loader::automatic);
    return true;
  } catch (const IoError& error) {
    CHECK(contains(error.what(), ": there is no '"));
    MESSAGE("skipped: " << error.what());
    return false;
  }
}

/// The largest difference of two samples, full range 1.
double worst(const Image& a, const Image& b) {
  REQUIRE(a.width() == b.width());
  REQUIRE(a.height() == b.height());
  REQUIRE(a.channels() == b.channels());
  double most = 0;
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      for (int c = 0; c < a.channels(); ++c)
        most = std::max(most, std::abs(sample(a, x, y, c) / full_range(a.depth()) -
                                       sample(b, x, y, c) / full_range(b.depth())));
    }
  }
  return most;
}

/// A picture whose channels are slopes of their own, which lossy codecs keep well.
Image slopes(int width, int height, int channels, Depth depth) {
  Image image(width, height, channels, depth);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double levels[] = {0.2 + 0.6 * x / width, 0.2 + 0.5 * y / height,
                               0.8 - 0.3 * (x + y) / (width + height), 0.4 + 0.5 * x / width};
      for (int c = 0; c < channels; ++c) set_sample(&image, x, y, c, levels[c] * full_range(depth));
    }
  }
  return image;
}

/// A display's profile of gamma 2.2 with sRGB's primaries; or a grey one.
Bytes icc_profile(bool grey) {
  Bytes tags, data;
  const auto big = [](Bytes* to, std::uint32_t value) { append_number(to, value, 4, false); };
  std::vector<std::pair<std::string, Bytes>> all;
  const auto xyz = [&](double x, double y, double z) {
    Bytes bytes;
    append(&bytes, "XYZ ");
    big(&bytes, 0);
    for (const double value : {x, y, z}) big(&bytes, std::uint32_t(std::lround(value * 65536)));
    return bytes;
  };
  Bytes curve, text, copyright;
  append(&curve, "curv");
  big(&curve, 0);
  big(&curve, 1);
  append_number(&curve, 0x0233, 2, false);
  append_number(&curve, 0, 2, false);
  append(&text, "desc");
  big(&text, 0);
  big(&text, 5);
  append(&text, "test");
  text.resize(text.size() + 1 + 4 + 4 + 2 + 1 + 67, 0);
  text.resize((text.size() + 3) / 4 * 4, 0);
  append(&copyright, "text");
  big(&copyright, 0);
  append(&copyright, std::string("none\0\0\0\0", 8));
  all.emplace_back("desc", text);
  all.emplace_back("cprt", copyright);
  all.emplace_back("wtpt", xyz(0.9642, 1, 0.8249));
  if (grey) {
    all.emplace_back("kTRC", curve);
  } else {
    all.emplace_back("rXYZ", xyz(0.4361, 0.2225, 0.0139));
    all.emplace_back("gXYZ", xyz(0.3851, 0.7169, 0.0971));
    all.emplace_back("bXYZ", xyz(0.1431, 0.0606, 0.7141));
    for (const char* name : {"rTRC", "gTRC", "bTRC"}) all.emplace_back(name, curve);
  }
  big(&tags, std::uint32_t(all.size()));
  const std::size_t data_at = 128 + 4 + 12 * all.size();
  for (const auto& [name, content] : all) {
    append(&tags, name);
    big(&tags, std::uint32_t(data_at + data.size()));
    big(&tags, std::uint32_t(content.size()));
    data.insert(data.end(), content.begin(), content.end());
  }
  Bytes bytes;
  big(&bytes, std::uint32_t(data_at + data.size()));
  append(&bytes, std::string("\0\0\0\0", 4));
  big(&bytes, 0x02400000);
  append(&bytes, grey ? "mntrGRAYXYZ " : "mntrRGB XYZ ");
  bytes.resize(36, 0);
  append(&bytes, "acsp");
  bytes.resize(68, 0);
  for (const std::uint32_t value : {0xF6D6u, 0x10000u, 0xD32Du}) big(&bytes, value);
  bytes.resize(128, 0);
  bytes.insert(bytes.end(), tags.begin(), tags.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  keep_seed(bytes);
  return bytes;
}

Bytes text_bytes(const std::string& text) {
  return Bytes(text.begin(), text.end());
}

constexpr FormatId kHeif[] = {FormatId::heic, FormatId::avif};
constexpr FormatId kOpencvs[] = {FormatId::bmp, FormatId::hdr, FormatId::jp2, FormatId::exr};
constexpr int kWidth = 67, kHeight = 45;

/// The pictures of a format's tests.
std::vector<Image> pictures_for(FormatId format) {
  const auto formats = written_formats();
  const Format& f = *std::find_if(formats.begin(), formats.end(),
                                  [&](const Format& each) { return each.id == format; });
  std::vector<Image> images;
  for (const Depth depth : kDepths) {
    for (const int channels : {1, 3, 4}) {
      if (f.holds(depth) && (channels == 1 ? f.grey : channels == 3 ? f.colour : f.alpha))
        images.push_back(pattern(kWidth, kHeight, channels, depth));
    }
  }
  return images;
}

}  // namespace

TEST_CASE("first bytes tell HEIC, AVIF, JPEG XL and GIF") {
  const auto sniffed = [](const std::string& bytes) {
    FormatId id;
    return sniff(std::span(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()), &id)
               ? std::string(name_of(id))
               : "";
  };
  const auto ftyp = [](const std::string& major, const std::string& others) {
    Bytes box;
    append_number(&box, std::uint32_t(16 + others.size()), 4, false);
    append(&box, "ftyp" + major);
    append_number(&box, 0, 4, false);
    append(&box, others + "junkavif");
    return std::string(box.begin(), box.end());
  };
  CHECK(sniffed(ftyp("heic", "mif1heic")) == "HEIC");
  CHECK(sniffed(ftyp("mif1", "mif1heicmiaf")) == "HEIC");
  CHECK(sniffed(ftyp("heix", "")) == "HEIC");
  CHECK(sniffed(ftyp("avif", "mif1")) == "AVIF");
  CHECK(sniffed(ftyp("mif1", "mif1avifmiaf")) == "AVIF");
  CHECK(sniffed(ftyp("isom", "isommp42")) == "");
  CHECK(sniffed("\xFF\x0A") == "JPEG XL");
  CHECK(sniffed(std::string("\0\0\0\x0CJXL \r\n\x87\n", 12)) == "JPEG XL");
  CHECK(sniffed("GIF87a") == "GIF");
  CHECK(sniffed("GIF89a") == "GIF");
  CHECK(sniffed("GIF88a") == "");
}

TEST_CASE("GIF has a name, but is not among what is written") {
  REQUIRE(find_format("gif"));
  CHECK(!find_format("gif")->written);
  for (const Format& format : written_formats()) CHECK(format.written);
  CHECK(!contains(known_extensions(), "gif"));
  CHECK(contains(known_formats(), "GIF"));
  CHECK(find_format("JXL")->written);
}

TEST_CASE("a JPEG XL without quality keeps every sample") {
  if (!has(FormatId::jxl)) return;
  for (const Image& image : pictures_for(FormatId::jxl)) {
    const Decoded back = decode(encode(FormatId::jxl, image));
    CAPTURE(image.channels());
    CAPTURE(name_of(image.depth()));
    CHECK(same(image, back.image));
    CHECK(back.warnings.empty());
    Metadata metadata = back.header.metadata;
    if (image.depth() == Depth::f32) {  // whose label says whether they are light
      CHECK(metadata.label.codes == ColourLabel::kSrgb);
      metadata.label = {};
    }
    CHECK(metadata.empty());
    CHECK(back.header.orientation == 1);
  }
  Image wild(3, 1, 1, Depth::f32);  // floats are not cut to 0..1
  for (int x = 0; x < 3; ++x) set_sample(&wild, x, 0, 0, x * 1000 - 700.125);
  CHECK(same(wild, decode(encode(FormatId::jxl, wild)).image));
  const Image dot = pattern(1, 1, 3, Depth::u16);
  CHECK(same(dot, decode(encode(FormatId::jxl, dot)).image));
}

TEST_CASE("a lower quality makes a smaller JPEG XL, AVIF and HEIC, and a rougher picture") {
  for (const FormatId format : {FormatId::jxl, FormatId::avif, FormatId::heic}) {
    if (!has(format)) continue;
    CAPTURE(name_of(format));
    const Image image = pattern(120, 90, 3, Depth::u8);
    std::size_t size = SIZE_MAX;
    double sum_before = -1;
    for (const int quality : {100, 80, 40, 5}) {
      CAPTURE(quality);
      const Bytes bytes = encode(format, image, with_quality(quality));
      const Image back = decode(bytes).image;
      double sum = 0;
      for (int y = 0; y < 90; ++y) {
        for (int x = 0; x < 120; ++x)
          for (int c = 0; c < 3; ++c)
            sum += std::abs(sample(image, x, y, c) - sample(back, x, y, c));
      }
      CHECK(bytes.size() < size);
      CHECK(sum > sum_before);
      if (quality == 100) CHECK(sum == 0);
      size = bytes.size();
      sum_before = sum;
    }
  }
}

TEST_CASE("lossy JPEG XL keeps levels of every depth") {
  if (!has(FormatId::jxl)) return;
  for (const Depth depth : kDepths) {
    for (const int channels : {1, 3, 4}) {
      const Image image = slopes(kWidth, kHeight, channels, depth);
      const Decoded back = decode(encode(FormatId::jxl, image, with_quality(90)));
      CAPTURE(channels);
      CAPTURE(name_of(depth));
      REQUIRE(back.image.depth() == depth);
      CHECK(worst(image, back.image) < 0.06);
      CHECK(back.header.metadata.icc.empty());
    }
  }
}

TEST_CASE("JPEG XL keeps metadata, and its orientation is left to be applied") {
  if (!has(FormatId::jxl)) return;
  for (const int channels : {1, 3, 4}) {
    const Image image = pattern(kWidth, kHeight, channels, Depth::u8);
    Header header = header_for(image, FormatId::jxl);
    header.metadata.icc = icc_profile(channels == 1);
    header.metadata.exif = exif(6, false);
    header.metadata.xmp = text_bytes("<x:xmpmeta/>" + std::string(100'000, ' '));
    header.orientation = 6;
    const Decoded back = decode(encode(header, image));
    CHECK(same(image, back.image));
    CHECK(back.header.metadata.icc == header.metadata.icc);
    CHECK(back.header.metadata.exif == header.metadata.exif);
    CHECK(back.header.metadata.xmp == header.metadata.xmp);
    CHECK(back.header.orientation == 6);
    CHECK(back.header.width == kWidth);
  }
}

TEST_CASE("HEIC and AVIF keep levels, channels and depth") {
  for (const FormatId format : kHeif) {
    if (!has(format)) continue;
    for (const Depth depth : {Depth::u8, Depth::u16}) {
      for (const int channels : {1, 3, 4}) {
        const Image image = slopes(kWidth, kHeight, channels, depth);
        const Decoded back = decode(encode(format, image));
        CAPTURE(name_of(format));
        CAPTURE(channels);
        CAPTURE(name_of(depth));
        REQUIRE(back.image.depth() == depth);
        CHECK(back.warnings.empty());
        CHECK(worst(image, back.image) < 0.025);
      }
    }
  }
}

TEST_CASE("HEIC and AVIF of quality 100 keep every sample of 8 bits, and 10 or 12 bits of others") {
  for (const FormatId format : kHeif) {
    if (!has(format)) continue;
    for (const int channels : {1, 3, 4}) {
      CAPTURE(name_of(format));
      CAPTURE(channels);
      const Image image = pattern(kWidth, kHeight, channels, Depth::u8);
      CHECK(same(image, decode(encode(format, image, with_quality(100))).image));
      // Full range is kept at both ends, and a step of what is stored is 1/1023 or 1/4095.
      Image deep = pattern(kWidth, kHeight, channels, Depth::u16);
      set_sample(&deep, 0, 0, 0, 0);
      set_sample(&deep, 1, 0, 0, 65535);
      const Image back = decode(encode(format, deep, with_quality(100))).image;
      const double step = format == FormatId::heic ? 1.0 / 1023 : 1.0 / 4095;
      CHECK(worst(deep, back) <= step / 2 + 1.0 / 65535);
      CHECK(sample(back, 0, 0, 0) == 0);
      CHECK(sample(back, 1, 0, 0) == 65535);
    }
  }
}

TEST_CASE("HEIC and AVIF keep metadata, and EXIF's orientation is not applied once more") {
  for (const FormatId format : kHeif) {
    if (!has(format)) continue;
    const Image image = slopes(kWidth, kHeight, 3, Depth::u8);
    Header header = header_for(image, format);
    header.metadata.icc = icc_profile(false);
    header.metadata.exif = exif(6, true);
    header.metadata.xmp = text_bytes("<x:xmpmeta/>");
    const Decoded back = decode(encode(header, image));
    CHECK(back.header.metadata.icc == header.metadata.icc);
    CHECK(back.header.metadata.exif == header.metadata.exif);
    CHECK(back.header.metadata.xmp == header.metadata.xmp);
    CHECK(back.header.orientation == 1);
    CHECK(worst(image, back.image) < 0.025);
  }
}

TEST_CASE("bytes before the EXIF of a HEIC, an AVIF and a JPEG XL are skipped") {
  const Bytes block = exif(6, true);
  Bytes marked;
  append(&marked, std::string("Exif\0\0", 6));
  marked.insert(marked.end(), block.begin(), block.end());
  for (const FormatId format : {FormatId::heic, FormatId::avif, FormatId::jxl}) {
    if (!has(format)) continue;
    CAPTURE(name_of(format));
    const Image image = slopes(kWidth, kHeight, 3, Depth::u8);
    Header header = header_for(image, format);
    header.metadata.exif = marked;
    Bytes bytes = encode(header, image);
    const auto at = std::search(bytes.begin(), bytes.end(), marked.begin(), marked.end());
    REQUIRE(at != bytes.end());
    at[-1] = 6;  // libheif finds out by itself, our writer of JPEG XL does not
    CHECK(decode(bytes).header.metadata.exif == block);
  }
}

TEST_CASE("grey of video range becomes full range") {
  if (!has(FormatId::avif)) return;
  const Image image = slopes(kWidth, kHeight, 1, Depth::u8);
  Bytes bytes = encode(FormatId::avif, image, with_quality(100));
  const std::string colour = "colrnclx";
  const auto at = std::search(bytes.begin(), bytes.end(), colour.begin(), colour.end());
  REQUIRE(at != bytes.end());
  REQUIRE(at[14] == 0x80);  // full range
  at[14] = 0;
  const Image back = decode(bytes).image;
  int wrong = 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const double wanted = std::clamp((sample(image, x, y, 0) - 16) * 255 / 219, 0.0, 255.0);
      wrong += std::abs(sample(back, x, y, 0) - wanted) > 0.51;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("colours of HEIC and AVIF that are multiplied by alpha are divided by it") {
  for (const FormatId format : kHeif) {
    if (!has(format)) continue;
    CAPTURE(name_of(format));
    Image image = slopes(kWidth, kHeight, 4, Depth::u8);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        for (int c = 0; c < 3; ++c) set_sample(&image, x, y, c, 20 + 10 * c);
        set_sample(&image, x, y, 3, 51);
      }
    }
    Header header = header_for(image, format);
    header.metadata.exif = exif(1, true);
    Bytes bytes = encode(header, image, with_quality(100));
    // The reference of EXIF to its picture becomes one of the picture to its alpha.
    const auto reference = [&](const std::string& type) {
      const auto at = std::search(bytes.begin(), bytes.end(), type.begin(), type.end());
      REQUIRE(at != bytes.end());
      return at;
    };
    const auto auxiliary = reference("auxl"), described = reference("cdsc");
    const std::array<unsigned char, 2> alpha = {auxiliary[4], auxiliary[5]},
                                       picture = {auxiliary[8], auxiliary[9]};
    std::copy_n("prem", 4, described);
    std::copy_n(picture.begin(), 2, described + 4);
    std::copy_n(alpha.begin(), 2, described + 8);
    const Image back = decode(bytes).image;
    for (int c = 0; c < 3; ++c) CHECK(sample(back, 5, 5, c) == (20 + 10 * c) * 5);
    CHECK(sample(back, 5, 5, 3) == 51);
  }
}

TEST_CASE("a turned HEIC comes upright") {
  if (!has(FormatId::heic)) return;
  // Of these sides, no encoder needs a frame that is larger and cropped, which would come first.
  const Image image = slopes(128, 64, 3, Depth::u8);
  Bytes bytes = encode(FormatId::heic, image);
  // A property that is not needed becomes one that turns by 90 degrees against the clock.
  const std::string colour = "colrnclx";
  const auto at = std::search(bytes.begin(), bytes.end(), colour.begin(), colour.end());
  REQUIRE(at != bytes.end());
  std::copy_n("irot\1", 5, at);
  const Decoded back = decode(bytes);
  REQUIRE(back.image.width() == 64);
  REQUIRE(back.image.height() == 128);
  double most = 0;
  for (int y = 0; y < 128; ++y) {
    for (int x = 0; x < 64; ++x)
      most = std::max(most, std::abs(sample(back.image, x, y, 0) - sample(image, 127 - y, x, 0)));
  }
  CHECK(most < 10);
}

TEST_CASE("small and odd sizes of HEIC, AVIF and JPEG XL") {
  for (const FormatId format : {FormatId::heic, FormatId::avif, FormatId::jxl}) {
    if (!has(format)) continue;
    for (const auto& [width, height] : {std::pair{1, 1}, {1, 70}, {70, 1}, {15, 17}, {64, 64}}) {
      for (const int channels : {1, 3, 4}) {
        CAPTURE(name_of(format));
        CAPTURE(width);
        CAPTURE(height);
        CAPTURE(channels);
        const Image image = slopes(width, height, channels, Depth::u8);
        CHECK(worst(image, decode(encode(format, image)).image) < 0.04);
      }
    }
  }
}

TEST_CASE("a GIF's first picture, as its colours say") {
  if (!has(FormatId::gif)) return;
  for (const bool interlaced : {false, true}) {
    for (const bool own : {false, true}) {
      CAPTURE(interlaced);
      CAPTURE(own);
      GifPicture picture = gif_picture(0, 0, 37, 21);
      picture.interlaced = interlaced;
      picture.own_colours = own;
      const Decoded back = decode(gif(37, 21, {picture}));
      REQUIRE(back.image.channels() == 3);
      CHECK(back.warnings.empty());
      // Interlaced rows come in the order 0, 8, ..., 4, 12, ..., 2, 6, ..., 1, 3, ...
      std::vector<int> order;
      if (interlaced) {
        for (const auto& [first, step] : {std::pair{0, 8}, {4, 8}, {2, 4}, {1, 2}})
          for (int y = first; y < 21; y += step) order.push_back(y);
      } else {
        for (int y = 0; y < 21; ++y) order.push_back(y);
      }
      int wrong = 0;
      for (int i = 0; i < 21; ++i) {
        for (int x = 0; x < 37; ++x) {
          for (int c = 0; c < 3; ++c)
            wrong += sample(back.image, x, order[std::size_t(i)], c) !=
                     level(picture.indices[std::size_t(i * 37 + x)], 2 - c, own);
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("what of a GIF's screen is not covered, and its transparent colour, is clear") {
  if (!has(FormatId::gif)) return;
  const GifPicture part = gif_picture(3, 5, 10, 8);
  const Image composed = decode(gif(20, 15, {part})).image;
  REQUIRE(composed.channels() == 4);
  REQUIRE(composed.width() == 20);
  int wrong = 0;
  for (int y = 0; y < 15; ++y) {
    for (int x = 0; x < 20; ++x) {
      const bool inside = x >= 3 && x < 13 && y >= 5 && y < 13;
      wrong += sample(composed, x, y, 3) != (inside ? 255 : 0);
      if (inside)
        wrong += sample(composed, x, y, 2) !=
                 level(part.indices[std::size_t((y - 5) * 10 + x - 3)], 0, false);
    }
  }
  CHECK(wrong == 0);

  GifPicture holes = gif_picture(0, 0, 10, 8);
  holes.transparent = 7;
  const Image pierced = decode(gif(10, 8, {holes})).image;
  REQUIRE(pierced.channels() == 4);
  for (int i = 0; i < 80; ++i)
    CHECK(sample(pierced, i % 10, i / 10, 3) == (holes.indices[std::size_t(i)] == 7 ? 0 : 255));

  // A picture that reaches beyond the screen is cut; a screen without a size takes the picture's.
  const Image cut = decode(gif(6, 5, {gif_picture(0, 0, 10, 8)})).image;
  CHECK(cut.width() == 6);
  CHECK(cut.channels() == 3);
  CHECK(sample(cut, 1, 1, 2) == level(11 * 7 % 64, 0, false));
  CHECK(decode(gif(0, 0, {gif_picture(0, 0, 10, 8)})).image.width() == 10);
}

TEST_CASE("of an animated GIF the first picture is read by default") {
  if (!has(FormatId::gif)) return;
  GifPicture second = gif_picture(0, 0, 10, 8);
  std::fill(second.indices.begin(), second.indices.end(), static_cast<unsigned char>(1));
  const Decoded back = decode(gif(10, 8, {gif_picture(0, 0, 10, 8), second}));
  CHECK(sample(back.image, 1, 0, 2) == level(7, 0, false));
  CHECK(back.header.pages == 2);
  // What is transparent in the second picture is not so in the first.
  second.transparent = 7;
  CHECK(same(decode(gif(10, 8, {gif_picture(0, 0, 10, 8), second})).image, back.image));
  // The second shows the first there.
  ReadOptions second_page;
  second_page.page = 1;
  CHECK(same(decode(gif(10, 8, {gif_picture(0, 0, 10, 8), second}), second_page).image,
             decode(gif(10, 8, {gif_picture(0, 0, 10, 8), second})).image) == false);
}

TEST_CASE("a GIF code that has no string yet is damage, with its row") {
  if (!has(FormatId::gif)) return;
  // Codes of 8 bits: 128 clears the table, and after k codes more strings 130 to 128 + k are there.
  constexpr int kWidth = 10, kHeight = 8;
  for (const bool interlaced : {false, true}) {
    for (int row = 1; row < kHeight; ++row) {
      for (const int beyond : {1, 3, 20}) {
        GifPicture picture = gif_picture(0, 0, kWidth, kHeight);
        picture.interlaced = interlaced;
        const Image whole = decode(gif(kWidth, kHeight, {picture})).image;
        const int at = row * kWidth + 4;
        picture.codes = {128};
        picture.codes.insert(picture.codes.end(), picture.indices.begin(), picture.indices.end());
        // String 129 + at is the next one, of two indices, which code 0 after it makes up for.
        picture.codes[std::size_t(at) + 1] = static_cast<unsigned char>(129 + at + beyond);
        if (129 + at + beyond > 255) continue;
        picture.codes.erase(picture.codes.begin() + at + 2);
        const Bytes bytes = gif(kWidth, kHeight, {picture});
        constexpr int kOrder[] = {0, 4, 2, 6, 1, 3, 5, 7};
        const int shown = interlaced ? kOrder[row] : row;
        CAPTURE(interlaced);
        CAPTURE(row);
        CAPTURE(beyond);
        CHECK(contains(refusal_of(bytes), "its data is damaged (row " + std::to_string(shown) +
                                              " of 8: code " + std::to_string(129 + at + beyond) +
                                              " before its string)"));
        const Decoded part = decode(bytes, taking_damage());
        REQUIRE(part.warnings.size() == 1);
        // All other pixels are there: before the code, and behind the two that it stands for.
        int wrong = 0;
        for (int i = 0; i < kWidth * kHeight; ++i) {
          if (i == at || i == at + 1) continue;
          const int y = interlaced ? kOrder[i / kWidth] : i / kWidth;
          wrong += sample(part.image, i % kWidth, y, 1) != sample(whole, i % kWidth, y, 1);
        }
        CHECK(wrong == 0);
      }
    }
  }
  // The next string, which the code before promised, is right.
  GifPicture same_colour = gif_picture(0, 0, 6, 1);
  same_colour.codes = {128, 5, 130, 131};
  const Decoded right = decode(gif(6, 1, {same_colour}));
  CHECK(right.warnings.empty());
  for (int x = 0; x < 6; ++x) CHECK(sample(right.image, x, 0, 2) == level(5, 0, false));
  // After a clearing there are none.
  same_colour.codes = {128, 130, 5, 5, 5, 5, 5};
  CHECK(contains(refusal_of(gif(6, 1, {same_colour})), "(row 0 of 1: code 130 before its string)"));
  same_colour.codes = {128, 5, 5, 5};
  CHECK(contains(refusal_of(gif(6, 1, {same_colour})), "(row 0 of 1: its codes end)"));
  same_colour.codes = {128, 5, 5, 5, 5, 5, 5, 5, 5};
  CHECK(contains(refusal_of(gif(6, 1, {same_colour})), "(row 0 of 1: more pixels than it has)"));
}

TEST_CASE("a GIF's colours that its palette does not have are damage, but for the clear one") {
  if (!has(FormatId::gif)) return;
  for (const bool interlaced : {false, true}) {
    GifPicture picture = gif_picture(0, 0, 10, 8);
    picture.interlaced = interlaced;
    const Image whole = decode(gif(10, 8, {picture})).image;
    picture.indices[37] = 90;
    const Bytes bytes = gif(10, 8, {picture});
    CHECK(contains(refusal_of(bytes), "its data is damaged (row " +
                                          std::to_string(interlaced ? 6 : 3) +
                                          " of 8: colour 90 of a palette of 64)"));
    const Decoded part = decode(bytes, taking_damage());
    CHECK(part.warnings.size() == 1);
    int others = 0;
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 10; ++x) others += sample(part.image, x, y, 1) != sample(whole, x, y, 1);
    CHECK(others == 1);
    picture.transparent = 90;
    CHECK(refusal_of(gif(10, 8, {picture})) == "");
  }
}

TEST_CASE("a BMP's colours that its palette does not have are damage") {
  if (!has(FormatId::bmp)) return;
  constexpr int kWidth = 13, kHeight = 5, kBad = 7;  // a column
  for (const int bits : {1, 4, 8}) {
    for (const bool from_above : {false, true}) {
      for (int coding = 0; coding <= (bits == 1 ? 0 : 1); ++coding) {
        if (coding && from_above) continue;  // run lengths go from below alone
        for (int bad_row = -1; bad_row < kHeight; ++bad_row) {
          const int colours = (1 << bits) - 1;
          Bytes rows;
          const int row_bytes = (kWidth * bits + 31) / 32 * 4;
          for (int stored = 0; stored < kHeight; ++stored) {
            const int y = from_above ? stored : kHeight - 1 - stored;
            Bytes row(std::size_t(row_bytes), 0);
            if (y == bad_row)
              row[std::size_t(kBad * bits / 8)] |=
                  static_cast<unsigned char>(colours << (8 - bits - kBad * bits % 8));
            if (!coding) {
              rows.insert(rows.end(), row.begin(), row.end());
            } else if (bits == 8) {
              for (int x = 0; x < kWidth; ++x) rows.insert(rows.end(), {1, row[std::size_t(x)]});
              rows.insert(rows.end(), {0, 0});
            } else {
              rows.insert(rows.end(), {0, kWidth});  // nibbles as they are, in whole words
              rows.insert(rows.end(), row.begin(), row.end());
              rows.insert(rows.end(), {0, 0});
            }
          }
          if (coding) rows.insert(rows.end(), {0, 1});
          Bytes bytes;
          append(&bytes, "BM");
          const auto pixels_at = std::uint32_t(54 + 4 * colours);
          append_number(&bytes, pixels_at + std::uint32_t(rows.size()), 4, true);
          append_number(&bytes, 0, 4, true);
          append_number(&bytes, pixels_at, 4, true);
          append_number(&bytes, 40, 4, true);
          append_number(&bytes, kWidth, 4, true);
          append_number(&bytes, std::uint32_t(from_above ? -kHeight : kHeight), 4, true);
          append_number(&bytes, 1, 2, true);
          append_number(&bytes, std::uint32_t(bits), 2, true);
          append_number(&bytes, std::uint32_t(coding == 0 ? 0 : bits == 8 ? 1 : 2), 4, true);
          append_number(&bytes, std::uint32_t(rows.size()), 4, true);
          for (const int number : {2835, 2835, colours, 0})
            append_number(&bytes, std::uint32_t(number), 4, true);
          for (int i = 0; i < colours; ++i)
            append_number(&bytes, 0x102030u + std::uint32_t(i), 4, true);
          bytes.insert(bytes.end(), rows.begin(), rows.end());
          CAPTURE(bits);
          CAPTURE(from_above);
          CAPTURE(coding);
          CAPTURE(bad_row);
          if (bad_row < 0) {
            CHECK(refusal_of(bytes) == "");
            continue;
          }
          CHECK(contains(refusal_of(bytes), "its data is damaged (row " + std::to_string(bad_row) +
                                                " of 5: colour " + std::to_string(colours) +
                                                " of a palette of " + std::to_string(colours) +
                                                ")"));
          CHECK(decode(bytes, taking_damage()).warnings.size() == 1);
        }
      }
    }
  }
}

TEST_CASE("a small JPEG that promises many pixels takes no memory by OpenCV either") {
  if (!has(FormatId::bmp)) return;
  Bytes bytes;
  {
    MemorySink sink;
    Header header;
    header.format = FormatId::jpeg;
    header.width = header.height = 8;
    WriteOptions progressive;
    progressive.progressive = true;
    const auto writer = kJpegCodec.create(sink, header, progressive);
    const std::byte pixels[64]{};
    writer->write({pixels, 8, 8, 1, 8}, {});
    writer->finish();
    bytes = sink.bytes();
  }
  ReadOptions options;
  options.loader = Loader::opencv;
  CHECK(refusal_of(bytes, options) == "");
  for (std::size_t at = 0; at + 9 < bytes.size(); ++at) {
    if (bytes[at] != 0xFF || bytes[at + 1] != 0xC2) continue;
    bytes[at + 5] = bytes[at + 7] = 0x30;  // 12,288 and some each way
  }
  const std::string too_many =
      "cannot read 'in': " + std::to_string(bytes.size()) +
      " bytes cannot hold 12296x12296 pixels, unless all are of one colour; raise the limit with "
      "--max-pixels 1209533118 if you trust the file";
  for (const bool refuses : {true, false}) {
    options.refuse_damaged = refuses;
    CHECK(refusal_of(bytes, options) == too_many);
  }
  bytes[4] = bytes[5] = 0;  // the first segment's length, behind which libjpeg goes on
  for (const bool refuses : {true, false}) {
    options.refuse_damaged = refuses;
    CHECK(refusal_of(bytes, options) == too_many);
  }
}

TEST_CASE("OpenCV's formats are read and written as OpenCV does it") {
  for (const FormatId format : kOpencvs) {
    if (!has(format)) continue;
    for (const Image& image : pictures_for(format)) {
      const Bytes bytes = encode(format, image);
      const Decoded back = decode(bytes);
      CAPTURE(name_of(format));
      CAPTURE(image.channels());
      if (format == FormatId::exr)
        CHECK(worst(image, back.image) < 1e-6);  // colours were multiplied by alpha
      else if (format != FormatId::hdr)
        CHECK(same(image, back.image));
      if (format == FormatId::exr || format == FormatId::hdr) continue;  // read from files only
      const cv::Mat witness = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
      REQUIRE(witness.cols == back.image.width());
      REQUIRE(witness.channels() == back.image.channels());
      for (int y = 0; y < witness.rows; ++y)
        CHECK(std::memcmp(witness.ptr(y), back.image.view().row(y), back.image.row_bytes()) == 0);
    }
  }
}

TEST_CASE("with --loader=opencv OpenCV reads and writes the other formats, too") {
  if (!has(FormatId::bmp)) return;
  WriteOptions write;
  write.loader = Loader::opencv;
  ReadOptions read;
  read.loader = Loader::opencv;
  for (const FormatId format : {FormatId::jpeg, FormatId::png, FormatId::tiff, FormatId::webp,
                                FormatId::pnm, FormatId::pam, FormatId::pfm}) {
    for (const Image& image : pictures_for(format)) {
      CAPTURE(name_of(format));
      CAPTURE(image.channels());
      CAPTURE(name_of(image.depth()));
      const Bytes bytes = encode(format, image, write);
      const Decoded back = decode(bytes, read);
      const bool grey_as_colour = format == FormatId::webp && image.channels() == 1;
      if (format != FormatId::jpeg && !grey_as_colour) CHECK(same(image, back.image));
      if (format == FormatId::pam || format == FormatId::pfm || format == FormatId::tiff) continue;
      const cv::Mat witness = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
      REQUIRE(witness.channels() == back.image.channels());
      for (int y = 0; y < witness.rows; ++y)
        CHECK(std::memcmp(witness.ptr(y), back.image.view().row(y), back.image.row_bytes()) == 0);
    }
  }
  const Bytes heavy = encode(FormatId::jpeg, pattern(9, 7, 3, Depth::u8), write);
  Bytes turned = jpeg_with_exif(heavy, exif(6, true));
  const Decoded back = decode(turned, read);
  CHECK(back.header.orientation == 6);
  REQUIRE(back.warnings.size() == 1);
  CHECK(contains(back.warnings[0], "OpenCV reads none of its metadata; leave out --loader=opencv"));
  CHECK(decode(heavy, read).warnings.empty());
}

TEST_CASE("a cut file by OpenCV is a picture of its header's size, or refused") {
  if (!has(FormatId::bmp)) return;
  for (const FormatId format : {FormatId::jpeg, FormatId::png, FormatId::tiff, FormatId::webp,
                                FormatId::pnm, FormatId::pam, FormatId::pfm}) {
    int refused = 0;
    for (const Image& image : pictures_for(format)) {
      const Bytes whole = encode(format, image);
      for (int fortieths = 0; fortieths < 40; ++fortieths) {
        Bytes cut = whole;
        cut.resize(std::max(kSniffedBytes, whole.size() * std::size_t(fortieths) / 40));
        CAPTURE(name_of(format));
        CAPTURE(cut.size());
        for (const bool refuses : {true, false}) {
          ReadOptions options;
          options.loader = Loader::opencv;
          options.refuse_damaged = refuses;
          CAPTURE(refuses);
          try {
            const Image part = decode(cut, options).image;
            CHECK(part.width() == kWidth);
            CHECK(part.height() == kHeight);
          } catch (const IoError& error) {
            CHECK(contains(error.what(), "cannot read 'in': "));
            ++refused;
          }
        }
      }
    }
    MESSAGE(name_of(format) << " refused " << refused << " of "
                            << 80 * pictures_for(format).size());
    CHECK(refused > 0);
  }
}

TEST_CASE("a TIFF's orientation of any integer type is applied once, by OpenCV, too") {
  if (!has(FormatId::bmp)) return;
  const Image image = pattern(5, 3, 3, Depth::u8);
  ReadOptions opencv;
  opencv.loader = Loader::opencv;
  for (const bool little : {true, false}) {
    Header header = header_for(image, FormatId::tiff);
    header.metadata.exif = exif(1, little);  // whose byte order the file takes
    const Bytes upright = encode(header, image);
    REQUIRE(upright[0] == (little ? 'I' : 'M'));
    Bytes entry_begin;
    for (const std::uint32_t number : {274u, 3u}) append_number(&entry_begin, number, 2, little);
    const auto found =
        std::search(upright.begin(), upright.end(), entry_begin.begin(), entry_begin.end());
    REQUIRE(found != upright.end());
    for (const auto& [type, size] : {std::pair{1, 1}, {3, 2}, {4, 4}}) {  // BYTE, SHORT, LONG
      Bytes type_and_value, bytes = upright;
      append_number(&type_and_value, std::uint32_t(type), 2, little);
      append_number(&type_and_value, 1, 4, little);
      append_number(&type_and_value, 6, size, little);
      type_and_value.resize(10, 0);
      std::ranges::copy(type_and_value, bytes.begin() + (found - upright.begin()) + 2);
      CAPTURE(little);
      CAPTURE(type);
      for (const ReadOptions& options : {ReadOptions(), opencv}) {
        const Decoded back = decode(bytes, options);
        CHECK(back.header.orientation == 6);
        CHECK(same(back.image, image));
      }
    }
  }
}

TEST_CASE("OpenCV's samples of a PNM or PAM fill their depth, whatever its largest value is") {
  if (!has(FormatId::bmp)) return;
  ReadOptions opencv;
  opencv.loader = Loader::opencv;
  const std::string comment = "# " + std::string(70000, '9') + "\n";
  for (const std::string& file :
       {std::string("P5\n# 3 # 7\n2 1\n100\n\x07\x64"), "P5\n" + comment + "2 1\n100\n\x07\x64",
        std::string("P5 2 1 1000\n\x01\x07\x03\xE8"), std::string("P2 2 1 100 20 100"),
        std::string("P4 2 1\n\x40"), std::string("P1 2 1 0 1"),
        std::string("P7\nWIDTH 2\nHEIGHT 1\nDEPTH 1\nMAXVAL 99\nENDHDR\n\x07\x63")}) {
    Bytes bytes;
    append(&bytes, file);
    CAPTURE(file.substr(0, 40));
    CHECK(same(decode(bytes, opencv).image, decode(bytes).image));
  }
}

TEST_CASE("grey with alpha by OpenCV keeps both") {
  if (!has(FormatId::bmp)) return;
  Bytes bytes;
  append(&bytes, "P7\nWIDTH 2\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n");
  bytes.insert(bytes.end(), {64, 128, 192, 255});
  ReadOptions options;
  options.loader = Loader::opencv;
  const Image image = decode(bytes, options).image;
  REQUIRE(image.channels() == 4);
  const double wanted[] = {64, 64, 64, 128, 192, 192, 192, 255};
  for (int i = 0; i < 8; ++i) CHECK(sample(image, i / 4, 0, i % 4) == wanted[i]);
}

TEST_CASE("a file of a module's format that is cut anywhere is refused, with where") {
  std::vector<std::pair<FormatId, Bytes>> files;
  for (const FormatId format : {FormatId::bmp, FormatId::hdr, FormatId::jp2, FormatId::exr,
                                FormatId::heic, FormatId::avif, FormatId::jxl}) {
    if (!has(format)) continue;
    for (const Image& image : pictures_for(format))
      files.emplace_back(format, encode(format, image));
  }
  if (has(FormatId::gif))
    files.emplace_back(FormatId::gif, gif(37, 21, {gif_picture(0, 0, 37, 21)}));
  for (const auto& [format, whole] : files) {
    CAPTURE(name_of(format));
    CAPTURE(whole.size());
    REQUIRE(refusal_of(whole) == "");
    std::vector<std::size_t> lengths;
    for (std::size_t i = 1; i < 40; ++i) lengths.push_back(whole.size() * i / 40);
    for (std::size_t i = 1; i <= 8; ++i) lengths.push_back(whole.size() - i);
    // Within the header of the box that holds the pixels of a HEIC or an AVIF.
    const std::string box = "mdat";
    const auto at = std::search(whole.begin(), whole.end(), box.begin(), box.end());
    for (std::size_t i = 0; i <= 8 && at != whole.end(); ++i)
      lengths.push_back(std::size_t(at - whole.begin()) - 4 + i);
    for (const std::size_t length : lengths) {
      if (length < kSniffedBytes) continue;
      CAPTURE(length);
      Bytes cut = whole;
      cut.resize(length);
      const std::string refusal = refusal_of(cut);
      CAPTURE(refusal);
      CHECK(contains(refusal, "cannot read 'in': the file ends too early ("));
      CHECK(contains(refusal, "; --on-damage=warn takes what can be read"));
      // With damage taken, there is a picture with a warning, or a word that nothing is left.
      try {
        const Decoded rest = decode(cut, taking_damage());
        CHECK(rest.warnings.size() == 1);
        CHECK(contains(rest.warnings[0], "; read as far as possible"));
      } catch (const IoError& error) {
        CHECK(contains(error.what(), "nothing of this " + std::string(name_of(format))));
      }
    }
  }
}

TEST_CASE("a cut JPEG XL gives its beginning") {
  if (!has(FormatId::jxl)) return;
  const Image image = pattern(600, 520, 3, Depth::u8);
  Bytes bytes = encode(FormatId::jxl, image);
  bytes.resize(bytes.size() * 2 / 3);
  const Decoded part = decode(bytes, taking_damage());
  CHECK(part.warnings.size() == 1);
  int wrong = 0;
  for (int y = 0; y < 100; ++y) {
    for (int x = 0; x < 100; ++x) wrong += sample(part.image, x, y, 0) != sample(image, x, y, 0);
  }
  CHECK(wrong == 0);
  CHECK(sample(part.image, 599, 519, 0) == 0);
}

TEST_CASE("a JPEG 2000 whose codestream goes to the end of the file needs an end mark there") {
  if (!has(FormatId::jp2)) return;
  Bytes bytes = encode(FormatId::jp2, pattern(kWidth, kHeight, 3, Depth::u8));
  const std::string type = "jp2c";
  const auto at = std::search(bytes.begin(), bytes.end(), type.begin(), type.end());
  REQUIRE(at != bytes.end());
  std::fill(at - 4, at, static_cast<unsigned char>(0));  // no length
  CHECK(refusal_of(bytes) == "");
  for (const int missing : {1, 2, 200}) {
    Bytes cut = bytes;
    cut.resize(cut.size() - std::size_t(missing));
    CHECK(contains(refusal_of(cut), "the file ends too early (no end-of-codestream marker)"));
  }
}

TEST_CASE("an AVIF of which libheif warns twice") {
  if (!has(FormatId::avif)) return;
  // Fuzzing found it: libheif gives both warnings where room is for one.
  constexpr std::string_view kFile(
      "\x00\x00\x00\x1C\x66\x74\x79\x70\x61\x76\x69\x66\x00\x00\x00\x00\x61\x76\x69\x66\x6D\x69"
      "\x66\x31\x6D\x69\x61\x66\x00\x00\x00\xE8\x6D\x65\x74\x61\x00\x00\x00\x00\x00\x00\x00\x21"
      "\x68\x64\x6C\x72\x00\x00\x00\x00\x00\x00\x00\x00\x70\x69\x63\x74\x00\x00\x00\x00\x00\x00"
      "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0E\x70\x69\x74\x6D\x00\x00\x00\x00\x00\x01\x00"
      "\x00\x00\x22\x69\x6C\x6F\x63\x00\x00\x00\x00\x44\x40\x00\x01\x00\x01\x00\x00\x00\x00\x01"
      "\x0C\x00\x01\x00\x00\x00\x00\x00\x00\x00\x22\x00\x00\x00\x23\x69\x69\x6E\x66\x00\x00\x00"
      "\x00\x00\x01\x00\x00\x00\x15\x69\x6E\x66\x65\x02\x00\x00\x00\x00\x01\x00\x00\x61\x76\x30"
      "\x31\x00\x00\x00\x00\x68\x69\x70\x72\x70\x00\x00\x00\x49\x69\x70\x63\x6F\x00\x00\x00\x13"
      "\x63\x6F\x6C\x72\x6E\x63\x6C\x78\x00\x01\x00\x0D\x00\x06\x80\x00\x00\x00\x0C\x61\x76\x31"
      "\x43\x81\x00\x1C\x00\x00\x00\x00\x14\x69\x73\x70\x65\x00\x00\x00\x00\x00\x00\x00\x0F\x00"
      "\x00\x00\x11\x00\x00\x00\x0E\x70\x69\x78\x69\x00\x00\x00\x00\x01\x08\x00\x00\x00\x17\x69"
      "\x70\x6D\x61\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01\x04\x81\x82\x03\x84\x00\x00\x00\x2A"
      "\x6D\x64\x61\x74\x12\x00\x0A\x08\x18\x0D\x3A\x0C\x30\xE9\xD0\x6A\x32\x14\x10\xC0\x00\x01"
      "\x00\x0D\xC7\xC3\x42\xB2\x1A\x05\x30\xB3\x9F\x5C\x49\x29\x42\x49",
      302);
  const Decoded back = decode(Bytes(kFile.begin(), kFile.end()), taking_damage());
  REQUIRE(back.warnings.size() == 1);
  CHECK(back.warnings[0] ==
        "'in': its data is damaged (Invalid input: Unknown NCLX transfer characteristics); read as "
        "far as possible");
}

TEST_CASE("a HEIC's box of unprintable name is named in print") {
  if (!has(FormatId::heic)) return;
  Bytes file = encode(FormatId::heic, pattern(64, 64, 3, Depth::u8));
  append(&file, std::string("\0\0\xFF\0\x1B]\x01\xFF", 8));
  const std::string refusal = refusal_of(file);
  CHECK(contains(refusal, "goes beyond its end"));
  CHECK(std::all_of(refusal.begin(), refusal.end(), [](char c) { return c >= ' ' && c < '\x7F'; }));
}

TEST_CASE("bytes that follow a whole HEIC or AVIF are told from a box that is cut") {
  for (const FormatId format : {FormatId::heic, FormatId::avif}) {
    if (!has(format)) continue;
    Bytes file = encode(format, pattern(64, 64, 3, Depth::u8));
    append(&file, std::string("\0\0\1\0me", 6));
    CHECK(contains(refusal_of(file), "6 bytes follow the end of the picture"));
  }
}

TEST_CASE("an OpenEXR whose attribute has another length than its type") {
  if (!has(FormatId::exr)) return;
  const Bytes file = encode(FormatId::exr, pattern(20, 10, 3, Depth::f32));
  for (const std::string& name :
       {std::string("compression\0compression", 23), std::string("channels\0chlist", 15)}) {
    const auto found = std::search(file.begin(), file.end(), name.begin(), name.end());
    REQUIRE(found != file.end());
    Bytes longer = file;
    longer[std::size_t(found - file.begin()) + name.size() + 1] += 16;
    CHECK(contains(refusal_of(longer), "its data is damaged (in its header)"));
  }
}

TEST_CASE("a cut BMP and a cut GIF give their beginning") {
  if (has(FormatId::bmp)) {
    for (const int channels : {1, 3}) {
      const Image image = pattern(kWidth, kHeight, channels, Depth::u8);
      Bytes bytes = encode(FormatId::bmp, image);
      bytes.resize(bytes.size() * 2 / 3);
      const Decoded part = decode(bytes, taking_damage());
      int wrong = 0;
      for (int y = kHeight / 2; y < kHeight; ++y) {  // rows come from below
        for (int x = 0; x < kWidth; ++x)
          wrong += sample(part.image, x, y, 0) != sample(image, x, y, 0);
      }
      CHECK(wrong == 0);
      CHECK(sample(part.image, 5, 0, 0) == 0);
      const std::string refusal = refusal_of(bytes);
      CHECK(contains(refusal, "the file ends too early (row "));
      CHECK(contains(refusal, " of 45)"));
    }
  }
  if (has(FormatId::gif)) {
    const Bytes whole = gif(100, 80, {gif_picture(0, 0, 100, 80)});
    Bytes bytes = whole;
    bytes.resize(bytes.size() / 2);
    const Decoded part = decode(bytes, taking_damage());
    const Image image = decode(whole).image;
    for (int y = 0; y < 36; ++y) {
      for (int x = 0; x < 100; ++x) CHECK(sample(part.image, x, y, 1) == sample(image, x, y, 1));
    }
    CHECK(sample(part.image, 3, 79, 1) == 0);
  }
}

TEST_CASE("changed bytes of a module's format make no crash") {
  for (const FormatId format : {FormatId::bmp, FormatId::hdr, FormatId::jp2, FormatId::exr,
                                FormatId::heic, FormatId::avif, FormatId::jxl, FormatId::gif}) {
    if (!has(format)) continue;
    const Image image = pattern(
        61, 47, 3, format == FormatId::hdr || format == FormatId::exr ? Depth::f32 : Depth::u8);
    const Bytes whole =
        format == FormatId::gif ? gif(37, 21, {gif_picture(0, 0, 37, 21)}) : encode(format, image);
    std::mt19937 random(3);
    int refused = 0;
    for (int i = 0; i < 500; ++i) {
      Bytes changed = whole;
      changed[8 + random() % (changed.size() - 8)] ^=
          static_cast<unsigned char>(1u << random() % 8);
      FormatId found;
      if (!sniff(std::span(changed).first(kSniffedBytes), &found) || found != format) continue;
      ReadOptions options;
      options.max_pixels = 1 << 20;
      options.refuse_damaged = i % 2 == 0;
      refused += refusal_of(changed, options) != "";
    }
    MESSAGE(name_of(format) << ": " << refused << " of 500 files with a changed bit are refused");
  }
}

/// A JPEG 2000 whose codestream says another size, and tiles of a size; its box says what it said,
/// or the same.
Bytes with_size(Bytes file, std::uint32_t width, std::uint32_t height, std::uint32_t tile,
                bool box_too) {
  const auto put = [&](std::size_t at, std::uint32_t number) {
    for (std::size_t i = 0; i < 4; ++i)
      file[at + i] = static_cast<unsigned char>(number >> (24 - 8 * i));
  };
  constexpr unsigned char kSiz[] = {0xFF, 0x4F, 0xFF, 0x51}, kBox[] = {'i', 'h', 'd', 'r'};
  const auto place = [&](const auto& mark) {
    return std::size_t(std::search(file.begin(), file.end(), std::begin(mark), std::end(mark)) -
                       file.begin());
  };
  const std::size_t siz = place(kSiz) + 8, box = place(kBox) + 4;
  put(siz, width);
  put(siz + 4, height);
  put(siz + 16, tile);
  put(siz + 20, tile);
  if (!box_too) return file;
  put(box, height);
  put(box + 4, width);
  return file;
}

TEST_CASE("a JPEG 2000 of any size is what OpenCV reads") {
  if (!has(FormatId::jp2)) return;
  for (const auto& [width, height] :
       {std::pair{1, 1}, {1, 90}, {70, 1}, {2, 3}, {31, 31}, {31, 200}, {300, 17}, {32, 32}}) {
    for (const Depth depth : {Depth::u8, Depth::u16}) {
      for (const int channels : {1, 3, 4}) {
        CAPTURE(width);
        CAPTURE(channels);
        const Image image = pattern(width, height, channels, depth);
        Bytes file;
        try {
          file = encode(FormatId::jp2, image);
        } catch (const IoError& error) {  // a build without OpenJPEG's headers
          CHECK(std::min(width, height) < 32);
          CHECK(contains(error.what(), "choose another format"));
          continue;
        }
        CHECK(same(decode(file).image, image));
        const cv::Mat theirs = cv::imdecode(file, cv::IMREAD_UNCHANGED);
        REQUIRE(theirs.size() == cv::Size(width, height));
        REQUIRE(theirs.channels() == channels);
        bool alike = true;
        for (int y = 0; y < height; ++y)
          alike &= std::memcmp(theirs.ptr(y), image.view().row(y), image.row_bytes()) == 0;
        CHECK(alike);
      }
    }
  }
}

TEST_CASE("a JPEG 2000 whose header lies is refused") {
  if (!has(FormatId::jp2)) return;
  const Bytes whole = encode(FormatId::jp2, pattern(61, 47, 3, Depth::u8));
  CHECK(refusal_of(with_size(whole, 61, 47, 61, true), {}) == "");
  // A small file that promises much; OpenJPEG would take 15 bytes for each pixel.
  CHECK(contains(refusal_of(with_size(whole, 20000, 20000, 20000, true), {}),
                 " bytes cannot hold 20000x20000 pixels"));
  CHECK(contains(refusal_of(with_size(whole, 8000, 8000, 8000, true), {}),
                 " bytes cannot hold 8000x8000 pixels"));
  for (const std::uint32_t side : {62u, 100u, 400u, 1000u}) {
    CAPTURE(side);
    CHECK(contains(refusal_of(with_size(whole, side, side, side, false), {}),
                   "its parts say different sizes"));
    CHECK(contains(refusal_of(with_size(whole, side, side, 61, true), {}), " is not there)"));
  }
  CHECK(contains(refusal_of(with_size(whole, 61, 47, 30, true), {}),
                 "the file ends too early (tile 1 of 6 is not there)"));
  CHECK(contains(refusal_of(with_size(whole, 61, 47, 0, true), {}), "its header is damaged"));
  CHECK(contains(refusal_of(with_size(whole, 1 << 20, 256, 1, true), {}), "its header is damaged"));
  // A codestream without boxes, cut at any place, though an end mark may follow.
  constexpr unsigned char kStart[] = {0xFF, 0x4F, 0xFF, 0x51};
  const Bytes bare(std::search(whole.begin(), whole.end(), std::begin(kStart), std::end(kStart)),
                   whole.end());
  CHECK(refusal_of(bare, {}) == "");
  for (std::size_t size = 60; size + 2 < bare.size(); size += 41) {
    CAPTURE(size);
    Bytes cut(bare.begin(), bare.begin() + std::ptrdiff_t(size));
    CHECK(refusal_of(cut, {}) != "");
    cut.insert(cut.end(), {0xFF, 0xD9});
    CHECK(refusal_of(cut, {}) != "");
  }
  // The last part may say that it goes to the codestream's end, which is not always the file's.
  Bytes open_end = whole;
  constexpr unsigned char kPart[] = {0xFF, 0x90, 0x00, 0x0A};
  const auto part =
      std::search(open_end.begin(), open_end.end(), std::begin(kPart), std::end(kPart));
  REQUIRE(part != open_end.end());
  std::fill_n(part + 6, 4, static_cast<unsigned char>(0));
  CHECK(refusal_of(open_end, {}) == "");
  open_end.insert(open_end.end(), {0, 0, 0, 12, 'f', 'r', 'e', 'e', 1, 2, 3, 4});
  CHECK(refusal_of(open_end, {}) == "");
  // A picture of one colour takes next to nothing.
  Image flat(2500, 2000, 3, Depth::u8);
  for (int y = 0; y < flat.height(); ++y) std::memset(flat.view().row(y), 128, flat.row_bytes());
  const Bytes few = encode(FormatId::jp2, flat);
  CHECK(few.size() < 1000);
  CHECK(refusal_of(few, {}) == "");
}

TEST_CASE("headers that promise too much are refused before memory is taken") {
  ReadOptions small;
  small.max_pixels = kWidth * kHeight - 1;
  for (const FormatId format : {FormatId::bmp, FormatId::hdr, FormatId::jp2, FormatId::exr,
                                FormatId::heic, FormatId::avif, FormatId::jxl}) {
    if (!has(format)) continue;
    const Bytes bytes = encode(format, pictures_for(format)[0]);
    CAPTURE(name_of(format));
    CHECK(contains(refusal_of(bytes, small),
                   "its header promises 67x45 pixels, more than the limit of 3014"));
    Bytes cut = bytes;  // the size comes before damage
    cut.resize(cut.size() / 2);
    if (format == FormatId::bmp || format == FormatId::exr || format == FormatId::hdr)
      CHECK(contains(refusal_of(cut, small), "its header promises 67x45 pixels"));
    ReadOptions enough;
    enough.max_pixels = kWidth * kHeight;
    CHECK(refusal_of(bytes, enough) == "");
  }
  if (has(FormatId::gif)) {
    const Bytes screen = gif(65535, 65535, {gif_picture(0, 0, 2, 2)});
    CHECK(contains(refusal_of(screen), "its header promises 65535x65535 pixels"));
    GifPicture vast = gif_picture(0, 0, 2, 2);
    vast.width = vast.height = 65535;
    CHECK(contains(refusal_of(gif(2, 2, {vast})), "its header promises 65535x65535 pixels"));
    const Bytes wide = gif(23000, 23000, {gif_picture(0, 0, 2, 2)});
    CHECK(contains(refusal_of(wide), "must be held whole, in 12107 MiB"));
  }
  if (has(FormatId::jxl)) {
    // Sides of 30 bits each, then two bits that say that all else is as usual.
    Bytes bytes = {0xFF, 0x0A};
    std::vector<int> bits = {0};
    for (int side = 0; side < 2; ++side) {
      bits.insert(bits.end(), {1, 1});
      for (int i = 0; i < 30; ++i) bits.push_back((20000 - 1) >> i & 1);
      if (side == 0) bits.insert(bits.end(), {0, 0, 0});
    }
    bits.insert(bits.end(), {1, 1});
    bits.resize((bits.size() + 7) / 8 * 8);
    for (std::size_t i = 0; i < bits.size(); i += 8) {
      int byte = 0;
      for (std::size_t j = 0; j < 8; ++j) byte |= bits[i + j] << j;
      bytes.push_back(static_cast<unsigned char>(byte));
    }
    CHECK(contains(refusal_of(bytes, taking_damage()), "must be held whole, in 1144 MiB"));
  }
}

TEST_CASE("a narrow Radiance HDR has rows without run lengths") {
  if (!has(FormatId::hdr)) return;
  Bytes bytes = encode(FormatId::hdr, pattern(7, 5, 3, Depth::f32));
  CHECK(refusal_of(bytes) == "");
  bytes.pop_back();
  CHECK(contains(refusal_of(bytes), "ends too early"));
}

TEST_CASE("what follows the end of a module's picture is damage, unless it is zeros") {
  for (const FormatId format : {FormatId::bmp, FormatId::jxl, FormatId::gif}) {
    if (!has(format)) continue;
    CAPTURE(name_of(format));
    Bytes bytes = format == FormatId::gif ? gif(37, 21, {gif_picture(0, 0, 37, 21)})
                                          : encode(format, pattern(61, 47, 3, Depth::u8));
    if (format != FormatId::jxl) {
      Bytes padded = bytes;
      padded.insert(padded.end(), 5, 0);
      CHECK(refusal_of(padded) == "");
    }
    if (format == FormatId::gif) {
      Bytes parted = bytes;
      parted.insert(parted.end() - 1, 2, 0);  // between the picture and the end mark
      CHECK(refusal_of(parted) == "");
    }
    if (format == FormatId::bmp) {
      // A profile lies behind the rows, and counts among the file's bytes.
      Bytes profiled = bytes;
      append(&profiled, "a profile");
      profiled[2] = static_cast<unsigned char>(profiled.size() & 255);
      profiled[3] = static_cast<unsigned char>(profiled.size() >> 8);
      CHECK(refusal_of(profiled) == "");
    }
    bytes.push_back('x');
    CHECK(contains(refusal_of(bytes), "1 byte follows the end of the picture"));
    const Decoded taken = decode(bytes, taking_damage());
    CHECK(taken.warnings.size() == 1);
    CHECK(!taken.image.empty());
  }
}

TEST_CASE("the module for JPEG XL does its loops on the program's threads") {
  if (load(modules_folder() + "/libconvfilt_jxl.so").empty()) return;
  const CodecModule& module = load_module(modules_folder(), "jxl");
  REQUIRE(module.parallel_for);
  CHECK((*module.parallel_for == cpu::parallel_for));
}

TEST_CASE("a profile that lacks one colour's curve makes no light of floats") {
  for (const std::string name : {"rTRC", "gTRC", "bTRC"}) {
    Metadata metadata;
    metadata.icc = icc_profile(false);
    *std::search(metadata.icc.begin(), metadata.icc.end(), name.begin(), name.end()) = 'x';
    std::string note;
    const TransferCurve curve(metadata, Depth::f32, 3, &note);
    CHECK(note.find("no curves") != std::string::npos);
    const float in[] = {0.25f, 0.5f, 0.75f};
    float light[3] = {};
    curve.to_linear(reinterpret_cast<const std::byte*>(in), 1, 3, light);
    CHECK(std::equal(std::begin(in), std::end(in), light));
  }
}

TEST_CASE("a module that is missing, no module, or of another version") {
  const TemporaryFolder folder;
  const auto refusal = [&] {
    try {
      load_module(folder / "", "gif");
    } catch (const IoError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(contains(refusal(), "libconvfilt_gif.so'; install the package convfilt-gif"));
  save(folder / "libconvfilt_gif.so", text_bytes("no library"));
  CHECK(contains(refusal(), "cannot load '"));
  CHECK(contains(refusal(), "install the package convfilt-gif"));

  const Bytes module = load(modules_folder() + "/libconvfilt_gif.so");
  if (module.empty()) return;
  save(folder / "libconvfilt_gif.so", module);
  CHECK(refusal() == "");
  const TemporaryFolder other;
  Bytes newer = module;
  std::uint32_t version = kModuleInterface;
  const auto* first = reinterpret_cast<const unsigned char*>(&version);
  int changed = 0;
  for (auto at = newer.begin();
       (at = std::search(at, newer.end(), first, first + 4)) != newer.end(); ++changed)
    *at = static_cast<unsigned char>(*at + 1);
  REQUIRE(changed > 0);
  save(other / "libconvfilt_gif.so", newer);
  CHECK_THROWS_WITH_AS(load_module(other / "", "gif"),
                       doctest::Contains("libconvfilt_gif.so' belongs to another version of "
                                         "convfilt; install the packages convfilt and "
                                         "convfilt-gif of one version"),
                       IoError);
  const TemporaryFolder third;
  Bytes nameless = module;
  const std::string entry = kModuleEntry;
  for (auto at = nameless.begin();
       (at = std::search(at, nameless.end(), entry.begin(), entry.end())) != nameless.end();)
    *at = 'M';
  save(third / "libconvfilt_gif.so", nameless);
  CHECK_THROWS_WITH_AS(load_module(third / "", "gif"),
                       doctest::Contains("is no module of convfilt"), IoError);
}
