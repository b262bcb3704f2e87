/// The terms of the textbook's kernels: the radius, the outputs, and a ghost cell.
#pragma once

#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// The radius r of a mask: how many columns of the halo lie left of an output tile, and how many
/// rows above it. A centred mask of 2r + 1 columns has as many on the right. Other masks, and parts
/// of large ones, have w - 1 - r there.
struct Radius {
  int x, y;
};

template <class T>
CONVFILT_DEVICE inline Radius radius_of(const MaskPart<T>& mask) {
  return {-mask.dx, -mask.dy};
}

/// The outputs of a launch. A mask above 31 x 31 is launched part by part, and `partial` carries
/// the sums from launch to launch.
template <class T>
struct Outputs {
  PlaneView<T> plane;
  PlaneView<SumOf<T>> partial;

  CONVFILT_DEVICE bool has(int x, int y) const { return x < plane.width && y < plane.height; }

  /// Zero, or the sum so far.
  CONVFILT_DEVICE SumOf<T> begin(const MaskPart<T>& mask, int x, int y) const {
    return begin_sum(mask, partial, x, y);
  }
  /// Scales, rounds and stores the sum, or keeps it for the next part.
  CONVFILT_DEVICE void end(const MaskPart<T>& mask, int x, int y, SumOf<T> sum) const {
    end_sum(mask, partial, plane, x, y, sum);
  }
};

template <class T>
Outputs<T> outputs_of(const LaunchJob& job) {
  return {job.output<T>(), job.sums<T>()};
}

/// The border value in place of a sample. The emulator counts it.
template <class T>
CONVFILT_DEVICE inline T ghost_cell(T ghost) {
  count_ghost_cell();
  return ghost;
}

/// The threads of the largest block, which is CUDA's limit.
inline constexpr int kMostThreads = 1024;

/// The side of the largest square block.
inline constexpr int kSquare = 32;
static_assert(kSquare * kSquare <= kMostThreads, "a block holds at most 1,024 threads");

/// A mask of one row gets blocks of one row. They are short by default, since the last block of a
/// row has few outputs.
inline constexpr int kLine = 256;
inline bool is_line(const Problem& p) {
  return p.mask.height == 1;
}

/// Why a mask of one column gets no blocks of one column.
inline constexpr const char kNoColumns[] =
    ", since a block of one column would read memory across rows, uncoalesced";

/// Why an output tile of that width is too large; empty when it is not.
inline std::string tile_refuses(const Problem& p, int tile) {
  if (tile <= kSquare || is_line(p)) return "";
  return std::string(
             "a block has a thread for each sample of the tile, at most 32 x 32; only masks of one "
             "row get blocks of one row, with --tile up to 1024") +
         kNoColumns;
}

}  // namespace convfilt::CONVFILT_BACKEND
