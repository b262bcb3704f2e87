/// --in-place replaces a file only where the result holds all that the file holds.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/filter/mask.hpp"
#include "src/mask/make.hpp"
#include "src/run/crew.hpp"
#include "tests/support/files/gif.hpp"
#include "tests/support/files/picture.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

constexpr int kWidth = 48, kHeight = 40;  // OpenJPEG writes no much smaller ones

/// A file, and what of it a result would lack.
struct Case {
  std::string kind, extension;
  Bytes bytes;
  std::string lacks;        ///< empty: nothing
  bool is_damaged = false;  ///< it is read by --on-damage=warn alone
};

void filter(const std::string& in, const std::string& out, const Case& what) {
  Batch batch;
  batch.convolver.request.device = "cpu";
  batch.filter = mask_filter(box_mask(3));
  batch.read.refuse_damaged = !what.is_damaged;
  if (what.extension == "gif") batch.write.format = "png";
  PictureLane lane(batch, batch.convolver);
  const Job job{in, "", out};
  struct : Admission, JobEvents {
  } none;
  Passage passage(batch, job, none, none);
  lane.filter(passage);
  passage.commit();
}

Bytes operator+(Bytes bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

Bytes text(const std::string& words) {
  return Bytes(words.begin(), words.end());
}

Bytes number(std::uint32_t value, int size, bool little) {
  Bytes bytes;
  append_number(&bytes, value, size, little);
  return bytes;
}

/// A box of HEIC, AVIF, JPEG XL and JPEG 2000.
Bytes box(const std::string& type, const Bytes& content) {
  return number(std::uint32_t(content.size() + 8), 4, false) + text(type) + content;
}

Bytes replaced(const Bytes& bytes, const std::string& from, const std::string& to) {
  std::string all(bytes.begin(), bytes.end());
  const std::size_t at = all.find(from);
  REQUIRE(at != all.npos);
  REQUIRE(from.size() == to.size());
  return text(all.replace(at, from.size(), to));
}

/// Whether this machine writes the format.
bool writes(const std::string& extension) {
  try {
    codec_for(find_format(extension)->id, Loader::automatic);
    return true;
  } catch (const IoError& error) {
    MESSAGE("skipped: " << error.what());
    return false;
  }
}

Bytes written(const std::string& extension, int channels = 3, Depth depth = Depth::u8) {
  const TemporaryFolder folder;
  const std::string path = folder / ("a." + extension);
  write_image(path, pattern(kWidth, kHeight, channels, depth), {}, nullptr);
  return load(path);
}

/// An uncompressed grey TIFF with one more entry, whose values lie behind the pixels, with `more`.
Bytes tiff_with(std::uint16_t tag, std::uint16_t type, std::uint32_t count, const Bytes& values,
                const Bytes& more) {
  constexpr std::uint32_t kPixelsAt = 8, kSide = 4, kPixels = kSide * kSide;
  const std::uint32_t more_at = kPixelsAt + kPixels;
  Bytes bytes = text("II") + number(42, 2, true);
  const auto values_at = std::uint32_t(more_at + more.size());
  bytes = bytes + number(std::uint32_t(values_at + values.size()), 4, true) + Bytes(kPixels, 90) +
          more + values;
  std::vector<std::vector<std::uint32_t>> entries = {
      {256, 3, 1, kSide},     {257, 3, 1, kSide}, {258, 3, 1, 8},     {262, 3, 1, 1},
      {273, 4, 1, kPixelsAt}, {277, 3, 1, 1},     {278, 3, 1, kSide}, {279, 4, 1, kPixels}};
  const bool inside = values.size() <= 4;
  std::uint32_t value = values_at;
  if (inside) {
    value = 0;
    for (std::size_t i = values.size(); i-- > 0;) value = value << 8 | values[i];
  }
  entries.push_back({tag, type, count, value});
  std::sort(entries.begin(), entries.end());
  bytes = bytes + number(std::uint32_t(entries.size()), 2, true);
  for (const auto& entry : entries)
    bytes = bytes + number(entry[0], 2, true) + number(entry[1], 2, true) +
            number(entry[2], 4, true) + number(entry[3], 4, true);
  return bytes + number(0, 4, true);
}

/// A directory of a picture of one pixel, which lies at byte 8.
Bytes small_directory() {
  Bytes bytes = number(4, 2, true);
  for (const auto& [tag, value] : {std::pair{256, 1}, {257, 1}, {273, 8}, {279, 1}})
    bytes = bytes + number(std::uint32_t(tag), 2, true) + number(4, 2, true) + number(1, 4, true) +
            number(std::uint32_t(value), 4, true);
  return bytes + number(0, 4, true);
}

void add_tiffs(std::vector<Case>& cases) {
  const std::vector<std::uint32_t> values(12, 7);
  for (const int pictures : {1, 2, 5}) {
    const TiffKind kind{.width = 4, .height = 3, .pictures = pictures};
    cases.push_back({"pages", "tif", tiff(kind, values), ""});
  }
  const TiffKind mask{.width = 2, .height = 2, .samples = 3, .extra_samples = 0};
  cases.push_back(
      {"more samples", "tif", tiff(mask, values),
       "the samples of a pixel beside its colours, which are no alpha, are not read (2)"});
  cases.push_back({"a picture in a subdirectory", "tif",
                   tiff_with(330, 4, 1, number(24, 4, true), small_directory()),
                   "the pictures in its subdirectories (1) are not read"});
  // One that points to no picture is no loss.
  cases.push_back({"a subdirectory without a picture", "tif",
                   tiff_with(330, 4, 1, number(24, 4, true), Bytes(6, 0)), ""});
  const Bytes says_three = text(std::string("ImageJ=1.53\nimages=3\nslices=3\n", 31));
  cases.push_back(
      {"an ImageJ stack", "tif", tiff_with(270, 2, 31, says_three, Bytes(2 * 16, 80)), ""});
  cases.push_back({"an ImageJ stack that is cut", "tif",
                   tiff_with(270, 2, 31, says_three, Bytes(2 * 16 - 1, 80)), ""});
  cases.push_back({"what was made of the first plane of one", "tif",
                   tiff_with(270, 2, 31, says_three, {}), ""});
  cases.push_back({"a volume", "tif", tiff_with(32997, 4, 1, number(3, 4, true), Bytes(2 * 16, 80)),
                   "only the first of its 3 planes of depth is read"});
  const Bytes layers = text(std::string("Adobe Photoshop Document Data Block\0MIB8ryaL", 44));
  cases.push_back({"layers", "tif", tiff_with(37724, 7, 44, layers, {}),
                   "Photoshop's layers in it are not read"});
}

Bytes with_segment(const Bytes& jpeg, unsigned char marker, const Bytes& payload) {
  Bytes bytes(jpeg.begin(), jpeg.begin() + 2);
  return bytes + Bytes{0xFF, marker} + number(std::uint32_t(payload.size() + 2), 2, false) +
         payload + Bytes(jpeg.begin() + 2, jpeg.end());
}

void add_jpegs(std::vector<Case>& cases) {
  const Bytes jpeg = written("jpg");
  cases.push_back({"plain", "jpg", jpeg, ""});
  const Bytes index = text(std::string("MPF\0MM\0*\0\0\0\10\0\0\0\0\0\0", 18));
  const Bytes motion =
      text(std::string("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta GCamera:MotionPhoto='1'/>", 66));
  const Bytes video = box("ftyp", text("mp42")) + box("mdat", Bytes(50, 3));
  for (const auto& [kind, first, second] :
       {std::tuple{"a second picture", with_segment(jpeg, 0xE2, index), jpeg},
        {"a video", with_segment(jpeg, 0xE1, motion), video},
        {"Samsung's parts", jpeg, text("SEFH and so on, SEFT")}}) {
    const std::size_t count = second.size();
    cases.push_back({kind, "jpg", first + second,
                     std::to_string(count) + " bytes follow the end of the picture"});
    cases.push_back({std::string(kind) + " that is not there", "jpg", first, ""});
  }
}

void add_others(std::vector<Case>& cases) {
  const Bytes png = written("png");
  cases.push_back({"plain", "png", png, ""});
  cases.push_back({"animated", "png", png_with_chunk(png, "acTL", Bytes(8, 1)),
                   "only the first picture of this animated PNG is read"});

  // Frames of one picture; the chunk of pixels follows "RIFF", a size and "WEBP".
  const Bytes webp = written("webp");
  cases.push_back({"plain", "webp", webp, ""});
  const auto chunk = [](const std::string& type, const Bytes& data) {
    return text(type) + number(std::uint32_t(data.size()), 4, true) + data;
  };
  const Bytes pixels(webp.begin() + 12, webp.end());
  for (const int frames : {1, 3}) {
    Bytes chunks = chunk("VP8X", number(2, 4, true) + number(kWidth - 1, 3, true) +
                                     number(kHeight - 1, 3, true)) +
                   chunk("ANIM", Bytes(6, 0));
    for (int i = 0; i < frames; ++i)
      chunks =
          chunks + chunk("ANMF", Bytes(6, 0) + number(kWidth - 1, 3, true) +
                                     number(kHeight - 1, 3, true) + number(100, 4, true) + pixels);
    cases.push_back({"animated, of " + std::to_string(frames), "webp",
                     chunk("RIFF", text("WEBP") + chunks), ""});
  }

  for (const std::string extension : {"pgm", "pam", "pfm"}) {
    const Bytes one = written(extension, 1, extension == "pfm" ? Depth::f32 : Depth::u8);
    cases.push_back({"plain", extension, one, ""});
    cases.push_back({"two pictures", extension, one + one, "only the first of several pictures"});
  }

  if (writes("gif")) {
    const GifPicture picture = gif_picture(0, 0, 10, 8);
    cases.push_back({"plain", "gif", gif(10, 8, {picture}), ""});
    cases.push_back({"animated", "gif", gif(10, 8, {picture, picture}), ""});
  }
  for (const std::string extension : {"heic", "avif"}) {
    if (!writes(extension)) continue;
    const Bytes plain = written(extension), clear = written(extension, 4);
    cases.push_back({"plain", extension, plain, ""});
    cases.push_back({"alpha", extension, clear, ""});
    cases.push_back({"a second picture", extension, replaced(clear, "auxl", "xyzl"),
                     "only the main one of its 2 pictures is read"});
    const std::string alpha = extension == "heic" ? "hevc:2015:auxid:1" : "auxiliary:alpha";
    const std::string other = extension == "heic" ? "hevc:2015:auxid:7" : "auxiliary:gains";
    cases.push_back({"a gain map", extension, replaced(clear, alpha, other),
                     "only the main one of its 2 pictures is read"});
    for (const std::string type : {"moov", "mpvd"})
      cases.push_back({"a part behind it", extension, plain + box(type, Bytes(20, 1)),
                       type == "moov" ? "only one picture of its sequence is read"
                                      : "its box '" + type + "' is not read"});
    const Bytes beginning(plain.begin(), plain.begin() + plain[3]);
    cases.push_back(
        {"another beginning", extension, plain + beginning, "its box 'ftyp' is not read"});
    cases.push_back({"free room", extension, plain + box("free", Bytes(20, 1)), ""});
  }
  if (writes("jxl")) {
    const Bytes plain = written("jxl");
    cases.push_back({"plain", "jxl", plain, ""});
    const auto container = [&](const Bytes& more) {
      const Bytes mark = {0x0D, 0x0A, 0x87, 0x0A};
      return box("JXL ", mark) + box("ftyp", text("jxl ") + Bytes(4, 0) + text("jxl ")) +
             box("jxlc", plain) + more;
    };
    if (plain[0] == 0xFF) {
      cases.push_back({"in a container", "jxl", container({}), ""});
      cases.push_back({"a gain map", "jxl", container(box("jhgm", Bytes(20, 1))),
                       "its box 'jhgm' is not read"});
    }
    // Two frames of 4x3 pixels, by libjxl.
    cases.push_back(
        {"animated",
         "jxl",
         {0xFF, 0x0A, 0x10, 0x30, 0x41, 0x13, 0x00, 0x08, 0x8A, 0x5B, 0x02, 0x08, 0x02, 0x01, 0x00,
          0x28, 0x00, 0x4B, 0x18, 0x8B, 0x15, 0x42, 0xA1, 0xC0, 0x69, 0x00, 0x00, 0x08, 0x02, 0x05,
          0x00, 0x28, 0x00, 0x4B, 0x18, 0x8B, 0x15, 0x42, 0xB9, 0xF0, 0x29, 0x03, 0x00},
         "it is an animated JPEG XL"});
  }
  if (writes("jp2")) {
    const Bytes jp2 = written("jp2");
    cases.push_back({"plain", "jp2", jp2, ""});
    cases.push_back({"a second picture", "jp2", jp2 + box("jp2c", {0xFF, 0xD9}),
                     "only the first of its 2 pictures is read"});
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_tiffs(cases);
  add_jpegs(cases);
  add_others(cases);
  // Whatever follows a picture's marked end is lost where such damage is taken.
  for (const std::string extension :
       {"jpg", "png", "webp", "bmp", "pgm", "pam", "pfm", "hdr", "jp2", "heic", "avif", "jxl"}) {
    if (!writes(extension)) continue;
    const bool deep = extension == "pfm" || extension == "hdr";
    const bool grey = extension == "pgm" || extension == "pfm";
    const Bytes whole = written(extension, grey ? 1 : 3, deep ? Depth::f32 : Depth::u8);
    for (const std::string rest : {"abc", "something of another program"})
      cases.push_back({"bytes behind it", extension, whole + text(rest), "", true});
  }
  if (writes("gif"))
    cases.push_back(
        {"bytes behind it", "gif", gif(10, 8, {gif_picture(0, 0, 10, 8)}) + text("abc"), "", true});
  return cases;
}

}  // namespace

TEST_CASE("in place nothing is replaced by less: pages, frames, parts, bytes behind the end") {
  const TemporaryFolder folder;
  int refused = 0, replaced_files = 0;
  for (const Case& each : all_cases()) {
    CAPTURE(each.extension);
    CAPTURE(each.kind);
    keep_seed(each.bytes);
    const std::string path = folder / ("a." + each.extension), link = folder / "link",
                      out = folder / ("out." + (each.extension == "gif" ? "png" : each.extension));
    std::filesystem::remove(link);
    std::filesystem::create_symlink(path, link);
    save(path, each.bytes);
    CHECK_NOTHROW(filter(path, out, each));
    const bool is_less = !each.lacks.empty() || each.is_damaged;
    // A link has no extension that says the format.
    std::vector<std::pair<std::string, std::string>> names = {{path, path}, {link, path}};
    for (const auto& [in, to] : names) {
      save(path, each.bytes);
      std::string why;
      try {
        filter(in, to, each);
      } catch (const IoError& error) {
        why = error.what();
      }
      CAPTURE(why);
      if (!is_less) {
        CHECK(why == "");
        CHECK(load(path) == load(out));
        ++replaced_files;
        continue;
      }
      ++refused;
      CHECK(load(path) == each.bytes);
      CHECK(why.find("cannot replace '" + path + "'") == 0);
      CHECK(why.find(each.lacks) != why.npos);
      CHECK(why.ends_with("; write to another file"));
    }
  }
  CHECK(refused > 40);
  CHECK(replaced_files > 20);
  MESSAGE(refused << " refused, " << replaced_files << " replaced");
}

TEST_CASE("a page that is asked for does not replace the others") {
  const TemporaryFolder folder;
  const TiffKind kind{.width = 4, .height = 3, .pictures = 3};
  const Bytes bytes = tiff(kind, std::vector<std::uint32_t>(12, 7));
  save(folder / "a.tif", bytes);
  ReadOptions options;
  options.page = 2;
  PictureReader reader(folder / "a.tif", options);
  read_all(reader);
  CHECK(reader.warnings().empty());
  CHECK_THROWS_AS(reader.check_replaced_by(folder / "a.tif"), IoError);
  CHECK_NOTHROW(reader.check_replaced_by(folder / "b.tif"));
}
