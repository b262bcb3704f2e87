/// Masks of rank 1 to 3, and the arithmetic of their two passes: row pass, then column pass.
///
/// A mask of rank 2 or 3 is a sum of terms of rank 1. A Laplacian of a Gaussian, a difference of
/// Gaussians, and a picture less its Gaussian are such masks. Each term has its own row pass. The
/// column pass of a term carries on the sums of the term before it, and the last one ends them.
///
/// The format between the passes is part of the definition, so that every machine gives the same
/// bytes. 8-bit pictures keep the row sums in 16-bit fixed point, less a bias, rounded half up. The
/// bits of their fraction and the bits of the column weights' fraction have the same sum in all
/// terms. Other depths keep them in single precision. Each pass is then one chain of fused
/// multiply-adds from zero, left to right or top to bottom, however long, and its finish() ends it.
/// A strategy that cuts a long mask carries the chain on. Where integer factors leave sums of 16
/// bits, nothing is rounded between the passes, and the bytes are those of the direct family.
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
  bool integers = false;  ///< row and column are integers, and their product is exact
};

/// The fewest terms, at most `most`, that add up to the mask. Their sum is exact where the mask has
/// integers and rank 1, and where all its rows or columns are terms. Otherwise the sum of
/// |differences| is at most `tolerance` times the sum of |weights|. The result is empty where the
/// rank is higher, or all weights are 0.
std::vector<Factors> terms_of(const Mask& mask, int most, double tolerance);

/// The term of a mask of rank 1; empty for other masks.
std::optional<Factors> factorise(const Mask& mask, double tolerance);

/// The tolerance that keeps the terms' own error under 0.005 of a step at that depth.
double rank_tolerance(Depth depth);

/// Whether the sum of the terms' |weights| exceeds the mask's so far that results lose digits.
bool cancel(const Mask& mask, const std::vector<Factors>& terms);

/// How far the result of the terms may be from that of the mask, for samples of 0 to 1.
double excess_of(const Mask& mask, const std::vector<Factors>& terms);

/// The type of a sample between the passes, for pictures of T.
template <class T>
using RowResultOf = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int16_t, float>;

template <class T>
struct SeparableTerm {
  PreparedMask<RowResultOf<T>> row;  ///< width x 1
  PreparedMask<T> column;            ///< 1 x height; its finish is the same in all terms

  /// The row pass's result for a row of ghost cells under Border::constant.
  RowResultOf<T> ghost_row_result(T ghost) const;
};

template <class T>
struct SeparableMask {
  std::vector<SeparableTerm<T>> terms;  ///< 1..kMostTerms
  double error = 0;  ///< u8 only: bound in steps before the last rounding; 0 = as direct

  int width() const { return terms.front().row.width; }
  int height() const { return terms.front().column.height; }
};

/// Throws std::invalid_argument where separable_refuses says why.
template <class T>
SeparableMask<T> prepare_separable(const Mask& mask);

/// Why the problem is not separable; empty when it is.
std::string separable_refuses(const Problem& problem, const Tuning& = {});

/// Multiply-adds for a sample: a row and a column for each term. It is 0 where the rank is above 3.
int separable_taps(const Problem& problem);

}  // namespace convfilt
