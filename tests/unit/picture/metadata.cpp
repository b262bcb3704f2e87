/// Metadata: EXIF blocks as they go into results, and what TIFF files hold of EXIF, ICC, XMP, IPTC.
#include "src/picture/metadata.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "src/picture/codec.hpp"
#include "src/picture/codecs/tiff/directory.hpp"
#include "src/picture/codecs/tiff/tags.hpp"
#include "src/picture/formats.hpp"
#include "src/picture/image.hpp"
#include "src/picture/io.hpp"
#include "src/picture/strip.hpp"
#include "tests/support/files/codec.hpp"
#include "tests/support/files/picture.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

// Where the sample block has them.
constexpr int kGpsAt = 290, kInteropAt = 360, kNoteAt = 400, kThumbnailAt = 500;
const std::string kNote = "Maker's own notes, whose offsets count from the start";
const std::string kThumbnail = "JPEG of the picture before";

/// A directory entry as the test writes it: `text` are its values' bytes, in the byte order.
struct Entry {
  int tag, type;
  std::uint32_t count;
  Bytes values;
};

class Block {
 public:
  explicit Block(bool little) : little_(little) {
    append(&bytes_, little ? "II" : "MM");
    append_number(&bytes_, 42, 2, little);
    append_number(&bytes_, 8, 4, little);
  }
  Bytes number(std::uint32_t value, int size) const {
    Bytes bytes;
    append_number(&bytes, value, size, little_);
    return bytes;
  }
  Bytes numbers(const std::vector<std::uint32_t>& values, int size) const {
    Bytes bytes;
    for (const std::uint32_t value : values) append_number(&bytes, value, size, little_);
    return bytes;
  }
  /// Writes a directory at the end, its values after it.
  void add(const std::vector<Entry>& entries, std::uint32_t next) {
    std::size_t values_at = bytes_.size() + 2 + 12 * entries.size() + 4;
    Bytes values;
    append_number(&bytes_, std::uint32_t(entries.size()), 2, little_);
    for (const Entry& entry : entries) {
      append_number(&bytes_, std::uint32_t(entry.tag), 2, little_);
      append_number(&bytes_, std::uint32_t(entry.type), 2, little_);
      append_number(&bytes_, entry.count, 4, little_);
      Bytes field = entry.values;
      if (field.size() > 4) {
        field = number(std::uint32_t(values_at + values.size()), 4);
        values.insert(values.end(), entry.values.begin(), entry.values.end());
      }
      field.resize(4);
      bytes_.insert(bytes_.end(), field.begin(), field.end());
    }
    append_number(&bytes_, next, 4, little_);
    bytes_.insert(bytes_.end(), values.begin(), values.end());
  }
  void fill_to(std::size_t at) {
    REQUIRE(bytes_.size() <= at);
    bytes_.resize(at);
  }
  void text(const std::string& text) { append(&bytes_, text); }
  const Bytes& bytes() const { return bytes_; }

 private:
  bool little_;
  Bytes bytes_;
};

Bytes letters(const std::string& text) {
  return Bytes(text.begin(), text.end());
}

