/// Facts about a picture file that OpenCV does not report, or gets wrong.
#pragma once

#include <cstdint>
#include <string>

#include "src/picture/codec.hpp"

namespace convfilt {

struct FileFacts {
  std::int64_t width = 0,
               height = 0;  ///< in pixels, as the header says; 0 where it cannot be found
  std::string
      damage;  ///< why the file cannot be whole, in plain words; empty when nothing is known
  bool is_lost = false;          ///< nothing can be taken of what is damaged
  bool drop_alpha = false;       ///< the fourth channel OpenCV makes means nothing
  bool premultiplied = false;    ///< colours come multiplied by alpha
  bool invert = false;           ///< zero means white, which OpenCV ignores
  std::uint64_t whole_size = 0;  ///< bytes that an uncompressed file of this header has; else 0
  double scale = 1;              ///< samples are multiplied by it to fill their depth's range
  /// The most bytes that OpenCV, its library and this program's changes take for a pixel.
  int bytes_a_pixel = 0;
  int copies = 1;  ///< of the file's bytes that are in memory then
};

/// Looks at the bytes of a file, and prepares them for OpenCV: tags of a TIFF that OpenCV handles
/// wrongly are changed. Sizes and damage are found in the formats that only OpenCV reads. The
/// context learns what OpenCV leaves out. Throws IoError for a kind that OpenCV would read wrongly.
FileFacts inspect(FormatId format, Bytes* bytes, ReadContext& context);

/// Appends to a damaged file what its decoder needs to give the part that is there. The size must
/// have been checked.
void complete(FormatId format, const FileFacts& facts, Bytes* bytes);

}  // namespace convfilt
