/// The threads of this folder's kernels: one for each sample or output of a rectangle.
#pragma once

#include "kernels/backend/launch.hpp"
#include "kernels/transform/block_schedule.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {

/// A block of threads for columns x rows samples or outputs.
inline dim3 threads_over(int columns, int rows) {
  const auto block = convfilt::transform::threads_over(columns, rows);
  return dim3(block.columns, block.rows);
}

/// Launches a thread for each cell of columns x rows in each of `layers` layers.
template <class... Parameters, class... Arguments>
void launch_over(int columns, int rows, int layers, const Stream& stream,
                 void (*kernel)(Parameters...), const Arguments&... arguments) {
  const dim3 block = threads_over(columns, rows);
  launch(dim3(ceil_div(columns, int(block.x)), ceil_div(rows, int(block.y)), layers), block, stream,
         kernel, arguments...);
}

}  // namespace convfilt::CONVFILT_BACKEND::transform
