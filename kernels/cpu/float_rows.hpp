/// 16-bit and float pictures on the CPU: masks as the chains of the numeric contract, and the inner
/// loops. These are compiled for every vector width and chosen at run time.
///
/// Each row of a part of the mask is one chain of fused multiply-adds from zero, left to right, and
/// the chains' results are added in order. Two output rows are computed at once: a source row under
/// mask row j of the upper one lies under mask row j - 1 of the lower one, so one load serves both.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/cpu/row_buffer.hpp"

namespace convfilt::cpu {

/// The taps on one source row: a chain for the upper output row, the lower one, or both.
struct Chain {
  int begin, end;  ///< the chain's places
  bool upper, lower;
};

struct FloatTaps {
  int slots = 2;  ///< source rows that two output rows read
  std::vector<Chain> chains;
  std::vector<TapPlace> places;
  std::vector<float> weights;  ///< each place's weight for the upper and for the lower row, or 0
};

/// The taps of a mask. `step` is the distance of horizontal neighbours in samples.
template <class T>
FloatTaps float_taps(const PreparedMask<T>& mask, int step);

/// The weights of each term's column.
using Columns = std::vector<std::vector<float>>;

/// The inner loops for samples of T. Whole blocks beyond n may be written, except by filter_rows
/// and pass_columns. These compute two rows of output, of which the second may be null.
template <class T>
struct FloatLoops {
  /// Converts n samples to floats. Null for floats.
  void (*widen)(const T* samples, int n, float* out);

  void (*filter_rows)(const FloatTaps& taps, const float* const* sources, int n,
                      const FloatFinish& finish, T* const* out);

  /// Does the row pass: out[x] = finish(one chain of weights[i] * row[x + i * step]).
  void (*pass_row)(const std::vector<float>& weights, const float* row, int step, int n,
                   const FloatFinish& finish, float* out);

  /// Does the column pass. Each row is one chain that runs down the column of one term after the
  /// other: out[r][x] = finish(sum of columns[t][j] * rows[t * (height + 1) + j + r][x]).
  void (*pass_columns)(const Columns& columns, const float* const* rows, int n,
                       const FloatFinish& finish, T* const* out);
};

/// The loops for this machine.
template <class T>
FloatLoops<T> float_loops();

/// Converts n samples to floats, and writes none beyond.
void widen_row(const std::uint8_t* samples, int n, float* out);

/// Masks of one size, at most of kMaxPartSide and with a divisor of 1, whose responses are wanted
/// at few points.
struct PointMasks {
  static constexpr int kMost = 16;
  int count, width, height;
  std::vector<float> weights;  ///< weights[(j * width + i) * kMost + mask]
};

/// responses[k] = that to mask k whose first weight lies on rows[0][x]. Room for kMost.
void respond_at(const PointMasks& masks, const float* const* rows, int x, float* responses);

}  // namespace convfilt::cpu