/// A block as cameras write them. The offsets are those that add() gives.
Bytes camera_block(bool little, bool tail = false) {
  Block block(little);
  constexpr std::uint32_t kExif = 150, kSecond = 560;
  block.add({{271, 2, 7, letters(std::string("Camera\0", 7))},
             {274, 3, 1, block.number(6, 2)},
             {282, 5, 1, block.numbers({300, 1}, 4)},
             {315, 2, 4, letters(std::string("Ann\0", 4))},
             {34665, 4, 1, block.number(kExif, 4)},
             {34853, 4, 1, block.number(kGpsAt, 4)}},
            kSecond);
  block.fill_to(kExif);
  // The maker note's place is fixed, so its entry gets the offset itself as its four bytes.
  block.add({{33434, 5, 1, block.numbers({1, 250}, 4)},
             {36864, 7, 4, letters("0232")},
             {37500, 7, std::uint32_t(kNote.size()), block.number(kNoteAt, 4)},
             {40962, 3, 1, block.number(640, 2)},
             {40963, 4, 1, block.number(480, 4)},
             {40965, 4, 1, block.number(kInteropAt, 4)}},
            0);
  block.fill_to(kGpsAt);
  block.add({{0, 1, 4, {2, 3, 0, 0}},
             {1, 2, 2, letters(std::string("N\0", 2))},
             {2, 5, 3, block.numbers({52, 1, 31, 1, 12, 10}, 4)}},
            0);
  block.fill_to(kInteropAt);
  block.add({{1, 2, 4, letters(std::string("R98\0", 4))}}, 0);
  block.fill_to(kNoteAt);
  block.text(kNote);
  block.fill_to(kThumbnailAt);
  block.text(kThumbnail);
  block.fill_to(kSecond);
  block.add({{259, 3, 1, block.number(6, 2)},
             {513, 4, 1, block.number(kThumbnailAt, 4)},
             {514, 4, 1, block.number(std::uint32_t(kThumbnail.size()), 4)}},
            0);
  if (tail) block.text("something that no directory points to");
  return block.bytes();
}

/// 300 across and 150 down, in inches (2), centimetres (3) or no unit (1).
Bytes block_with_resolution(int orientation, int unit) {
  Block block(true);
  block.add({{274, 3, 1, block.number(std::uint32_t(orientation), 2)},
             {282, 5, 1, block.numbers({300, 1}, 4)},
             {283, 5, 1, block.numbers({1500, 10}, 4)},
             {296, 3, 1, block.number(std::uint32_t(unit), 2)}},
            0);
  return block.bytes();
}

/// The formats that hold a profile and need no module.
bool kept_by_convfilt(FormatId format) {
  return format == FormatId::jpeg || format == FormatId::png || format == FormatId::tiff ||
         format == FormatId::webp;
}

bool contains(const Bytes& bytes, const std::string& text) {
  return std::search(bytes.begin(), bytes.end(), text.begin(), text.end()) != bytes.end();
}

/// The values of a tag of the first directory, or of the one that `pointer` of it points to.
Bytes values_in(const Bytes& block, int tag, int pointer = 0) {
  const auto source = source_of(block);
  const TiffStructure file(*source);
  if (!file.valid()) return {};
  auto directory = file.directory(file.first());
  if (pointer && directory)
    directory = file.directory(file.number(directory->find(std::uint16_t(pointer))).value_or(0));
  const TiffEntry* entry = directory ? directory->find(std::uint16_t(tag)) : nullptr;
  return entry ? file.bytes_of(*entry, 1 << 20) : Bytes();
}

Metadata everything(bool little) {
  Metadata metadata;
  metadata.exif = camera_block(little);
  metadata.icc = profile_head("RGB ", 300);
  metadata.xmp = letters("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>");
  metadata.iptc = {0x1C, 2, 5, 0, 5, 'T', 'i', 't', 'l', 'e'};
  metadata.resolution = Metadata::Resolution{300, 150};
  return metadata;
}

void check_everything(const Metadata& read, bool little) {
  const Metadata expected = everything(little);
  CHECK(read.icc == expected.icc);
  CHECK(read.xmp == expected.xmp);
  CHECK(read.iptc == expected.iptc);
  const Bytes before = camera_block(little);
  REQUIRE(!read.exif.empty());
  CHECK(read.exif[0] == (little ? 'I' : 'M'));
  for (const int tag : {271, 315}) CHECK(values_in(read.exif, tag) == values_in(before, tag));
  for (const int tag : {33434, 36864, 37500, 40962, 40963})
    CHECK(values_in(read.exif, tag, 34665) == values_in(before, tag, 34665));
  for (const int tag : {0, 1, 2})
    CHECK(values_in(read.exif, tag, 34853) == values_in(before, tag, 34853));
  CHECK(values_in(read.exif, 274).empty());
  CHECK(std::equal(kNote.begin(), kNote.end(), read.exif.begin() + kNoteAt));
  const auto source = source_of(read.exif);
  const TiffStructure file(*source);
  const auto exif =
      file.directory(file.number(file.directory(file.first())->find(34665)).value_or(0));
  REQUIRE(exif);
  const auto interop = file.directory(file.number(exif->find(40965)).value_or(0));
  REQUIRE(interop);
  CHECK(file.bytes_of(*interop->find(1), 100) == letters(std::string("R98\0", 4)));
}

