/// Drawings of the threads of one block: what each loads in which step, what each computes, and how
/// often each sample is used.
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

}  // namespace convfilt
