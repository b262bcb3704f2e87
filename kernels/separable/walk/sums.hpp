/// The sums of a lane of walk.cu: row sums of one row, which it adds to as many rows of outputs as
/// the mask has.
#pragma once

#include "kernels/backend/shared_words.hpp"
#include "kernels/contract/bytes.hpp"
#include "kernels/separable/walk/denormal_samples.hpp"
#include "kernels/separable/walk/mask.hpp"
#include "kernels/separable/walk/reach.hpp"

namespace convfilt::CONVFILT_BACKEND::separable::walk {

using namespace convfilt::separable::walk;

/// Reads a lane's samples of a row, from its first tap on.
template <class T, class R>
CONVFILT_DEVICE inline void read_row(SharedWords words, typename R::Samples& samples) {
  constexpr int kWords = R::kOutputs * int(sizeof(T)) / 4;
  CONVFILT_UNROLL(R::kLoads)
  for (int n = 0; n < R::kLoads; ++n) {
    float* const to = samples + n * R::kOutputs;
    std::uint32_t in[kWords];
    if constexpr (kWords == 4) {
      const auto four = words.get4<std::uint32_t>(n * kWords);
      CONVFILT_UNROLL(4)
      for (int k = 0; k < 4; ++k) in[k] = four.samples[k];
    } else {
      words.get2(n * kWords, in);
    }
    CONVFILT_UNROLL(kWords)
    for (int k = 0; k < kWords; ++k) {
      if constexpr (sizeof(T) == 4) {
        to[k] = std::bit_cast<float>(in[k]);
      } else {
        denormal_samples(in[k], to[2 * k], to[2 * k + 1]);
      }
    }
  }
}

/// Adds a row to the sums. Its row sums meet row j of the mask in the outputs j rows above, whose
/// sums the row before left at place j - 1. So all sums move on by a place as they are added to,
/// and those at kSide - 1 are then complete.
template <class R>
CONVFILT_DEVICE inline void add_row(const SquareMask& mask, const typename R::Samples& samples,
                                    typename R::Sums& sums) {
  constexpr int kSide = R::kSide;
  float row_sums[R::kOutputs] = {};
  CONVFILT_UNROLL(kSide)
  for (int i = 0; i < kSide; ++i) {
    CONVFILT_UNROLL(R::kOutputs)
    for (int n = 0; n < R::kOutputs; ++n) {
      row_sums[n] = multiply_add(mask.row[i], samples[i * R::kPixel + n], row_sums[n]);
    }
  }
  CONVFILT_UNROLL(kSide)
  for (int j = kSide - 1; j >= 0; --j) {
    CONVFILT_UNROLL(R::kOutputs)
    for (int n = 0; n < R::kOutputs; ++n) {
      sums[j][n] =
          multiply_add(mask.column[j], row_sums[n], j == 0 ? 0.0f : sums[j > 0 ? j - 1 : 0][n]);
    }
  }
}

/// A lane's outputs of a row.
template <class T, class R>
struct alignas(R::kOutputs * sizeof(T)) Outputs {
  std::uint32_t words[R::kOutputs * sizeof(T) / 4];

  CONVFILT_DEVICE Outputs(const FloatFinish& f, const float (&sums)[R::kOutputs]) {
    if constexpr (sizeof(T) == 4) {
      float four[4] = {};
      CONVFILT_UNROLL(R::kOutputs)
      for (int k = 0; k < R::kOutputs; ++k) four[k] = sums[k];
      const Bytes16 ends = finished<T>(f, four);
      CONVFILT_UNROLL(R::kOutputs)
      for (int k = 0; k < R::kOutputs; ++k) words[k] = ends.words[k];
    } else {
      CONVFILT_UNROLL(R::kOutputs / 2)
      for (int k = 0; k < R::kOutputs / 2; ++k) {
        words[k] =
            pick_bytes(denormal_end(f, sums[2 * k]), denormal_end(f, sums[2 * k + 1]), 0x5410);
      }
    }
  }
};

}  // namespace convfilt::CONVFILT_BACKEND::separable::walk
