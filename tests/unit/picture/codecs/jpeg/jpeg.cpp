/// JPEG from and to bytes in memory. OpenCV, which is built on the same libjpeg-turbo, is the
/// witness for pixels and bytes; libjpeg-turbo makes the kinds of files that OpenCV does not write.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <opencv2/imgcodecs.hpp>
#include <random>

#include "src/picture/io.hpp"
#include "tests/support/files/codec.hpp"
#include "tests/support/files/jpeg.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

Read read(const Bytes& bytes, const ReadOptions& options = {}, int step = 0) {
  return read_by(kJpegCodec, bytes, options, step);
}

bool equals(const Image& image, const cv::Mat& pixels) {
  if (pixels.cols != image.width() || pixels.rows != image.height() ||
      pixels.type() != CV_8UC(image.channels()))
    return false;
  for (int y = 0; y < image.height(); ++y) {
    if (std::memcmp(image.view().row(y), pixels.ptr(y), image.row_bytes()) != 0) return false;
  }
  return true;
}

/// What OpenCV reads. It turns pictures upright, so those given to it have no orientation.
cv::Mat by_opencv(const Bytes& bytes) {
  return cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
}

Bytes write(const Image& image, const WriteOptions& options = {}, const Metadata& metadata = {},
            std::vector<std::string>* warnings = nullptr) {
  return write_by(kJpegCodec, image, header_for(image, FormatId::jpeg, metadata), options,
                  warnings);
}

WriteOptions with(std::optional<int> quality, std::optional<Subsampling> subsampling = {},
                  bool progressive = false) {
  WriteOptions options;
  options.quality = quality;
  options.subsampling = subsampling;
  options.progressive = progressive;
  return options;
}

/// Where a marker stands, from `from` on.
std::size_t find_marker(const Bytes& bytes, unsigned char marker, std::size_t from = 0) {
  const unsigned char both[] = {0xFF, marker};
  const auto found = std::search(bytes.begin() + std::ptrdiff_t(from), bytes.end(), both, both + 2);
  REQUIRE(found != bytes.end());
  return std::size_t(found - bytes.begin());
}

Bytes with_segment(Bytes jpeg, unsigned char marker, const std::string& payload) {
  Bytes segment = {0xFF, marker};
  append_number(&segment, std::uint32_t(payload.size()) + 2, 2, false);
  append(&segment, payload);
  jpeg.insert(jpeg.begin() + 2, segment.begin(), segment.end());
  return jpeg;
}

std::string text_of(const Bytes& bytes) {
  return std::string(bytes.begin(), bytes.end());
}

Bytes noise(std::size_t size) {
  std::mt19937 random(11);
  Bytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<unsigned char>(random() & 255);
  return bytes;
}

/// XMP of some length, in the form of the specification.
std::string packet(std::size_t length, const std::string& namespaces = "") {
  std::string text =
      "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
      "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF "
      "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"" +
      namespaces +
      "><rdf:Description rdf:about=\"\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">"
      "<dc:format>";
  const std::string end =
      "</dc:format></rdf:Description></rdf:RDF></x:xmpmeta>\n<?xpacket end=\"w\"?>";
  text.append(length - std::min(length, text.size() + end.size()), 'x');
  return text + end;
}

}  // namespace

