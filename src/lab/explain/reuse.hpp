/// The textbook's tables of reuse, by formula alone: tiles and masks of any size, whether or not a
/// GPU could launch such a block.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// A strategy, a mask and a tile. Numbers are 0 where the mask leaves no output of the tile.
struct ReuseCell {
  int tile = 0;           ///< the block's side; where a strategy has no tile, its block has its own
  double reads = 0;       ///< an output's, of global memory, in a block without ghost cells
  double reuse = 0;       ///< taps of such a block / its reads
  double ghosts_out = 0;  ///< taps on samples of the picture / reads of all blocks, where ghost
                          ///< cells are not read
  double operations = 0;  ///< of such a block, two for each tap, for each byte read
  double of_moved = 0;    ///< the same for each byte read or stored, each output being stored once
  std::string refusal;    ///< why no launch has this block; empty where one does
};

/// Whose side a tile is: a block has a thread for each sample of its input tile, or for each column
/// of outputs of a tile whose halo it loads, too.
enum class TileOf { none, input, output };

struct ReuseRow {
  const Strategy* strategy = nullptr;
  Tuning tuning;  ///< but for the tile
  Mask mask;
  std::vector<ReuseCell> cells;  ///< in the order of the tiles
  TileOf tile_of = TileOf::none;
  double reuse_limit = 0;       ///< which larger tiles approach
  double operations_limit = 0;  ///< of operations per byte read
  double of_moved_limit = 0;    ///< and per byte moved
};

/// The strategies of which there are such tables: those that read global memory, or a texture over
/// it, by a formula that is held against the emulator's count. A strategy with a choice of domains
/// is in them without transforms.
std::vector<const Strategy*> strategies_with_reuse();

/// Why there are none of that strategy, in half a sentence; empty where there are.
std::string reuse_refusal(const Strategy& strategy);

/// A row for each strategy and each mask, which are side x side, or side x 1 where `dimensions` is
/// 1. `picture` says size, depth and mode; in one dimension its height becomes 1. A tile is the
/// side of the block: of the output tile, or of the input tile for a strategy whose blocks have a
/// thread for each of its samples.
std::vector<ReuseRow> reuse_rows(std::span<const Strategy* const> strategies,
                                 const Problem& picture, int dimensions, std::span<const int> masks,
                                 std::span<const int> tiles);

}  // namespace convfilt
