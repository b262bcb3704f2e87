/// Masks by formula, for `blur`, `sharpen` and `edge`.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/problem.hpp"

namespace convfilt {

/// The largest standard deviation in pixels, whose mask is kMaxMaskSide wide, and the largest
/// amount of sharpening.
inline constexpr double kMaxSigma = 128, kMaxAmount = 1e6;

/// The largest side whose binomial coefficients a double holds exactly, multiplied in pairs.
inline constexpr int kMaxBinomialSide = 27;

/// A Gaussian of standard deviation `sigma` (pixels), sampled at whole pixels up to a radius of
/// ceil(4 sigma), at least 1, and normalised to a gain of 1. It is the outer product of a 1-D
/// Gaussian with itself, so its rank is 1, except for the rounding of each product. The part cut
/// off weighs less than 1.3e-4, or 0.033 of a step of 8 bits. Throws UsageError unless 0 < sigma <=
/// kMaxSigma.
Mask gaussian_mask(double sigma);

/// The same with a standard deviation along each axis. 0 leaves an axis as it is; not both are 0.
Mask gaussian_mask(double sigma_x, double sigma_y);

/// The binomial coefficients of `side` - 1 along both axes, which tend to a Gaussian of sigma
/// sqrt(side - 1) / 2, over 4^(side - 1): exact, and whole numbers up to 16. Throws UsageError
/// unless 1 <= side <= kMaxBinomialSide.
Mask binomial_mask(int side);

/// The identity less a Gaussian: what gaussian_mask(sigma) takes away. It sums to 0.
Mask highpass_mask(double sigma);

/// gaussian_mask(sigma) less the wider gaussian_mask(outer), which is positive in the middle, and
/// sums to 0. Throws UsageError as gaussian_mask does, and unless sigma < outer.
Mask dog_mask(double sigma, double outer);

struct Gabor {
  double sigma;        ///< of the envelope along the wave's direction, in pixels
  double wavelength;   ///< pixels a period, 2 or more
  double degrees = 0;  ///< of the wave's direction: 0 is along a row, counter-clockwise
  double phase = 0;    ///< degrees; 0 is even, 90 odd
  double aspect = 1;   ///< the envelope's sigma across the wave is sigma / aspect
};

/// A cosine wave under a Gaussian envelope. Its sum is made 0 by a share of the envelope, and a
/// wave like its own, of amplitude 1, gets the response 1 in the middle. Daugman, Uncertainty
/// relation for resolution in space, spatial frequency, and orientation, 1985. Throws UsageError
/// where a parameter is out of bounds, or where the envelope is too narrow to hold any wave.
Mask gabor_mask(const Gabor& gabor);

/// The weights of a column times a row, row by row.
std::vector<double> outer_product(const std::vector<double>& column,
                                  const std::vector<double>& row);

/// Throws UsageError unless both are 1 to kMaxMaskSide.
void check_mask_sides(int width, int height);

/// The name of gaussian_mask_of()'s masks.
inline constexpr std::string_view kGaussianName = "gaussian";

/// A Gaussian of `width` columns and `height` rows, centred and normalised to a gain of 1. Along
/// each axis its sigma is a sixth of the side. Throws UsageError as check_mask_sides does.
Mask gaussian_mask_of(int width, int height);

/// side x side ones over side * side. For an even side the anchor is right of and below the middle.
/// Throws UsageError unless 1 <= side <= kMaxMaskSide.
Mask box_mask(int side);

/// Unsharp masking as one mask: (1 + amount) * identity - amount * gaussian_mask(sigma). Its gain
/// is 1. Throws UsageError as gaussian_mask does, and unless 0 <= amount <= kMaxAmount.
Mask sharpen_mask(double amount, double sigma);

/// The Laplacian of a Gaussian, sampled up to a radius of ceil(4 sigma), at least 1; negative in
/// the middle. Two corrections make it exact for any sigma: its mean is subtracted, so that it sums
/// to 0 and a constant picture gives 0; and it is scaled so that the paraboloid (x*x + y*y) / 2
/// gives 2. The result is in sample units per square pixel. Marr and Hildreth, Theory of Edge
/// Detection, 1980. Throws UsageError as gaussian_mask does.
Mask log_mask(double sigma);

/// The mask divided by its gain. Integer weights stay integers, over their sum; the offset stays. A
/// negative sum flips the signs of the weights. If the weights sum to 0 (less than 1e-12 of the sum
/// of their magnitudes), as in an edge filter, the positive weights are scaled to sum to 1, so that
/// the response to a step is no larger than the step. Throws UsageError if all weights are 0.
Mask normalized(const Mask& mask);

}  // namespace convfilt
