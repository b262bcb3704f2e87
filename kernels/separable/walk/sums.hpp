/// The sums of a lane of walk.cu: row sums of one row, which it adds to as many rows of outputs as
/// the mask has, and how the lanes of a warp share row sums.
#pragma once

#include "kernels/backend/shared_words.hpp"
#include "kernels/contract/bytes.hpp"
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

// How the lanes of a warp of walk.cu share the row sums of its rows. Where a mask is long,
// registers hold the sums of only two columns, and a lane that computed its own row sums would
// read w + 1 samples for two of them. So a warp takes eight rows at once:
//
//     lane 0 | r r ... r |  lane 8 | r r ... r |  ...    row 0: a lane has a run of 16 row sums,
//     lane 1 | r r ... r |  lane 9 | r r ... r |  ...    row 1   made of w + 15 samples
//       v      through shared memory
//     lane 0 | o o |  lane 1 | o o |  ...                sums of two columns, for all eight rows
//
// Loads of 16 bytes from shared memory for each row sum of 32-bit samples: (w + 15) / 64 for the
// samples, a quarter for the row sum itself, and 3/8 for weights. Here w is the number of the
// kernel's taps, of which a mask may have fewer.

/// The weights that not every mask of a kernel has: the last ones of the row pass or the first ones
/// of the column pass. They are loaded from shared memory to registers. If they were kernel
/// arguments, the compiler would load each again wherever it is used, behind a test whether it is
/// used.
template <class R>
struct OptionalWeights {
  Four<float> weights[R::kOptional / 4];

  CONVFILT_DEVICE explicit OptionalWeights(SharedWords words) {
    CONVFILT_UNROLL(R::kOptional / 4)
    for (int k = 0; k < R::kOptional / 4; ++k) weights[k] = words.template get4<float>(4 * k);
  }
  CONVFILT_DEVICE float operator[](int k) const { return weights[k / 4].samples[k % 4]; }

  /// Stores both passes' weights, from which objects are made later. All threads of a block call
  /// it, and a barrier must follow.
  static CONVFILT_DEVICE void store(SharedWords words, const SquareMask& mask, int thread) {
    if (thread >= R::kOptional) return;
    words.set(thread, thread < R::kSide - R::kLeastSide ? mask.row[R::kLeastSide + thread] : 0.0f);
    words.set(R::kOptional + thread, mask.column[thread]);
  }
};

/// Adds a sample to the row sums that need it. The sample lies kAt samples behind a run's first
/// tap.
template <class R, int kAt>
CONVFILT_DEVICE inline void add_sample(const SquareMask& mask, const OptionalWeights<R>& last,
                                       float sample, float (&row_sums)[R::kRun]) {
  constexpr int kPixel = R::kPixel;
  CONVFILT_UNROLL(R::kRun)
  for (int n = kAt % kPixel; n < R::kRun; n += kPixel) {
    const int i = (kAt - n) / kPixel;
    if (n > kAt || i >= R::kSide || (i >= R::kLeastSide && i >= mask.side)) continue;
    const float weight = i < R::kLeastSide ? mask.row[i] : last[i - R::kLeastSide];
    row_sums[n] = multiply_add(weight, sample, row_sums[n]);
  }
}

/// Adds the samples of a word. The first of them lies kAt samples behind a run's first tap.
template <class T, class R, int kAt>
CONVFILT_DEVICE inline void add_word(const SquareMask& mask, const OptionalWeights<R>& last,
                                     std::uint32_t word, float (&row_sums)[R::kRun]) {
  if constexpr (sizeof(T) == 4) {
    add_sample<R, kAt>(mask, last, std::bit_cast<float>(word), row_sums);
  } else {
    float first, second;
    denormal_samples(word, first, second);
    add_sample<R, kAt>(mask, last, first, row_sums);
    add_sample<R, kAt + 1>(mask, last, second, row_sums);
  }
}

