/// The arithmetic of coarse.cu on the host: a line of weights on a grid `step` times as coarse, and
/// a proven bound on what that loses.
///
/// Along one axis the coarse line stands for
///   out(x) = sum over k, m, t of back[x - k d] * coarse[m] * down[t] * in(origin + (k + m) d + t)
/// where d is the step, `down` and `back` are quadratic B-splines (the box of d, three times), and
/// `coarse` is what makes the whole nearest to the line: least squares over all d places that an
/// output may have on the grid, with the line's own sum.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "kernels/problem.hpp"

namespace convfilt {

inline constexpr int kCoarseOrder = 3;    ///< cells of the grid that a B-spline covers
inline constexpr int kCoarseColumns = 4;  ///< every step is a multiple of it

/// Products of that many neighbouring samples are summed by themselves, so that roundings do not
/// pile up: in `down`, and in lines of weights.
inline constexpr int kDownChain = 16;
inline constexpr int kLineChain = 24;

/// One axis of the mask, its |weights| summing to 1. Sample 0 is the one under the line's first
/// weight for output 0.
struct CoarseAxis {
  std::vector<float> line;    ///< the weights themselves
  int step = 0;               ///< d: samples of a cell of the grid
  int first = 0;              ///< the sample where cell 0 begins; at most 0
  std::vector<float> down;    ///< kCoarseOrder * step, multiples of down_unit below 2^16 of it
  float down_unit = 0;        ///< a power of two
  std::vector<float> coarse;  ///< node k of the result sums coarse[m] * node k + m of the input
  std::vector<float> back;    ///< kCoarseOrder * step; output x lies under the nodes from x / d on

  /// Sum of |coarse line - line| at the place on the grid where it is largest.
  double error = 0;

  /// Bounds on what sums with these weights lose, in half ulps of the largest sample.
  double line_roundings = 0, down_roundings = 0, coarse_roundings = 0;

  /// Nodes that so many outputs are interpolated from, and nodes that those are summed from.
  int out_nodes(int outputs) const { return (outputs - 1) / step + kCoarseOrder; }
  int in_nodes(int outputs) const { return out_nodes(outputs) + int(coarse.size()) - 1; }
};

/// A mask as coarse.cu has it: with lines f and coarse lines s, out = f.x s.y + s.x f.y - s.x s.y,
/// which differs from f.x f.y by (f.x - s.x)(f.y - s.y) alone, the product of two small errors.
struct CoarseMask {
  CoarseAxis x, y;
  double scale = 1;   ///< of the result: the sum of |weights|
  double centre = 0;  ///< subtracted from samples, so that they are half as large
  double error = 0;   ///< proven bound: in steps before rounding; f32: of scale * largest |sample|
};

/// Sum of |values|.
template <class Values>
double magnitude(const Values& values) {
  double sum = 0;
  for (double v : values) sum += std::abs(v);
  return sum;
}

/// `gap`: samples that cell boundaries lie before a multiple of 16 samples from sample 0.
CoarseAxis coarse_axis(const std::vector<double>& line, int step, int gap);

/// Throws std::invalid_argument where coarse_refuses says why.
CoarseMask prepare_coarse(const Problem& problem);

/// Why the problem cannot be done so within its bound; empty when it can.
std::string coarse_refuses(const Problem& problem);

}  // namespace convfilt
