/// What a lane of separable_walk.cu reads of a row, and how its blocks walk.
#pragma once

#include "float_samples.hpp"

namespace convfilt {

/// How strips are walked down.
struct LineTuning {
  int outputs;   ///< neighbours, of a lane
  int beside;    ///< warps of a block, side by side
  int together;  ///< rows between two barriers
  int slots;     ///< of so many rows: one in use, the others on their way
  int warps;     ///< that an SM runs at a time
};

/// What measured best on an H200. Small masks wait for memory, which likes wide rows, and few of
/// them at a time; large ones for registers: few warps, with all their sums.
constexpr LineTuning line_tuning(int side, bool is_float) {
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
  static constexpr LineTuning kTuning = line_tuning(kSide_, sizeof(T) == 4);
  static constexpr int kTogether = kTuning.together, kSlots = kTuning.slots;
  static constexpr int kSide = kSide_, kPixel = kChannels, kOutputs = kTuning.outputs;
  static constexpr int kThreads = 32 * kTuning.beside, kColumns = kThreads * kOutputs;

  /// A lane reads so many times its outputs, from its own first tap on, and a row has so many
  /// times 16 bytes.
  static constexpr int kLoads = (kOutputs + (kSide - 1) * kPixel + kOutputs - 1) / kOutputs;
  static constexpr int kChunk = kIn16<T>;
  static constexpr int kChunks = (kColumns + (kLoads - 1) * kOutputs + kChunk - 1) / kChunk;
  static constexpr int kPitch = kChunks * 4;  ///< words
  static constexpr int kSlot = kPitch * kTogether;
  static constexpr int kBytes = kSlot * kSlots * 4;
  static_assert(kBytes <= 48 * 1024,
                "a block's rows do not fit in the shared memory of every device");

  static_assert(kSlots >= 2, "a row in use, and at least one on its way");

  using Samples = float[kLoads * kOutputs];
  using Sums = float[kSide][kOutputs];
};

/// How a picture is shared out among blocks.
struct LineGrid {
  int across;  ///< strips
  int rows;    ///< of outputs, of a block
};

}  // namespace convfilt
