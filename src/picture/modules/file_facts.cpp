#include "src/picture/modules/file_facts.hpp"

#include <tiff.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/picture/byte_order.hpp"
#include "src/picture/codecs/parts.hpp"
#include "src/picture/codecs/tiff/directory.hpp"
#include "src/picture/modules/boxes.hpp"

namespace convfilt {
namespace {

using namespace std::string_view_literals;

/// Reports what follows the end of the picture as damage, unless it is only zeros, or
/// other damage is already reported.
void note_rest(ByteView bytes, std::uint64_t end, FileFacts* facts) {
  const ByteView rest = bytes.subspan(std::size_t(std::min<std::uint64_t>(end, bytes.size())));
  if (facts->damage.empty() && !has_only_zeros(rest)) facts->damage = bytes_follow(rest.size());
}

/// Notes damage after which nothing can be taken.
void lose(FileFacts* facts, std::string damage) {
  facts->damage = std::move(damage);
  facts->is_lost = true;
}

/// In a JP2 file a box says where its codestream ends, and there must be an end marker. Returns
/// that end.
std::size_t check_boxes_end(ByteView bytes, FileFacts* facts, ReadContext& context) {
  std::size_t end = bytes.size(), end_of_boxes = 0;
  facts->damage = ends_early("no codestream");
  int pictures = 0;
  for (const Box& box : boxes_in(bytes)) {
    if (box.is_cut) {
      facts->damage = box.damage();
      return end;
    }
    end_of_boxes = box.end;
    if (box.type != "jp2c" || ++pictures > 1) continue;
    end = box.end;
    const bool has_end = bytes[end - 2] == 0xFF && bytes[end - 1] == 0xD9;
    facts->damage = has_end ? "" : ends_early("no end-of-codestream marker");
  }
  if (pictures > 1)
    context.leaves_out("only the first of its " + std::to_string(pictures) + " pictures is read");
  note_rest(bytes, end_of_boxes, facts);
  return end;
}

struct Codestream {
  std::size_t end = 0;  ///< behind its end marker; 0 where there is none
  std::string damage;   ///< why the parts of its tiles cannot be whole; empty when they can
};

/// Walks over the parts of a codestream, which say how long they are, up to its end marker.
/// OpenJPEG makes up tiles that are not there, and is silent. `stream` begins with its marker, SIZ
/// follows.
Codestream walk_codestream(ByteView stream) {
  constexpr unsigned kTilePart = 0xFF90, kEnd = 0xFFD9;
  constexpr std::uint64_t kMostTiles = 65535;
  constexpr std::size_t kSiz = 8, kLeast = 14;  // where SIZ has the sides; bytes of a part
  const auto tiles_along = [&](std::size_t side) {
    const auto end = std::int64_t(big_endian(stream, side)),
               first = std::int64_t(big_endian(stream, side + 24)),
               tile = std::int64_t(big_endian(stream, side + 16));
    return tile > 0 && end > first ? std::uint64_t((end - first + tile - 1) / tile) : 0;
  };
  const std::uint64_t across = tiles_along(kSiz), down = tiles_along(kSiz + 4);
  Codestream found;
  if (across == 0 || down == 0 || across > kMostTiles || across * down > kMostTiles)
    found.damage =
        "its header is damaged (" + size_text(std::int64_t(across), std::int64_t(down)) + " tiles)";
  std::vector<bool> is_there(found.damage.empty() ? std::size_t(across * down) : 0);
  for (std::size_t at = 2; at + 2 <= stream.size();) {
    const auto marker = unsigned(big_endian(stream, at, 2));
    if (marker == kEnd) {
      found.end = at + 2;
      const auto missing = std::find(is_there.begin(), is_there.end(), false);
      if (missing != is_there.end() && found.damage.empty())
        found.damage = ends_early("tile " + std::to_string(missing - is_there.begin()) + " of " +
                                  std::to_string(is_there.size()) + " is not there");
      return found;
    }
    if (at + 4 > stream.size()) break;
    std::uint64_t length = 2 + big_endian(stream, at + 2, 2);
    if (marker == kTilePart) {
      if (at + kLeast > stream.size()) break;
      const std::size_t tile = big_endian(stream, at + 4, 2);
      length = big_endian(stream, at + 6);
      if (length == 0) length = stream.size() - at - 2;  // the last one, up to the end marker
      if (tile < is_there.size()) is_there[tile] = true;
      if ((tile >= is_there.size() || length < kLeast) && found.damage.empty())
        found.damage = data_damaged("a part of tile " + std::to_string(tile) + ", at byte " +
                                    std::to_string(at) + " of the codestream");
      if (length < kLeast) return found;
    }
    if (length > stream.size() - at) break;
    at += std::size_t(length);
  }
  if (found.damage.empty()) found.damage = ends_early("no end-of-codestream marker");
  return found;
}

/// The picture's size stands in the codestream's first marker segment, SIZ. OpenJPEG takes memory
/// for each tile before OpenCV can be asked for the size.
void inspect_jpeg2000(ByteView bytes, FileFacts* facts, ReadContext& context) {
  const bool has_boxes = !starts_with(bytes, "\xFF\x4F");
  const std::size_t end = has_boxes ? check_boxes_end(bytes, facts, context) : bytes.size();
  if (!has_boxes) facts->damage = ends_early("no end-of-codestream marker");
  const std::string_view all = text_of(bytes);
  const std::size_t begin = all.find("\xFF\x4F\xFF\x51");
  if (begin == all.npos || begin + 24 > bytes.size()) return;
  const std::size_t at = begin + 8;
  facts->width = std::int64_t(big_endian(bytes, at) - big_endian(bytes, at + 8));
  facts->height = std::int64_t(big_endian(bytes, at + 4) - big_endian(bytes, at + 12));
  if (end < at + 35) return;
  if (!has_boxes || facts->damage.empty()) {
    const Codestream stream = walk_codestream(bytes.first(end).subspan(begin));
    facts->damage = stream.damage;
    if (!has_boxes && stream.end > 0) note_rest(bytes, begin + stream.end, facts);
  }
  // In a JP2 file a box before it says the same.
  const std::string_view boxes = all.substr(0, begin);
  const std::size_t size_at = boxes.find("ihdr") + 4;
  if (size_at > 4 && facts->damage.empty() &&
      (std::int64_t(big_endian(bytes, size_at)) != facts->height ||
       std::int64_t(big_endian(bytes, size_at + 4)) != facts->width))
    facts->damage = "its header is damaged (its parts say different sizes)";
  // OpenJPEG has samples of four bytes, also those that a palette makes, and those of a tile of
  // many once more. It keeps the file, and its parts for each block of samples.
  const int stored = int(big_endian(bytes, at + 32, 2));
  const int components = boxes.find("pclr") == boxes.npos ? stored : std::max(stored, 4);
  const int sample = (bytes[at + 34] & 0x7F) < 8 ? 1 : 2;
  const bool has_tiles = big_endian(bytes, at + 16) < big_endian(bytes, at) ||
                         big_endian(bytes, at + 20) < big_endian(bytes, at + 4);
  facts->bytes_a_pixel = components * (has_tiles ? 8 : 4) + std::min(components, 4) * sample;
  facts->copies = 3;
}

std::string colour_damage(std::int64_t row, std::int64_t height, unsigned index,
                          std::size_t colours) {
  return data_damaged(row_text(row, height) + ": " + foreign_colour(index, std::int64_t(colours)));
}

/// Why run-length coded rows cannot be right; empty when they can. OpenCV goes on with rubbish
/// where a row is longer than the picture is wide, or the end mark is missing.
std::string run_length_damage(ByteView runs, std::int64_t width, std::int64_t height, bool nibbles,
                              std::size_t colours, std::string* foreign_colour) {
  std::int64_t x = 0, y = 0;
  std::size_t at = 0;
  const auto look_at = [&](unsigned byte, unsigned pixels) {
    const unsigned index = !nibbles     ? byte
                           : pixels > 1 ? std::max(byte >> 4, byte & 15)
                                        : byte >> 4;
    if (index >= colours && foreign_colour->empty())
      *foreign_colour = colour_damage(height - 1 - y, height, index, colours);
  };
  while (at + 2 <= runs.size()) {
    const unsigned count = runs[at], code = runs[at + 1];
    at += 2;
    if (count > 0) {
      look_at(code, count);
      x += count;
    } else if (code == 0) {  // end of row
      x = 0;
      ++y;
    } else if (code == 1) {  // end of picture
      return "";
    } else if (code == 2) {  // move right and up
      if (at + 2 > runs.size()) break;
      x += runs[at];
      y += runs[at + 1];
      at += 2;
    } else {  // `code` pixels follow as they are, padded to a word
      x += code;
      for (unsigned i = 0; i < code && at + i / (nibbles ? 2 : 1) < runs.size();
           i += nibbles ? 2 : 1)
        look_at(runs[at + i / (nibbles ? 2 : 1)], code - i);
      at += ((nibbles ? (code + 1) / 2 : code) + 1) / 2 * 2;
    }
    if (x > width || y > height)
      return data_damaged("a run-length coded row is longer than the picture is wide");
  }
  return ends_early("its run-length coded rows have no end mark");
}

/// Changes the tags of a TIFF that OpenCV handles wrongly, and tells what else it reads wrongly.
void correct_tiff(Bytes* bytes, FileFacts* facts, ReadContext& context) {
  const TiffStructure file(*bytes);
  const auto directory = file.first_directory();
  if (!directory) return;
  const auto number = [&](std::uint16_t tag) { return file.number(directory->find(tag)); };
  const auto change = [&](std::uint16_t tag, unsigned char value) {
    const TiffEntry* entry = directory->find(tag);
    if (!file.number(entry)) return;
    const std::size_t size = std::size_t(tiff_type_size(entry->type));
    unsigned char* const to = bytes->data() + entry->values_at;
    std::fill_n(to, size, static_cast<unsigned char>(0));
    to[file.little() ? 0 : size - 1] = value;
  };
  const std::uint64_t bits = number(TIFFTAG_BITSPERSAMPLE).value_or(1),
                      samples = number(TIFFTAG_SAMPLESPERPIXEL).value_or(1),
                      photometric = number(TIFFTAG_PHOTOMETRIC).value_or(0);
  const auto extra = number(TIFFTAG_EXTRASAMPLES);
  const bool raw =
      bits > 8 && photometric <= PHOTOMETRIC_RGB && (samples == 1 || samples == 3 || samples == 4);

  // OpenCV turns pictures as this tag says, but tiled ones wrongly.
  change(TIFFTAG_ORIENTATION, 1);
  // libtiff would multiply colours by a straight alpha, with loss. If the tag says that they are
  // multiplied already, it hands them over as they are.
  if (extra == EXTRASAMPLE_UNASSALPHA) change(TIFFTAG_EXTRASAMPLES, EXTRASAMPLE_ASSOCALPHA);
  if (samples == 4 && photometric == PHOTOMETRIC_RGB) {
    facts->premultiplied = extra == EXTRASAMPLE_ASSOCALPHA;
    facts->drop_alpha = extra == EXTRASAMPLE_UNSPECIFIED;
  }
  facts->drop_alpha |= photometric == PHOTOMETRIC_SEPARATED;
  facts->invert = raw && samples == 1 && photometric == PHOTOMETRIC_MINISWHITE && bits < 32;
  if (raw && samples > 1 && number(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE) {
    context.fail(
        "OpenCV does not read TIFF of separate planes and more than 8 bits; "
        "convert it first (tiffcp -p contig)");
  }
  if (bits > 8 && !raw)
    context.leaves_out("this kind of TIFF is read with 8 of its " + std::to_string(bits) +
                       " bits a sample");
  if (samples == 2 && extra) context.leaves_out("the alpha of a grey TIFF is not read");
  if (directory->next != 0) context.leaves_out("only the first of its pictures is read");
}

/// The colours of a BMP's palette, between its header and its rows.
std::size_t colours_of_bmp(ByteView bytes, bool old, std::uint32_t bits) {
  constexpr std::size_t kFileHeader = 14, kColoursUsed = 46;
  const std::size_t at = kFileHeader + little_endian(bytes, kFileHeader),
                    pixels_at = little_endian(bytes, 10);
  const std::size_t room = pixels_at > at ? (pixels_at - at) / (old ? 3 : 4) : 0;
  const std::size_t used = old ? 0 : little_endian(bytes, kColoursUsed);
  return std::min({room, used > 0 ? used : room, std::size_t{1} << std::min(bits, 8u)});
}

/// Finds indices that the palette of an uncompressed BMP does not have. OpenCV takes them for
/// black.
void check_indices(ByteView bytes, std::size_t row_bytes, std::uint32_t bits, std::size_t colours,
                   FileFacts* facts) {
  if (bits > 8 || 8 % bits != 0 || colours >= std::size_t{1} << bits) return;
  const std::size_t pixels_at = little_endian(bytes, 10);
  const bool from_above = std::int32_t(little_endian(bytes, 22)) < 0;
  for (std::int64_t stored = 0; stored < facts->height; ++stored) {
    const ByteView row = bytes.subspan(pixels_at + std::size_t(stored) * row_bytes, row_bytes);
    for (std::int64_t x = 0; x < facts->width; ++x) {
      const std::size_t bit = std::size_t(x) * bits;
      const unsigned index = row[bit / 8] >> (8 - bits - bit % 8) & ((1u << bits) - 1);
      if (index < colours) continue;
      const std::int64_t y = from_above ? stored : facts->height - 1 - stored;
      facts->damage = colour_damage(y, facts->height, index, colours);
      return;
    }
  }
}

void inspect_bmp(ByteView bytes, FileFacts* facts) {
  constexpr std::size_t kHeader = 54, kOldHeader = 26;
  constexpr std::uint32_t kRunLength8 = 1, kRunLength4 = 2;
  if (bytes.size() < kOldHeader) return;
  const std::size_t pixels_at = little_endian(bytes, 10);
  const bool old = little_endian(bytes, 14) == 12;
  if (!old && bytes.size() < kHeader) return lose(facts, ends_early("in its header"));
  const auto side = [&](std::size_t at) {
    return std::int64_t{std::int32_t(little_endian(bytes, at))};
  };
  facts->width = old ? std::int64_t(little_endian(bytes, 18, 2)) : side(18);
  // A negative height says that the rows come from top to bottom.
  facts->height = old ? std::int64_t(little_endian(bytes, 20, 2)) : std::abs(side(22));
  const auto bits = std::uint32_t(little_endian(bytes, old ? 24 : 28, 2)),
             coding = std::uint32_t(old ? 0 : little_endian(bytes, 30));
  const std::size_t colours = colours_of_bmp(bytes, old, bits);
  facts->bytes_a_pixel = bits == 32 ? 4 : 3;
  if (coding == kRunLength8 || coding == kRunLength4) {
    if (pixels_at > bytes.size()) return lose(facts, ends_early("before its first row"));
    std::string foreign_colour;
    facts->damage = run_length_damage(bytes.subspan(pixels_at), facts->width, facts->height,
                                      coding == kRunLength4, colours, &foreign_colour);
    if (facts->damage.empty())
      facts->damage = foreign_colour;
    else
      facts->is_lost = facts->damage.find("ends too early") == std::string::npos;
    return;
  }
  if (facts->width < 1 || bits < 1 || bits > 32) return;
  const std::uint64_t row = (std::uint64_t(facts->width) * bits + 31) / 32 * 4;
  facts->whole_size = pixels_at + row * std::uint64_t(facts->height);
  if (facts->whole_size <= bytes.size()) {
    // A colour profile may follow the rows; the header's size of the file counts it.
    note_rest(bytes, std::max<std::uint64_t>(facts->whole_size, little_endian(bytes, 2)), facts);
    if (facts->damage.empty()) check_indices(bytes, std::size_t(row), bits, colours, facts);
    return;
  }
  const std::uint64_t rows = bytes.size() < pixels_at ? 0 : (bytes.size() - pixels_at) / row;
  lose(facts, ends_early(row_text(std::int64_t(rows), facts->height)));
  facts->is_lost = rows == 0;
}

/// Adds the name of a part of a header that OpenCV passes over, to be warned of.
void add_name(std::vector<std::string>& names, const std::string& name) {
  constexpr std::size_t kMost = 8;
  if (names.size() <= kMost && std::ranges::find(names, name) == names.end())
    names.push_back(names.size() < kMost ? name : "others");
}

void warn_of(const std::vector<std::string>& names, ReadContext& context) {
  if (!names.empty())
    context.warn("parts of its header are neither used nor kept: " + joined(names, ", "));
}

/// Names the lines of a Radiance HDR's header beside its kind and format.
void inspect_hdr_lines(std::string_view header, ReadContext& context) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < header.size();) {
    const std::string_view line = header.substr(at, header.find('\n', at) - at);
    at += line.size() + 1;
    if (line.starts_with("#?") || line.starts_with("FORMAT=") || line.empty()) continue;
    add_name(names, line.front() == '#' ? "comments" : in_quotes(line.substr(0, line.find('='))));
  }
  warn_of(names, context);
}

/// Where the first row of a Radiance HDR begins, behind the line of its size; 0 where there is
/// none.
std::size_t read_hdr_size(ByteView bytes, FileFacts* facts) {
  const std::string_view all = text_of(bytes);
  const std::size_t blank = all.find("\n\n");
  if (blank == all.npos) return 0;
  const std::size_t end = all.find('\n', blank + 2);
  if (end == all.npos) return 0;
  long width = 0, height = 0;
  if (std::sscanf(std::string(all.substr(blank + 2, end - blank - 2)).c_str(), "-Y %ld +X %ld",
                  &height, &width) != 2)
    return 0;
  facts->width = width;
  facts->height = height;
  facts->bytes_a_pixel = 24;
  facts->copies = 2;
  return end + 1;
}

/// Walks over the rows of a Radiance HDR. OpenCV's decoder finds the same faults, but gives nothing
/// then.
void inspect_hdr(ByteView bytes, FileFacts* facts, ReadContext& context) {
  std::size_t at = read_hdr_size(bytes, facts);
  if (at > 0) inspect_hdr_lines(text_of(bytes).substr(0, text_of(bytes).find("\n\n")), context);
  if (at == 0 || facts->width < 1 || facts->height < 1)
    return lose(facts, "the file ends too early, or has no size (in its header)");
  const auto width = std::uint64_t(facts->width);
  for (std::int64_t y = 0; y < facts->height; ++y) {
    const std::string where = row_text(y, facts->height);
    const bool marked =
        at + 4 <= bytes.size() && bytes[at] == 2 && bytes[at + 1] == 2 && bytes[at + 2] < 128;
    if (width < 8 || width > 0x7FFF || (at + 4 <= bytes.size() && !marked)) {
      // Rows without run lengths; the decoder takes all that follow for such.
      const std::uint64_t rest = width * std::uint64_t(facts->height - y) * 4;
      if (rest > bytes.size() - std::min(at, bytes.size())) return lose(facts, ends_early(where));
      return note_rest(bytes, at + rest, facts);
    }
    if (at + 4 <= bytes.size() && big_endian(bytes, at + 2, 2) != width)
      return lose(facts, data_damaged(where));
    at += 4;
    for (int plane = 0; plane < 4; ++plane) {
      for (std::uint64_t x = 0; x < width;) {
        if (at + 2 > bytes.size()) return lose(facts, ends_early(where));
        const unsigned code = bytes[at], count = code > 128 ? code - 128 : code;
        x += count;
        at += code > 128 ? 2 : 1 + count;
        if (count == 0 || x > width) return lose(facts, data_damaged(where));
      }
    }
    if (at > bytes.size()) return lose(facts, ends_early(where));
  }
  note_rest(bytes, at, facts);
}

/// How many channels of an OpenEXR are no colours or alpha. Their list has a name and 16 bytes for
/// each, up to an empty name; nothing if it has another length.
std::optional<int> other_channels(std::string_view list) {
  constexpr std::size_t kOfChannel = 17;
  constexpr std::string_view kRead[] = {"R", "G", "B", "A", "Y", "RY", "BY"};
  int others = 0;
  for (std::size_t at = 0, end; (end = list.find('\0', at)) != list.npos; at = end + kOfChannel) {
    if (end == at) return end + 1 == list.size() ? std::optional(others) : std::nullopt;
    others +=
        std::find(std::begin(kRead), std::end(kRead), list.substr(at, end - at)) == std::end(kRead);
  }
  return std::nullopt;
}

/// Whether there is red, green, blue or luma. OpenCV would give a black picture.
bool has_colours(std::string_view list) {
  const std::string names = '\0' + std::string(list);
  return std::ranges::any_of(std::string_view("RGBY"), [&](char name) {
    return list.starts_with(std::string{name, '\0'}) ||
           names.find(std::string{'\0', name, '\0'}) != names.npos;
  });
}

/// Whether the value of an attribute is as long as its type says. The decoder goes by the type, and
/// would take what follows a value of another length for attributes, of up to 2 GiB.
bool has_size_of_type(ByteView value, std::string_view type) {
  constexpr std::pair<std::string_view, std::size_t> kFixed[] = {
      {"box2f", 16},      {"box2i", 16},    {"chromaticities", 32},
      {"compression", 1}, {"double", 8},    {"deepImageState", 1},
      {"envmap", 1},      {"float", 4},     {"int", 4},
      {"keycode", 28},    {"lineOrder", 1}, {"m33d", 72},
      {"m33f", 36},       {"m44d", 128},    {"m44f", 64},
      {"rational", 8},    {"tiledesc", 9},  {"timecode", 8},
      {"v2d", 16},        {"v2f", 8},       {"v2i", 8},
      {"v3d", 24},        {"v3f", 12},      {"v3i", 12}};
  for (const auto& [name, size] : kFixed)
    if (type == name) return value.size() == size;
  return type != "chlist" || other_channels(text_of(value));
}

struct ExrHeader {
  std::size_t end = 0;      ///< behind it; 0 where it is not whole
  bool is_damaged = false;  ///< what follows an attribute cannot be told
  int compression = 0;
};

ExrHeader read_exr_header(ByteView bytes, FileFacts* facts, ReadContext& context) {
  constexpr std::string_view kUsed[] = {
      "channels",          "chromaticities", "chunkCount", "compression",      "dataWindow",
      "displayWindow",     "lineOrder",      "name",       "pixelAspectRatio", "screenWindowCenter",
      "screenWindowWidth", "tiles",          "type",       "version"};
  constexpr std::string_view kSquare = "\0\0\x80\x3F"sv;
  ExrHeader header;
  std::vector<std::string> unused;
  std::string_view windows[2];
  const std::string_view all = text_of(bytes);
  std::size_t at = 8;
  while (at < bytes.size()) {
    if (bytes[at] == 0) {
      header.end = at + 1;
      break;
    }
    const std::size_t type_at = all.find('\0', at);
    const std::size_t size_at = type_at == all.npos ? all.npos : all.find('\0', type_at + 1);
    if (size_at == all.npos || size_at + 5 > bytes.size()) break;
    const std::string_view name = all.substr(at, type_at - at);
    const std::size_t size = little_endian(bytes, size_at + 1), value = size_at + 5;
    if (size > bytes.size() - value) break;
    const std::string_view type = all.substr(type_at + 1, size_at - type_at - 1);
    if (!has_size_of_type(bytes.subspan(value, size), type)) {
      header.is_damaged = true;
      break;
    }
    if (name == "dataWindow" && size == 16) {
      const auto corner = [&](std::size_t i) {
        return std::int64_t{std::int32_t(little_endian(bytes, value + 4 * i))};
      };
      facts->width = corner(2) - corner(0) + 1;
      facts->height = corner(3) - corner(1) + 1;
      facts->bytes_a_pixel = 16;
      facts->copies = 2;
    }
    // Red, green, blue and white, in the order of the format.
    if (name == "chromaticities" && size == 32) {
      constexpr float kBt709[] = {0.64f, 0.33f, 0.3f, 0.6f, 0.15f, 0.06f, 0.3127f, 0.329f};
      for (std::size_t i = 0; i < 8; ++i) {
        const auto bits = std::uint32_t(little_endian(bytes, value + 4 * i));
        if (std::abs(std::bit_cast<float>(bits) - kBt709[i]) < 2e-3f) continue;
        context.warn("its primaries are taken for those of BT.709");
        break;
      }
    }
    if (name == "dataWindow" || name == "displayWindow")
      windows[name == "dataWindow"] = all.substr(value, size);
    if (std::ranges::find(kUsed, name) == std::end(kUsed) ||
        (name == "pixelAspectRatio" && all.substr(value, size) != kSquare))
      add_name(unused, in_quotes(name));
    if (name == "compression" && size == 1) header.compression = bytes[value];
    if (name == "channels" && !has_colours(all.substr(value, size)))
      context.fail("none of its channels is R, G, B or Y, which are read; convert it first");
    const int others = name == "channels" ? other_channels(all.substr(value, size)).value_or(0) : 0;
    if (others > 0)
      context.leaves_out("its channels beside colours and alpha are not read (" +
                         std::to_string(others) + ")");
    at = value + size;
  }
  if (windows[0] != windows[1]) add_name(unused, "'displayWindow'");
  warn_of(unused, context);
  return header;
}

/// A table behind the header of an OpenEXR says where each chunk of rows begins, which says
/// how long it is.
void inspect_exr(ByteView bytes, FileFacts* facts, ReadContext& context) {
  const ExrHeader header = read_exr_header(bytes, facts, context);
  if (header.end == 0)
    return lose(facts,
                header.is_damaged ? data_damaged("in its header") : ends_early("in its header"));
  constexpr std::uint32_t kParts = 0x1000, kTiledDeepOrParts = 0x200 | 0x800 | kParts;
  if (little_endian(bytes, 4) & kParts) context.leaves_out("only the first of its parts is read");
  constexpr int kRows[] = {1, 1, 1, 16, 32, 16, 32, 32, 32, 256};  // a chunk, by compression
  if (little_endian(bytes, 4) & kTiledDeepOrParts || header.compression > 9) return;
  const std::int64_t rows = kRows[header.compression];
  std::uint64_t end = 0;
  for (std::int64_t y = 0; y < facts->height; y += rows) {
    const std::size_t entry = header.end + std::size_t(y / rows) * 8;
    const auto is_inside = [&] {
      if (entry + 8 > bytes.size()) return false;
      const std::uint64_t at = little_endian(bytes, entry, 8);
      if (at < header.end || at > bytes.size() || bytes.size() - at < 8) return false;
      const std::uint64_t length = little_endian(bytes, std::size_t(at) + 4);
      end = std::max(end, at + 8 + length);
      return length <= bytes.size() - at - 8;
    };
    if (!is_inside()) return lose(facts, ends_early(row_text(y, facts->height)));
  }
  note_rest(bytes, end, facts);
}

/// The largest value that the header of a PNM or PAM says; 0 if it says none.
long largest_value(ByteView bytes) {
  constexpr std::size_t kHeader = 1 << 16;
  std::string text;  // without comments
  bool is_comment = false;
  for (std::size_t at = 0; at < bytes.size() && text.size() < kHeader; ++at) {
    is_comment = bytes[at] == '#' || (is_comment && bytes[at] != '\n' && bytes[at] != '\r');
    if (!is_comment) text += char(bytes[at]);
  }
  constexpr std::string_view kKey = "\nMAXVAL ";
  if (text.starts_with("P7")) {
    text.resize(std::min(text.size(), text.find("\nENDHDR")));
    const std::size_t at = text.find(kKey);
    return at == text.npos ? 0 : std::atol(text.c_str() + at + kKey.size());
  }
  long largest = 0;
  std::sscanf(text.c_str(), "P%*c %*d %*d %ld", &largest);
  return largest;
}

/// OpenCV leaves samples as they are when the file's largest value is not the depth's own. It
/// scales only ASCII files of 8 bits itself.
void correct_netpbm(Bytes* bytes, FileFacts* facts) {
  const char kind = char((*bytes)[1]);
  const long largest = kind == '1' || kind == '4' ? 0 : largest_value(*bytes);
  const bool is_ascii = kind <= '3';
  if (is_ascii) bytes->push_back('\n');  // OpenCV reads one byte past the last number
  if (largest > (kind == '7' ? 1 : 0) && largest < 255 && !is_ascii)
    facts->scale = 255.0 / double(largest);
  if (largest > 255 && largest < 65535) facts->scale = 65535.0 / double(largest);
}

}  // namespace

FileFacts inspect(FormatId format, Bytes* bytes, ReadContext& context) {
  FileFacts facts;
  switch (format) {
    case FormatId::tiff: correct_tiff(bytes, &facts, context); break;
    case FormatId::bmp: inspect_bmp(*bytes, &facts); break;
    case FormatId::pnm:
    case FormatId::pam: correct_netpbm(bytes, &facts); break;
    case FormatId::jp2: inspect_jpeg2000(*bytes, &facts, context); break;
    case FormatId::hdr: inspect_hdr(*bytes, &facts, context); break;
    case FormatId::exr: inspect_exr(*bytes, &facts, context); break;
    default: break;
  }
  return facts;
}

void complete(FormatId format, const FileFacts& facts, Bytes* bytes) {
  if (format != FormatId::bmp) return;
  if (facts.whole_size > 0) {
    bytes->resize(std::max(bytes->size(), std::size_t(facts.whole_size)));
    return;
  }
  // An end mark, at a multiple of two bytes from the first run.
  const std::size_t pixels_at = little_endian(*bytes, 10);
  if ((bytes->size() - pixels_at) % 2) bytes->push_back(0);
  bytes->insert(bytes->end(), {0, 1});
}

}  // namespace convfilt
