/// The numeric contract as bounds: how far a result may be from the truth, and where it must be the
/// truth itself.
///
/// It follows from the mask, the depth and what kernels/README.md and `list strategies` say. What
/// the code under test claims is held against it, and may make a bound tighter but never looser.
#pragma once

#include <optional>
#include <string>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt::test {

/// Sums of 8-bit pictures stay below this, so that 32-bit integers hold them in any order.
inline constexpr double kSumLimit = 1 << 30;

/// Shares of a mask's |weights| that its products of a row and a column may leave out: half of the
/// range times this share is 0.005 of a step.
double rank_share(Depth depth);

/// Whether 8-bit results of the direct and the reordered family are the real values, rounded once:
/// integer weights over an integer divisor, whose sums stay below kSumLimit.
bool exact_in_one_pass(const Mask& mask);

/// The same for two passes: a row and a column of integers, or at most three lines of integers,
/// whose row sums fit into the 16 bits between the passes.
bool exact_in_two_passes(const Mask& mask);

/// Whether the family must give the exact results.
bool must_be_exact(const Problem& problem, Family family);

/// How far a computed sample may be from the real-valued, saturated result, by the numeric
/// contract. `largest` is the largest |sample|, ghost cells included.
double allowed_error(const Problem& problem, Family family, double largest);

/// What the code under test proves of 8-bit results, in steps before the last rounding.
struct Claims {
  double one_pass = 0;
  std::optional<double> two_passes;  ///< nothing where it refuses them
};
Claims claims_of(const Mask& mask);

/// What is wrong with those claims: not 0 where results must be exact, above the documented bound
/// elsewhere. Empty when nothing is, and for masks that are refused.
std::string wrong_claim(const Mask& mask);

}  // namespace convfilt::test
