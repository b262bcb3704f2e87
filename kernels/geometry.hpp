/// What one block of a strategy does, in numbers: what its launch uses, and what `explain` tells.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>

namespace convfilt {

/// Of a block in the middle of the picture, all of whose samples lie inside the image. Masks above
/// kMaxPartSide: of its first part.
struct Geometry {
  int block_columns = 0, block_rows = 0;  ///< threads
  int loading_threads = 0;                ///< that load the input tile; 0 = no tile is kept
  int computing_threads = 0;              ///< that compute outputs
  int in_columns = 0, in_rows = 0;        ///< input tile in samples; 0 = none is kept
  int out_columns = 0, out_rows = 0;      ///< output tile
  int lead_x = 0, lead_y = 0;    ///< columns of the input tile left of the output tile, rows above
  std::size_t shared_bytes = 0;  ///< static, as the kernel declares it
  double loads = 0;              ///< samples a block reads from global memory
  std::string loads_per_output;  ///< as a formula, e.g. "(tile + w - 1) * (tile + h - 1) / tile^2"
  std::string note;              ///< what else there is to say, in whole sentences; may be empty

  /// From block to block, in outputs: less than the output tile where output tiles overlap, since
  /// blocks of the input add to all outputs around them.
  int step_x() const { return step(in_columns, out_columns); }
  int step_y() const { return step(in_rows, out_rows); }

 private:
  static int step(int in, int out) { return in > 0 && in < out ? in : out; }
};

/// Why so many blocks, which are counted in ints, are refused; empty when they are few enough.
inline std::string blocks_refuse(std::int64_t across, std::int64_t down) {
  return across * down <= INT_MAX
             ? ""
             : "there would be more than 2^31 blocks; use a larger --block, or leave it out";
}

}  // namespace convfilt
