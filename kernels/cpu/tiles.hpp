/// How a picture is cut for the cores and their caches.
///
/// A tile is a strip of columns, so narrow that the source rows under the mask stay in the cache
/// while the tile is walked from top to bottom. Every source row is then prepared once. Where that
/// makes too few tiles for the cores, the picture is also cut into bands, whose source rows
/// overlap.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/problem.hpp"

namespace convfilt::cpu {

/// Output pixels [x0, x1) x [y0, y1).
struct Tile {
  int x0, x1, y0, y1;
};

/// A tile's share of the first-level cache (48 KB, or little more than 32 KB), for loops that read
/// at unaligned places. Vectors that cross a cache line come slowly from the second level.
inline constexpr std::int64_t kFirstCache = 36 << 10;

/// A tile's share of the second-level cache, for all other loops. Its rows of several KB use memory
/// pages better: 17 taps on 12 Mpx of 8 bits take 25 ms instead of 32.
inline constexpr std::int64_t kShareOfSecondCache = 192 << 10;

/// The cache that one tile needs, and how low a band may be.
struct TileCost {
  std::int64_t cache_bytes;
  std::int64_t bytes_per_pixel;  ///< in all rows of the ring
  std::int64_t fixed_bytes;      ///< for the halo's columns
  int least_rows;                ///< a lower band would prepare too many rows that others prepare
};

std::vector<Tile> cut_in_tiles(const Problem& problem, const TileCost& cost, int threads);

/// The width of the widest tile in pixels.
int widest(const std::vector<Tile>& tiles);

}  // namespace convfilt::cpu
