/// How kernels that walk down a picture cut it.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>

#include "kernels/contract/ceil_div.hpp"

namespace convfilt {

/// The fewest and the most rows that a block may have, both multiples of its step.
struct RowLimits {
  int least = 1, most = INT_MAX;
};

/// The rows of a block, a multiple of `step`, that make the whole cheapest. `blocks` blocks run at
/// a time, and each costs its own rows and `above` more for its halo and its beginning. So the last
/// wave of blocks is nearly full, and little is computed twice.
inline int even_rows(int height, int step, int strips, int blocks, double above,
                     RowLimits limits = {}) {
  const int fewest = height > limits.most ? ceil_div(height, limits.most) : 1;
  int best = 0;
  double least = 0;
  for (int n = fewest; n == fewest || n <= ceil_div(height, step); ++n) {
    const int rows = std::max(limits.least, ceil_div(ceil_div(height, n), step) * step);
    const double waves =
        double(ceil_div(std::int64_t(strips) * ceil_div(height, rows), std::int64_t(blocks)));
    const double cost = waves * (rows + above);
    if (n == fewest || cost < least) {
      least = cost;
      best = rows;
    }
    if (rows == limits.least) break;  // more blocks cannot have fewer rows
  }
  return best;
}

}  // namespace convfilt
