/// Edges: how strongly brightness changes, of luma or for each channel.
#pragma once

#include <optional>
#include <vector>

#include "kernels/problem.hpp"
#include "src/filter/filter.hpp"
#include "src/mask/edges.hpp"
#include "src/mask/set.hpp"

namespace convfilt {

/// A Gaussian with a divisor of 1, and masks of 3x3.
struct EdgeFactors {
  Mask gaussian;
  std::vector<Mask> sharp;
};

/// Those of a compass with a sigma.
EdgeFactors factors_of(EdgeMasks compass);

/// How responses to an edge's masks become a picture. Thresholds are in 255ths of the samples'
/// range.
struct EdgeOptions {
  EdgeKind kind = EdgeKind::gradient;
  EdgeDirection direction = EdgeDirection::both;
  bool color = false;                 ///< each channel by itself, instead of luma
  bool thin = false;                  ///< lines of one pixel
  std::optional<double> threshold{};  ///< from it on, samples are white; the others are black
  std::optional<double> low{};        ///< white begins there, where it touches what is white above

  /// The Gaussian and the masks of 3x3 whose products are the masks of a compass. Filtering by
  /// these takes less time on the CPU, and gives the same bytes.
  std::optional<EdgeFactors> factors{};
};

/// The answer to responses r, divided by the masks' divisors, in double precision: for a gradient
/// the root of the sum of their squares, for a compass the largest, or 0, and for a curvature |r|.
/// It is rounded half to even and saturated. Offsets of masks are left out. Colours are multiplied
/// by alpha, answers are divided by it, and alpha stays.
///
/// EdgeDirection::angle: 0 to the full range for 0 to 360 degrees, the direction in which it gets
/// brighter, counter-clockwise from a row; 0 where the answer rounds to 0 in 8 bits.
/// EdgeDirection::hue: the colour of HSV with that angle as its hue, the answer, up to the full
/// range, as its value, and full saturation. It is of luma, and gives grey pictures colours.
///
/// Thin edges of gradients and compasses: an answer stays where it is larger than that of the
/// neighbour before it, and not smaller than that of the neighbour behind it, across the edge, in
/// eighths of a turn; so of two equal ones the first stays. Outside the result, answers are 0. Thin
/// edges of a curvature are its zero crossings: of two neighbours in a row or column with responses
/// above and below 0, the one nearer to 0 gets their difference; of two equally near ones, the
/// first; a 0 between the two gets their difference, too. Several such differences: the largest.
///
/// Throws UsageError where the masks reach differently far, or are no set for their kind, where a
/// low threshold has no higher one beside it, and for hues of each channel.
FilterPtr edge_filter(std::vector<Mask> masks, const EdgeOptions& options);

/// Each channel's responses to several masks, divided and with their offsets, combined in double
/// precision, rounded half to even and saturated. Colours are multiplied by alpha, results are
/// divided by it, and alpha stays. Throws UsageError where the masks together reach too far.
FilterPtr combined_filter(MaskSet set);

}  // namespace convfilt
