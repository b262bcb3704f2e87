/// What a lane of direct_walk.hpp adds up: rows of samples in registers, times rows of the mask.
#pragma once

#include "device_plan.hpp"
#include "float_samples.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Which rows of a strip ask for each row of the mask whether its outputs are rows of the strip:
/// none (their sums are dropped), the first and the last, or all, for less code.
enum Guards { kNoRows, kEndRows, kAllRows };

/// How strips are walked down.
struct WalkTuning {
  int rows;      ///< of outputs in a strip
  int together;  ///< rows that are added at once: a weight serves them all
  bool ahead;    ///< whether the next rows are loaded meanwhile
  Guards guards;
  int unrolled;  ///< turns of the loop
  int warps;     ///< for whose registers an SM shall have room
};

/// What measured best on an H200. From 11x11 on a loop of two rows, or of two kinds of rows, no
/// longer fits the cache of instructions.
constexpr WalkTuning walk_tuning(int side, bool is_float) {
  if (is_float) {
    if (side <= 3) return {16, 2, true, kNoRows, 2, 28};
    if (side <= 5) return {16, 2, false, kNoRows, 1, 24};
    if (side <= 11) return {32, 2, false, kAllRows, 1, 16};
    return {32, 1, false, kAllRows, 1, 16};
  }
  if (side <= 3) return {16, 2, true, kNoRows, 2, 28};
  if (side <= 5) return {16, 1, true, kAllRows, 1, 20};
  if (side <= 9) return {16, 1, true, kAllRows, 1, 16};
  return {32, 1, false, kAllRows, 1, 12};
}

/// What a lane reads of a row, for kIn16<T> outputs of it.
template <class T, int kSide, int kChannels>
struct Reach {
  static constexpr int kOutputs = kIn16<T>;
  static constexpr int kSamples = kOutputs + (kSide - 1) * kChannels;
  /// Samples before them, back to an address of whole words: under the default anchor the outputs
  /// then lie at such addresses, too.
  static constexpr int kSlack = (kOutputs - kSide / 2 * kChannels % kOutputs) % kOutputs;
  static constexpr int kLoads = (kSlack + kSamples + kOutputs - 1) / kOutputs;
  static constexpr WalkTuning kTuning = walk_tuning(kSide, sizeof(T) == 4);
  static constexpr int kRows = kTuning.rows, kTogether = kTuning.together;
  static_assert(kRows % kTogether == 0 && (kSide - 1) % kTogether == 0);

  using Row = Bytes16[kLoads];
  using Samples = float[kSamples];
  using Sums = float[kSide][kOutputs];
};

/// Of any anchor: how far the outputs move to the left, so that their samples start kSlack behind
/// an address of whole words.
template <class R>
int outputs_shift(int dx) {
  return floor_modulo(dx - R::kSlack, R::kOutputs);
}

template <class T, class R>
CONVFILT_DEVICE inline void unpack(const typename R::Row& row, typename R::Samples& samples) {
  CONVFILT_UNROLL(R::kSamples)
  for (int n = 0; n < R::kSamples; ++n) {
    const int at = R::kSlack + n;
    samples[n] = sum_of(sample_of<T>(row[at / R::kOutputs], at % R::kOutputs));
  }
}

/// Row k of the strip meets row j of the mask for the outputs of row k - j. Their sums stand at j -
/// 1 from the row before: so they move on as they are added to, and those at kSide - 1 are
/// complete. The same for the rows after k, whose sums move on as often. kGuarded: not all of these
/// outputs are rows of the strip, which has `rows`.
template <class R, int kSide, int kChannels, int kTogether, bool kGuarded, class T>
CONVFILT_DEVICE inline void add_rows(const MaskPart<T>& mask,
                                     const typename R::Samples (&samples)[kTogether], int k,
                                     int rows, typename R::Sums& sums,
                                     float (&complete)[kTogether][R::kOutputs]) {
  constexpr int kOutputs = R::kOutputs;
  float after[kOutputs] = {};  // what the second row adds to the sums at j + 1
  CONVFILT_UNROLL(kSide)
  for (int j = kSide - 1; j >= 0; --j) {
    if (kGuarded && (j >= k + kTogether || k - j >= rows)) continue;
    float row_sums[kTogether][kOutputs] = {};
    CONVFILT_UNROLL(kSide)
    for (int i = 0; i < kSide; ++i) {
      const float weight = mask.weights[j * kSide + i];
      CONVFILT_UNROLL(kTogether)
      for (int r = 0; r < kTogether; ++r) {
        CONVFILT_UNROLL(kOutputs)
        for (int n = 0; n < kOutputs; ++n) {
          row_sums[r][n] = multiply_add(weight, samples[r][n + i * kChannels], row_sums[r][n]);
        }
      }
    }
    CONVFILT_UNROLL(kOutputs)
    for (int n = 0; n < kOutputs; ++n) {
      const float sum = j == 0 ? row_sums[0][n] : sums[j > 0 ? j - 1 : 0][n] + row_sums[0][n];
      if (kTogether == 1) {
        sums[j][n] = sum;
      } else {
        if (j < kSide - 1) sums[j < kSide - 1 ? j + 1 : j][n] = sum + after[n];
        after[n] = row_sums[kTogether - 1][n];
        if (j == 0) sums[0][n] = after[n];
      }
      if (j == kSide - 1) complete[0][n] = sum;
    }
  }
  CONVFILT_UNROLL(kOutputs)
  for (int n = 0; n < kOutputs; ++n) complete[kTogether - 1][n] = sums[kSide - 1][n];
}

}  // namespace convfilt::CONVFILT_BACKEND
