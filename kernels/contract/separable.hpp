/// Masks of rank 1 to 3, and the arithmetic of their two passes: row pass, then column pass.
///
/// A mask of rank 2 or 3 is a sum of terms of rank 1 (so are a Laplacian of a Gaussian, a
/// difference of Gaussians, a picture less its Gaussian). Each term has its own row pass. The
/// column pass of a term carries on from the sums of the term before it, and the last one ends
/// them.
///
/// What lies between the passes is part of the definition, so that every machine gives the same
/// bytes. 8-bit pictures keep it in 16-bit fixed point, less a bias, rounded half up; the bits of
/// its fraction and those of the column weights' have the same sum in all terms. Other depths keep
/// it in single precision: each pass is one chain of fused multiply-adds from zero, left to right
/// or top to bottom, however long, and its finish() ends it. A strategy that cuts a long mask
/// carries the chain on. Where integer factors leave sums of 16 bits, nothing is rounded between
/// the passes, and the bytes are those of the direct family.
#pragma once

#include <optional>
#include <vector>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/problem.hpp"

namespace convfilt {

inline constexpr int kMostTerms = 3;

/// A term: its share of mask.weight(i, j) / mask.divisor is row[i] * column[j] / divisor.
struct Factors {
  std::vector<double> row, column;
  double divisor = 1;
  bool integers = false;  ///< row and column are integers and the product is exact
};

/// The fewest terms, at most `most`, that add up to the mask. The sum is exact where integers have
/// rank 1, and where all rows or columns are terms; otherwise the sum of |differences| is at most
/// `tolerance` times the sum of |weights|. There are none when the rank is higher, or all weights
/// are 0.
std::vector<Factors> terms_of(const Mask& mask, int most, double tolerance);

/// The term of a mask of rank 1, if it is that.
std::optional<Factors> factorise(const Mask& mask, double tolerance);

/// The tolerance that keeps the terms' own error under 0.005 of a step at that depth.
double rank_tolerance(Depth depth);

/// Whether the |weights| of the terms are so much more than the mask's that results lose digits.
bool cancel(const Mask& mask, const std::vector<Factors>& terms);

/// What the sum of the terms may differ by from the mask for samples of 0 to 1.
double excess_of(const Mask& mask, const std::vector<Factors>& terms);

/// What a sample of the plane between the passes is.
template <class T>
using MidOf = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int16_t, float>;

template <class T>
struct SeparableTerm {
  PreparedMask<MidOf<T>> row;  ///< width x 1
  PreparedMask<T> column;      ///< 1 x height; all terms' columns end alike

  /// The row pass of a row that lies outside the image under Border::constant.
  MidOf<T> mid_ghost(T ghost) const;
};

template <class T>
struct SeparableMask {
  std::vector<SeparableTerm<T>> terms;  ///< 1..kMostTerms
  double error = 0;  ///< u8: bound before the final rounding, in steps; 0 = as direct

  int width() const { return terms.front().row.width; }
  int height() const { return terms.front().column.height; }
};

/// Throws std::invalid_argument where separable_refuses says why.
template <class T>
SeparableMask<T> prepare_separable(const Mask& mask);

/// Why the problem is not separable; empty when it is.
std::string separable_refuses(const Problem& problem);

/// Multiply-adds of a sample: a row and a column for each term. 0 where the rank is above 3.
int separable_taps(const Problem& problem);

}  // namespace convfilt
