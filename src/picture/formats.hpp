/// The picture formats: what each can hold, and how to know one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "kernels/problem.hpp"

namespace convfilt {

/// Formats that are read; all but GIF are written, too. OpenCV knows more. Sun raster is left out
/// because OpenCV reads grey ones as black. DICOM and GDAL's formats are left out because nothing
/// here shows what becomes of damaged ones.
enum class FormatId {
  jpeg,
  png,
  tiff,
  webp,
  bmp,
  pnm,
  pam,
  pfm,
  hdr,
  jp2,
  exr,
  heic,
  avif,
  jxl,
  gif
};

/// Which pictures a file holds beside its first: frames of an animation, or pages of any size.
enum class Several { none, frames, all };

/// How a file tells what its colours are: not at all, by an ICC profile, by codes as well, by all
/// that a ColourLabel has.
enum class Labels { none, profile, codes, all };

/// A format as it is written. PNM has several of these. GIF, which is only read, has one for its
/// name.
struct Format {
  FormatId id;
  std::string_view name;        ///< for people, e.g. "JPEG"
  std::string_view extensions;  ///< lower case, blank-separated; the first is the one for OpenCV
  bool u8, u16, f32;            ///< depths it holds
  bool grey, colour, alpha;     ///< channels it holds
  bool quality;                 ///< takes a quality
  bool through_file;            ///< OpenCV encodes it by way of a file in the temporary folder
  bool resolution_in_exif;      ///< has no other place for a resolution
  bool written;                 ///< not only read
  Labels labels;                ///< how it tells what its colours are
  std::string_view module;      ///< that has its codec; empty where the program itself has it
  Several several;              ///< as it is written

  bool holds(Depth depth) const {
    return depth == Depth::u8 ? u8 : depth == Depth::u16 ? u16 : f32;
  }
  std::string_view extension() const { return extensions.substr(0, extensions.find(' ')); }
};

std::span<const Format> written_formats();

/// All extensions in one line, for messages.
std::string known_extensions();

/// The format of an extension or --format word, any case, with or without a leading dot; or null.
const Format* find_format(std::string_view extension);

/// Whether an extension, of any case, is one that pictures have beside those of the formats here,
/// which may be able to read such a file, but not to write what the name says.
bool is_other_pictures(std::string_view extension);

/// The known extension nearest to a misspelt one; empty when none is near.
std::string nearest_extension(std::string_view extension);

/// The extension of a file name without the dot; empty when it has none.
std::string extension_of(std::string_view path);

/// The first entry of a format.
const Format& format_of(FormatId id);

/// Names of all formats in one line, for messages.
std::string known_formats();

/// Bytes from a file's start that sniff() looks at.
inline constexpr std::size_t kSniffedBytes = 64;

/// The format of a file by its first bytes; false when it is none that is read.
bool sniff(std::span<const unsigned char> bytes, FormatId* id);

inline std::string_view name_of(FormatId id) {
  return format_of(id).name;
}

}  // namespace convfilt
