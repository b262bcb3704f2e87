/// The threads of this folder's kernels: one for each sample or output of a rectangle.
#pragma once

#include "kernels/backend/launch.hpp"
#include "kernels/transform/block_schedule.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {

inline constexpr int kBlockColumns = 32;  ///< threads: one warp along a row
inline constexpr int kBlockRows = 8;

inline dim3 block_of_threads() {
  return dim3(kBlockColumns, kBlockRows);
}

/// The same number of threads for outputs of the spatial domain.
inline dim3 block_for_outputs(int out_rows) {
  const auto threads = convfilt::transform::spatial_threads({kBlockColumns, kBlockRows}, out_rows);
  return dim3(threads.columns, threads.rows);
}

/// The grid of blocks of threads that cover columns x rows in each of `layers` layers.
inline dim3 grid_over(int columns, int rows, int layers = 1) {
  return dim3(ceil_div(columns, kBlockColumns), ceil_div(rows, kBlockRows), layers);
}

}  // namespace convfilt::CONVFILT_BACKEND::transform
