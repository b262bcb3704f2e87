/// The first directory of a TIFF file, and of EXIF data, which has the same structure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace convfilt {

enum TiffTag : std::uint16_t {
  kBitsPerSample = 258,
  kPhotometric = 262,
  kStripOffsets = 273,
  kOrientation = 274,
  kSamplesPerPixel = 277,
  kStripByteCounts = 279,
  kPlanarConfig = 284,
  kExtraSamples = 338,
};

/// Reads tags of the first directory from bytes that may be cut or hostile: what lies outside is
/// absent. Classic and big TIFF, both byte orders.
class TiffTags {
 public:
  explicit TiffTags(std::span<const unsigned char> bytes);

  /// The first value of an integer tag (BYTE, SHORT or LONG); nothing when it is absent.
  std::optional<std::uint32_t> first(TiffTag tag) const;

  /// The first strip that does not lie in the file as a whole; nothing where all do, or where there
  /// are none.
  std::optional<std::size_t> strip_outside() const;

  bool has_next_directory() const { return has_next_; }

  /// Whether the directory, or something it points to, lies beyond the end of the file.
  bool is_cut() const { return cut_; }

  /// Changes the first value of a SHORT tag in `bytes`, which must be a copy of those read.
  /// False when there is no such tag.
  bool patch(std::span<unsigned char> bytes, TiffTag tag, std::uint16_t value) const;

 private:
  struct Entry {
    std::uint16_t tag, type;
    std::size_t value_at;  ///< offset of the first value
    std::uint64_t values;  ///< how many there are
  };

  std::optional<std::uint64_t> number(std::size_t at, int bytes) const;
  const Entry* find(TiffTag tag) const;

  std::span<const unsigned char> bytes_;
  bool little_ = true;
  bool has_next_ = false, cut_ = true;
  std::vector<Entry> entries_;
};

/// 1..8 from EXIF data ("II*\0..." or "MM\0*..."); 1 when it says nothing valid.
int exif_orientation(std::span<const unsigned char> exif);

/// Marks the fourth channel of a TIFF that OpenCV wrote as straight alpha, which OpenCV omits.
/// Without the mark some programs drop the channel, and others take the colours for premultiplied.
/// A TIFF that is not classic is left as it is.
void mark_alpha_as_straight(std::vector<unsigned char>* tiff);

}  // namespace convfilt
