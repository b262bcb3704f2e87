#include "tests/support/files/picture.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <utility>

namespace convfilt::testing {

Bytes load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

void save(const std::string& path, const Bytes& bytes) {
  keep_seed(bytes);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

void keep_seed(const Bytes& bytes) {
  const char* const folder = std::getenv("CONVFILT_SEEDS");
  constexpr std::size_t kLargest = 1 << 14;
  if (!folder || bytes.empty() || bytes.size() > kLargest) return;
  const std::string text(bytes.begin(), bytes.end());
  std::ofstream(folder + ("/" + std::to_string(std::hash<std::string>()(text))), std::ios::binary)
      << text;
}

double sample(const Image& image, int x, int y, int channel) {
  const std::byte* row = image.view().row(y);
  const int at = x * image.channels() + channel;
  if (image.depth() == Depth::u8) return reinterpret_cast<const unsigned char*>(row)[at];
  if (image.depth() == Depth::u16) return reinterpret_cast<const std::uint16_t*>(row)[at];
  return reinterpret_cast<const float*>(row)[at];
}

void set_sample(Image* image, int x, int y, int channel, double value) {
  std::byte* row = image->view().row(y);
  const int at = x * image->channels() + channel;
  switch (image->depth()) {
    case Depth::u8:
      reinterpret_cast<unsigned char*>(row)[at] = static_cast<unsigned char>(value);
      break;
    case Depth::u16:
      reinterpret_cast<std::uint16_t*>(row)[at] = static_cast<std::uint16_t>(value);
      break;
    case Depth::f32: reinterpret_cast<float*>(row)[at] = static_cast<float>(value); break;
  }
}

Image pattern(int width, int height, int channels, Depth depth) {
  std::mt19937 random(7);
  Image image(width, height, channels, depth);
  const double full = full_range(depth);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const double level = (x * (c + 1) + y * 2) % 200 / 250.0 + random() % 20 / 255.0 + 0.05;
        set_sample(&image, x, y, c, level * full);
      }
    }
  }
  return image;
}

Image black_and_white(int width, int height, Depth depth) {
  std::mt19937 random(11);
  Image image(width, height, 1, depth);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      set_sample(&image, x, y, 0, random() % 3 ? 0 : full_range(depth));
  return image;
}

bool same(const Image& a, const Image& b) {
  if (a.width() != b.width() || a.height() != b.height() || a.channels() != b.channels() ||
      a.depth() != b.depth()) {
    return false;
  }
  const std::size_t row = static_cast<std::size_t>(a.width()) *
                          static_cast<std::size_t>(a.channels()) * size_of(a.depth());
  for (int y = 0; y < a.height(); ++y) {
    if (std::memcmp(a.view().row(y), b.view().row(y), row) != 0) return false;
  }
  return true;
}

void append(Bytes* bytes, const std::string& text) {
  bytes->insert(bytes->end(), text.begin(), text.end());
}

Bytes profile_head(const std::string& space, std::size_t size) {
  Bytes bytes;
  append_number(&bytes, std::uint32_t(size), 4, false);
  append(&bytes, std::string("lcms\2\x20\0\0mntr", 12) + space + "XYZ ");
  bytes.resize(36);
  append(&bytes, "acsp");
  bytes.resize(size);
  return bytes;
}

void append_number(Bytes* bytes, std::uint32_t value, int size, bool little) {
  for (int i = 0; i < size; ++i) {
    bytes->push_back(static_cast<unsigned char>(value >> 8 * (little ? i : size - 1 - i)));
  }
}

Bytes exif(int orientation, bool little) {
  Bytes bytes;
  append(&bytes, little ? "II" : "MM");
  append_number(&bytes, 42, 2, little);
  append_number(&bytes, 8, 4, little);
  append_number(&bytes, 1, 2, little);
  append_number(&bytes, 274, 2, little);
  append_number(&bytes, 3, 2, little);
  append_number(&bytes, 1, 4, little);
  append_number(&bytes, static_cast<std::uint32_t>(orientation), 2, little);
  append_number(&bytes, 0, 2, little);
  append_number(&bytes, 0, 4, little);
  return bytes;
}

Bytes jpeg_with_exif(Bytes jpeg, const Bytes& exif_data) {
  Bytes segment = {0xFF, 0xE1};
  append_number(&segment, static_cast<std::uint32_t>(exif_data.size()) + 8, 2, false);
  append(&segment, std::string("Exif\0\0", 6));
  segment.insert(segment.end(), exif_data.begin(), exif_data.end());
  jpeg.insert(jpeg.begin() + 2, segment.begin(), segment.end());
  return jpeg;
}

