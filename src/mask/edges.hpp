/// Masks that find edges.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/problem.hpp"
#include "src/mask/make.hpp"

namespace convfilt {

enum class EdgeMethod {
  sobel,
  scharr,
  prewitt,
  roberts,
  farid,
  freichen,
  kirsch,
  robinson,
  laplacian,
  log,
  dog,
  canny,
};
inline constexpr EdgeMethod kEdgeMethods[] = {
    EdgeMethod::sobel,     EdgeMethod::scharr,   EdgeMethod::prewitt, EdgeMethod::roberts,
    EdgeMethod::farid,     EdgeMethod::freichen, EdgeMethod::kirsch,  EdgeMethod::robinson,
    EdgeMethod::laplacian, EdgeMethod::log,      EdgeMethod::dog,     EdgeMethod::canny};

/// How the responses to a method's masks make one answer.
enum class EdgeKind {
  gradient,   ///< two masks, across and down: the length of the two responses
  compass,    ///< a mask for each eighth of a turn: the largest response
  curvature,  ///< one mask, a second derivative: the size of the response
};

enum class EdgeDirection { both, x, y, angle, hue };
inline constexpr EdgeDirection kEdgeDirections[] = {EdgeDirection::both, EdgeDirection::x,
                                                    EdgeDirection::y, EdgeDirection::angle,
                                                    EdgeDirection::hue};

/// Whether results show where it gets brighter.
inline bool shows_angles(EdgeDirection direction) {
  return direction == EdgeDirection::angle || direction == EdgeDirection::hue;
}

std::string_view name_of(EdgeMethod method);
std::string_view name_of(EdgeDirection direction);
EdgeKind kind_of(EdgeMethod method);

/// The outer Gaussian of `dog` is this many times as wide, where it is nearest to `log`. Marr and
/// Hildreth, Theory of Edge Detection, 1980.
inline constexpr double kDogRatio = 1.6;

/// The largest sigma for all methods.
inline constexpr double kMaxEdgeSigma = kMaxSigma / kDogRatio;

struct EdgeMasks {
  EdgeMethod method = EdgeMethod::sobel;
  EdgeDirection direction = EdgeDirection::both;
  double sigma = 1;   ///< of the Gaussian that is part of each mask, in pixels; 0: there is none
  double gain = 1.5;  ///< the answer to a step of height 1
  /// Whether zero crossings of a curvature have this gain, by the jump between both sides.
  bool by_crossings = false;
};

/// The masks of a method, which reach equally far. A straight upright step of height h between two
/// columns of pixels gets an answer of `gain` * h where it is largest, whatever the method and the
/// sigma. Compass masks begin with the one for a picture that is brighter on the right, and turn
/// counter-clockwise. Sums of a method's masks are whole where its textbook's are and sigma is 0;
/// all else is in the divisors. Throws UsageError where the method lacks the direction, or a sigma.
std::vector<Mask> edge_masks(const EdgeMasks& options);

}  // namespace convfilt
