/// One level of Strassen's recursion ("Gaussian Elimination is not Optimal", 1969): a product of
/// matrices by seven products of their quarters instead of eight.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/backend/libraries.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {

inline constexpr int kStrassenProducts = 7;

/// The right-hand factors of the seven products, one below the other, for a right-hand matrix of
/// rows x columns, which are both even. A matrix that is multiplied often needs them only once.
std::vector<float> strassen_factors(const std::vector<float>& right, int rows, int columns);

/// The number of floats of device memory that a product needs beside its matrices.
std::size_t strassen_space(int left_rows, int inner, int columns);

/// Sets result to left * right. `factors` are the right-hand factors on the device. All sides are
/// even.
void strassen_multiply(const Gemm&, PlaneView<float> left, const float* factors,
                       PlaneView<float> result, float* space, const Stream&);

}  // namespace convfilt::CONVFILT_BACKEND::transform
