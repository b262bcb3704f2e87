/// What coarse_sums.hpp sums.
#pragma once

#include "kernels/backend/launch.hpp"
#include "kernels/coarse/axis.hpp"

namespace convfilt::CONVFILT_BACKEND {

inline constexpr int kSumsAThread = 16;
inline constexpr int kSumThreads = 128;

/// A line of weights for sum_columns: kSumsAThread - 1 zeros, the weights, zeros.
struct PaddedLine {
  const Four<float>* weights;
  int steps;  ///< of four samples, that a thread's sums take
};

/// out.row(x)[y] = sum over i of line[i] * in(x, first + y + i): transposed, so that the next sum
/// is one down columns again. Rows of `out` have room for whole multiples of kSumsAThread sums;
/// rows beyond those of `in` meet only weights of 0.
struct ColumnJob {
  PlaneView<const float> in;  ///< of the first channel, as is `out`
  PlaneView<float> out;
  std::ptrdiff_t next_in, next_out;  ///< from channel to channel
  int channels;
  PaddedLine line;
  int first;

  bool pairs;  ///< a thread has two columns, of rows with room for them
  int columns;

  // Where they are no pairs: columns beside the plane, as a border makes them up of it.
  int before = 0;   ///< of `in`
  int samples = 1;  ///< of a pixel, side by side
  Border border = Border::replicate;
  float ghost = 0;  ///< the sum of a column of nothing else

  /// Of one channel.
  CONVFILT_HD int threads() const {
    return ceil_div(columns, pairs ? 2 : 1) * ceil_div(out.width, kSumsAThread);
  }
};

}  // namespace convfilt::CONVFILT_BACKEND