struct Reread {
  Metadata metadata;
  Image image;
};

Bytes encoded(const Image& image, const Metadata& metadata, std::optional<int> compression) {
  WriteOptions options;
  options.compression = compression;
  return write_by(kTiffCodec, image, header_for(image, FormatId::tiff, metadata), options);
}

Reread read_back(const Bytes& file) {
  ReadContext context("'in'", {});
  const auto source = source_of(file);
  const auto reader = kTiffCodec.open(*source, context);
  const Header& header = reader->header();
  Image image(header.width, header.height, header.channels, header.depth);
  reader->read(image.view());
  CHECK(context.warnings().empty());
  return {header.metadata, std::move(image)};
}

bool has_next_directory(const Bytes& block) {
  return TiffStructure(block).first_directory().value().next != 0;
}

}  // namespace

TEST_CASE(
    "EXIF of a result: it stands upright, has no thumbnail, and all else stays in its place") {
  for (const bool little : {true, false}) {
    const Bytes before = camera_block(little);
    REQUIRE(exif_orientation(before) == 6);
    REQUIRE(contains(before, kThumbnail));
    const Bytes after = exif_of_result(before);
    REQUIRE(!after.empty());
    CHECK(exif_orientation(after) == 1);
    CHECK(!contains(after, kThumbnail));
    CHECK(!contains(after, "JPEG"));
    CHECK(has_next_directory(before));
    CHECK(!has_next_directory(after));
    CHECK(after.size() < before.size());
    // The orientation and the pointer to the thumbnail's directory are all that changed before it.
    int changed = 0;
    for (std::size_t i = 0; i < std::size_t(kThumbnailAt); ++i) changed += before[i] != after[i];
    CHECK(changed == 3);
    CHECK(values_in(after, 40962, 34665) == values_in(before, 40962, 34665));
  }
}

TEST_CASE("EXIF of a result: bytes that no directory points to stay") {
  const Bytes after = exif_of_result(camera_block(true, true));
  CHECK(contains(after, "something that no directory points to"));
  CHECK(!contains(after, kThumbnail));
}

TEST_CASE("EXIF of a result: the size") {
  for (const bool little : {true, false}) {
    const Bytes small = exif_of_result(camera_block(little), 33, 44);
    const Block order(little);
    CHECK(values_in(small, 40962, 34665) == order.number(33, 2));
    CHECK(values_in(small, 40963, 34665) == order.number(44, 4));
    const Bytes large = exif_of_result(camera_block(little), 100000, 44);
    CHECK(values_in(large, 40962, 34665) == order.number(100000, 4));
    CHECK(values_in(large, 40963, 34665) == order.number(44, 4));
  }
}

TEST_CASE("EXIF of a result: numbers go into their entries, whatever those say") {
  for (const bool little : {true, false}) {
    Block block(little);
    block.add({{256, 4, 3, block.number(2, 4)},  // three values, which begin within the header
               {257, 1, 1, {7}},
               {274, 3, 3, block.numbers({6, 6, 6}, 2)}},
              0);
    const Bytes after = exif_of_result(block.bytes(), 70000, 480);
    REQUIRE(after.size() == block.bytes().size());
    CHECK(std::equal(after.begin(), after.begin() + 8, block.bytes().begin()));
    CHECK(exif_orientation(after) == 1);
    CHECK(values_in(after, 256) == block.number(70000, 4));
    CHECK(values_in(after, 257) == block.number(480, 4));
  }
}

