/// Which way of computing a convolution made a picture, and how far that is from the truth.
///
/// Results are computed by definition, in double precision.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/problem.hpp"
#include "src/picture/image.hpp"

namespace convfilt {

/// The mask, turned or mirrored, with which results have the size of theirs in that mode.
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

/// The rule for outputs whose mask leaves the picture. rest: weights outside are left out, and the
/// others scaled to the same sum. zero, copied: so is the output.
struct Edge {
  std::string name;
  Border border = Border::constant;
  double value = 0;
  enum class Rule { ghosts, rest, zero, copied } rule = Rule::ghosts;
};

enum class Rounding { none, half_even, half_up, half_away, toward_0, down };

/// How results outside the range of samples are brought into it. raised: by adding the middle of
/// the range; centred: by halving them first.
enum class Range { kept, clamped, wrapped, absolute, raised, centred };

/// A way to compute. `turn`, `scaling` and `edge` are indices in Conventions.
struct Convention {
  int shift_x = 0, shift_y = 0;  ///< output (x, y) is that of (x - shift_x, y - shift_y)
  int turn = 0, edge = 0;
  bool exchanges = false;  ///< the first channel and the third
  int scaling = 0;
  Range range = Range::clamped;
  Rounding rounding = Rounding::none;

  /// The first of several that fit is the one to tell.
  auto order() const {
    return std::tuple(std::abs(shift_x) + std::abs(shift_y), shift_y, shift_x, turn, edge,
                      exchanges, scaling, range, rounding);
  }
  bool operator==(const Convention& other) const { return order() == other.order(); }
};

/// The ways that may have made `theirs` of `in`. Both pictures must outlive it.
struct Conventions {
  /// Throws IoError where depths, channels or sizes do not go together.
  Conventions(const Image& in, const Image& theirs, const Mask& mask, double border_value);

  /// 1 for whole samples; for floats what roundings may add up to.
  double step(const Convention& convention) const;

  /// Weighted sums for outputs x0 to x1 - 1 of a row; NaN where the edge's rule is zero or copied.
  void sums(const Convention& convention, int y, int x0, int x1, double* sums) const;

  bool is_float() const { return in.depth() == Depth::f32; }

  const Image& in;
  const Image& theirs;
  std::vector<TurnedMask> turns;
  std::vector<Scaling> scalings;
  std::vector<Edge> edges;
  double largest = 0;  ///< sample of floats, by its size
};

/// How far samples are from what a convention makes.
struct Deviation {
  std::int64_t samples = 0, different = 0;
  std::int64_t far = 0;  ///< more than a step off; of floats, ten times what roundings explain
  double largest = 0, mean = 0;
  int x = 0, y = 0, channel = 0;  ///< the first sample that is `largest` off
  double is = 0, should = 0;      ///< that sample

  /// Whether more than a quarter of the samples are too far off for an unlike rounding.
  bool is_unknown() const { return far * 4 > samples; }
};

struct Agreement {
  Convention convention;
  std::vector<Convention> equal;  ///< others that make the same, as far as looked at
  Deviation deviation;            ///< of all samples
};

/// The way that comes nearest.
Agreement nearest_convention(const Conventions& all);

/// 8-bit samples: how far theirs are from the convention's, times the gain.
Image difference_picture(const Conventions& all, const Convention& convention, double gain);

/// "1 step"; of floats "1.2e-07".
std::string amount_text(const Conventions& all, double amount);

/// "reflect101, flipped, 1 step at (3, 0)".
std::string agreement_line(const Conventions& all, const Agreement& agreement);

/// The line, led by the name, and a table.
std::string agreement_text(const std::string& name, const Conventions& all,
                           const Agreement& agreement);

/// An object with the same.
std::string agreement_json(const std::string& status, const Conventions& all,
                           const Agreement& agreement);

}  // namespace convfilt
