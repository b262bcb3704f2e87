/// Files and pictures that the image tests make for themselves.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "src/picture/image.hpp"

namespace convfilt::testing {

using Bytes = std::vector<unsigned char>;

/// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "convfilt-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  int files() const {
    const std::filesystem::directory_iterator all(path_);
    return static_cast<int>(std::distance(begin(all), end(all)));
  }

 private:
  std::filesystem::path path_;
};

Bytes load(const std::string& path);
void save(const std::string& path, const Bytes& bytes);

/// Keeps the bytes of a small file in the folder that CONVFILT_SEEDS names, for tests/fuzz/run.sh:
/// what the tests make is what fuzzers begin with.
void keep_seed(const Bytes& bytes);

double sample(const Image& image, int x, int y, int channel);
void set_sample(Image* image, int x, int y, int channel, double value);

/// A smooth picture with some noise, different in every channel; alpha is nowhere 0.
Image pattern(int width, int height, int channels, Depth depth);

/// A picture of black and white alone, as samples of the depth.
Image black_and_white(int width, int height, Depth depth);

/// The same shape, depth and samples.
bool same(const Image& a, const Image& b);

void append(Bytes* bytes, const std::string& text);
void append_number(Bytes* bytes, std::uint32_t value, int size, bool little);

/// EXIF data that says nothing but an orientation.
Bytes exif(int orientation, bool little);

/// A colour profile that has a head, and no tags.
Bytes profile_head(const std::string& space, std::size_t size);

Bytes jpeg_with_exif(Bytes jpeg, const Bytes& exif_data);
Bytes png_with_exif(Bytes png, const Bytes& exif_data);

/// An extended WebP around a lossless one.
Bytes webp_with_exif(const Bytes& webp, const Bytes& exif_data, int width, int height, bool alpha);

/// An uncompressed RGB or RGBA TIFF of a picture, with an orientation; alpha is straight. It has
/// one strip, or tiles of 32 x 32 pixels: libtiff 4.5 does not decode raw tiles from memory when
/// their bytes are no multiple of 1024.
Bytes tiff(const Image& image, int orientation, bool tiled);

/// What the directory of a TIFF says of its samples.
struct TiffKind {
  int width, height;
  int bits = 8, samples = 1;
  int photometric = 1;  ///< 0: white is zero, 1: black is zero, 2: RGB, 5: CMYK
  std::optional<int> extra_samples =
      {};                 ///< 0: unspecified, 1: associated alpha, 2: straight alpha
  int planes = 1;         ///< 1: samples of a pixel together, 2: a plane a sample
  int sample_format = 1;  ///< 1: unsigned, 2: signed, 3: floating point
  int pictures = 1;       ///< directories, all of the same pixels
};

/// An uncompressed TIFF of these sample values, in the order of the file.
Bytes tiff(const TiffKind& kind, const std::vector<std::uint32_t>& values);

/// The first value of a tag in the first directory of a classic TIFF, least byte first; nothing
/// when it is absent.
std::optional<int> tiff_tag(const Bytes& tiff, int tag);

/// The PNG with a chunk after its header.
Bytes png_with_chunk(Bytes png, const std::string& type, const Bytes& data);

}  // namespace convfilt::testing
