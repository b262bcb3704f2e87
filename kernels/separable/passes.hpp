/// The passes of a warp of separable.cu: the row pass makes row sums of a step of samples, and the
/// column pass makes outputs of the ring of row sums.
///
/// A lane keeps a window of samples, or of row sums, in registers, in fours, and adds a chunk of
/// four taps at a time. The window is a ring, so a chunk is compiled once for each place in it.
#pragma once

#include "kernels/backend/launch.hpp"
#include "kernels/backend/shared_words.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/separable/layout.hpp"

namespace convfilt::CONVFILT_BACKEND::separable {

using namespace convfilt::separable;

/// In the row pass a lane has sixteen neighbours in each of two rows that lie four apart, so that
/// each weight that it reads serves both.
constexpr int kLaneColumns = 16, kLaneRows = 2;
/// Fours of samples that one tap of sixteen neighbours touches at most, however it is shifted.
constexpr int kWindow = 5;

template <class Work>
using LaneSums = Work[kLaneRows][kLaneColumns];
template <class Work>
using RowWindow = Four<Work>[kLaneRows][kWindow];

/// Adds the four taps of chunk number kFirst. Chunks that are five apart have the same places in
/// the window. With kGuarded only taps first..last-1 are added. `apart` is the number of words
/// between a lane's rows.
template <int kChannels, int kFirst, bool kGuarded, class Work>
CONVFILT_DEVICE inline void row_chunk(SharedWords samples, int apart, const Four<Work>& weights,
                                      int first, int last, RowWindow<Work>& window,
                                      LaneSums<Work>& sums) {
  CONVFILT_UNROLL(4)
  for (int t = 0; t < 4; ++t) {
    constexpr int kBehind = kLaneColumns - 1;
    const int tap = 4 * kFirst + t;
    // A tap needs at most one four that the tap before it did not need.
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
      CONVFILT_UNROLL(kLaneColumns)
      for (int n = 0; n < kLaneColumns; ++n) {
        const int at = tap * kChannels + n;
        sums[r][n] = multiply_add(weights.samples[t], window[r][at / 4 % kWindow].samples[at % 4],
                                  sums[r][n]);
      }
    }
  }
}

/// Loads the fours that a first chunk expects in the window.
template <int kChannels, class Work>
CONVFILT_DEVICE inline void start_window(SharedWords samples, int apart, RowWindow<Work>& window) {
  CONVFILT_UNROLL(kLaneRows)
  for (int r = 0; r < kLaneRows; ++r) {
    CONVFILT_UNROLL(kWindow)
    for (int k = 0; k <= (kLaneColumns - 1 - kChannels) / 4; ++k) {
      window[r][k] = samples.get4<Work>(r * apart + 4 * k);
    }
  }
}

/// A place in a row and in its weights, in words, and the number of taps that are left.
struct RowPlace {
  int sample, weight, left;

  /// Moves on behind a chunk, and tells whether another whole one follows.
  template <int kChannels>
  CONVFILT_DEVICE bool next() {
    sample += 4 * kChannels;
    weight += 4;
    left -= 4;
    return left >= 4;
  }
};

/// Computes a lane's row sums, each of which is a chain of multiply-adds. `samples` and `weights`
/// begin `skip` taps before the first tap.
template <int kChannels, class Work>
CONVFILT_DEVICE inline void row_taps(SharedWords samples, int apart, SharedWords weights, int skip,
                                     int width, LaneSums<Work>& sums) {
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
                                     LaneSums<Work>& sums) {
  switch (channels) {
    case 1: return row_taps<1>(samples, apart, weights, skip, width, sums);
    case 2: return row_taps<2>(samples, apart, weights, skip, width, sums);
    case 3: return row_taps<3>(samples, apart, weights, skip, width, sums);
    case 4: return row_taps<4>(samples, apart, weights, skip, width, sums);
  }
}

