// The upper quarters of a matrix have the numbers 0 and 1, and the lower ones 2 and 3.

#include "kernels/transform/strassen.hpp"

#include <iterator>

#include "kernels/transform/grid.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {
namespace {

/// One quarter of a matrix plus `sign` times another.
struct Factor {
  int quarter, other, sign;
};

/// One of the products, and its sign in each quarter of the result.
struct Recipe {
  Factor left, right;
  int signs[4];
};

constexpr Recipe kRecipes[] = {
    {{0, 3, 1}, {0, 3, 1}, {1, 0, 0, 1}},   // (A11 + A22) (B11 + B22)
    {{2, 3, 1}, {0, 0, 0}, {0, 0, 1, -1}},  // (A21 + A22) B11
    {{0, 0, 0}, {1, 3, -1}, {0, 1, 0, 1}},  // A11 (B12 - B22)
    {{3, 3, 0}, {2, 0, -1}, {1, 0, 1, 0}},  // A22 (B21 - B11)
    {{0, 1, 1}, {3, 3, 0}, {-1, 1, 0, 0}},  // (A11 + A12) B22
    {{2, 0, -1}, {0, 1, 1}, {0, 0, 0, 1}},  // (A21 - A11) (B11 + B12)
    {{1, 3, -1}, {2, 3, 1}, {1, 0, 0, 0}},  // (A12 - A22) (B21 + B22)
};
static_assert(std::size(kRecipes) == kStrassenProducts, "one recipe for each product");

template <class T>
CONVFILT_HD PlaneView<T> quarter(const PlaneView<T>& m, int q) {
  const int columns = m.width / 2, rows = m.height / 2;
  return {m.row(q / 2 * rows) + q % 2 * columns, columns, rows, m.stride};
}

__global__ void combine_kernel(PlaneView<float> a, PlaneView<float> b, int sign,
                               PlaneView<float> sum) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < sum.width && y < sum.height) sum.row(y)[x] = a.row(y)[x] + sign * b.row(y)[x];
}

__global__ void add_product_kernel(PlaneView<float> product, PlaneView<float> result, Recipe recipe,
                                   int first) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= product.width || y >= product.height) return;
  for (int q = 0; q < 4; ++q) {
    float& sum = quarter(result, q).row(y)[x];
    sum = (first ? 0.0f : sum) + recipe.signs[q] * product.row(y)[x];
  }
}

}  // namespace

std::vector<float> strassen_factors(const std::vector<float>& right, int rows, int columns) {
  const PlaneView<const float> matrix{right.data(), columns, rows, columns};
  std::vector<float> factors;
  factors.reserve(right.size() / 4 * kStrassenProducts);
  for (const Recipe& recipe : kRecipes) {
    const auto a = quarter(matrix, recipe.right.quarter), b = quarter(matrix, recipe.right.other);
    for (int y = 0; y < rows / 2; ++y) {
      for (int x = 0; x < columns / 2; ++x) {
        factors.push_back(a.row(y)[x] + float(recipe.right.sign) * b.row(y)[x]);
      }
    }
  }
  return factors;
}

std::size_t strassen_space(int left_rows, int inner, int columns) {
  return std::size_t(left_rows / 2) * (inner / 2 + columns / 2);
}

void strassen_multiply(const Gemm& gemm, PlaneView<float> left, const float* factors,
                       PlaneView<float> result, float* space, const Stream& stream) {
  const int rows = left.height / 2, inner = left.width / 2, columns = result.width / 2;
  const PlaneView<float> combined{space, inner, rows, inner};
  const PlaneView<float> product{space + std::ptrdiff_t(rows) * inner, columns, rows, columns};
  for (int k = 0; k < kStrassenProducts; ++k) {
    const Recipe& recipe = kRecipes[k];
    PlaneView<float> factor = quarter(left, recipe.left.quarter);
    if (recipe.left.sign != 0) {
      launch_over(inner, rows, 1, stream, combine_kernel, factor, quarter(left, recipe.left.other),
                  recipe.left.sign, combined);
      factor = combined;
    }
    gemm.multiply({factor.data, inner, rows, factor.stride},
                  {factors + std::ptrdiff_t(k) * inner * columns, columns, inner, columns},
                  product);
    launch_over(columns, rows, 1, stream, add_product_kernel, product, result, recipe, int(k == 0));
  }
}

}  // namespace convfilt::CONVFILT_BACKEND::transform
