/// Rows outside the picture, for kernels that walk down it.
#pragma once

#include "kernels/backend/launch.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// The row that stands in for one outside the picture, or -1 for the border value. It is called,
/// not inlined, because it is rarely needed and the kernels are large.
CONVFILT_CALLED inline int edge_row(Border border, int y, int height) {
  return border_index(border, y, height);
}

}  // namespace convfilt::CONVFILT_BACKEND
