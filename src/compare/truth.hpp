/// The real-valued convolution in double precision, straight from the definition in problem.hpp:
/// what results are held against in `compare`.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/problem.hpp"

namespace convfilt {

/// An output pixel; all its channels are meant.
struct Place {
  int x = 0, y = 0;
};

struct PlacesToCheck {
  std::vector<Place> places;
  int rows = 0;  ///< whole rows of the result among them
};

/// Where a result is held against the truth: everywhere, row by row, where that takes at most
/// `most_taps` multiply-adds; else at the corners, along the edges, at random places, and in whole
/// rows: the first, the last and random ones, as many as some more multiply-adds allow. The seed is
/// fixed.
PlacesToCheck places_to_check(const Problem& problem, double most_taps = 1e9);

/// The results there, neither rounded nor saturated; channels side by side. `threads` 0 = all
/// cores.
std::vector<double> true_results(const Problem& problem, PictureView<const std::byte> in,
                                 const std::vector<Place>& places, int threads);

/// How far a result is from the truth.
struct Distance {
  double largest = 0;  ///< in units; infinite where one of the two is no number
  std::size_t samples = 0;
};

/// Of integer depths in steps, from the truth saturated but not rounded; of floats in units of
/// `float_unit()`.
Distance distance_from(const std::vector<double>& truth, const Problem& problem,
                       PictureView<const std::byte> out, const std::vector<Place>& places,
                       double unit);

/// 1e-6 * sum of |weights| * largest |sample|, border value included: what the bounds of float
/// pictures are multiples of. 1 for integer depths: a step.
double unit_of(const Problem& problem, PictureView<const std::byte> in);

}  // namespace convfilt
