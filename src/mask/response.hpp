/// How strongly a mask passes each frequency.
#pragma once

#include <vector>

#include "kernels/problem.hpp"

namespace convfilt {

/// The magnitude of the frequency response, |sum of weight(i, j) / divisor * exp(2 pi i (u i + v
/// j))|, at u and v cycles a pixel along x and y. A wave of that frequency and amplitude 1 leaves
/// with this amplitude. The offset is ignored.
double response_at(const Mask& mask, double u, double v);

/// response_at() on side x side points, row by row: from -1/2 cycle a pixel on the left and at the
/// top to 1/2 on the right and at the bottom, with frequency 0 in the middle. Throws
/// std::invalid_argument unless `side` is odd and at least 3.
std::vector<double> response_grid(const Mask& mask, int side);

}  // namespace convfilt
