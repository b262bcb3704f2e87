/// The steps of one block of threads, as the emulator recorded them.
#pragma once

#include <optional>
#include <vector>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// A number for each sample of a rectangle. Places count from the sample under the first output of
/// the block.
struct SampleGrid {
  int left = 0, top = 0, columns = 0, rows = 0;
  std::vector<int> values;  ///< row by row

  bool empty() const { return values.empty(); }
  /// The number at column and row of the rectangle.
  int& at(int column, int row) { return values[std::size_t(row) * columns + column]; }
  int at(int column, int row) const { return values[std::size_t(row) * columns + column]; }
};

/// Threads load at once in a step: each thread a sample, or none.
struct LoadStep {
  int loads = 0;     ///< threads that load in this step
  int x = 0, y = 0;  ///< where thread (0, 0) loads, or would if it had a sample there
};

struct BlockTrace {
  int block_columns = 0, block_rows = 0;  ///< threads

  /// The step, from 1 on, in which each sample of the input tile is loaded. Empty where the block
  /// keeps no samples.
  SampleGrid steps;
  std::vector<LoadStep> loads;  ///< of each step
  bool numbered = false;  ///< whether threads load by their number in the block and the sample's in
                          ///< the tile, not by places; the LoadSteps say nothing of places then

  SampleGrid uses;    ///< in how many sums of the block each sample goes
  SampleGrid direct;  ///< how often each is read from global memory or a texture for one sum alone

  std::vector<ThreadUses> threads;  ///< what each thread uses, row by row, by the places above

  int out_columns = 0, out_rows = 0;  ///< outputs that the result has
  std::int64_t taps = 0;              ///< of these, on samples of the image

  int steps_count() const { return int(loads.size()); }
};

/// A block, numbered from the left and from above, from 0 on.
struct BlockIndex {
  int x = 0, y = 0;
};

/// Runs the strategy in the emulator on a picture in which a block lies far from the edges, or a
/// block of the problem's own picture, whose ghost cells stay 0. Empty where the emulator cannot
/// record all reads of such a block, or a library computes the sums.
std::optional<BlockTrace> trace_block(const Strategy& strategy, const Problem& problem,
                                      const Tuning& tuning, std::optional<BlockIndex> at = {});

}  // namespace convfilt
