/// The tiles of a strategy as lecture slides draw them.
#pragma once

#include <string>

#include "src/base/plot.hpp"
#include "src/explain/explain.hpp"

namespace convfilt {

/// The page, in points.
inline constexpr PlotSize kTilePage{1120, 500};

/// Throws UsageError where a strategy has no blocks. Costs nothing.
void check_drawable(const Strategy& strategy);

/// A script for gnuplot: the image with its blocks, and one in the corner and one in the middle
/// enlarged: output tile, halo, ghost cells, and the mask over one output. Throws UsageError where
/// the strategy has no blocks to draw.
std::string tile_picture(const Explanation& explanation);

}  // namespace convfilt