TEST_CASE("pixels are those that OpenCV reads") {
  struct Kind {
    std::string name;
    std::function<Bytes(const Image&)> make;
  };
  const std::vector<Kind> kinds = {
      {"grey", [](const Image& i) { return grey(i); }},
      {"4:2:0", [](const Image& i) { return colour(i); }},
      {"4:4:4", [](const Image& i) { return colour(i, sampling(1, 1)); }},
      {"4:2:2", [](const Image& i) { return colour(i, sampling(2, 1)); }},
      {"4:4:0", [](const Image& i) { return colour(i, sampling(1, 2)); }},
      {"4:1:1", [](const Image& i) { return colour(i, sampling(4, 1)); }},
      {"3x1", [](const Image& i) { return colour(i, sampling(3, 1)); }},
      {"4x2", [](const Image& i) { return colour(i, sampling(4, 2)); }},
      {"progressive", [](const Image& i) { return colour(i, progressive); }},
      {"grey progressive", [](const Image& i) { return grey(i, progressive); }},
      {"arithmetic", [](const Image& i) { return colour(i, arithmetic); }},
      {"progressive arithmetic",
       [](const Image& i) {
         return colour(i, [](jpeg_compress_struct& info) {
           arithmetic(info);
           progressive(info);
         });
       }},
      {"restarts",
       [](const Image& i) {
         return colour(i, [](jpeg_compress_struct& info) { info.restart_interval = 3; });
       }},
      {"quality 3",
       [](const Image& i) {
         return colour(i, [](jpeg_compress_struct& info) { jpeg_set_quality(&info, 3, FALSE); });
       }},
      {"RGB",
       [](const Image& i) {
         return colour(i, [](jpeg_compress_struct& info) { jpeg_set_colorspace(&info, JCS_RGB); });
       }},
      {"a scan a component",
       [](const Image& i) {
         return colour(i, [](jpeg_compress_struct& info) {
           static const jpeg_scan_info kScans[] = {
               {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
           info.scan_info = kScans;
           info.num_scans = 3;
         });
       }},
      {"CMYK", [](const Image& i) { return encoded(i, JCS_CMYK, 4, [](auto&) {}); }},
      {"YCCK", [](const Image& i) {
         return encoded(i, JCS_CMYK, 4,
                        [](jpeg_compress_struct& info) { jpeg_set_colorspace(&info, JCS_YCCK); });
       }}};
  for (const Kind& kind : kinds) {
    for (const auto& [width, height] : {std::pair{1, 1}, {17, 9}, {61, 47}, {200, 131}, {5, 300}}) {
      const Bytes bytes = kind.make(pattern(width, height, 3, Depth::u8));
      const cv::Mat theirs = by_opencv(bytes);
      CAPTURE(kind.name);
      CAPTURE(width);
      for (const int step : {0, 1, 7, 16}) {
        const Read file = read(bytes, {}, step);
        CAPTURE(step);
        REQUIRE(file.refusal == "");
        const bool is_cmyk = kind.name == "CMYK" || kind.name == "YCCK";
        CHECK(file.warnings.size() == (is_cmyk ? 1 : 0));
        if (is_cmyk)
          CHECK(file.header.subsampling ==
                Subsampling{kind.name == "CMYK" ? 1 : 2, kind.name == "CMYK" ? 1 : 2});
        CHECK(equals(file.image, theirs));
      }
    }
  }
}

TEST_CASE("a JPEG without Huffman tables has the standard ones") {
  Bytes bytes = colour(pattern(61, 47, 3, Depth::u8));
  for (int i = 0; i < 4; ++i) {
    const std::size_t at = find_marker(bytes, 0xC4);
    const std::size_t length = std::size_t{bytes[at + 2]} << 8 | bytes[at + 3];
    bytes.erase(bytes.begin() + std::ptrdiff_t(at),
                bytes.begin() + std::ptrdiff_t(at + 2 + length));
  }
  const Read file = read(bytes);
  CHECK(file.refusal == "");
  CHECK(same(file.image, read(colour(pattern(61, 47, 3, Depth::u8))).image));
}

TEST_CASE("segments that mean nothing here are passed over") {
  Bytes bytes = colour(pattern(61, 47, 3, Depth::u8));
  const Image image = read(bytes).image;
  for (int i = 0; i < 9; ++i)
    bytes = with_segment(bytes, i % 2 ? 0xFE : 0xE5, std::string(std::size_t(i) * 8000, 'x'));
  const Read file = read(bytes);
  CHECK(file.refusal == "");
  CHECK(same(file.image, image));
}

TEST_CASE("CMYK without Adobe's mark is inverted, as browsers read it") {
  const Image image = pattern(40, 24, 3, Depth::u8);
  const auto best = [](jpeg_compress_struct& info) { jpeg_set_quality(&info, 100, TRUE); };
  const Bytes marked = encoded(image, JCS_CMYK, 4, best);
  const Bytes plain = encoded(image, JCS_CMYK, 4, [&](jpeg_compress_struct& info) {
    best(info);
    info.write_Adobe_marker = FALSE;
  });
  CHECK(same(read(plain).image, read(marked).image));
}

/// The file with a height of 0 in its header, and the height behind the first scan.
Bytes with_late_height(Bytes bytes, unsigned char frame) {
  const std::size_t at = find_marker(bytes, frame) + 5;
  Bytes lines = {0xFF, 0xDC, 0, 4, bytes[at], bytes[at + 1]};
  bytes[at] = bytes[at + 1] = 0;
  std::size_t end = find_marker(bytes, 0xDA) + 2;
  while (bytes[end] != 0xFF || bytes[end + 1] == 0 || bytes[end + 1] / 8 == 0xD0 / 8) ++end;
  bytes.insert(bytes.begin() + std::ptrdiff_t(end), lines.begin(), lines.end());
  return bytes;
}

TEST_CASE("a height behind the first scan is that of the header") {
  const Image image = pattern(200, 300, 3, Depth::u8);
  const auto restarts = [](jpeg_compress_struct& info) { info.restart_interval = 3; };
  const auto progressive = [](jpeg_compress_struct& info) { jpeg_simple_progression(&info); };
  for (const auto& [bytes, frame] : {std::pair{colour(image), 0xC0},
                                     {colour(image, restarts), 0xC0},
                                     {grey(image, [](jpeg_compress_struct&) {}), 0xC0},
                                     {colour(image, progressive), 0xC2}}) {
    const Read late = read(with_late_height(bytes, static_cast<unsigned char>(frame)));
    CHECK(late.refusal == "");
    CHECK(late.warnings.empty());
    CHECK(same(late.image, read(bytes).image));
  }
  // Longer than a buffer, behind a segment that is, too.
  const Image large = pattern(900, 700, 3, Depth::u8);
  const Bytes long_file = with_segment(
      colour(large, [](jpeg_compress_struct& info) { jpeg_set_quality(&info, 100, TRUE); }), 0xE5,
      std::string(65'530, 'x'));
  REQUIRE(long_file.size() > 300'000);
  CHECK(same(read(with_late_height(long_file, 0xC0)).image, read(long_file).image));

  // A height that is nowhere, is 0, or is too large for the data.
  Bytes none = colour(image);
  none[find_marker(none, 0xC0) + 5] = none[find_marker(none, 0xC0) + 6] = 0;
  CHECK(contains(read(none).refusal, "its header promises 200x0 pixels"));
  Bytes zero = with_late_height(colour(image), 0xC0);
  zero[find_marker(zero, 0xDC) + 4] = zero[find_marker(zero, 0xDC) + 5] = 0;
  CHECK(contains(read(zero).refusal, "its header promises 200x0 pixels"));
  Bytes more = with_late_height(colour(image), 0xC0);
  more[find_marker(more, 0xDC) + 4] = 9;
  CHECK(contains(read(more).refusal, "is damaged"));
  more.resize(find_marker(more, 0xDC) + 4);
  CHECK(contains(read(more).refusal, "its header promises 200x0 pixels"));
}

TEST_CASE(
    "a scan of its first coefficient alone, and stray bytes, are warnings where all is there") {
  const Image image = pattern(96, 80, 3, Depth::u8);
  const Bytes plain = colour(image);
  const Image pixels = read(plain).image;
  Bytes scan = plain;  // Se is the last but one byte of a header of three components
  scan[find_marker(plain, 0xDA) + 12] = 0;
  const auto with_bytes = [&](unsigned char marker, const Bytes& stray, std::size_t from = 0) {
    Bytes bytes = plain;
    bytes.insert(bytes.begin() + std::ptrdiff_t(find_marker(plain, marker, from)), stray.begin(),
                 stray.end());
    return bytes;
  };
  const std::string stray = " before a marker, which other programs skip, too";
  for (const auto& [bytes, warning] :
       {std::pair{scan, std::string("a scan names its first coefficient alone")},
        {with_bytes(0xDB, {7}), "1 stray byte" + stray},
        {with_bytes(0xDA, Bytes(300, 5)), "300 stray bytes" + stray},
        {with_bytes(0xD9, Bytes(500, 0)), " stray bytes" + stray}}) {
    const Read file = read(bytes);
    CHECK(file.refusal == "");
    REQUIRE(file.warnings.size() == 1);
    CHECK(contains(file.warnings[0], warning));
    CHECK(same(file.image, pixels));
  }
  const Read few = read(with_bytes(0xD9, {1, 2, 3}));
  CHECK(few.refusal == "");
  CHECK(same(few.image, pixels));
  // What other fields of a scan say is damage.
  Bytes bits = plain;
  bits[find_marker(plain, 0xDA) + 13] = 1;
  CHECK(contains(read(bits).refusal, "its data is damaged"));
}

TEST_CASE("bytes are those that OpenCV writes") {
  for (const int channels : {1, 3}) {
    for (const auto& [width, height] : {std::pair{1, 1}, {61, 47}, {200, 131}}) {
      Image image = pattern(width, height, channels, Depth::u8);
      const cv::Mat pixels(height, width, CV_8UC(channels), image.view().data);
      CAPTURE(channels);
      CAPTURE(width);
      const auto theirs = [&](const std::vector<int>& parameters) {
        Bytes bytes;
        cv::imencode(".jpg", pixels, bytes, parameters);
        return bytes;
      };
      CHECK(write(image) == theirs({}));
      for (const int quality : {0, 1, 50, 95, 100}) {
        CHECK(write(image, with(quality)) == theirs({cv::IMWRITE_JPEG_QUALITY, quality}));
      }
      CHECK(write(image, with(80, {}, true)) ==
            theirs({cv::IMWRITE_JPEG_QUALITY, 80, cv::IMWRITE_JPEG_PROGRESSIVE, 1}));
    }
  }
}

TEST_CASE("quality and subsampling are known again") {
  const Image image = pattern(40, 24, 3, Depth::u8);
  for (int quality = 1; quality <= 100; ++quality)
    CHECK(read(write(image, with(quality))).header.quality == quality);
  for (const Subsampling factors : {Subsampling{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}}) {
    const Read file = read(write(image, with({}, factors)));
    CHECK(file.header.subsampling == factors);
  }
  const Read plain = read(write(pattern(40, 24, 1, Depth::u8)));
  CHECK(plain.header.channels == 1);
  CHECK(!plain.header.subsampling);
  // A table of another make, between the standard ones of 70 and 71.
  const Bytes other = colour(image, [](jpeg_compress_struct& info) {
    jpeg_set_quality(&info, 70, TRUE);
    info.quant_tbl_ptrs[0]->quantval[63] += 3;
  });
  CHECK(read(other).header.quality == 70);
  const Read rgb =
      read(colour(image, [](jpeg_compress_struct& info) { jpeg_set_colorspace(&info, JCS_RGB); }));
  CHECK(rgb.header.subsampling == Subsampling{1, 1});
}

TEST_CASE("a JPEG of a JPEG has its quality and subsampling, unless others are named") {
  const TemporaryFolder folder;
  const Image image = pattern(40, 24, 3, Depth::u8);
  Header header = read(write(image, with(71, Subsampling{4, 1}))).header;
  const auto again = [&](const WriteOptions& options) {
    write_picture(folder / "out.jpg", image, header, options, nullptr);
    return read(load(folder / "out.jpg")).header;
  };
  CHECK(again({}).quality == 71);
  CHECK(again({}).subsampling == Subsampling{4, 1});
  CHECK(again(with(50, Subsampling{1, 1})).quality == 50);
  CHECK(again(with(50, Subsampling{1, 1})).subsampling == Subsampling{1, 1});
  header.format = FormatId::png;
  CHECK(again({}).quality == kDefaultJpegQuality);
  CHECK(again({}).subsampling == Subsampling{2, 2});
}

TEST_CASE("all metadata come back") {
  const Image image = pattern(40, 24, 3, Depth::u8);
  Metadata metadata;
  metadata.icc = noise(300);
  metadata.exif = exif(6, true);
  const std::string xmp = packet(900);
  metadata.xmp.assign(xmp.begin(), xmp.end());
  metadata.iptc = noise(77);
  metadata.comments = {noise(65533), {}, noise(12)};
  metadata.resolution = {300, 240};
  std::vector<std::string> warnings;
  const Bytes bytes = write(image, {}, metadata, &warnings);
  CHECK(warnings.empty());
  const Read file = read(bytes);
  REQUIRE(file.refusal == "");
  CHECK(file.warnings.empty());
  const Metadata& back = file.header.metadata;
  CHECK(back.icc == metadata.icc);
  CHECK(back.exif == metadata.exif);
  CHECK(back.xmp == metadata.xmp);
  CHECK(back.iptc == metadata.iptc);
  CHECK(back.comments == metadata.comments);
  REQUIRE(back.resolution);
  CHECK(back.resolution->x == 300);
  CHECK(back.resolution->y == 240);
  CHECK(file.header.orientation == 6);
  CHECK(
      equals(file.image, cv::imdecode(bytes, cv::IMREAD_UNCHANGED | cv::IMREAD_IGNORE_ORIENTATION |
                                                 cv::IMREAD_COLOR)));
  CHECK(read(write(image)).header.metadata.empty());
  CHECK(read(write(image)).header.orientation == 1);
}

TEST_CASE("comments stay with JPEGs, and go when stripped") {
  const TemporaryFolder folder;
  Header header;
  header.metadata.comments = {noise(7)};
  const auto through = [&](const std::string& name, const WriteOptions& options) {
    write_picture(folder / name, pattern(20, 10, 3, Depth::u8), header, options, nullptr);
    return read_picture(folder / name, {}, nullptr).header.metadata;
  };
  CHECK(through("a.jpg", {}).comments == header.metadata.comments);
  CHECK(through("b.jpg", {.strip = Strip::all}).comments.empty());
  CHECK(through("a.webp", {}).empty());
  // A PNG has the same as a text.
  header.metadata.comments = {{'h', 'i', 0}};
  header.metadata = through("a.png", {});
  REQUIRE(header.metadata.text_chunks.size() == 1);
  CHECK(header.metadata.comments.empty());
  CHECK(through("c.jpg", {}).comments == std::vector<Bytes>{{'h', 'i'}});
}

TEST_CASE("a resolution per centimetre stays what it was") {
  const Image image = pattern(8, 8, 1, Depth::u8);
  const auto back = [&](double x, double y) {
    Metadata metadata;
    metadata.resolution = {x, y};
    return read(write(image, {}, metadata)).header.metadata.resolution;
  };
  CHECK(back(118 * 2.54, 40 * 2.54)->x == doctest::Approx(118 * 2.54));
  CHECK(back(118 * 2.54, 40 * 2.54)->y == doctest::Approx(40 * 2.54));
  CHECK(back(72, 72)->x == 72);
  CHECK(back(72.4, 72)->x == 72);
  CHECK(!back(0, 72));
  CHECK(!back(1e9, 72));
}

TEST_CASE("metadata larger than a segment are split") {
  const Image image = pattern(40, 24, 3, Depth::u8);
  for (const std::size_t size : {65518u, 65519u, 65520u, 131038u, 131039u, 700'000u}) {
    Metadata metadata;
    metadata.icc = noise(size);
    metadata.iptc = noise(size);
    CAPTURE(size);
    const Read file = read(write(image, {}, metadata));
    CHECK(file.header.metadata.icc == metadata.icc);
    CHECK(file.header.metadata.iptc == metadata.iptc);
  }
  Metadata metadata;
  metadata.exif = noise(65527);
  CHECK(read(write(image, {}, metadata)).header.metadata.exif == metadata.exif);
  std::vector<std::string> warnings;
  metadata.exif = noise(65528);
  CHECK(read(write(image, {}, metadata, &warnings)).header.metadata.exif.empty());
  CHECK(warnings ==
        std::vector<std::string>{"its EXIF data are larger than a JPEG holds and are left out"});
  metadata.exif.clear();
  metadata.icc = noise(65519 * 255);
  CHECK(read(write(image, {}, metadata, &warnings)).header.metadata.icc == metadata.icc);
  CHECK(warnings.empty());
  metadata.icc.push_back(0);
  CHECK(read(write(image, {}, metadata, &warnings)).header.metadata.icc.empty());
  CHECK(warnings.size() == 1);
}

TEST_CASE("large XMP goes into an extension and comes back") {
  const Image image = pattern(40, 24, 3, Depth::u8);
  const auto written = [&](const std::string& xmp) {
    Metadata metadata;
    metadata.xmp.assign(xmp.begin(), xmp.end());
    return write(image, {}, metadata);
  };
  CHECK(text_of(read(written(packet(65502))).header.metadata.xmp) == packet(65502));
  for (const std::size_t size : {65503u, 200'000u}) {
    const Bytes bytes = written(packet(size, " xmlns:e='http://e.org/'"));
    const Read file = read(bytes);
    REQUIRE(file.refusal == "");
    CHECK(file.warnings.empty());
    const std::string back = text_of(file.header.metadata.xmp);
    const std::string all = packet(size, " xmlns:e='http://e.org/'");
    const std::size_t begin = all.find("<dc:format>"), end = all.find("</dc:format>");
    CHECK(contains(back, all.substr(begin, end - begin)));
    CHECK(contains(back, "xmlns:e='http://e.org/'"));
    CHECK(!contains(back, "HasExtendedXMP"));
    CHECK(std::count(back.begin(), back.end(), '<') < 2 + std::count(all.begin(), all.end(), '<'));
    CHECK(contains(back, "</rdf:RDF></x:xmpmeta>"));
  }
  // md5sum of packet(65503) without the wrapper and the line ends beside it.
  CHECK(contains(text_of(written(packet(65503))),
                 "HasExtendedXMP=\"85E63DAA2036A7A14BA3232F1884C596\""));
  // The parts say where they belong, and may come in any order.
  const Bytes in_order = written(packet(200'000));
  const std::size_t packet_at = find_marker(in_order, 0xE1);
  const std::size_t part_at = find_marker(in_order, 0xE1, packet_at + 2),
                    next_at = find_marker(in_order, 0xE1, part_at + 2);
  Bytes turned = in_order;
  std::rotate(turned.begin() + std::ptrdiff_t(part_at), turned.begin() + std::ptrdiff_t(next_at),
              turned.begin() + std::ptrdiff_t(2 * next_at - part_at));
  REQUIRE(turned != in_order);
  CHECK(read(turned).warnings.empty());
  CHECK(read(turned).header.metadata.xmp == read(in_order).header.metadata.xmp);
  Bytes broken = written(packet(200'000));
  const std::string mark = "http://ns.adobe.com/xmp/extension/";
  const auto part = std::search(broken.begin(), broken.end(), mark.begin(), mark.end());
  *(part + 35 + 32 + 7) ^= 1;  // its offset
  const Read file = read(broken);
  CHECK(file.refusal == "");
  REQUIRE(file.warnings.size() == 1);
  CHECK(contains(file.warnings[0], "the extension of its XMP is incomplete"));
  CHECK(!contains(text_of(file.header.metadata.xmp), "HasExtendedXMP"));
}

TEST_CASE("a colour profile whose parts do not fit together is left out, which is said") {
  const Bytes plain = colour(pattern(40, 24, 3, Depth::u8));
  const auto part = [](int number, int count, const std::string& data) {
    return std::string("ICC_PROFILE\0", 12) + char(number) + char(count) + data;
  };
  const auto read_parts = [&](const std::vector<std::string>& parts) {
    Bytes bytes = plain;
    for (const std::string& segment : parts) bytes = with_segment(bytes, 0xE2, segment);
    return read(bytes);
  };
  // The one put in last stands first.
  CHECK(text_of(read_parts({part(2, 2, "b"), part(1, 2, "a")}).header.metadata.icc) == "ab");
  CHECK(text_of(read_parts({part(1, 2, "a"), part(2, 2, "b")}).header.metadata.icc) == "ab");
  for (const auto& parts :
       std::vector<std::vector<std::string>>{{part(1, 2, "a")},
                                             {part(1, 2, "a"), part(1, 2, "b")},
                                             {part(1, 2, "a"), part(1, 2, "b"), part(2, 2, "c")},
                                             {part(1, 2, "a"), part(2, 3, "b")},
                                             {part(0, 1, "a")},
                                             {part(1, 0, "a")},
                                             {part(3, 2, "a"), part(1, 2, "b")}}) {
    const Read file = read_parts(parts);
    CHECK(file.refusal == "");
    CHECK(file.header.metadata.icc.empty());
    REQUIRE(file.warnings.size() == 1);
    CHECK(contains(file.warnings[0], "parts of its colour profile are missing"));
  }
  const Image image = pattern(16, 16, 3, Depth::u8);
  const Read cmyk =
      read(with_segment(encoded(image, JCS_CMYK, 4, [](auto&) {}), 0xE2, part(1, 1, "a")));
  CHECK(cmyk.header.metadata.icc.empty());
  CHECK(cmyk.warnings.size() == 1);
}

TEST_CASE("IPTC among other resources of Photoshop") {
  const Bytes plain = colour(pattern(40, 24, 3, Depth::u8));
  const auto resource = [](int number, const std::string& name, std::string data) {
    std::string text = std::string("8BIM") + char(number >> 8) + char(number & 255);
    text += char(name.size()) + name;
    if (name.size() % 2 == 0) text += '\0';
    const auto size = data.size();
    text += {'\0', '\0', char(size >> 8), char(size & 255)};
    if (size % 2) data += '\0';
    return text + data;
  };
  const std::string mark("Photoshop 3.0\0", 14);
  const auto iptc = [&](const std::string& resources) {
    return text_of(read(with_segment(plain, 0xED, mark + resources)).header.metadata.iptc);
  };
  CHECK(iptc(resource(0x0404, "", "abc")) == "abc");
  CHECK(iptc(resource(0x03ED, "abc", "12345") + resource(0x03E8, "ab", "") +
             resource(0x0404, "x", "abcd")) == "abcd");
  // Other programs' resources begin with other letters.
  CHECK(iptc("AgHg" + resource(0x03ED, "", "1").substr(4) + resource(0x0404, "", "ab")) == "ab");
  const std::string whole = resource(0x0404, "", "abc");
  for (std::size_t length = 0; length + 1 < whole.size(); ++length)
    CHECK(iptc(whole.substr(0, length)) == "");
}

TEST_CASE("a file cut anywhere is refused, with the row") {
  const Image image = pattern(200, 131, 3, Depth::u8);
  const std::pair<Bytes, int> files[] = {
      {colour(image), 16},
      {colour(image, sampling(1, 1)), 8},
      {grey(image), 8},
      {colour(image, arithmetic), 16},
      {colour(image, [](jpeg_compress_struct& info) { info.restart_interval = 5; }), 16}};
  for (const auto& [whole, step] : files) {
    const Image full = read(whole).image;
    const std::size_t data = find_marker(whole, 0xDA) + 14;
    int last_row = 0, rows_seen = 0;
    for (std::size_t i = 0; i <= 48; ++i) {
      const std::size_t length =
          i == 48 ? whole.size() - 1 : std::max<std::size_t>(3, whole.size() * i / 48);
      const Bytes cut(whole.begin(), whole.begin() + std::ptrdiff_t(length));
      CAPTURE(length);
      const Read refused = read(cut, {}, 5);
      CHECK(contains(refused.refusal, "cannot read 'in': the file ends too early ("));
      CHECK(contains(refused.refusal, "); --on-damage=warn takes what can be read"));
      const Read taken = read(cut, {.refuse_damaged = false}, 5);
      if (length < data) {
        CHECK(contains(refused.refusal, "(no end-of-image marker)"));
        CHECK(contains(taken.refusal,
                       "cannot read 'in': nothing of this JPEG can be read: the file"));
        continue;
      }
      const std::size_t place = refused.refusal.find("(row ");
      if (place == std::string::npos) continue;  // only the end mark is missing
      const int row = std::stoi(refused.refusal.substr(place + 5));
      CHECK(row % step == 1);
      CHECK(row >= last_row);
      last_row = row;
      if (row == 1) {
        CHECK(contains(taken.refusal, "nothing of this JPEG can be read: the file ends too early"));
        continue;
      }
      ++rows_seen;
      REQUIRE(taken.refusal == "");
      REQUIRE(taken.warnings.size() == 1);
      CHECK(contains(taken.warnings[0], "); read as far as possible"));
      int wrong = 0;
      for (int y = 0; y < 131; ++y) {
        for (int x = 0; x < 200; ++x) {
          // Chroma of the row above is interpolated with the missing one below.
          if (y < row - 2) wrong += sample(taken.image, x, y, 0) != sample(full, x, y, 0);
          if (y >= row - 1 + step) wrong += sample(taken.image, x, y, 0) != 0;
        }
      }
      CHECK(wrong == 0);
    }
    CHECK(rows_seen > 20);
    CHECK(last_row > 100);
  }
}

TEST_CASE("a progressive file that is cut gives a rough picture") {
  const Image image = pattern(200, 131, 3, Depth::u8);
  const Bytes whole = colour(image, progressive);
  const Image full = read(whole).image;
  int taken_files = 0;
  for (std::size_t i = 1; i < 16; ++i) {
    const Bytes cut(whole.begin(), whole.begin() + std::ptrdiff_t(whole.size() * i / 16));
    CHECK(contains(read(cut).refusal, "cannot read 'in': the file ends too early ("));
    const Read taken = read(cut, {.refuse_damaged = false});
    if (!taken.refusal.empty()) {
      CHECK(contains(taken.refusal, "nothing of this JPEG"));
      continue;
    }
    CHECK(taken.warnings.size() == 1);
    ++taken_files;
    double difference = 0;
    for (int y = 0; y < 131; ++y) {
      for (int x = 0; x < 200; ++x)
        difference += std::abs(sample(taken.image, x, y, 1) - sample(full, x, y, 1));
    }
    if (i > 8) CHECK(difference / (200 * 131) < 20);
  }
  CHECK(taken_files >= 10);
  // Its last row is there before the first is given.
  const Bytes endless(whole.begin(), whole.end() - 2);
  PiecewiseSource source(endless);
  ReadContext context("'in'", {});
  const auto reader = kJpegCodec.open(source, context);
  Image row(200, 1, 3, Depth::u8);
  CHECK_THROWS_WITH_AS(reader->read(row.view()),
                       "cannot read 'in': the file ends too early (no end-of-image marker); "
                       "--on-damage=warn takes what can be read",
                       IoError);
  const std::size_t second = find_marker(whole, 0xDA, find_marker(whole, 0xDA) + 20);
  Bytes cut(whole.begin(), whole.begin() + std::ptrdiff_t(second + 300));
  CHECK(contains(read(cut).refusal, "(scan 2, row "));
}

TEST_CASE("broken entropy-coded data are found, with the row") {
  const Image image = pattern(200, 200, 3, Depth::u8);
  const Bytes whole = colour(image);
  Bytes hole = whole;  // a marker where data should go on
  hole[whole.size() / 2] = 0xFF;
  hole[whole.size() / 2 + 1] = 0xD0;
  const std::string refusal = read(hole).refusal;
  CHECK(contains(refusal, "cannot read 'in': its data is damaged ("));
  CHECK(contains(refusal, " of 200); --on-damage=warn"));
  const Read taken = read(hole, {.refuse_damaged = false});
  CHECK(taken.refusal == "");
  CHECK(taken.warnings.size() == 1);
  CHECK(equals(taken.image, by_opencv(hole)));

  Bytes ended = whole;  // cut, with an end marker after it
  ended.resize(whole.size() / 2);
  ended.insert(ended.end(), {0xFF, 0xD9});
  CHECK(contains(read(ended).refusal, "its data is damaged (premature end of data segment, row "));
  const Read half = read(ended, {.refuse_damaged = false});
  CHECK(sample(half.image, 100, 199, 0) == 0);
  CHECK(sample(half.image, 100, 10, 0) == sample(read(whole).image, 100, 10, 0));

  Bytes longer = whole;  // data that belong to no block
  longer.insert(longer.end() - 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(contains(read(longer).refusal, "extraneous bytes before marker 0xd9"));

  Bytes headless = whole;
  headless.resize(find_marker(whole, 0xDA));
  headless.insert(headless.end(), {0xFF, 0xD9});
  CHECK(contains(read(headless).refusal,
                 "the file ends too early (no image data before its end marker); --on-damage"));

  Bytes tables = whole;
  tables[find_marker(whole, 0xC4) + 5] = 0xFF;  // 255 codes of one bit
  CHECK(
      contains(read(tables).refusal, "its data is damaged (Bogus Huffman table definition, byte "));
  CHECK(contains(read(tables, {.refuse_damaged = false}).refusal,
                 "nothing of this JPEG can be read: its data is damaged ("));
}

TEST_CASE("quantisation steps of 0 are damage") {
  Bytes bytes = grey(pattern(64, 48, 3, Depth::u8), [](jpeg_compress_struct&) {});
  REQUIRE(read(bytes).refusal == "");
  bytes[find_marker(bytes, 0xDB) + 8] = 0;
  CHECK(contains(read(bytes).refusal, "its header is damaged (a quantisation step of 0)"));
  Bytes chroma = colour(pattern(64, 48, 3, Depth::u8));
  chroma[find_marker(chroma, 0xDB, find_marker(chroma, 0xDB) + 2) + 8] = 0;
  CHECK(contains(read(chroma).refusal, "its header is damaged (a quantisation step of 0)"));
}

TEST_CASE("a colour component without a scan is damage") {
  Bytes bytes = colour(pattern(64, 64, 3, Depth::u8), [](jpeg_compress_struct& info) {
    static const jpeg_scan_info kScans[] = {
        {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
    info.scan_info = kScans;
    info.num_scans = 3;
  });
  const std::size_t first = find_marker(bytes, 0xDA), second = find_marker(bytes, 0xDA, first + 2),
                    third = find_marker(bytes, 0xDA, second + 2);
  bytes.erase(bytes.begin() + std::ptrdiff_t(third), bytes.end() - 2);
  CHECK(contains(read(bytes).refusal, "(colour component 3 of 3 has no scan)"));
  const Read taken = read(bytes, {.refuse_damaged = false});
  CHECK(taken.refusal == "");
  CHECK(taken.warnings.size() == 1);
}

TEST_CASE("warnings of versions are harmless") {
  const Image image = pattern(64, 64, 3, Depth::u8);
  Bytes jfif = colour(image);
  jfif[find_marker(jfif, 0xE0) + 9] = 7;
  const Read revision = read(jfif);
  CHECK(revision.refusal == "");
  CHECK(revision.warnings.empty());
  const Bytes adobe = with_segment(
      colour(image, [](jpeg_compress_struct& info) { info.write_JFIF_header = FALSE; }), 0xEE,
      std::string("Adobe\0\x64\0\0\0\0\x09", 12));
  CHECK(read(adobe).refusal == "");
}

TEST_CASE("what follows the picture is padding, announced, or damage") {
  const Bytes plain = colour(pattern(64, 64, 3, Depth::u8));
  const auto followed_by = [](Bytes bytes, const std::string& text) {
    append(&bytes, text);
    return read(bytes);
  };
  CHECK(followed_by(plain, std::string(100'000, '\0')).refusal == "");
  CHECK(followed_by(plain, "\xFF\xFF").refusal == "");
  CHECK(contains(followed_by(plain, "trailing bytes").refusal,
                 "14 bytes follow the end of the picture; --on-damage=warn"));
  CHECK(contains(followed_by(plain, "x").refusal, "1 byte follows the end of the picture"));
  CHECK(contains(followed_by(plain, std::string(100'000, '\0') + "x").refusal,
                 "100001 bytes follow"));
  Bytes again = plain;
  again.insert(again.end(), plain.begin(), plain.end());
  const std::string video(
      "\0\0\0\x18"
      "ftypmp42\0\0\0\0isommp42",
      24);
  for (const Read& taken : {read(again), followed_by(plain, video)}) {
    CHECK(taken.refusal == "");
    REQUIRE(taken.warnings.size() == 1);
    CHECK(contains(taken.warnings[0], "follow the end of the picture, of other pictures or parts"));
    CHECK(same(taken.image, read(plain).image));
  }
  CHECK(contains(followed_by(plain, "ftypmp42").refusal, "8 bytes follow"));

  const std::string xmp("http://ns.adobe.com/xap/1.0/\0", 29);
  CHECK(followed_by(with_segment(plain, 0xE2, std::string("MPF\0II*\0", 8)), "more").refusal == "");
  for (const std::string word :
       {"GCamera:MotionPhoto", "GCamera:MicroVideo", "Container:Directory"})
    CHECK(followed_by(with_segment(plain, 0xE1, xmp + "<" + word + "/>"), "more").refusal == "");
  CHECK(followed_by(with_segment(plain, 0xE1, xmp + "<x/>"), "more").refusal != "");
  CHECK(followed_by(plain, "SEFH and so on, SEFT").refusal == "");
}

TEST_CASE("a file that ends within another than its first picture says so") {
  const Bytes plain = colour(pattern(64, 48, 3, Depth::u8));
  for (const bool little : {false, true}) {
    // A multi-picture index of three pictures, behind another segment, as CIPA DC-007 has it.
    Bytes index;
    append(&index, std::string("MPF\0", 4) + (little ? "II" : "MM"));
    append_number(&index, 42, 2, little);
    append_number(&index, 8, 4, little);
    append_number(&index, 1, 2, little);
    append_number(&index, 0xB002, 2, little);
    append_number(&index, 7, 2, little);
    append_number(&index, 48, 4, little);
    append_number(&index, 26, 4, little);
    append_number(&index, 0, 4, little);
    const std::size_t first = plain.size() + 4 + index.size() + 48 + 4 + 5;
    constexpr std::size_t kIndexAt = 2 + 4 + 5 + 4 + 4;  // in the file, behind its mark
    const std::size_t second = first + plain.size();
    for (const auto& [size, at] : {std::pair<std::size_t, std::size_t>{first, 0},
                                   {plain.size(), first - kIndexAt},
                                   {plain.size(), second - kIndexAt}}) {
      append_number(&index, 0x30000, 4, little);
      append_number(&index, std::uint32_t(size), 4, little);
      append_number(&index, std::uint32_t(at), 4, little);
      append_number(&index, 0, 4, little);
    }
    Bytes whole = with_segment(with_segment(plain, 0xE2, text_of(index)), 0xE5, "other");
    REQUIRE(whole.size() == first);
    for (int i = 0; i < 2; ++i) whole.insert(whole.end(), plain.begin(), plain.end());
    const std::size_t all = whole.size();
    const auto read_first = [&](std::size_t count) {
      const Read file = read(Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(count)));
      CHECK(file.refusal == "");
      CHECK(same(file.image, read(plain).image));
      return file.warnings;
    };
    CAPTURE(little);
    CHECK(read_first(all).size() == 1);  // that they are not read
    for (const std::size_t lost : {std::size_t{1}, plain.size() / 2, plain.size()}) {
      const auto warnings = read_first(all - lost);
      REQUIRE(warnings.size() == 2);
      CHECK(contains(warnings[0], "the file ends too early for picture 3 of its 3 (" +
                                      std::to_string(all - lost) + " of " + std::to_string(all) +
                                      " bytes)"));
    }
    const auto none = read_first(first);
    REQUIRE(none.size() == 1);
    CHECK(contains(none[0], "the file ends too early for picture 2 of its 3 ("));
  }
}

TEST_CASE("kinds that are not read are refused by name") {
  const Bytes plain = colour(pattern(64, 48, 3, Depth::u8));
  const std::size_t frame = find_marker(plain, 0xC0);
  const auto changed = [&](std::size_t at, std::initializer_list<int> values) {
    Bytes bytes = plain;
    for (const int value : values) bytes[at++] = static_cast<unsigned char>(value);
    const Read file = read(bytes);
    // What is not damaged is not to be taken as if it were.
    CHECK(!contains(file.refusal, "--on-damage"));
    return file.refusal;
  };
  CHECK(
      contains(changed(frame + 4, {12}), "it is a JPEG of 12 bits a sample, and only those of 8"));
  CHECK(contains(changed(frame + 1, {0xC3}), "it is a lossless JPEG, which is not read; convert"));
  CHECK(contains(changed(frame + 1, {0xCB}), "it is a lossless JPEG"));
  CHECK(contains(changed(frame + 1, {0xC5}), "it is a hierarchical JPEG"));
  CHECK(contains(changed(frame + 1, {0xF7}), "it is a JPEG-LS"));
  CHECK(contains(changed(frame + 5, {0, 0}), "its header promises 64x0 pixels"));
  CHECK(contains(changed(frame + 7, {0, 0}), "its header promises 0x48 pixels"));
  CHECK(
      contains(changed(frame + 5, {0xFF, 0xFF}), "promises 64x65535 pixels, more than the 65500"));
  CHECK(contains(changed(frame + 5, {0xFF, 0xD0, 0xFF, 0xD0}),
                 "promises 65488x65488 pixels, more than the limit of 536870912; raise it with"));
  const Image two = pattern(16, 16, 3, Depth::u8);
  const Bytes odd = encoded(two, JCS_UNKNOWN, 2, [](auto&) {});
  CHECK(contains(read(odd).refusal, "it has 2 colour components"));
  CHECK(contains(read(plain, {.max_pixels = 64 * 48 - 1}).refusal, "promises 64x48 pixels, more"));
  CHECK(read(plain, {.max_pixels = 64 * 48}).refusal == "");
}

TEST_CASE("a header that promises more rows than there are data is found") {
  for (const bool in_scans : {false, true}) {
    Bytes bytes = in_scans ? colour(pattern(64, 48, 3, Depth::u8), progressive)
                           : colour(pattern(64, 48, 3, Depth::u8));
    const std::size_t frame = find_marker(bytes, in_scans ? 0xC2 : 0xC0);
    bytes[frame + 5] = 0x40;  // 16432 rows
    const std::string rows = read(bytes, {}, 100).refusal;
    CHECK((contains(rows, "its data is damaged (premature end of data segment, ") ||
           contains(rows, "bytes cannot hold 64x16432 pixels")));
    bytes[frame + 7] = 0x40;  // and 16448 columns
    const std::clock_t begin = std::clock();
    const std::string refusal = read(bytes, {}, 100).refusal;
    CHECK(contains(refusal,
                   in_scans ? "bytes cannot hold 16448x16432 pixels" : "its data is damaged"));
    CHECK(std::clock() - begin < 5 * CLOCKS_PER_SEC);
  }
}

TEST_CASE("a file of scans without end is refused") {
  Bytes bytes = grey(pattern(64, 48, 3, Depth::u8), [](jpeg_compress_struct& info) {
    static const jpeg_scan_info kScans[] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 0}};
    info.scan_info = kScans;
    info.num_scans = 2;
  });
  const std::size_t first = find_marker(bytes, 0xDA), second = find_marker(bytes, 0xDA, first + 2);
  const Bytes scan(bytes.begin() + std::ptrdiff_t(second), bytes.end() - 2);
  bytes.resize(bytes.size() - 2);
  for (int i = 2; i < 500; ++i) bytes.insert(bytes.end(), scan.begin(), scan.end());
  Bytes more = bytes;
  more.insert(more.end(), scan.begin(), scan.end());
  for (Bytes* each : {&bytes, &more}) each->insert(each->end(), {0xFF, 0xD9});
  CHECK(read(bytes).refusal == "");
  CHECK(contains(read(more).refusal, "it has more than 500 scans, more than any picture of 64x48"));
}

TEST_CASE("the more pixels, the fewer scans are taken") {
  // 2^31 pixels of all scans together: 128 scans of 2^24.
  Image image(4096, 4096, 1, Depth::u8);
  for (int y = 0; y < image.height(); ++y) std::memset(image.view().row(y), 7, image.row_bytes());
  const Bytes two = grey(image, [](jpeg_compress_struct& info) {
    static const jpeg_scan_info kScans[] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 0}};
    info.scan_info = kScans;
    info.num_scans = 2;
  });
  const std::size_t first = find_marker(two, 0xDA), second = find_marker(two, 0xDA, first + 2);
  const Bytes scan(two.begin() + std::ptrdiff_t(second), two.end() - 2);
  Bytes many(two.begin(), two.end() - 2);
  for (int i = 2; i < 128; ++i) many.insert(many.end(), scan.begin(), scan.end());
  Bytes more = many;
  more.insert(more.end(), scan.begin(), scan.end());
  for (Bytes* each : {&many, &more}) each->insert(each->end(), {0xFF, 0xD9});
  CHECK(read(many).refusal == "");
  CHECK(contains(read(more).refusal, "it has more than 128 scans"));
}

TEST_CASE("arithmetic coding may take less than a bit a block") {
  Image image(2048, 2048, 1, Depth::u8);
  for (int y = 0; y < image.height(); ++y) std::memset(image.view().row(y), 7, image.row_bytes());
  const Bytes bytes = grey(image, [](jpeg_compress_struct& info) {
    static const jpeg_scan_info kScans[] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 0}};
    info.scan_info = kScans;
    info.num_scans = 2;
    info.arith_code = TRUE;
  });
  REQUIRE(bytes.size() < 256 * 256 / 8);
  const Read file = read(bytes);
  CHECK(file.refusal == "");
  CHECK(same(file.image, image));
}

TEST_CASE("coefficients that would take more than the limit are refused before memory is taken") {
  Bytes bytes = grey(pattern(64, 48, 3, Depth::u8),
                     [](jpeg_compress_struct& info) { jpeg_simple_progression(&info); });
  const std::size_t header = find_marker(bytes, 0xC2);
  const Bytes sides = {0x59, 0xD8, 0x59, 0xD8};  // 23000x23000, which is 2875^2 blocks of 128 bytes
  std::copy(sides.begin(), sides.end(), bytes.begin() + std::ptrdiff_t(header) + 5);
  CHECK(contains(read(bytes).refusal, "bytes cannot hold 23000x23000 pixels"));
  bytes.resize(bytes.size() + 2'000'000);
  CHECK(contains(read(bytes).refusal,
                 "must be held whole, in 1008 MiB, more than the limit of 768 MiB; raise it with "
                 "--max-pixels 705333334 if you trust"));
  ReadOptions more;
  more.max_pixels = 705333334;
  CHECK(contains(read(bytes, more).refusal, "its data is damaged"));
}

TEST_CASE("changed bits are refused, or give what OpenCV gives") {
  const Image image = pattern(61, 47, 3, Depth::u8);
  const std::vector<Bytes> files = {colour(image), colour(image, progressive), grey(image),
                                    colour(image, arithmetic),
                                    encoded(image, JCS_CMYK, 4, [](auto&) {})};
  std::mt19937 random(2);
  int refused = 0, accepted = 0, different = 0;
  for (const Bytes& whole : files) {
    for (int i = 0; i < 500; ++i) {
      Bytes changed = whole;
      changed[2 + random() % (whole.size() - 2)] ^= static_cast<unsigned char>(1u << random() % 8);
      const ReadOptions small{.max_pixels = 1 << 22};
      const Read file = read(changed, small, 9);
      if (file.refusal.empty()) {
        ++accepted;
        // OpenCV does not know a JPEG without its third byte, nor does PictureReader.
        const bool is_known = changed[2] == 0xFF;
        if (is_known && file.header.orientation == 1 && !equals(file.image, by_opencv(changed)))
          ++different;
      } else {
        ++refused;
      }
      const Read taken =
          read(changed, {.refuse_damaged = false, .max_pixels = small.max_pixels}, 9);
      CHECK(taken.refusal.empty() == !taken.image.empty());
      CHECK(taken.warnings.size() <= 3);
    }
  }
  CHECK(refused > 500);
  CHECK(accepted > 100);
  CHECK(different == 0);
}

TEST_CASE("a JPEG without end of metadata is refused before memory is short") {
  // 100 MiB of segments, which cost nothing to make.
  class Endless : public ByteSource {
   public:
    Endless() { size_ = std::uint64_t{100} << 20; }
    std::size_t read(std::uint64_t offset, std::span<unsigned char> into) override {
      constexpr unsigned char kSegment[] = {0xFF, 0xE1, 0xFF, 0xFE};
      for (std::size_t i = 0; i < into.size(); ++i) {
        const std::uint64_t at = offset + i;
        into[i] = at == 0                ? 0xFF
                  : at == 1              ? 0xD8
                  : (at - 2) % 65536 < 4 ? kSegment[(at - 2) % 65536]
                                         : 0;
      }
      return into.size();
    }
    std::span<const unsigned char> whole() override { return {}; }
  } source;
  ReadContext context("'in'", {});
  CHECK_THROWS_WITH_AS(kJpegCodec.open(source, context),
                       "cannot read 'in': its header is longer than 64 MiB", IoError);
}

TEST_CASE("errors of a source and of a sink come through libjpeg") {
  const Image image = pattern(500, 400, 3, Depth::u8);
  const Bytes bytes =
      colour(image, [](jpeg_compress_struct& info) { jpeg_set_quality(&info, 100, TRUE); });
  REQUIRE(bytes.size() > 150'000);
  class Broken : public PiecewiseSource {
   public:
    Broken(const Bytes& all, std::uint64_t good) : PiecewiseSource(all), good_(good) {}
    std::size_t read(std::uint64_t offset, std::span<unsigned char> into) override {
      if (offset >= good_) throw IoError("the disk is gone");
      return PiecewiseSource::read(offset, into);
    }

   private:
    std::uint64_t good_;
  };
  for (const std::uint64_t good : {0, 65536, 131072}) {
    Broken source(bytes, good);
    ReadContext context("'in'", {.refuse_damaged = false});
    Image read(500, 400, 3, Depth::u8);
    CHECK_THROWS_WITH_AS(kJpegCodec.open(source, context)->read(read.view()), "the disk is gone",
                         IoError);
  }
  class Full : public MemorySink {
   public:
    void write(std::uint64_t offset, std::span<const unsigned char> more) override {
      if (offset + more.size() > 100'000) throw IoError("the disk is full");
      MemorySink::write(offset, more);
    }
  } sink;
  const auto writer = kJpegCodec.create(sink, header_for(image, FormatId::jpeg), with(100));
  CHECK_THROWS_WITH_AS(writer->write(image.view(), {}), "the disk is full", IoError);
}

TEST_CASE("what a JPEG cannot be is refused") {
  MemorySink sink;
  Header header;
  header.format = FormatId::jpeg;
  header.channels = 1;
  header.width = 65501;
  header.height = 1;
  CHECK_THROWS_WITH_AS(kJpegCodec.create(sink, header, {}),
                       "cannot encode 65501x1 pixels as JPEG: a side may have 65500 at the most; "
                       "choose another format, such as png",
                       IoError);
  header.width = 65500;
  CHECK_NOTHROW(kJpegCodec.create(sink, header, {}));
  header.channels = 3;
  const auto create = [&](Subsampling factors) {
    kJpegCodec.create(sink, header, with({}, factors));
  };
  CHECK_THROWS_AS(create({4, 4}), UsageError);
  CHECK_THROWS_AS(create({0, 1}), UsageError);
  CHECK_THROWS_AS(create({5, 1}), UsageError);
  CHECK_NOTHROW(create({4, 2}));
}
