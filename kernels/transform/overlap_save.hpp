/// How overlap-save cuts a picture into blocks, which is the same on every device.
#pragma once

#include <optional>
#include <string>

#include "kernels/contract/plane_view.hpp"
#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"
#include "kernels/transform/block_schedule.hpp"

namespace convfilt::transform {

/// Overlapping blocks that keep disjoint rectangles of the outputs.
struct Tiling {
  int columns, rows;            ///< a block's, in samples
  int kept_columns, kept_rows;  ///< outputs that a block keeps: its side less the mask's, plus 1
  int across, down;             ///< blocks across, and blocks down

  CONVFILT_HD int tiles() const { return across * down; }

  /// The first output that the tile's block keeps.
  CONVFILT_HD int x(int tile) const { return tile % across * kept_columns; }
  CONVFILT_HD int y(int tile) const { return tile / across * kept_rows; }

  /// The plane of tile number `tile`, where planes that are tiled alike follow each other. `tile`
  /// becomes the tile's number in its plane. A loop beats a division, since planes are few.
  CONVFILT_HD int plane_of(int& tile) const {
    int plane = 0;
    for (; tile >= tiles(); ++plane) tile -= tiles();
    return plane;
  }
};

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
