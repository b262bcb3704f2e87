/// How blocks whose output tiles overlap are added up, in drawings: launches, the divisions of a
/// schedule, and the parts of the mask.
#pragma once

#include <string>
#include <vector>

#include "src/explain/explain.hpp"
#include "src/explain/panel.hpp"

namespace convfilt {

/// The launch, from 1 on, in which a block adds its outputs under one part of the mask. Blocks are
/// numbered from the left and from above, from 0 on.
int launch_of(const Geometry& geometry, int block_x, int block_y);

/// A drawing in its own place of a page, as a part of page_of(). Its title begins with the letter.
using DrawAdding = std::string (*)(const Explanation&, PlotSize page, const Box& place,
                                   char letter);

/// The drawings that say something of the strategy. They are none where output tiles do not
/// overlap. The explanation must have a geometry.
std::vector<DrawAdding> adding_panels(const Explanation& explanation);

}  // namespace convfilt
