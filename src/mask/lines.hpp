/// The first half of reading a mask: a file's lines as rows of numbers, keys and an ImageMagick
/// header.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/source_text.hpp"
#include "src/mask/number.hpp"

namespace convfilt {

/// A number and where it stands.
struct Entry {
  Number number;
  std::string_view word;
};

/// Two whole numbers, 0 or more, and where they stand.
struct AnchorEntry {
  int x, y;
  std::string_view x_word, y_word;
};

/// What the lines of a file say. Views point into the text.
struct MaskLines {
  std::vector<std::vector<Entry>> rows;  ///< none is empty but that of an ImageMagick kernel
  std::optional<Entry> scale, offset;    ///< the scale is not 0
  std::optional<AnchorEntry> anchor;     ///< not yet checked against the size
  std::string_view name;                 ///< empty: none is given

  /// "3x3+1+1" of an ImageMagick kernel, whose weights are then rows[0]; else empty.
  std::string_view magick_header;
  int magick_width = 0, magick_height = 0;
};

/// Digits alone, as an int; nothing for anything else.
std::optional<int> whole_number(std::string_view word);

/// Whether n is the side of a mask, 1..kMaxMaskSide.
bool is_side(std::optional<int> n);

/// "1 row", "2 rows".
std::string count_of(std::size_t n, const std::string& noun);

/// Throws IoError at its place if the scale is 0.
void check_scale(const SourceText& source, const Entry& scale);

/// Reads all lines. Throws IoError at the first that is not in the grammar of filters/README.md,
/// and at rows too long or too many for a mask; whether rows fit each other is not looked at.
MaskLines read_mask_lines(const SourceText& source);

}  // namespace convfilt