TEST_CASE("EXIF of a result: a thumbnail that overlaps other values stays with them") {
  for (const int at : {kGpsAt, kInteropAt, kNoteAt}) {
    CAPTURE(at);
    Bytes block = camera_block(true);
    // The thumbnail's offset is the second entry of the second directory.
    block[560 + 2 + 12 + 8] = at & 255;
    block[560 + 2 + 12 + 9] = at >> 8;
    const Bytes after = exif_of_result(block);
    CHECK(std::equal(after.begin() + at, after.begin() + kThumbnailAt, block.begin() + at));
    CHECK(!has_next_directory(after));
  }
}

TEST_CASE("EXIF of a result: what is no TIFF structure gives nothing") {
  CHECK(exif_of_result({}).empty());
  CHECK(exif_of_result(letters("II*")).empty());
  CHECK(exif_of_result(letters("not a structure of TIFF at all")).empty());
  Bytes outside = camera_block(true);
  outside[7] = 0x7F;
  CHECK(exif_of_result(outside).empty());
}

TEST_CASE("EXIF of a result: its resolution is turned with the picture") {
  for (const int orientation : {1, 2, 3, 4, 5, 6, 7, 8}) {
    const Bytes after = exif_of_result(block_with_resolution(orientation, 2));
    const auto resolution = exif_resolution(after);
    REQUIRE(resolution);
    CHECK(resolution->x == (orientation < 5 ? 300 : 150));
    CHECK(resolution->y == (orientation < 5 ? 150 : 300));
    CHECK(exif_orientation(after) == 1);
  }
}

TEST_CASE("EXIF's resolution") {
  const auto per_centimetre = exif_resolution(block_with_resolution(1, 3));
  REQUIRE(per_centimetre);
  CHECK(per_centimetre->x == doctest::Approx(762));
  CHECK(per_centimetre->y == doctest::Approx(381));
  const auto ratio = exif_resolution(block_with_resolution(1, 1));
  REQUIRE(ratio);
  CHECK(!ratio->has_unit);
  CHECK(!exif_resolution(camera_block(true)));  // one of the two is not there
  CHECK(!exif_resolution({}));
}

TEST_CASE("EXIF gets a resolution, and all else stays in its place") {
  const auto check = [](const Bytes& block, double x, double y) {
    const auto resolution = exif_resolution(block);
    REQUIRE(resolution);
    CHECK(resolution->x == doctest::Approx(x).epsilon(1e-9));
    CHECK(resolution->y == doctest::Approx(y).epsilon(1e-9));
  };
  check(exif_with_resolution({}, {299.9994, 72}), 299.9994, 72);
  check(exif_with_resolution(block_with_resolution(1, 3), {96, 97}), 96, 97);
  for (const bool little : {true, false}) {
    const Bytes before = exif_of_result(camera_block(little));
    const Bytes after = exif_with_resolution(before, {118.11, 4e9});
    check(after, 118.11, 4e9);
    for (const int tag : {271, 274, 315}) CHECK(values_in(after, tag) == values_in(before, tag));
    CHECK(values_in(after, 2, 34853) == values_in(before, 2, 34853));
    CHECK(std::equal(kNote.begin(), kNote.end(), after.begin() + kNoteAt));
    // Values begin on a word, whatever the block's length is.
    Bytes odd = before;
    odd.resize(odd.size() + 1 - odd.size() % 2 + 2);
    REQUIRE(odd.size() % 2 == 1);
    const Bytes block = exif_with_resolution(odd, {118.11, 4e9});
    const auto source = source_of(block);
    const TiffStructure file(*source);
    CHECK(file.directory(file.first())->find(283)->values_at % 2 == 0);
    for (std::size_t length = 0; length < before.size(); ++length)
      exif_with_resolution(Bytes(before.begin(), before.begin() + std::ptrdiff_t(length)), {1, 1});
  }
}

