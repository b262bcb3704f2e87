/// The arithmetic of coarse.cu on the host: lines of weights on grids that are `step` times as
/// coarse as the picture, and a proven bound on what that loses.
///
/// Along one axis the coarse line stands for
///   out(x) = sum over k, m, t of back[x - k d] * coarse[m] * down[t] * in(origin + (k + m) d + t)
/// where d is the step, and `down` and `back` are quadratic B-splines (the box of d samples,
/// convolved with itself twice). `coarse` makes the whole nearest to the line, by least squares
/// over all d places that an output may have on the grid, and keeps the sum of the line.
#pragma once

#include <string>
#include <vector>

#include "kernels/problem.hpp"

namespace convfilt::coarse {

inline constexpr int kOrder = 3;  ///< cells of the grid that a B-spline covers

/// Products of neighbouring samples are summed in chains before the chains are added up, so that
/// roundings do not pile up. Sums with `down` have chains of kDownChain products, and sums with a
/// line have chains of kLineChain.
inline constexpr int kDownChain = 16;
inline constexpr int kLineChain = 24;

/// One axis of the mask, scaled so that its |weights| sum to 1. Sample 0 lies under the line's
/// first weight for output 0.
struct Axis {
  std::vector<float> line;    ///< the weights themselves
  int step = 0;               ///< d, the samples of a cell of the grid
  int first = 0;              ///< the sample where cell 0 begins; at most 0
  std::vector<float> down;    ///< kOrder * step weights, each below 2^16 whole down_units
  float down_unit = 0;        ///< a power of two
  std::vector<float> coarse;  ///< node k of the result sums coarse[m] * node k + m of the input
  std::vector<float> back;    ///< kOrder * step weights; output x lies under nodes x / d and on

  /// The sum of |coarse line - line| at the place on the grid where it is largest.
  double error = 0;

  /// Bounds on what sums with these weights lose by rounding, in half ulps of the largest sample.
  double line_roundings = 0, down_roundings = 0, coarse_roundings = 0;

  /// The number of nodes from which `outputs` outputs are interpolated, and the number of nodes
  /// from which those are summed.
  int out_nodes(int outputs) const { return (outputs - 1) / step + kOrder; }
  int in_nodes(int outputs) const { return out_nodes(outputs) + int(coarse.size()) - 1; }
};

/// A mask fitted to grids along both axes. With lines f and coarse lines s, out = f.x s.y + s.x f.y
/// - s.x s.y, which differs from f.x f.y by (f.x - s.x)(f.y - s.y), the product of two small
/// errors.
struct FittedMask {
  Axis x, y;
  double scale = 1;   ///< multiplies the results: the mask's sum of |weights|
  double centre = 0;  ///< subtracted from every sample, which halves the largest
  double error = 0;   ///< proven bound, in steps before rounding, or scale * largest |sample|
};

/// Fits one line to a grid. Sample 0 lies `gap` samples behind the boundary of a cell.
Axis fit_axis(const std::vector<double>& line, int step, int gap);

/// Fits a problem's mask. Throws std::invalid_argument where `refuses` says why.
FittedMask fit_mask(const Problem& problem);

/// Why no grids keep the problem within its bound; empty when some do.
std::string refuses(const Problem& problem);

}  // namespace convfilt::coarse
