/// Drawings of one block below the picture: what its threads load in which step, what they compute,
/// how often each sample is used; and where output tiles overlap, how blocks are added up: launches,
/// the divisions of a schedule, and the parts of the mask.
#pragma once

#include <string>
#include <vector>

#include "src/lab/explain/block_trace.hpp"
#include "src/lab/explain/explain.hpp"
#include "src/lab/explain/panel.hpp"

namespace convfilt {

/// The drawings that say something of the block. The explanation must have a geometry; it and the
/// trace must outlive them.
std::vector<DrawPanel> thread_panels(const Explanation& explanation, const BlockTrace& trace);

/// The turn, from 1 on, in which its thread computes an output of the tile, which is at that column
/// and row. Threads sweep the output tile as blocks of that size.
int turn_of_output(const Geometry& geometry, const BlockTrace& trace, int column, int row);

/// The launch, from 1 on, in which a block adds its outputs under one part of the mask. Blocks are
/// numbered from the left and from above, from 0 on.
int launch_of(const Geometry& geometry, int block_x, int block_y);

/// The number that drawings and schedule give the part with the mask's first weight, which the
/// geometry's block applies.
std::string number_of_first_part(const Explanation& explanation);

/// The drawings that say something of the strategy. They are none where output tiles do not
/// overlap. The explanation must have a geometry, and outlive them.
std::vector<DrawPanel> adding_panels(const Explanation& explanation);

}  // namespace convfilt
