/// Masks for tests, by a fixed seed.
#pragma once

#include <vector>

#include "kernels/problem.hpp"
#include "tests/support/picture.hpp"

namespace convfilt::test {

Mask identity_mask(int side);
Mask box_mask(int width, int height);

/// Ones over the side on the diagonal: of full rank.
Mask diagonal_mask(int side);

/// Normalised real weights of a Gaussian.
Mask gaussian_mask(int width, int height, double sigma);

/// (1 + amount) * identity - amount * Gaussian: one large weight among small ones.
Mask sharpen_mask(int side, double amount, double sigma);

/// Integers in -limit..limit, of full rank as a rule.
Mask integer_mask(Random& random, int width, int height, int limit, double divisor = 1,
                  double offset = 0);

/// Reals in -1..1 over their absolute sum.
Mask real_mask(Random& random, int width, int height, double offset = 0);

/// Positive reals whose sum is 1.
Mask normalised_mask(Random& random, int width, int height);

/// A row of integers times a column of integers.
Mask integer_rank_one_mask(Random& random, int width, int height, int limit, double divisor = 1);

/// A row of reals times a column of reals, absolute sum 1.
Mask real_rank_one_mask(Random& random, int width, int height);

/// A sum of `terms` such masks, each half as large as the one before it.
Mask real_low_rank_mask(Random& random, int width, int height, int terms);

Mask anchored(Mask mask, int anchor_x, int anchor_y);

/// A few masks of different kinds, up to 7x7, for exhaustive use.
std::vector<Mask> small_masks();

/// Every kind of mask up to 31x31: integers, reals, normalised, offsets, ties, rank 1 to 3 and
/// above, rectangular, even-sided, anchored at corners, too large for 8-bit sums.
std::vector<Mask> varied_masks();

/// Masks larger than one part (kMaxPartSide).
std::vector<Mask> large_masks();

}  // namespace convfilt::test
