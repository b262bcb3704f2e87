/// What a lane of separable_walk.cu reads of a row, and how its blocks walk.
#pragma once

#include "kernels/contract/ceil_div.hpp"
#include "kernels/contract/float_samples.hpp"
#include "kernels/separable/walk/mask.hpp"

namespace convfilt {

/// How strips are walked down.
struct LineTuning {
  int outputs;          ///< neighbours, of a lane
  int beside;           ///< warps of a block, side by side
  int together;         ///< rows between two barriers
  int slots;            ///< of so many rows: one in use, the others on their way
  int warps;            ///< that an SM runs at a time
  bool shares = false;  ///< whether lanes share mids: a run of neighbours each, of one row
};

/// Taps up to which a lane computes the mids of its own outputs; for more, lanes share them. What
/// measured best on an H200.
constexpr int longest_own_mids(bool is_float, int channels) {
  if (channels > 1) return 25;
  return is_float ? 47 : 33;
}

/// Taps of the kernel for a mask of this side: as many, or, where mids are shared, the next of 31,
/// 39, 47, 55 and 63.
constexpr int line_taps(int side, bool is_float, int channels) {
  return side <= longest_own_mids(is_float, channels) ? side : (side + 8) / 8 * 8 - 1;
}

/// What measured best on an H200. Small masks wait for memory, which likes wide rows, and few of
/// them at a time; large ones for registers: few warps, with all their sums.
constexpr LineTuning line_tuning(int side, bool is_float, int channels) {
  if (side > longest_own_mids(is_float, channels)) {
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

/// Of a row, in samples: a lane's outputs, and from where to where their taps reach.
template <class T, int kSide_, int kChannels>
struct LineReach {
  static constexpr LineTuning kTuning = line_tuning(kSide_, sizeof(T) == 4, kChannels);
  static constexpr int kTogether = kTuning.together, kSlots = kTuning.slots;
  /// line_taps() of the mask.
  static constexpr int kSide = kSide_;
  static constexpr int kPixel = kChannels, kOutputs = kTuning.outputs;
  static constexpr int kThreads = 32 * kTuning.beside, kColumns = kThreads * kOutputs;

  /// A lane reads so many times its outputs, from its own first tap on, and a row has so many
  /// times 16 bytes.
  static constexpr int kLoads = (kOutputs + (kSide - 1) * kPixel + kOutputs - 1) / kOutputs;
  static constexpr int kChunk = kIn16<T>;
  /// Mids of a lane, where a warp's are shared.
  static constexpr int kRun = kTuning.shares ? kTogether * kOutputs : 0;
  static constexpr int kReach = kRun > 0 ? (kSide - 1) * kPixel : (kLoads - 1) * kOutputs;
  static constexpr int kChunks = (kColumns + kReach + kChunk - 1) / kChunk;
  /// In words. Lanes that share mids read rows below each other: these lie in different banks.
  static constexpr int kPitch = (kRun > 0 ? kChunks | 1 : kChunks) * 4;
  static constexpr int kSlot = kPitch * kTogether;

  /// Of the mids that a warp shares, behind the rows.
  static constexpr int kMidPitch = 32 * kOutputs + 4;
  static constexpr int kMids = kRun > 0 ? kTogether* kMidPitch : 0;
  /// Taps that every mask has for which this is chosen.
  static constexpr int kLeast = kRun > 0 ? kSide - 6 : kSide;

  static constexpr int kDoubtful = kSide > kLeast ? 8 : 0;  ///< words for the others, a pass

  /// Of a block: its rows, its warps' mids, weights.
  static constexpr int kMidsAt = kSlot * kSlots, kWeightsAt = kMidsAt + kMids * kTuning.beside;
  static constexpr int kBytes = (kWeightsAt + 2 * kDoubtful) * 4;
  static_assert(kBytes <= 48 * 1024,
                "a block's rows do not fit in the shared memory of every device");

  static_assert(kSlots >= 2, "a row in use, and at least one on its way");

  /// Samples of a row that are read for so many outputs.
  static constexpr int samples_for(int outputs) {
    constexpr int kWhole = kRun > 0 ? kRun : kOutputs;
    return ceil_div(ceil_div(outputs, kWhole) * kWhole + kReach, kChunk) * kChunk;
  }

  using Samples = float[kLoads * kOutputs];
  using Sums = float[kSide][kOutputs];
};

/// How a picture is shared out among blocks.
struct LineGrid {
  int across;  ///< strips
  int rows;    ///< of outputs, of a block
};

}  // namespace convfilt