/// Computes a warp's part of a step of a term's row sums, which is eight rows of a strip. A lane's
/// two times sixteen neighbours lie so that the lanes of a quarter warp read from different banks.
template <class T>
CONVFILT_DEVICE inline void row_pass(const BlockLayout& s, const KernelMask<T>& mask, int term,
                                     int channels, SharedWords weights, SharedWords in_rows,
                                     SharedWords row_sums) {
  using Work = SumOf<RowResultOf<T>>;
  const int strip = threadIdx.y % s.across;
  const int col = threadIdx.x / 4 * kLaneColumns;
  const int row = threadIdx.y / s.across * kWarpRows + threadIdx.x % 4;
  static_assert(kLaneRows * 4 == kWarpRows);
  LaneSums<Work> sums = {};
  row_taps<Work>(channels, in_rows.from(row * s.in_pitch + s.lead + strip * kStripColumns + col),
                 4 * s.in_pitch, weights.from(term * s.row_pitch), s.skip_x, mask.width, sums);
  row_sums = row_sums.from(term * s.row_sum_pitch +
                           (strip * s.ring * s.step_rows() + row) * kRowSumPitch + col);
  CONVFILT_UNROLL(kLaneRows)
  for (int r = 0; r < kLaneRows; ++r) {
    CONVFILT_UNROLL(kLaneColumns / 4)
    for (int n = 0; n < kLaneColumns; n += 4) {
      Four<Work> four;
      CONVFILT_UNROLL(4)
      for (int k = 0; k < 4; ++k) {
        if constexpr (std::is_same_v<Work, float>) {
          four.samples[k] = sums[r][n + k];  // a finish changes nothing: one_kernel_takes()
        } else {
          RowResultOf<T> row_sum;
          finish(mask.row_finish[term], sums[r][n + k], row_sum);
          four.samples[k] = row_sum;
        }
      }
      row_sums.set4(r * 4 * kRowSumPitch + n, four);
    }
  }
}

template <class Work>
using ColumnSums = Work[kWarpRows][4];

/// Adds four taps of four columns. The window is a ring of 12 rows. The taps' rows begin at its row
/// 4 * kFirst, and the last four of them are loaded here. With kGuarded the taps below `skip` are
/// left out.
template <int kFirst, bool kGuarded, class Work>
CONVFILT_DEVICE inline void column_chunk(SharedWords row_sums, const Four<Work>& weights, int skip,
                                         Four<Work> (&window)[12], ColumnSums<Work>& sums) {
  CONVFILT_UNROLL(4)
  for (int t = 0; t < 4; ++t) {
    window[(4 * kFirst + 8 + t) % 12] = row_sums.template get4<Work>(t * kRowSumPitch);
    if (kGuarded && t < skip) continue;
    CONVFILT_UNROLL(kWarpRows)
    for (int r = 0; r < kWarpRows; ++r) {
      CONVFILT_UNROLL(4)
      for (int k = 0; k < 4; ++k) {
        sums[r][k] = multiply_add(weights.samples[t], window[(4 * kFirst + t + r) % 12].samples[k],
                                  sums[r][k]);
      }
    }
  }
}

/// A place in the ring of row sums, in words, the end of the ring, the place in the weights, and
/// the number of taps that are left. The ring has a multiple of four rows.
struct ColumnPlace {
  int row_sum, end;
  int weight, taps;

  CONVFILT_DEVICE void next_rows() {
    row_sum += 4 * kRowSumPitch;
    if (row_sum == end) row_sum = 0;
  }
  /// Moves on behind a chunk, and tells whether another one follows.
  CONVFILT_DEVICE bool next() {
    next_rows();
    weight += 4;
    taps -= 4;
    return taps > 0;
  }
};

