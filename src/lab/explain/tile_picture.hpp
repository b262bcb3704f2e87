/// The tiles of a strategy as lecture slides draw them.
#pragma once

#include <optional>
#include <string>

#include "src/lab/explain/explain.hpp"
#include "src/lab/plot.hpp"

namespace convfilt {

inline constexpr int kTilePageWidth = 1120;  // points

/// Throws UsageError where a strategy has no blocks. Costs nothing.
void check_drawable(const Strategy& strategy);

/// Whether the drawing's second block is whole, and all samples under it lie in the image. Throws
/// as check_drawable() does.
bool shows_middle(const Explanation& explanation);

/// A column and a row of the result.
struct OutputAt {
  int x = 0, y = 0;
};

/// Throws UsageError where the problem's result has no such output.
void check_output(OutputAt at, const Problem& problem);

/// The image with its blocks, one in the corner and one in the middle enlarged, or the one that
/// computes the output `at`: output tile, halo, ghost cells, and the mask over one output. Below
/// them is what this block's threads do, where the emulator can record it (block_trace.hpp), and
/// how blocks are added up whose output tiles overlap. Throws UsageError where the strategy has no
/// blocks to draw.
Drawing tile_picture(const Explanation& explanation, std::optional<OutputAt> at = {});

}  // namespace convfilt