TEST_CASE("an XMP packet's orientation becomes 1, and nothing else does") {
  const auto upright = [](const std::string& text) {
    Bytes xmp = letters(text);
    set_xmp_upright(xmp);
    return std::string(xmp.begin(), xmp.end());
  };
  CHECK(upright("<a tiff:Orientation=\"6\" b='6'/>") == "<a tiff:Orientation=\"1\" b='6'/>");
  CHECK(upright("<tiff:Orientation>8</tiff:Orientation>7") ==
        "<tiff:Orientation>1</tiff:Orientation>7");
  CHECK(upright("<a tiff:Orientation = '3'/>") == "<a tiff:Orientation = '1'/>");
  for (const char* const other :
       {"", "tiff:Orientation", "tiff:Orientation=", "<a tiff:Orientations='6'/>",
        "<a tiff:Orientation='9'/>", "<tiff:Orientation6>", "<a exif:Orientation='6'/>"})
    CHECK(upright(other) == other);
}

TEST_CASE("a colour profile goes only with the colours that it is for, in every format") {
  const TemporaryFolder folder;
  for (const Format& format : written_formats()) {
    if (!format.u8 || !kept_by_convfilt(format.id)) continue;
    for (const std::string space : {"RGB ", "GRAY"}) {
      for (const int channels : {1, 3}) {
        if (channels == 3 && !format.colour) continue;
        CAPTURE(format.name);
        CAPTURE(space);
        CAPTURE(channels);
        Header header;
        header.metadata.icc = profile_head(space, 300);
        const std::string path = folder / ("a." + std::string(format.extension()));
        std::vector<std::string> warnings;
        write_picture(path, pattern(16, 16, channels, Depth::u8), header, {}, &warnings);
        const bool grey = channels == 1 && format.grey;
        const bool fits = grey == (space == "GRAY");
        CHECK(warnings.size() == (fits ? 0 : 1));
        const Picture back = read_picture(path, {}, nullptr);
        CHECK(back.image.channels() == (grey ? 1 : 3));
        CHECK(back.header.metadata.icc == (fits ? header.metadata.icc : Bytes()));
      }
    }
  }
}

TEST_CASE("EXIF of a result: hostile blocks") {
  std::mt19937 random(1);
  for (const bool little : {true, false}) {
    const Bytes whole = camera_block(little);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const Bytes cut(whole.begin(), whole.begin() + std::ptrdiff_t(length));
      CHECK(exif_of_result(cut, 70000, 70000).size() <= length);
    }
    for (int i = 0; i < 5000; ++i) {
      Bytes changed = whole;
      for (int k = 0; k < 3; ++k) changed[random() % changed.size()] = std::uint8_t(random());
      CHECK(exif_of_result(changed, 70000, 70000).size() <= changed.size());
    }
  }
}

TEST_CASE("EXIF without places: a block that ends within the offset behind its entries") {
  constexpr std::uint16_t kGps[] = {0x8825};
  for (std::size_t offset = 0; offset <= 4; ++offset) {
    Metadata metadata;
    metadata.exif = {'I', 'I', '*', 0, 8, 0, 0, 0, 1, 0, 0x25, 0x88, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    metadata.exif.resize(metadata.exif.size() + offset);
    const Bytes left = stripped(metadata, Strip::gps).exif;
    CHECK(left.size() == metadata.exif.size());
    CHECK(!has_tags(left, kGps));
  }
}

TEST_CASE("TIFF metadata: all kinds come back, in both byte orders, at every depth") {
  for (const bool little : {true, false}) {
    for (const Depth depth : kDepths) {
      for (const std::optional<int> compression : {std::optional<int>(), {0}, {6}}) {
        CAPTURE(little);
        CAPTURE(int(depth));
        const Image image = pattern(90, 70, 3, depth);
        const Bytes file = encoded(image, everything(little), compression);
        CHECK(file[0] == (little ? 'I' : 'M'));
        CHECK(!contains(file, kThumbnail));
        const Reread back = read_back(file);
        CHECK(same(back.image, image));
        check_everything(back.metadata, little);
        REQUIRE(back.metadata.resolution);
        CHECK(back.metadata.resolution->x == doctest::Approx(300));
        CHECK(back.metadata.resolution->y == doctest::Approx(150));
        const TiffStructure structure(file);
        CHECK(structure.number(structure.first_directory().value().find(274)) == 1u);
      }
    }
  }
}

TEST_CASE("TIFF metadata: each kind alone") {
  const Image image = pattern(20, 10, 3, Depth::u8);
  const Metadata all = everything(true);
  for (const int kind : {0, 1, 2, 3, 4}) {
    Metadata one;
    if (kind == 0) one.icc = all.icc;
    if (kind == 1) one.exif = all.exif;
    if (kind == 2) one.xmp = all.xmp;
    if (kind == 3) one.iptc = all.iptc;
    if (kind == 4) one.resolution = all.resolution;
    const Metadata back = read_back(encoded(image, one, {})).metadata;
    CHECK(back.icc == one.icc);
    CHECK(back.xmp == one.xmp);
    CHECK(back.iptc == one.iptc);
    CHECK(back.exif.empty() == one.exif.empty());
    CHECK(back.resolution.has_value() == one.resolution.has_value());
  }
}

TEST_CASE("TIFF metadata: an EXIF block that is none is left out") {
  const Image image = pattern(20, 10, 3, Depth::u8);
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    Metadata metadata;
    metadata.exif = camera_block(i % 2);
    if (i == 0) metadata.exif = letters("nothing");
    for (int k = 0; k < 4; ++k)
      metadata.exif[random() % metadata.exif.size()] = std::uint8_t(random());
    CHECK(same(read_back(encoded(image, metadata, {})).image, image));
  }
}

