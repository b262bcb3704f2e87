/// The column pass of a warp of separable.cu: from the ring of mids to outputs.
#pragma once

#include "kernels/backend/shared_words.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/separable/shape.hpp"

namespace convfilt::CONVFILT_BACKEND {

template <class Work>
using ColumnSums = Work[kFusedRows][4];

/// Four taps of four columns, whose rows are rows kFirst.. of a window that repeats after 12. The
/// taps below `skip` are left out where kGuarded. Loads the fourth four of rows.
template <int kFirst, bool kGuarded, class Work>
CONVFILT_DEVICE inline void column_chunk(SharedWords mids, const Four<Work>& weights, int skip,
                                         Four<Work> (&window)[12], ColumnSums<Work>& sums) {
  CONVFILT_UNROLL(4)
  for (int t = 0; t < 4; ++t) {
    window[(4 * kFirst + 8 + t) % 12] = mids.template get4<Work>(t * kMidPitch);
    if (kGuarded && t < skip) continue;
    CONVFILT_UNROLL(kFusedRows)
    for (int r = 0; r < kFusedRows; ++r) {
      CONVFILT_UNROLL(4)
      for (int k = 0; k < 4; ++k) {
        sums[r][k] = multiply_add(weights.samples[t], window[(4 * kFirst + t + r) % 12].samples[k],
                                  sums[r][k]);
      }
    }
  }
}

/// A place in the ring of rows, in words; and the weights and taps that are left.
struct ColumnPlace {
  int mid, mids;  ///< multiples of four rows
  int weight, taps;

  CONVFILT_DEVICE void next_rows() {
    mid += 4 * kMidPitch;
    if (mid == mids) mid = 0;
  }
  /// Behind a chunk: whether there is another.
  CONVFILT_DEVICE bool next() {
    next_rows();
    weight += 4;
    taps -= 4;
    return taps > 0;
  }
};

/// The chains of eight rows of four columns, from the place of the first tap skipped on.
template <class Work>
CONVFILT_DEVICE inline void column_taps(SharedWords mids, SharedWords weights, ColumnPlace place,
                                        int skip, ColumnSums<Work>& sums) {
  Four<Work> window[12];
  CONVFILT_UNROLL(2)
  for (int r = 0; r < 8; r += 4) {
    CONVFILT_UNROLL(4)
    for (int k = 0; k < 4; ++k) window[r + k] = mids.get4<Work>(place.mid + k * kMidPitch);
    place.next_rows();
  }
  column_chunk<0, true>(mids.from(place.mid), weights.get4<Work>(0), skip, window, sums);
  while (place.next()) {
    column_chunk<1, false>(mids.from(place.mid), weights.get4<Work>(place.weight), 0, window, sums);
    if (!place.next()) break;
    column_chunk<2, false>(mids.from(place.mid), weights.get4<Work>(place.weight), 0, window, sums);
    if (!place.next()) break;
    column_chunk<0, false>(mids.from(place.mid), weights.get4<Work>(place.weight), 0, window, sums);
  }
}

/// Four finished samples, in the bits of one to four words.
template <class T>
struct alignas(4 * sizeof(T)) Finished {
  T samples[4];
};

template <class T, class Work>
CONVFILT_DEVICE inline Finished<T> finished(const FinishOf<T>& f, const Work (&sums)[4]) {
  Finished<T> ends;
  CONVFILT_UNROLL(4)
  for (int k = 0; k < 4; ++k) {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<T, float>) {
      // Of a GPU's multiply-add every NaN is 0x7fffffff, above all numbers; negative ones lie
      // below.
      ends.samples[k] =
          __int_as_float(min(__float_as_int(multiply_add(sums[k], f.scale, f.offset)), 0x7fc00000));
      continue;
    } else if constexpr (std::is_same_v<T, std::uint16_t>) {
      // Beside 2^23 a float has no place for fractions: it is rounded half to even. NaN ends as 0,
      // because fmaxf() takes the other one.
      const float value = multiply_add(sums[k], f.scale, f.offset);
      ends.samples[k] = T(__float_as_uint(fminf(fmaxf(value, 0.0f), 65535.0f) + 8388608.0f));
      continue;
    }
#endif
    finish(f, sums[k], ends.samples[k]);
  }
  return ends;
}

/// A warp's part of a step of outputs: eight rows of a strip, four columns a lane. `row`: of the
/// ring, where the step's first row of mids lies. (x, y): the strip's first output.
template <class T>
CONVFILT_DEVICE inline void column_pass(const FusedShape& s, const FusedMask<T>& mask, int terms,
                                        SharedWords weights, SharedWords mids, int row,
                                        const PlaneView<T>& out, int x, int y, int end_y,
                                        bool aligned) {
  using Work = SumOf<MidOf<T>>;
  const int strip = threadIdx.y % s.across, below = threadIdx.y / s.across * kFusedRows;
  const int ring = s.ring * s.step_rows() * kMidPitch;
  x += strip * kFusedColumns + threadIdx.x * 4;
  y += below;
  row += below;
  if (y >= end_y || x - int(threadIdx.x) * 4 >= out.width) return;
  ColumnSums<Work> sums = {};
  mids = mids.from(strip * ring + threadIdx.x * 4);
  CONVFILT_UNROLL(1)
  for (int term = 0; term < terms; ++term) {
    column_taps<Work>(mids.from(term * s.mid_pitch), weights.from(term * s.column_pitch),
                      {row * kMidPitch, ring, 0, s.skip_y + mask.height}, s.skip_y, sums);
  }

  // Store whole rows of the strip where they exist.
  if (aligned && x - int(threadIdx.x) * 4 + kFusedColumns <= out.width && y + kFusedRows <= end_y) {
    T* to = out.row(y) + x;
    CONVFILT_UNROLL(kFusedRows)
    for (int r = 0; r < kFusedRows; ++r, to += out.stride) {
      *reinterpret_cast<Finished<T>*>(to) = finished<T>(mask.column_finish, sums[r]);
    }
    return;
  }
  CONVFILT_UNROLL(kFusedRows)
  for (int r = 0; r < kFusedRows; ++r) {
    const Finished<T> ends = finished<T>(mask.column_finish, sums[r]);
    CONVFILT_UNROLL(4)
    for (int k = 0; k < 4; ++k) {
      if (y + r < end_y && x + k < out.width) out.row(y + r)[x + k] = ends.samples[k];
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
