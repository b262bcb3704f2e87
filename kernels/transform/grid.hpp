/// The threads of this folder's kernels: one for each sample or output of a rectangle.
#pragma once

#include "kernels/backend/launch.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {

inline constexpr int kBlockColumns = 32;  ///< threads: one warp along a row
inline constexpr int kBlockRows = 8;

inline dim3 block_of_threads() {
  return dim3(kBlockColumns, kBlockRows);
}

/// The grid of blocks of threads that cover columns x rows in each of `layers` layers.
inline dim3 grid_over(int columns, int rows, int layers = 1) {
  return dim3(ceil_div(columns, kBlockColumns), ceil_div(rows, kBlockRows), layers);
}

}  // namespace convfilt::CONVFILT_BACKEND::transform