TEST_CASE("TIFF metadata: BigTIFF") {
  for (const bool little : {true, false}) {
    TiffArea area(little, true);
    const auto entries = add_metadata(everything(little), area);
    // An empty BigTIFF: the header, the values, and a directory of one entry.
    Bytes file = std::move(area.bytes());
    Bytes header;
    append(&header, little ? "II" : "MM");
    append_number(&header, 43, 2, little);
    append_number(&header, 8, 2, little);
    append_number(&header, 0, 2, little);
    file.resize(file.size() + file.size() % 8);
    const auto at = std::uint32_t(file.size());
    for (const std::uint32_t word : {little ? at : 0, little ? 0 : at})
      append_number(&header, word, 4, little);
    std::copy(header.begin(), header.end(), file.begin());
    const auto long8 = [&](std::uint32_t value) {
      for (const std::uint32_t word : {little ? value : 0, little ? 0 : value})
        append_number(&file, word, 4, little);
    };
    long8(1);
    append_number(&file, 256, 2, little);
    append_number(&file, 3, 2, little);
    long8(1);
    append_number(&file, 77, 2, little);
    for (int i = 0; i < 6; ++i) file.push_back(0);
    long8(0);
    MemorySink sink;
    sink.append(file);
    add_entries(sink, {entries});

    const auto source = source_of(sink.bytes());
    const TiffStructure structure(*source);
    REQUIRE(structure.valid());
    CHECK(structure.big());
    const auto directory = structure.directory(structure.first());
    REQUIRE(directory);
    CHECK(!directory->cut);
    CHECK(structure.number(directory->find(256)) == 77u);
    check_everything(metadata_of(structure, *directory), little);
  }
}

TEST_CASE("TIFF metadata: IPTC that was turned or filled up") {
  const Bytes records = {0x1C, 2, 5, 0, 5, 'T', 'i', 't', 'l', 'e'};
  const auto read = [](Bytes iptc) {
    Metadata metadata;
    metadata.iptc = std::move(iptc);
    return read_back(encoded(pattern(9, 9, 1, Depth::u8), metadata, {})).metadata.iptc;
  };
  Bytes filled = records;
  filled.resize(12);
  CHECK(read(filled) == records);
  Bytes turned = filled;
  for (std::size_t i = 0; i < 12; i += 4)
    std::reverse(turned.begin() + std::ptrdiff_t(i), turned.begin() + std::ptrdiff_t(i) + 4);
  CHECK(read(turned) == records);
  CHECK(read(records) == records);
  CHECK(read(Bytes(3)) == Bytes(3));
}
