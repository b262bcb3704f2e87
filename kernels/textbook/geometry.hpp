/// The work of one block in kernels that keep no tile in shared memory.
#pragma once

#include "kernels/contract/arithmetic.hpp"

namespace convfilt {

/// Blocks of columns x rows threads that each read all taps of one output.
inline Geometry one_output_a_thread(const Problem& problem, int columns, int rows) {
  const Sides mask = first_part(problem.mask);
  Geometry g;
  g.block_columns = g.out_columns = columns;
  g.block_rows = g.out_rows = rows;
  g.computing_threads = columns * rows;
  g.loads = double(g.computing_threads) * mask.width * mask.height;
  g.loads_per_output = "w * h";
  return g;
}

}  // namespace convfilt
