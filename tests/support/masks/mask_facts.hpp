/// What tests find out about a mask by themselves, in wide arithmetic.
#pragma once

#include <vector>

#include "kernels/problem.hpp"

namespace convfilt::test {

/// Sum of |weights| / divisor.
double magnitude_of(const Mask& mask);

/// Whether all weights are integers.
bool integer_weights(const Mask& mask);

/// A mask taken apart into products of a row and a column. The first goes through the weight at
/// `first`, each other through the largest weight that is left. Entry k of `left` is the share of
/// the sum of |weights| that k products leave.
struct Products {
  std::vector<double> left;
  std::vector<double> sums;  ///< sums of the products' |weights|, together, as such shares
};
Products products_through(const Mask& mask, std::size_t first);

/// The place of the largest |weight|; that of the largest outside of its row and its column.
std::size_t largest_weight(const Mask& mask);
std::size_t largest_beside(const Mask& mask);

/// The row and the column of integers whose product the mask is; empty where there are none.
struct IntegerLines {
  std::vector<double> row, column;
};
IntegerLines integer_lines(const Mask& mask);

}  // namespace convfilt::test
