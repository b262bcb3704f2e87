/// How a picture is cut for the cores and their caches.
///
/// A tile is a strip of columns, so narrow that the source rows under the mask stay in the cache
/// while the tile is walked from top to bottom; every source row is then prepared once. Only where
/// there are fewer strips than cores want tiles is the picture also cut in bands, whose source rows
/// overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/problem.hpp"

namespace convfilt::cpu {

/// Output pixels [x0, x1) x [y0, y1).
struct Tile {
  int x0, x1, y0, y1;
};

/// A tile's share of the first cache (of 48 KB, or a little over 32 KB), for kernels that read it
/// at odd places: vectors that cross a line are slow to come from the second.
inline constexpr std::int64_t kFirstCache = 36 << 10;

/// A tile's share of the second cache, for all others: rows of several KB use memory pages better
/// (17 taps on 12 Mpx of 8 bits: 25 ms instead of 32).
inline constexpr std::int64_t kShareOfSecondCache = 192 << 10;

/// What one tile keeps in the cache.
struct TileCost {
  std::int64_t cache_bytes;
  std::int64_t bytes_per_pixel;  ///< of all rows in the ring
  std::int64_t fixed_bytes;      ///< halo columns
  int least_rows;                ///< of a band, so that the rows it prepares twice stay few
};

std::vector<Tile> cut_in_tiles(const Problem& problem, const TileCost& cost, int threads);

/// Pixels of the widest tile.
int widest(const std::vector<Tile>& tiles);

}  // namespace convfilt::cpu
