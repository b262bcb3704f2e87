/// Masks as text: the grammar of filters/README.md.
#pragma once

#include <string>
#include <string_view>

#include "src/mask/set.hpp"

namespace convfilt {

/// Reads masks from `text`: grids of numbers, vips matrices or ImageMagick kernels. Messages
/// show `file_name`. Its stem names the mask if the text does not, and the suffix .mat means a vips
/// matrix. Weights, divisor and offset are integers over the smallest common divisor if that is
/// exact (see set_weights).
///
/// If a grid may be meant as a vips matrix, `ambiguity` (if given) gets a sentence with the remedy;
/// else "".
///
/// Throws IoError ("file:line:column: what; remedy", the line and a caret) unless the text is
/// masks of at most kMaxMaskSide x kMaxMaskSide finite weights.
MaskSet parse_masks(std::string_view text, const std::string& file_name,
                    std::string* ambiguity = nullptr);

/// The only mask of a text. Throws as parse_masks() does, and if there are several.
Mask parse_mask(std::string_view text, const std::string& file_name,
                std::string* ambiguity = nullptr);

/// The mask as text, of which parse_mask() makes it again. The name is left out unless it is ASCII
/// without control characters and '#', and without blanks around it.
std::string print_mask(const Mask& mask);

}  // namespace convfilt
