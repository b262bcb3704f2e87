/// Picture files in and out, by OpenCV, with what OpenCV leaves out: damage is found, the EXIF
/// orientation is applied once, alpha stays straight, and an output appears whole or not at all.
///
/// All functions may run in several threads at once. Messages are one line: what, where, remedy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/picture/image.hpp"

namespace convfilt {

struct ReadOptions {
  bool refuse_damaged = true;  ///< false: read what can be read, the rest black, with a warning
  std::int64_t max_pixels = std::int64_t{1}
                            << 29;  ///< width * height; above: refused, nothing taken
};

struct WriteOptions {
  std::string format;          ///< such as "png"; wins over the extension, and must be said for "-"
  std::optional<int> quality;  ///< 0..100: JPEG (default 95) and WebP (default lossless)
};

/// Reads a picture; "-" is standard input. Depths u8, u16 and f32 stay; others become f32 with a
/// warning. Grey with alpha becomes BGRA. `warnings` may be null.
/// Throws IoError when the file cannot be read, is not a picture, is damaged or too large.
Image read_image(const std::string& path, const ReadOptions& options,
                 std::vector<std::string>* warnings);

/// Checks before any work whether write_image(out) would be refused for its name or place.
/// Throws UsageError for an unknown or missing format, a quality out of range, or the file of `in`
/// without `in_place`; IoError for a folder that is missing or not writable.
void check_output(const std::string& in, const std::string& out, const WriteOptions& options,
                  bool in_place);

/// Writes a picture; "-" is standard output. Depth is kept where the format can, else the nearest
/// it has, with a warning; alpha is laid on white where the format has none, with a warning.
/// An existing file is replaced at once, keeping its mode, or stays as it was; links are followed.
/// Throws IoError when it cannot be written, UsageError when the format cannot hold the picture.
void write_image(const std::string& path, const Image& image, const WriteOptions& options,
                 std::vector<std::string>* warnings);

}  // namespace convfilt
