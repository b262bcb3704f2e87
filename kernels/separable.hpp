/// Masks of rank 1, and the arithmetic of their two passes: row pass, then column pass.
///
/// What lies between the passes is part of the definition, so that every machine gives the same
/// bytes: 8-bit pictures keep it in 16-bit fixed point, less a bias, rounded half up; the others in
/// single precision, each pass one chain of fused multiply-adds from zero, left to right or top to bottom,
/// however long (a strategy that cuts a long mask carries the chain on), ended by its finish().
/// Where integer factors leave sums of 16 bits, nothing is rounded between the passes, and the
/// bytes are those of the direct family.
#pragma once

#include <optional>
#include <vector>

#include "arithmetic.hpp"
#include "problem.hpp"

namespace convfilt {

/// mask.weight(i, j) / mask.divisor = row[i] * column[j] / divisor.
struct Factors {
  std::vector<double> row, column;
  double divisor = 1;
  bool integers = false;  ///< row and column are integers and the product is exact
};

/// The factors of a mask of rank 1: exact for integers, otherwise the sum of |differences| is at
/// most `tolerance` times the sum of |weights|. Nothing when the rank is higher.
std::optional<Factors> factorise(const Mask& mask, double tolerance);

/// The tolerance that keeps the factors' own error under 0.005 of a step at that depth.
double rank_tolerance(Depth depth);

/// What a sample of the plane between the passes is.
template <class T>
using MidOf = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int16_t, float>;

template <class T>
struct SeparableMask {
  PreparedMask<MidOf<T>> row;  ///< width x 1
  PreparedMask<T> column;      ///< 1 x height
  double error = 0;            ///< u8: bound before the final rounding, in steps; 0 = as direct

  /// The row pass of a row that lies outside the image under Border::constant.
  MidOf<T> mid_ghost(T ghost) const;
};

/// Throws std::invalid_argument where separable_refuses says why.
template <class T>
SeparableMask<T> prepare_separable(const Mask& mask);

/// Why the problem is not separable; empty when it is.
std::string separable_refuses(const Problem& problem);

}  // namespace convfilt
