/// What a lane of direct_walk.hpp adds up: rows of samples in registers, times rows of the mask.
#pragma once

#include "kernels/contract/float_samples.hpp"
#include "kernels/direct/tuning.hpp"
#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// What a lane reads of a row, for its outputs there: pieces of as many samples. Of small masks a
/// piece has 16 bytes, since these wait for memory; the sums of large ones would fill the
/// registers.
template <class T, int kSide_, int kChannels>
struct Reach {
  static constexpr int kSide = kSide_;
  static constexpr int kOutputs = kSide <= 7 ? kIn16<T> : 4;
  static constexpr int kSamples = kOutputs + (kSide - 1) * kChannels;
  static constexpr int kLoads = (kSamples + kOutputs - 1) / kOutputs;
  static constexpr WalkTuning kTuning = walk_tuning(kSide, kChannels, sizeof(T) == 4);
  static constexpr int kTogether = kTuning.together;
  static_assert((kSide - 1) % kTogether == 0);

  using Piece = std::conditional_t<kOutputs == kIn16<T>, Bytes16, Four<T>>;
  using Row = Piece[kLoads];
  using Samples = float[kSamples];
  using Sums = float[kSide][kOutputs];
};

/// The piece from (x, y) on.
template <class R, class T>
CONVFILT_DEVICE inline typename R::Piece load_piece(const PlaneView<const T>& in, int x, int y) {
  if constexpr (R::kOutputs == kIn16<T>) {
    return load16(in, x, y);
  } else {
    return load4(in, x, y);
  }
}

/// A piece of such samples.
template <class R, class T>
CONVFILT_DEVICE inline typename R::Piece piece_of(const T* samples) {
  if constexpr (R::kOutputs == kIn16<T>) {
    return bytes16_of(samples);
  } else {
    return {samples[0], samples[1], samples[2], samples[3]};
  }
}

/// A lane's outputs of a row, from their sums.
template <class R, class T>
CONVFILT_DEVICE inline typename R::Piece ends_of(const FloatFinish& f,
                                                 const float (&sums)[R::kOutputs]) {
  if constexpr (R::kOutputs == kIn16<T>) {
    return finished<T>(f, sums);
  } else {
    float all[kIn16<T>] = {};
    CONVFILT_UNROLL(R::kOutputs)
    for (int n = 0; n < R::kOutputs; ++n) all[n] = sums[n];
    const Bytes16 words = finished<T>(f, all);
    return {sample_of<T>(words, 0), sample_of<T>(words, 1), sample_of<T>(words, 2),
            sample_of<T>(words, 3)};
  }
}

template <class T, class R>
CONVFILT_DEVICE inline void unpack(const typename R::Row& row, typename R::Samples& samples) {
  CONVFILT_UNROLL(R::kSamples)
  for (int n = 0; n < R::kSamples; ++n) {
    const auto& piece = row[n / R::kOutputs];
    if constexpr (R::kOutputs == kIn16<T>) {
      samples[n] = sum_of(sample_of<T>(piece, n % R::kOutputs));
    } else {
      samples[n] = sum_of(piece.samples[n % R::kOutputs]);
    }
  }
}

/// Row k of the strip meets row j of the mask for the outputs of row k - j. Their sums stand at j -
/// 1 from the row before: so they move on as they are added to, and those at kSide - 1 are
/// complete. The same for the rows after k, whose sums move on as often. kGuarded: not all of these
/// outputs are rows of the strip, which has `rows`.
template <class R, int kSide, int kChannels, bool kGuarded, class T>
CONVFILT_DEVICE inline void add_rows(const MaskPart<T>& mask,
                                     const typename R::Samples (&samples)[R::kTogether], int k,
                                     int rows, typename R::Sums& sums,
                                     float (&complete)[R::kTogether][R::kOutputs]) {
  constexpr int kOutputs = R::kOutputs, kTogether = R::kTogether;
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
