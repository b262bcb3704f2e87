/// How direct_walk.hpp walks: the strips of a picture, and what measured best for each side.
#pragma once

namespace convfilt {

constexpr int kWalkWarps = 4;  // of a block, side by side

/// How a picture is shared out among blocks: its strips, one below the other, make up one long
/// strip, of which each block walks as many rows, so that all end together.
struct WalkGrid {
  int strips;
  int length;  ///< rows of a strip, at least those of the outputs
  int rows;    ///< of a block
};

/// How strips are walked down.
struct WalkTuning {
  int together;  ///< rows that are added at once: a weight serves them all
  bool ahead;    ///< whether the next rows are loaded meanwhile
  int near;      ///< rows ahead that are brought to the L2 cache; 0 = none
  bool guarded;  ///< whether a strip's first and last rows leave out rows of the mask
  int unrolled;  ///< turns of the loop
  int warps;     ///< for whose registers an SM shall have room
};

/// What measured best on an H200. Large masks want few warps, with all their sums and the next rows
/// in registers: more of them, each elsewhere in the loop, wait for instructions. From 15x15 on a
/// loop of two rows would no longer fit the cache of these.
constexpr WalkTuning walk_tuning(int side, int channels, bool is_float) {
  const bool colour = channels > 1;
  switch (side) {
    case 3: return {2, true, 0, false, 2, 28};
    case 5:
      if (!is_float) return {1, true, 0, false, 1, 20};
      if (colour) return {2, false, 2, false, 1, 20};
      return {2, true, 0, false, 1, 24};
    case 7:
      if (!is_float) return {1, true, 0, true, 1, 16};
      if (colour) return {1, false, 4, false, 1, 20};
      return {2, false, 2, false, 1, 20};
    case 9:
      if (!is_float && colour) return {1, true, 0, true, 1, 12};
      if (colour) return {2, false, 2, true, 1, 12};
      return {2, true, 0, true, 1, 12};
    case 11: return {2, true, 0, true, 1, 8};
    case 13:
      if (colour) return {1, true, 0, true, 1, 12};
      return {2, true, 0, true, 1, 8};
    default: return {1, true, 0, true, 1, 8};
  }
}

}  // namespace convfilt