/// Computes the row sums of a lane's run, whose samples begin at `samples`. Samples are taken in
/// order, so each row sum adds its taps in order.
template <class T, class R, int kFrom = 0>
CONVFILT_DEVICE inline void add_run(const SquareMask& mask, const OptionalWeights<R>& last,
                                    SharedWords samples, float (&row_sums)[R::kRun]) {
  constexpr int kIn4 = 4 / int(sizeof(T));
  const auto words = samples.template get4<std::uint32_t>(kFrom / kIn4);
  add_word<T, R, kFrom>(mask, last, words.samples[0], row_sums);
  add_word<T, R, kFrom + kIn4>(mask, last, words.samples[1], row_sums);
  add_word<T, R, kFrom + 2 * kIn4>(mask, last, words.samples[2], row_sums);
  add_word<T, R, kFrom + 3 * kIn4>(mask, last, words.samples[3], row_sums);
  if constexpr (kFrom + R::kChunk < R::kRun + R::kReach) {
    add_run<T, R, kFrom + R::kChunk>(mask, last, samples, row_sums);
  }
}

/// Computes a warp's row sums of a step, of which each lane does one run. The warp's columns begin
/// at column `x` of the block's `samples`. A lane whose run lies beyond the picture repeats the
/// picture's last run, at `last`, because a branch would keep weights out of uniform registers.
template <class T, class R>
CONVFILT_DEVICE inline void share_row_sums(const SquareMask& mask, SharedWords weights,
                                           SharedWords samples, SharedWords row_sums, int x,
                                           int last) {
  const int row = threadIdx.x % R::kTogether, own = threadIdx.x / R::kTogether * R::kRun;
  float run[R::kRun] = {};
  add_run<T, R>(mask, OptionalWeights<R>(weights),
                samples.from(row * R::kPitch + min(x + own, last) * int(sizeof(T)) / 4), run);
  CONVFILT_UNROLL(R::kRun)
  for (int n = 0; n < R::kRun; n += 4) {
    row_sums.set4(row * R::kRowSumPitch + own + n,
                  Four<float>{{run[n], run[n + 1], run[n + 2], run[n + 3]}});
  }
  __syncwarp();
}

constexpr int kRowsAtOnce = 4;  ///< a weight serves all of them

/// Adds kRowsAtOnce rows of a lane's row sums to its sums, which move on by as many places. `ends`
/// receives the sums that are then complete, a row of outputs each.
template <class R>
CONVFILT_DEVICE inline void add_row_sums(const SquareMask& mask, SharedWords weights,
                                         SharedWords row_sums, typename R::Sums& sums,
                                         float (&ends)[kRowsAtOnce][R::kOutputs]) {
  constexpr int kSide = R::kSide;
  const int unused = kSide - mask.side;  // weights before the first one
  const OptionalWeights<R> first(weights);
  float rows[kRowsAtOnce][R::kOutputs];
  CONVFILT_UNROLL(kRowsAtOnce)
  for (int r = 0; r < kRowsAtOnce; ++r) {
    static_assert(R::kOutputs == 2);
    std::uint32_t two[2];
    row_sums.get2(r * R::kRowSumPitch, two);
    rows[r][0] = std::bit_cast<float>(two[0]);
    rows[r][1] = std::bit_cast<float>(two[1]);
  }
  CONVFILT_UNROLL(kSide + kRowsAtOnce - 1)
  for (int to = kSide + kRowsAtOnce - 2; to >= 0; --to) {
    CONVFILT_UNROLL(R::kOutputs)
    for (int n = 0; n < R::kOutputs; ++n) {
      float sum = to < kRowsAtOnce ? 0.0f : sums[to < kRowsAtOnce ? 0 : to - kRowsAtOnce][n];
      CONVFILT_UNROLL(kRowsAtOnce)
      for (int r = 0; r < kRowsAtOnce; ++r) {
        const int j = to - (kRowsAtOnce - 1) + r;
        if (j < 0 || j >= kSide || (j < kSide - R::kLeastSide && j < unused)) continue;
        const float weight = j < kSide - R::kLeastSide ? first[j] : mask.column[j];
        sum = multiply_add(weight, rows[r][n], sum);
      }
      if (to >= kSide - 1) {
        ends[kSide + kRowsAtOnce - 2 - to][n] = sum;
      } else {
        sums[to][n] = sum;
      }
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND::separable::walk
