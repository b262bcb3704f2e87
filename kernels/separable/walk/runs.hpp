/// How the lanes of a warp of separable_walk.cu share the mids of its rows, where a mask is too
/// long for each to compute those of its own outputs: with registers for the sums of two columns it
/// would read w + 1 samples for two mids. So a warp takes eight rows at once:
///
///     lane 0 | m m ... m |  lane 8 | m m ... m |  ...    row 0: 16 mids a lane, of w + 15 samples
///     lane 1 | m m ... m |  lane 9 | m m ... m |  ...    row 1
///       v      through shared memory
///     lane 0 | o o |  lane 1 | o o |  ...                sums of two columns, for all eight rows
///
/// Loads from shared memory of 16 bytes, for a mid of 32-bit samples: (w + 15) / 64, a quarter for
/// the mid itself, and 3/8 for weights; w: the taps of the kernel, which takes masks of fewer.
#pragma once

#include "kernels/separable/walk/sums.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// The weights that not every mask of a kernel has, the row pass's last ones or the column pass's
/// first ones. From shared memory, and so to registers: of constants the compiler would load each
/// again wherever it is used, behind the question whether it is.
template <class R>
struct DoubtfulWeights {
  Four<float> weights[R::kDoubtful / 4];

  CONVFILT_DEVICE explicit DoubtfulWeights(SharedWords words) {
    CONVFILT_UNROLL(R::kDoubtful / 4)
    for (int k = 0; k < R::kDoubtful / 4; ++k) weights[k] = words.template get4<float>(4 * k);
  }
  CONVFILT_DEVICE float operator[](int k) const { return weights[k / 4].samples[k % 4]; }

  /// By the block's threads, which then need a barrier.
  static CONVFILT_DEVICE void store(SharedWords words, const LineMask& mask, int thread) {
    if (thread >= R::kDoubtful) return;
    words.set(thread, thread < R::kSide - R::kLeast ? mask.row[R::kLeast + thread] : 0.0f);
    words.set(R::kDoubtful + thread, mask.column[thread]);
  }
};

/// Adds sample kAt from a run's first tap on to the mids that it belongs to.
template <class R, int kAt>
CONVFILT_DEVICE inline void add_sample(const LineMask& mask, const DoubtfulWeights<R>& last,
                                       float sample, float (&mids)[R::kRun]) {
  constexpr int kPixel = R::kPixel;
  CONVFILT_UNROLL(R::kRun)
  for (int n = kAt % kPixel; n < R::kRun; n += kPixel) {
    const int i = (kAt - n) / kPixel;
    if (n > kAt || i >= R::kSide || (i >= R::kLeast && i >= mask.side)) continue;
    const float weight = i < R::kLeast ? mask.row[i] : last[i - R::kLeast];
    mids[n] = multiply_add(weight, sample, mids[n]);
  }
}

/// Adds those of a word likewise.
template <class T, class R, int kAt>
CONVFILT_DEVICE inline void add_word(const LineMask& mask, const DoubtfulWeights<R>& last,
                                     std::uint32_t word, float (&mids)[R::kRun]) {
  if constexpr (sizeof(T) == 4) {
    add_sample<R, kAt>(mask, last, std::bit_cast<float>(word), mids);
  } else {
    float first, second;
    tiny_samples(word, first, second);
    add_sample<R, kAt>(mask, last, first, mids);
    add_sample<R, kAt + 1>(mask, last, second, mids);
  }
}

/// The mids of a lane's run, whose samples begin there. A mid's taps are added in their order,
/// since samples come in theirs.
template <class T, class R, int kFrom = 0>
CONVFILT_DEVICE inline void add_run(const LineMask& mask, const DoubtfulWeights<R>& last,
                                    SharedWords samples, float (&mids)[R::kRun]) {
  constexpr int kIn4 = 4 / int(sizeof(T));
  const auto words = samples.template get4<std::uint32_t>(kFrom / kIn4);
  add_word<T, R, kFrom>(mask, last, words.samples[0], mids);
  add_word<T, R, kFrom + kIn4>(mask, last, words.samples[1], mids);
  add_word<T, R, kFrom + 2 * kIn4>(mask, last, words.samples[2], mids);
  add_word<T, R, kFrom + 3 * kIn4>(mask, last, words.samples[3], mids);
  if constexpr (kFrom + R::kChunk < R::kRun + R::kReach) {
    add_run<T, R, kFrom + R::kChunk>(mask, last, samples, mids);
  }
}

/// A warp's mids of a step, of which a lane computes one run. samples: of the block's strip, of
/// which the warp's begins at column `x`; runs beyond the picture are as that at `last`, the last
/// one in it: a branch would keep weights out of uniform registers.
template <class T, class R>
CONVFILT_DEVICE inline void share_mids(const LineMask& mask, SharedWords weights,
                                       SharedWords samples, SharedWords mids, int x, int last) {
  const int row = threadIdx.x % R::kTogether, own = threadIdx.x / R::kTogether * R::kRun;
  float run[R::kRun] = {};
  add_run<T, R>(mask, DoubtfulWeights<R>(weights),
                samples.from(row * R::kPitch + min(x + own, last) * int(sizeof(T)) / 4), run);
  CONVFILT_UNROLL(R::kRun)
  for (int n = 0; n < R::kRun; n += 4) {
    mids.set4(row * R::kMidPitch + own + n,
              Four<float>{{run[n], run[n + 1], run[n + 2], run[n + 3]}});
  }
  __syncwarp();
}

constexpr int kRowsAtOnce = 4;

/// Adds rows of mids, from a lane's first one on, to its sums, which move on by as many places, so
/// that a weight serves all rows; `ends` are the outputs that are complete then, a row each.
template <class R>
CONVFILT_DEVICE inline void add_mids(const LineMask& mask, SharedWords weights, SharedWords mids,
                                     typename R::Sums& sums,
                                     float (&ends)[kRowsAtOnce][R::kOutputs]) {
  constexpr int kSide = R::kSide;
  const int unused = kSide - mask.side;  // weights before the first one
  const DoubtfulWeights<R> first(weights);
  float rows[kRowsAtOnce][R::kOutputs];
  CONVFILT_UNROLL(kRowsAtOnce)
  for (int r = 0; r < kRowsAtOnce; ++r) {
    static_assert(R::kOutputs == 2);
    std::uint32_t two[2];
    mids.get2(r * R::kMidPitch, two);
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
        if (j < 0 || j >= kSide || (j < kSide - R::kLeast && j < unused)) continue;
        const float weight = j < kSide - R::kLeast ? first[j] : mask.column[j];
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

}  // namespace convfilt::CONVFILT_BACKEND
