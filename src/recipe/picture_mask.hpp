/// Masks from pictures, such as a lens's image of a point.
#pragma once

#include <string>

#include "src/mask/set.hpp"

namespace convfilt {

/// Masks from a file: if that is a picture, its luma over their sum, in whole numbers where
/// samples are whole; else as load_masks(), which takes names, too. Upright, and the pixel right of
/// and below the middle is the anchor of an even side. Logs the reader's warnings, and what was
/// made.
///
/// Throws IoError, which names the file, where the picture cannot be read, has alpha, has samples
/// that are not finite, sums to 0, or has a side above kMaxMaskSide; else as load_masks() does.
MaskSet text_or_picture_masks(const std::string& path_or_name);

}  // namespace convfilt
