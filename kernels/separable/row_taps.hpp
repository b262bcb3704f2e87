/// The chains of multiply-adds of a lane of separable.cu in the row pass.
#pragma once

#include "kernels/backend/launch.hpp"
#include "kernels/backend/shared_words.hpp"
#include "kernels/contract/arithmetic.hpp"

namespace convfilt::CONVFILT_BACKEND {

constexpr int kRowOutputs = 16;  // neighbouring mids of a lane
constexpr int kLaneRows = 2;     // of such, four rows apart, so that a weight read serves both
constexpr int kWindow = 5;  // fours of samples that a tap's sixteen mids lie in, however shifted

template <class Work>
using RowSums = Work[kLaneRows][kRowOutputs];
template <class Work>
using RowWindow = Four<Work>[kLaneRows][kWindow];

/// Four taps, whose place in the window is that of chunk kFirst: it repeats after five. Only
/// first..last-1 of these where kGuarded. `apart`: words between a lane's rows.
template <int kChannels, int kFirst, bool kGuarded, class Work>
CONVFILT_DEVICE inline void row_chunk(SharedWords samples, int apart, const Four<Work>& weights,
                                      int first, int last, RowWindow<Work>& window,
                                      RowSums<Work>& sums) {
  CONVFILT_UNROLL(4)
  for (int t = 0; t < 4; ++t) {
    constexpr int kBehind = kRowOutputs - 1;
    const int tap = 4 * kFirst + t;
    // What the tap before did not need: one four, or none.
    const int needed = (tap * kChannels + kBehind) / 4;
    if (needed != ((tap - 1) * kChannels + kBehind) / 4) {
      CONVFILT_UNROLL(kLaneRows)
      for (int r = 0; r < kLaneRows; ++r) {
        window[r][needed % kWindow] =
            samples.get4<Work>(r * apart + 4 * (needed - kFirst * kChannels));
      }
    }
    if (kGuarded && (t < first || t >= last)) continue;
    CONVFILT_UNROLL(kLaneRows)
    for (int r = 0; r < kLaneRows; ++r) {
      CONVFILT_UNROLL(kRowOutputs)
      for (int n = 0; n < kRowOutputs; ++n) {
        const int at = tap * kChannels + n;
        sums[r][n] = multiply_add(weights.samples[t], window[r][at / 4 % kWindow].samples[at % 4],
                                  sums[r][n]);
      }
    }
  }
}

/// The fours that a first chunk does not load by itself.
template <int kChannels, class Work>
CONVFILT_DEVICE inline void start_window(SharedWords samples, int apart, RowWindow<Work>& window) {
  CONVFILT_UNROLL(kLaneRows)
  for (int r = 0; r < kLaneRows; ++r) {
    CONVFILT_UNROLL(kWindow)
    for (int k = 0; k <= (kRowOutputs - 1 - kChannels) / 4; ++k) {
      window[r][k] = samples.get4<Work>(r * apart + 4 * k);
    }
  }
}

/// A place in a row, and the taps that are left.
struct RowPlace {
  int sample, weight, left;

  /// Behind a chunk: whether there is another whole one.
  template <int kChannels>
  CONVFILT_DEVICE bool next() {
    sample += 4 * kChannels;
    weight += 4;
    left -= 4;
    return left >= 4;
  }
};

/// The chains of a lane's mids. The first tap skipped lies at `samples`.
template <int kChannels, class Work>
CONVFILT_DEVICE inline void row_taps(SharedWords samples, int apart, SharedWords weights, int skip,
                                     int width, RowSums<Work>& sums) {
  RowWindow<Work> window;
  RowPlace place{0, 0, skip + width};
  start_window<kChannels>(samples, apart, window);
  row_chunk<kChannels, 0, true>(samples, apart, weights.get4<Work>(0), skip, place.left, window,
                                sums);
  while (place.next<kChannels>()) {
    row_chunk<kChannels, 1, false>(samples.from(place.sample), apart,
                                   weights.get4<Work>(place.weight), 0, 4, window, sums);
    if (!place.next<kChannels>()) break;
    row_chunk<kChannels, 2, false>(samples.from(place.sample), apart,
                                   weights.get4<Work>(place.weight), 0, 4, window, sums);
    if (!place.next<kChannels>()) break;
    row_chunk<kChannels, 3, false>(samples.from(place.sample), apart,
                                   weights.get4<Work>(place.weight), 0, 4, window, sums);
    if (!place.next<kChannels>()) break;
    row_chunk<kChannels, 4, false>(samples.from(place.sample), apart,
                                   weights.get4<Work>(place.weight), 0, 4, window, sums);
    if (!place.next<kChannels>()) break;
    row_chunk<kChannels, 0, false>(samples.from(place.sample), apart,
                                   weights.get4<Work>(place.weight), 0, 4, window, sums);
  }
  if (place.left > 0) {
    samples = samples.from(place.sample);
    start_window<kChannels>(samples, apart, window);
    row_chunk<kChannels, 0, true>(samples, apart, weights.get4<Work>(place.weight), 0, place.left,
                                  window, sums);
  }
}

template <class Work>
CONVFILT_DEVICE inline void row_taps(int channels, SharedWords samples, int apart,
                                     SharedWords weights, int skip, int width,
                                     RowSums<Work>& sums) {
  switch (channels) {
    case 1: return row_taps<1>(samples, apart, weights, skip, width, sums);
    case 2: return row_taps<2>(samples, apart, weights, skip, width, sums);
    case 3: return row_taps<3>(samples, apart, weights, skip, width, sums);
    case 4: return row_taps<4>(samples, apart, weights, skip, width, sums);
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
