/// The reference for results: the convolution in double precision, and how far from it each family
/// of strategies may be.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// An output pixel with all its channels.
struct OutputPixel {
  int x = 0, y = 0;
};

struct PlacesToCheck {
  std::vector<OutputPixel> places;
  int rows = 0;  ///< whole rows of the result among them
};

/// The places where a result is held against the truth. If all of them take at most `most_taps`
/// multiply-adds, they are all checked, row by row. Otherwise they are the corners, places along
/// the edges, random places, and whole rows: the first, the last, and as many random ones as some
/// more multiply-adds allow. The seed is fixed.
PlacesToCheck places_to_check(const Problem& problem, double most_taps = 1e9);

/// The true results at those places, neither rounded nor saturated; channels side by side.
/// `threads` 0 = all cores.
std::vector<double> true_results(const Problem& problem, PictureView<const std::byte> in,
                                 const std::vector<OutputPixel>& places, int threads);

/// How far a result is from the truth.
struct Distance {
  double largest = 0;  ///< in units; infinite where one of the two is no number
  std::size_t samples = 0;
};

/// The distance of a result from `truth`, in steps for integer depths, whose truth is saturated but
/// not rounded; in units of unit_of() for floats.
Distance distance_from(const std::vector<double>& truth, const Problem& problem,
                       PictureView<const std::byte> out, const std::vector<OutputPixel>& places,
                       double unit);

/// 1e-6 * sum of |weights| * largest |sample|, border value included: what the bounds of float
/// pictures are multiples of. 1 for integer depths: a step.
double unit_of(const Problem& problem, PictureView<const std::byte> in);

/// The largest difference from the real-valued, saturated convolution that a result of this family
/// may have, in the units of unit_of(). There is no bound for 16-bit masks above 31x31 and float
/// masks above 101x101 in the direct family, and none for float pictures with samples that are not
/// finite in the families that mix samples far apart.
std::optional<double> error_bound(const Problem& problem, PictureView<const std::byte> in,
                                  Family family);

}  // namespace convfilt