/// Computes the column pass's sums of eight rows of four columns, each of which is a chain of
/// multiply-adds. `place` lies `skip` taps before the first tap.
template <class Work>
CONVFILT_DEVICE inline void column_taps(SharedWords row_sums, SharedWords weights,
                                        ColumnPlace place, int skip, ColumnSums<Work>& sums) {
  Four<Work> window[12];
  CONVFILT_UNROLL(2)
  for (int r = 0; r < 8; r += 4) {
    CONVFILT_UNROLL(4)
    for (int k = 0; k < 4; ++k)
      window[r + k] = row_sums.get4<Work>(place.row_sum + k * kRowSumPitch);
    place.next_rows();
  }
  column_chunk<0, true>(row_sums.from(place.row_sum), weights.get4<Work>(0), skip, window, sums);
  while (place.next()) {
    column_chunk<1, false>(row_sums.from(place.row_sum), weights.get4<Work>(place.weight), 0,
                           window, sums);
    if (!place.next()) break;
    column_chunk<2, false>(row_sums.from(place.row_sum), weights.get4<Work>(place.weight), 0,
                           window, sums);
    if (!place.next()) break;
    column_chunk<0, false>(row_sums.from(place.row_sum), weights.get4<Work>(place.weight), 0,
                           window, sums);
  }
}

/// Four finished samples, which fill one to four words.
template <class T, class Work>
CONVFILT_DEVICE inline Four<T> finished_four(const FinishOf<T>& f, const Work (&sums)[4]) {
  Four<T> ends;
  CONVFILT_UNROLL(4)
  for (int k = 0; k < 4; ++k) {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<T, float>) {
      // Every NaN that a GPU's multiply-add gives is 0x7fffffff. As an integer it is above the bits
      // of all numbers, and those of negative numbers are below 0.
      ends.samples[k] =
          __int_as_float(min(__float_as_int(multiply_add(sums[k], f.scale, f.offset)), 0x7fc00000));
      continue;
    } else if constexpr (std::is_same_v<T, std::uint16_t>) {
      // Floats from 2^23 on have no bits for fractions, so the addition rounds half to even. NaN
      // ends as 0, because fmaxf() takes its other argument.
      const float value = multiply_add(sums[k], f.scale, f.offset);
      ends.samples[k] = T(__float_as_uint(fminf(fmaxf(value, 0.0f), 65535.0f) + 8388608.0f));
      continue;
    }
#endif
    finish(f, sums[k], ends.samples[k]);
  }
  return ends;
}

/// Computes a warp's part of a step of outputs: eight rows of a strip, four columns a lane. The
/// first row of row sums that the step needs is row `row` of the ring. (x, y) is the step's first
/// output.
template <class T>
CONVFILT_DEVICE inline void column_pass(const BlockLayout& s, const KernelMask<T>& mask, int terms,
                                        SharedWords weights, SharedWords row_sums, int row,
                                        const PlaneView<T>& out, int x, int y, int end_y,
                                        bool aligned) {
  using Work = SumOf<RowResultOf<T>>;
  const int strip = threadIdx.y % s.across, below = threadIdx.y / s.across * kWarpRows;
  const int ring = s.ring * s.step_rows() * kRowSumPitch;
  x += strip * kStripColumns + threadIdx.x * 4;
  y += below;
  row += below;
  if (y >= end_y || x - int(threadIdx.x) * 4 >= out.width) return;
  ColumnSums<Work> sums = {};
  row_sums = row_sums.from(strip * ring + threadIdx.x * 4);
  CONVFILT_UNROLL(1)
  for (int term = 0; term < terms; ++term) {
    column_taps<Work>(row_sums.from(term * s.row_sum_pitch), weights.from(term * s.column_pitch),
                      {row * kRowSumPitch, ring, 0, s.skip_y + mask.height}, s.skip_y, sums);
  }

  // Store whole rows of the strip where they exist.
  if (aligned && x - int(threadIdx.x) * 4 + kStripColumns <= out.width && y + kWarpRows <= end_y) {
    T* to = out.row(y) + x;
    CONVFILT_UNROLL(kWarpRows)
    for (int r = 0; r < kWarpRows; ++r, to += out.stride) {
      *reinterpret_cast<Four<T>*>(to) = finished_four<T>(mask.column_finish, sums[r]);
    }
    return;
  }
  CONVFILT_UNROLL(kWarpRows)
  for (int r = 0; r < kWarpRows; ++r) {
    const Four<T> ends = finished_four<T>(mask.column_finish, sums[r]);
    CONVFILT_UNROLL(4)
    for (int k = 0; k < 4; ++k) {
      if (y + r < end_y && x + k < out.width) out.row(y + r)[x + k] = ends.samples[k];
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND::separable
