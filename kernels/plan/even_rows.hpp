/// How kernels that walk down a picture cut it.
#pragma once

#include <cstdint>

#include "kernels/contract/ceil_div.hpp"

namespace convfilt {

/// The rows of a block, a multiple of `step`, that make the whole cheapest. `blocks` blocks run at
/// a time, and each costs its own rows and `above` more for its halo. So the last wave of blocks is
/// nearly full, and little is computed twice.
inline int even_rows(int height, int step, int strips, int blocks, double above) {
  int best = ceil_div(height, step) * step;
  double least = 0;
  for (int n = 1; n <= ceil_div(height, step); ++n) {
    const int rows = ceil_div(ceil_div(height, n), step) * step;
    const double waves =
        double(ceil_div(std::int64_t(strips) * ceil_div(height, rows), std::int64_t(blocks)));
    const double cost = waves * (rows + above);
    if (n > 1 && cost >= least) continue;
    least = cost;
    best = rows;
  }
  return best;
}

}  // namespace convfilt
