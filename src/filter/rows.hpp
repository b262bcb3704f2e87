/// Loops over the rows of a picture on all cores.
#pragma once

#include <functional>

#include "src/picture/image.hpp"

namespace convfilt {

/// Calls body(y) once for each row of pictures of this one's size, in any order; rows must not
/// depend on each other. `threads` 0 = all cores; a small picture gets fewer.
void for_rows(const Image& image, int threads, const std::function<void(int y)>& body);

}  // namespace convfilt
