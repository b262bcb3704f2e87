/// Strips of direct_walk.hpp at the picture's edges.
#pragma once

#include "direct_rows.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// A lane's place in the picture.
struct Place {
  int x, y;              // of its first output
  int first_x, first_y;  // of the first sample that it loads
  int rows;              // of outputs
};

/// Any strip, a row at a time. Lanes that are not `wide`, some of whose samples lie outside the
/// picture or at addresses that are not aligned, load them one by one.
template <class T, int kSide, int kChannels>
CONVFILT_DEVICE inline void walk_edge(const PlaneView<const T>& in, const PlaneView<T>& out,
                                      const MaskPart<T>& mask, const Place& at, Border border,
                                      T ghost, bool wide) {
  using R = Reach<T, kSide, kChannels>;
  int columns[R::kSamples] = {};  // of the picture, -1 for ghost cells: the same in all rows
  if (!wide) {
    CONVFILT_UNROLL(1)
    for (int n = 0; n < R::kSamples; ++n) {
      columns[n] = border_sample(border, at.first_x + R::kSlack + n, in.width, kChannels);
    }
  }
  const auto load_row = [&](int k, typename R::Row& to) {
    const int row = border_index(border, at.first_y + k, in.height);
    if (wide && row >= 0) {
      CONVFILT_UNROLL(R::kLoads)
      for (int n = 0; n < R::kLoads; ++n) {
        to[n] = load16(in, at.first_x + n * R::kOutputs, row);
      }
      return;
    }
    T samples[R::kLoads * R::kOutputs] = {};
    CONVFILT_UNROLL(R::kSamples)
    for (int n = 0; n < R::kSamples; ++n) {
      const bool inside = row >= 0 && columns[n] >= 0;
      if (!inside) count_ghost_cell();
      samples[R::kSlack + n] = inside ? load(in, columns[n], row) : ghost;
    }
    CONVFILT_UNROLL(R::kLoads)
    for (int n = 0; n < R::kLoads; ++n) to[n] = bytes16_of(samples + n * R::kOutputs);
  };
  typename R::Sums sums = {};
  typename R::Row now, next = {};
  load_row(0, now);
  CONVFILT_UNROLL(1)
  for (int k = 0; k < at.rows + kSide - 1; ++k) {
    if (k + 1 < at.rows + kSide - 1) load_row(k + 1, next);
    typename R::Samples samples[1];
    unpack<T, R>(now, samples[0]);
    float complete[1][R::kOutputs] = {};
    add_rows<R, kSide, kChannels, 1, true>(mask, samples, k, at.rows, sums, complete);
    if (k >= kSide - 1) {
      const Bytes16 ends = finished<T>(mask.finish, complete[0]);
      CONVFILT_UNROLL(R::kOutputs)
      for (int n = 0; n < R::kOutputs; ++n) {
        if (at.x + n < 0 || at.x + n >= out.width) continue;
        out.row(at.y + k - (kSide - 1))[at.x + n] = sample_of<T>(ends, n);
      }
    }
    CONVFILT_UNROLL(R::kLoads)
    for (int n = 0; n < R::kLoads; ++n) now[n] = next[n];
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