namespace {

std::uint32_t crc32(const Bytes& bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const unsigned char byte : bytes) {
    crc ^= byte;
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

}  // namespace

Bytes png_with_chunk(Bytes png, const std::string& type, const Bytes& data) {
  Bytes typed, chunk;
  append(&typed, type);
  typed.insert(typed.end(), data.begin(), data.end());
  append_number(&chunk, static_cast<std::uint32_t>(data.size()), 4, false);
  chunk.insert(chunk.end(), typed.begin(), typed.end());
  append_number(&chunk, crc32(typed), 4, false);
  png.insert(png.begin() + 33, chunk.begin(), chunk.end());  // after the signature and IHDR
  return png;
}

Bytes png_with_exif(Bytes png, const Bytes& exif_data) {
  return png_with_chunk(std::move(png), "eXIf", exif_data);
}

Bytes webp_with_exif(const Bytes& webp, const Bytes& exif_data, int width, int height, bool alpha) {
  Bytes result;
  append(&result, "RIFF----WEBPVP8X");
  append_number(&result, 10, 4, true);
  append_number(&result, 8 | (alpha ? 16 : 0), 4, true);
  append_number(&result, static_cast<std::uint32_t>(width - 1), 3, true);
  append_number(&result, static_cast<std::uint32_t>(height - 1), 3, true);
  result.insert(result.end(), webp.begin() + 12, webp.end());
  append(&result, "EXIF");
  append_number(&result, static_cast<std::uint32_t>(exif_data.size()), 4, true);
  result.insert(result.end(), exif_data.begin(), exif_data.end());
  Bytes size;
  append_number(&size, static_cast<std::uint32_t>(result.size()) - 8, 4, true);
  std::copy(size.begin(), size.end(), result.begin() + 4);
  return result;
}

namespace {

struct TiffEntry {
  int tag, type, count;
  std::uint32_t value;
};

void set_number(Bytes* bytes, std::size_t at, std::uint32_t value) {
  Bytes four;
  append_number(&four, value, 4, true);
  std::copy(four.begin(), four.end(), bytes->begin() + static_cast<std::ptrdiff_t>(at));
}

/// Appends a directory without a next one, and has the four bytes at `pointer` point to it. Returns
/// where its own pointer to a next one stands.
std::size_t append_directory(Bytes* bytes, std::size_t pointer,
                             const std::vector<TiffEntry>& entries) {
  set_number(bytes, pointer, static_cast<std::uint32_t>(bytes->size()));
  append_number(bytes, static_cast<std::uint32_t>(entries.size()), 2, true);
  for (const TiffEntry& entry : entries) {
    append_number(bytes, static_cast<std::uint32_t>(entry.tag), 2, true);
    append_number(bytes, static_cast<std::uint32_t>(entry.type), 2, true);
    append_number(bytes, static_cast<std::uint32_t>(entry.count), 4, true);
    append_number(bytes, entry.value, 4, true);
  }
  append_number(bytes, 0, 4, true);
  return bytes->size() - 4;
}

/// Where the values of a tag stand, or the only value itself.
std::uint32_t append_values(Bytes* bytes, const std::vector<std::uint32_t>& values, int size) {
  if (values.size() * static_cast<std::size_t>(size) <= 4) {
    return values[0] | (values.size() > 1 ? values[1] << 16 : 0);
  }
  const auto at = static_cast<std::uint32_t>(bytes->size());
  for (const std::uint32_t value : values) append_number(bytes, value, size, true);
  return at;
}

}  // namespace

Bytes tiff(const Image& image, int orientation, bool tiled) {
  const int bits = static_cast<int>(size_of(image.depth())) * 8, channels = image.channels();
  constexpr int kTile = 32;
  const int tile_width = tiled ? kTile : image.width(),
            tile_height = tiled ? kTile : image.height();
  Bytes bytes;
  append(&bytes, std::string("II*\0----", 8));
  std::vector<std::uint32_t> offsets;
  for (int top = 0; top < image.height(); top += tile_height) {
    for (int left = 0; left < image.width(); left += tile_width) {
      offsets.push_back(static_cast<std::uint32_t>(bytes.size()));
      for (int y = top; y < top + tile_height; ++y) {
        for (int x = left; x < left + tile_width; ++x) {
          for (int c = 0; c < channels; ++c) {
            const bool inside = x < image.width() && y < image.height();
            const double value = inside ? sample(image, x, y, c < 3 ? 2 - c : c) : 0;
            append_number(&bytes, static_cast<std::uint32_t>(value), bits / 8, true);
          }
        }
      }
    }
  }
  const auto length = static_cast<std::uint32_t>(tile_width * tile_height * channels * bits / 8);
  const int tiles = static_cast<int>(offsets.size());
  const std::uint32_t offsets_at = append_values(&bytes, offsets, 4);
  const std::uint32_t lengths_at =
      append_values(&bytes, std::vector<std::uint32_t>(offsets.size(), length), 4);
  const auto samples = static_cast<std::uint32_t>(channels);
  const std::uint32_t bits_at = append_values(
      &bytes, std::vector<std::uint32_t>(samples, static_cast<std::uint32_t>(bits)), 2);
  std::vector<TiffEntry> entries = {{256, 4, 1, static_cast<std::uint32_t>(image.width())},
                                    {257, 4, 1, static_cast<std::uint32_t>(image.height())},
                                    {258, 3, channels, bits_at},
                                    {259, 3, 1, 1},
                                    {262, 3, 1, 2}};
  if (!tiled) entries.push_back({273, 4, tiles, offsets_at});
  entries.push_back({274, 3, 1, static_cast<std::uint32_t>(orientation)});
  entries.push_back({277, 3, 1, samples});
  if (!tiled) {
    entries.push_back({278, 4, 1, static_cast<std::uint32_t>(image.height())});
    entries.push_back({279, 4, tiles, lengths_at});
  } else {
    entries.push_back({322, 4, 1, kTile});
    entries.push_back({323, 4, 1, kTile});
    entries.push_back({324, 4, tiles, offsets_at});
    entries.push_back({325, 4, tiles, lengths_at});
  }
  if (channels == 4) entries.push_back({338, 3, 1, 2});
  append_directory(&bytes, 4, entries);
  return bytes;
}

Bytes tiff(const TiffKind& kind, const std::vector<std::uint32_t>& values) {
  Bytes bytes;
  append(&bytes, std::string("II*\0----", 8));
  for (const std::uint32_t value : values) append_number(&bytes, value, kind.bits / 8, true);
  const int strips = kind.planes == 2 ? kind.samples : 1;
  const auto length = static_cast<std::uint32_t>(bytes.size() - 8) / static_cast<unsigned>(strips);
  std::vector<std::uint32_t> offsets, lengths(static_cast<std::size_t>(strips), length);
  for (int i = 0; i < strips; ++i) offsets.push_back(8 + static_cast<std::uint32_t>(i) * length);
  const auto for_each_sample = [&](int value) {
    const std::vector<std::uint32_t> all(static_cast<std::size_t>(kind.samples),
                                         static_cast<std::uint32_t>(value));
    return append_values(&bytes, all, 2);
  };
  const std::uint32_t bits_at = for_each_sample(kind.bits);
  const std::uint32_t format_at = for_each_sample(kind.sample_format);
  std::vector<TiffEntry> entries = {{256, 4, 1, static_cast<std::uint32_t>(kind.width)},
                                    {257, 4, 1, static_cast<std::uint32_t>(kind.height)},
                                    {258, 3, kind.samples, bits_at},
                                    {259, 3, 1, 1},
                                    {262, 3, 1, static_cast<std::uint32_t>(kind.photometric)},
                                    {273, 4, strips, append_values(&bytes, offsets, 4)},
                                    {277, 3, 1, static_cast<std::uint32_t>(kind.samples)},
                                    {278, 4, 1, static_cast<std::uint32_t>(kind.height)},
                                    {279, 4, strips, append_values(&bytes, lengths, 4)},
                                    {284, 3, 1, static_cast<std::uint32_t>(kind.planes)}};
  if (kind.extra_samples) {
    entries.push_back({338, 3, 1, static_cast<std::uint32_t>(*kind.extra_samples)});
  }
  entries.push_back({339, 3, kind.samples, format_at});
  std::size_t pointer = 4;
  for (int i = 0; i < kind.pictures; ++i) pointer = append_directory(&bytes, pointer, entries);
  return bytes;
}

std::optional<int> tiff_tag(const Bytes& tiff, int tag) {
  const auto number = [&](std::size_t at, int size) {
    std::size_t value = 0;
    for (int i = size - 1; i >= 0; --i) value = value << 8 | tiff.at(at + std::size_t(i));
    return value;
  };
  const std::size_t directory = number(4, 4);
  for (std::size_t i = 0; i < number(directory, 2); ++i) {
    const std::size_t entry = directory + 2 + 12 * i;
    if (number(entry, 2) == std::size_t(tag)) return int(number(entry + 8, 2));
  }
  return std::nullopt;
}

}  // namespace convfilt::testing
