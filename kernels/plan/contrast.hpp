/// How far the samples of a float picture reach, which decides whether it may be transformed.
#pragma once

#include "kernels/problem.hpp"

namespace convfilt {

/// Problem::contrast of such a picture, rounded up to a power of two, so that pictures share plans.
/// Wherever the mask lies, it covers a whole cell of the picture; the least of the cells' largest
/// samples stands for the largest under the mask. `threads` 0 = all cores.
double contrast_of(const Problem& problem, PictureView<const std::byte> picture, int threads);

}  // namespace convfilt
