/// The part of a row that a lane of walk.cu reads, and its block's shape: constants of each kernel.
#pragma once

#include "kernels/contract/ceil_div.hpp"
#include "kernels/contract/float_samples.hpp"
#include "kernels/separable/walk/mask.hpp"

namespace convfilt::separable::walk {

/// How a block walks down its strip.
struct BlockShape {
  int outputs;          ///< neighbouring outputs that a lane computes
  int beside;           ///< warps of a block, side by side
  int together;         ///< rows between two barriers, a step
  int slots;            ///< steps of rows in shared memory: one in use, the others on their way
  int warps;            ///< warps that an SM runs at a time
  bool shares = false;  ///< whether a warp's lanes share row sums, each computing a run of them
};

/// Up to this number of taps a lane computes the row sums of its own outputs; beyond it, lanes
/// share them. These numbers measured best on an H200.
constexpr int longest_own_row_sums(bool is_float, int channels) {
  if (channels > 1) return 25;
  return is_float ? 47 : 33;
}

/// Taps of the kernel for a mask of this side: as many as the mask has, or, where row sums are
/// shared, the next of 31, 39, 47, 55 and 63.
constexpr int kernel_taps(int side, bool is_float, int channels) {
  return side <= longest_own_row_sums(is_float, channels) ? side : (side + 8) / 8 * 8 - 1;
}

/// The shapes that measured best on an H200. Small masks wait for memory, which is fastest with
/// wide rows, few of them at a time. For large masks registers are scarce, and few warps have room
/// for all their sums.
constexpr BlockShape block_shape(int side, bool is_float, int channels) {
  if (side > longest_own_row_sums(is_float, channels)) {
    if (channels > 1) return {2, 4, 8, 2, 12, true};
    return {2, 4, 8, 2, 8, true};
  }
  if (is_float) {
    if (side <= 15) return {4, 4, 2, 3, 16};
    if (side <= 21) return {4, 2, 2, 3, 16};
  } else {
    if (side <= 9) return {8, 4, 2, 4, 16};
    if (side <= 21) return {8, 1, 2, 6, 8};
  }
  if (side <= 33) return {4, 1, 2, 4, 8};
  return {4, 1, 1, 6, 8};
}

/// The constants of a kernel. Those of a row count samples, and those of shared memory count words.
template <class T, int kSide_, int kChannels>
struct Reach {
  static constexpr BlockShape kShape = block_shape(kSide_, sizeof(T) == 4, kChannels);
  static constexpr int kTogether = kShape.together, kSlots = kShape.slots;
  static_assert(kSlots >= 2, "a row in use, and at least one on its way");
  static constexpr int kSide = kSide_;  ///< kernel_taps() of the mask
  /// The least side of a mask for which this kernel is chosen.
  static constexpr int kLeastSide = kShape.shares ? kSide - 6 : kSide;
  static constexpr int kPixel = kChannels, kOutputs = kShape.outputs;
  static constexpr int kThreads = 32 * kShape.beside, kColumns = kThreads * kOutputs;

  /// A lane reads this many times as many samples as it has outputs, from its first tap on.
  static constexpr int kLoads = (kOutputs + (kSide - 1) * kPixel + kOutputs - 1) / kOutputs;
  /// Row sums that a lane computes where lanes share them.
  static constexpr int kRun = kShape.shares ? kTogether * kOutputs : 0;
  /// The distance from a block's last output to the last sample that it reads.
  static constexpr int kReach = kRun > 0 ? (kSide - 1) * kPixel : (kLoads - 1) * kOutputs;
  /// A chunk has 16 bytes, and a block's row has this many chunks.
  static constexpr int kChunk = kIn16<T>;
  static constexpr int kChunks = (kColumns + kReach + kChunk - 1) / kChunk;

  /// The pitch is odd in chunks where lanes share row sums, since neighbouring lanes then read
  /// different rows, which must lie in different banks.
  static constexpr int kPitch = (kRun > 0 ? kChunks | 1 : kChunks) * 4;
  static constexpr int kSlot = kPitch * kTogether;
  /// The pitch and the size of a warp's row sums, where its lanes share them.
  static constexpr int kRowSumPitch = 32 * kOutputs + 4;
  static constexpr int kRowSumWords = kRun > 0 ? kTogether* kRowSumPitch : 0;
  /// The number of a pass's weights that not every mask of this kernel has, rounded up.
  static constexpr int kOptional = kSide > kLeastSide ? 8 : 0;

  /// A block's rows come first, then its warps' row sums, then the optional weights of both passes.
  static constexpr int kRowSumsAt = kSlot * kSlots;
  static constexpr int kWeightsAt = kRowSumsAt + kRowSumWords * kShape.beside;
  static constexpr int kBytes = (kWeightsAt + 2 * kOptional) * 4;
  static_assert(kBytes <= 48 * 1024,
                "a block's rows do not fit in the shared memory of every device");

  /// Samples of a row that are read for that many outputs.
  static constexpr int samples_for(int outputs) {
    constexpr int kWhole = kRun > 0 ? kRun : kOutputs;
    return ceil_div(ceil_div(outputs, kWhole) * kWhole + kReach, kChunk) * kChunk;
  }

  using Samples = float[kLoads * kOutputs];
  using Sums = float[kSide][kOutputs];
};

/// How a picture is shared out among blocks.
struct BlockGrid {
  int across;  ///< strips side by side
  int rows;    ///< rows of outputs of a block
};

}  // namespace convfilt::separable::walk
