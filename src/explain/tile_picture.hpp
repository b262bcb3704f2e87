/// The tiles of a strategy as lecture slides draw them.
#pragma once

#include <string>

#include "src/base/plot.hpp"
#include "src/explain/explain.hpp"

namespace convfilt {

inline constexpr int kTilePageWidth = 1120;  // points

/// A script for gnuplot, and the page that it draws.
struct TilePicture {
  std::string script;
  PlotSize page;
};

/// Throws UsageError where a strategy has no blocks. Costs nothing.
void check_drawable(const Strategy& strategy);

/// Whether the drawing's second block is whole, and all samples under it lie in the image. Throws
/// as check_drawable() does.
bool shows_middle(const Explanation& explanation);

/// The image with its blocks, one in the corner and one in the middle enlarged: output tile, halo,
/// ghost cells, and the mask over one output. Below them is what a block's threads do, where the
/// emulator can record it (block_trace.hpp), and how blocks are added up whose output tiles
/// overlap. Throws UsageError where the strategy has no blocks to draw.
TilePicture tile_picture(const Explanation& explanation);

}  // namespace convfilt
