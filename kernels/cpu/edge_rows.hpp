/// Rows of edges on the CPU, in vectors: luma, the answers to several masks, and thin edges; and
/// for 8-bit pictures under masks of small whole weights, answers in one pass.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/plan/edges.hpp"
#include "kernels/problem.hpp"

namespace convfilt {

/// A row of responses to a mask: of row[x] / divisor + offset.
struct ResponseRow {
  const float* row;
  double divisor, offset;
};

using ResponseRows = std::vector<ResponseRow>;

/// Masks of 3x3, and how to tell from about their largest response whether it decides a sample.
struct NearlyLargest {
  std::vector<float> weights;  ///< row by row, mask by mask
  float scale;                 ///< from a response to an answer
  float doubt;                 ///< how far answers may be off
};

/// A row of answers, its neighbours, and the gradient: rows of responses / divisors.
struct ThinRows {
  const float *above, *row, *below;
  ResponseRow across, down;
};

/// A weight of a mask, on the sample at `offset` samples in row `row` of those that an output
/// needs.
struct WholeTap {
  int row, offset;
  std::int16_t weight;
};
using WholeTaps = std::vector<std::vector<WholeTap>>;  ///< of each mask

/// The taps of some masks of one size, without those where the weight is 0. `channels` is the
/// distance of horizontal neighbours in samples. Empty where EdgeLoops could not be exact: masks
/// differ in size, a weight is not whole, or a response could leave 16 bits.
WholeTaps whole_taps(const std::vector<Mask>& masks, int channels);

/// The inner loops. They write n samples, and none beyond.
struct EdgeLoops {
  /// sums[x] = the sum of a pixel's three channels, each times its weight, / divisor, as it rounds
  /// to single precision. The weights are at least 0, and with samples of 255 sum to less than
  /// 2^24.
  void (*weigh_bytes)(const std::uint8_t* pixels, const int (&weights)[3], int divisor, int n,
                      float* sums);

  /// The same of floats, summed in double precision.
  void (*weigh_floats)(const float* pixels, const std::array<double, 3>& weights, int n,
                       float* sums);

  void (*answers)(Join join, const ResponseRows& responses, int n, double* answers);

  /// The same in single precision. Those below `least` are not exact, but stay below it.
  void (*answers_from)(float least, Join join, const ResponseRows& responses, int n,
                       float* answers);

  /// The same as samples: rounded half to even and saturated; or with a threshold of at least 0, as
  /// 255 from it on, and 0 below.
  void (*answer_bytes)(Join join, const ResponseRows& responses, const double* threshold, int n,
                       std::uint8_t* samples);

  /// largest[x] = about the largest response at rows[1][x], for x from 1 to n - 2. Columns where
  /// its answer is so near to where samples change, or to the threshold, that it may be on the
  /// wrong side are added to `unsure`, and 0 and n - 1, too.
  void (*nearly_largest)(const NearlyLargest& masks, const float* const (&rows)[3],
                         const double* threshold, int n, float* largest, std::vector<int>& unsure);

  /// thin[x] = row[x] where it is at least `least`, larger than the answer before it, and not
  /// smaller than that behind it, across the edge in eighths of a turn; else 0. Columns for which
  /// single precision cannot tell, and those near the row's ends, are added to `unsure` instead.
  void (*thin)(const ThinRows& rows, float least, int n, float* thin, std::vector<int>& unsure);

  /// marks[x] = 0, low_mark from `low` on, high_mark from `high` on.
  void (*mark)(const float* answers, float low, float high, std::uint8_t low_mark,
               std::uint8_t high_mark, int n, std::uint8_t* marks);

  /// out[x] = the square root of the sum of the squared responses to two masks, rounded half to
  /// even and saturated. rows[j] is row j of the samples that the first output needs.
  void (*length)(const WholeTaps& masks, const std::uint8_t* const* rows, int n, std::uint8_t* out);

  /// out[x] = the largest response, saturated; otherwise as above.
  void (*largest)(const WholeTaps& masks, const std::uint8_t* const* rows, int n,
                  std::uint8_t* out);
};

/// The loops for this machine.
EdgeLoops edge_loops();

}  // namespace convfilt
