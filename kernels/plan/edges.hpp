/// How samples of edges are made of a picture's responses to several masks.
#pragma once

namespace convfilt {

/// How responses r / divisor + offset become one answer, in double precision, in the masks' order.
enum class Join {
  length,   ///< the root of the sum of their squares
  compass,  ///< the largest, or 0
  sum,
  max,              ///< the largest
  first_strongest,  ///< the one farthest from 0; of several such, the first
};

/// The parameters of an edge plan on a device. They are passed to kernels by value.
struct EdgeAnswers {
  static constexpr int kMostMasks = 16;

  /// Lines of one pixel: answers, as floats, that are larger than the one before them across the
  /// edge and not smaller than the one behind, or zero crossings (src/filter/edge.hpp).
  enum class Thin { none, gradient, compass, crossings };

  bool of_floats = false;  ///< pictures and results of floats, in units of bytes
  int masks = 0;
  double divisors[kMostMasks]{}, offsets[kMostMasks]{};
  Join join = Join::length;
  Thin thin = Thin::none;
  bool is_down = false;        ///< whether a gradient's only mask points downwards
  bool has_threshold = false;  ///< from it on, samples are white; the others are black
  double threshold = 0;

  bool of_luma = false;  ///< of pictures in three colours, instead of each channel by itself
  double luma[3]{};      ///< the shares of blue, green and red
  int blue = 0;          ///< the channel of blue, 0 or 2
};

}  // namespace convfilt
