/// How overlap-save cuts a picture into blocks, which is the same on every device.
#pragma once

#include <optional>
#include <string>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"
#include "kernels/transform/tiling.hpp"

namespace convfilt::transform {

/// The blocks for that many outputs, with the side that --block says, or else by overlap_save.cu's
/// rules.
Tiling overlap_save_tiling(const Problem& problem, const Tuning& tuning, int out_width,
                           int out_height);

/// How many blocks a batch has, of `planes` planes that are tiled alike, if one takes that many
/// bytes: as many as kBatchBytes hold, in equal shares. It may be smaller by up to a half where the
/// last batch then transforms fewer blocks in vain.
int overlap_save_batch(const Tiling& tiling, int planes, std::size_t block_bytes);

/// Why the problem is refused: blocks would not hold the mask, or the family refuses it. Empty when
/// it is not.
std::string overlap_save_refuses(const Problem& problem, const Tuning& tuning);

/// The geometry that `explain` shows of the blocks.
Geometry overlap_save_geometry(const Problem& problem, const Tuning& tuning);

/// The counts of overlap_save_spatial.cu's block with that geometry. Empty for the frequency
/// domain, where a library does most, and for masks in parts, each of which has its own block.
std::optional<Counts> overlap_save_block_counts(const Problem& problem, const Tuning& tuning,
                                                const BlockPlace& place);

}  // namespace convfilt::transform
