/// The row pass of a warp of separable.cu: from rows of samples to mids.
#pragma once

#include "kernels/separable/row_taps.hpp"
#include "kernels/separable/shape.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// A warp's part of a step of a term's mids: eight rows of a strip, two times sixteen neighbours a
/// lane, so that the lanes of a quarter warp read from different banks.
template <class T>
CONVFILT_DEVICE inline void row_pass(const FusedShape& s, const FusedMask<T>& mask, int term,
                                     int channels, SharedWords weights, SharedWords in_rows,
                                     SharedWords mids) {
  using Work = SumOf<MidOf<T>>;
  const int strip = threadIdx.y % s.across;
  const int col = threadIdx.x / 4 * kRowOutputs;
  const int row = threadIdx.y / s.across * kFusedRows + threadIdx.x % 4;
  static_assert(kLaneRows * 4 == kFusedRows);
  RowSums<Work> sums = {};
  row_taps<Work>(channels, in_rows.from(row * s.in_pitch + s.lead + strip * kFusedColumns + col),
                 4 * s.in_pitch, weights.from(term * s.row_pitch), s.skip_x, mask.width, sums);
  mids = mids.from(term * s.mid_pitch + (strip * s.ring * s.step_rows() + row) * kMidPitch + col);
  CONVFILT_UNROLL(kLaneRows)
  for (int r = 0; r < kLaneRows; ++r) {
    CONVFILT_UNROLL(kRowOutputs / 4)
    for (int n = 0; n < kRowOutputs; n += 4) {
      Four<Work> four;
      CONVFILT_UNROLL(4)
      for (int k = 0; k < 4; ++k) {
        if constexpr (std::is_same_v<Work, float>) {
          four.samples[k] = sums[r][n + k];  // see fused_takes(): the row's finish changes nothing
        } else {
          MidOf<T> mid;
          finish(mask.row_finish[term], sums[r][n + k], mid);
          four.samples[k] = mid;
        }
      }
      mids.set4(r * 4 * kMidPitch + n, four);
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
