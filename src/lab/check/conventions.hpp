/// How programs compute a convolution: all ways that `check` knows, and the results of each by
/// definition, in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/problem.hpp"
#include "src/picture/image.hpp"

namespace convfilt {

/// The mask, turned or mirrored, which gives results of the size of theirs in that mode.
struct TurnedMask {
  std::string name;
  Mask mask;
  Mode mode;
  int lead_x, lead_y;  ///< as in Problem
};

/// A weighted sum is divided by the divisor; then the offset is added.
struct Scaling {
  std::string name;
  double divisor, offset;
};

/// The rule for outputs whose mask leaves the picture.
struct Edge {
  enum class Rule {
    ghosts,  ///< of the border
    rest,    ///< weights outside are left out; the others are scaled to the same sum
    zero,    ///< the output is 0
    copied,  ///< the output is the sample
  };
  std::string name;
  Border border = Border::constant;
  double value = 0;
  Rule rule = Rule::ghosts;
};

enum class Rounding { none, half_even, half_up, half_away, toward_0, down };

/// What becomes of results outside the range of samples.
enum class Range {
  clamped,
  kept,      ///< f32 alone
  wrapped,   ///< modulo the number of values; not f32
  absolute,  ///< of their size, clamped
  raised,    ///< the middle of the range is added, then clamped
  centred,   ///< half of them is added to the middle
};

/// One of the ways. `turn`, `scaling` and `edge` are indices in Conventions.
struct Convention {
  int shift_x = 0, shift_y = 0;  ///< their output (x, y) is that of (x - shift_x, y - shift_y)
  bool exchanges = false;        ///< the first channel and the third
  int turn = 0, scaling = 0;
  Range range = Range::clamped;
  Rounding rounding = Rounding::none;
  int edge = 0;

  /// Of several that fit, the first is told.
  auto order() const {
    return std::tuple(std::abs(shift_x) + std::abs(shift_y), exchanges, turn, scaling, range,
                      rounding, edge, shift_y, shift_x);
  }

  bool operator==(const Convention& other) const { return order() == other.order(); }

  /// Whether weighted sums are those of the other.
  bool sums_like(const Convention& other) const {
    return turn == other.turn && shift_x == other.shift_x && shift_y == other.shift_y &&
           edge == other.edge;
  }
};

/// The end of a result, from the weighted sum to the sample.
struct Ending {
  Rounding rounding;
  Range range;
  double divisor, offset, most, middle;

  double operator()(double sum) const {
    double value = sum / divisor + offset;
    if (range == Range::absolute) value = std::abs(value);
    if (range == Range::raised) value += middle;
    if (range == Range::centred) value = middle + value / 2;
    switch (rounding) {
      case Rounding::none: break;
      case Rounding::half_even: value = std::nearbyint(value); break;
      case Rounding::half_up: value = std::floor(value + 0.5); break;
      case Rounding::half_away: value = std::copysign(std::floor(std::abs(value) + 0.5), value); break;
      case Rounding::toward_0: value = std::trunc(value); break;
      case Rounding::down: value = std::floor(value); break;
    }
    if (range == Range::kept) return value;
    if (range == Range::wrapped) return value - std::floor(value / (most + 1)) * (most + 1);
    return std::clamp(value, 0.0, most);
  }
};

/// All ways that may have made `theirs` of `in`. Both pictures must outlive it.
class Conventions {
 public:
  /// Throws IoError where depths, channels or sizes do not go together.
  Conventions(const Image& in, const Image& theirs, const Mask& mask, double border_value);

  const Image& in;
  const Image& theirs;
  int channels;
  std::vector<TurnedMask> turns;
  std::vector<Scaling> scalings;
  std::vector<Edge> edges;
  std::vector<Range> ranges;
  std::vector<Rounding> roundings;

  Ending ending(const Convention& convention) const;

  /// 1 for whole samples; for floats what roundings of theirs may add up to.
  double step(const Convention& convention) const;

  /// Weighted sums for outputs x0 to x1 - 1 of a row, which may lie outside of theirs. They are NaN
  /// where Edge::Rule::zero or copied holds.
  void sums(const Convention& convention, int y, int x0, int x1, double* sums) const;

  /// The samples of that picture, 0 outside.
  void samples(const Image& picture, int y, int x0, int x1, double* samples) const;

  /// Calls f(k, theirs, should) for samples with those sums. `copied` are the samples of `in`.
  template <class F>
  void compare(const Convention& convention, const double* sums, const double* copied,
               const double* theirs, int count, F f) const {
    const Ending end = ending(convention);
    const Edge::Rule rule = edges[std::size_t(convention.edge)].rule;
    const bool leaves = rule == Edge::Rule::zero || rule == Edge::Rule::copied;
    for (int k = 0, c = 0; k < count; ++k, c = c + 1 == channels ? 0 : c + 1) {
      const int at = convention.exchanges && c != 1 ? k + 2 - 2 * c : k;
      const bool is_left = leaves && std::isnan(sums[k]);
      f(at, theirs[at], !is_left ? end(sums[k]) : rule == Edge::Rule::zero ? 0 : copied[k]);
    }
  }

 private:
  double largest_ = 0;  ///< sample of floats, by its size
};

/// How far a sample is off; infinite where only one of both is a number.
inline double distance(double theirs, double should) {
  const double off = std::abs(theirs - should);
  if (!std::isnan(off)) return off;
  const bool alike = theirs == should || (std::isnan(theirs) && std::isnan(should));
  return alike ? 0 : std::numeric_limits<double>::infinity();
}

}  // namespace convfilt
