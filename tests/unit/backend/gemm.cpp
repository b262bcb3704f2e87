/// The CPU's matrix products against sums written out.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/backend/host/gemm.hpp"
#include "tests/support/picture.hpp"

namespace convfilt::test {
namespace {

constexpr float kUntouched = 12345;

struct Matrix {
  int rows, columns, stride;
  std::vector<float> values;

  Matrix(int rows_, int columns_, int gap)
      : rows(rows_),
        columns(columns_),
        stride(columns_ + gap),
        values(std::size_t(stride) * rows_, kUntouched) {}

  void fill(Random& random) {
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) at(y, x) = float(random.real(-1, 1));
    }
  }
  float& at(int y, int x) { return values[std::size_t(y) * stride + x]; }
  PlaneView<float> view() { return {values.data(), columns, rows, stride}; }
  PlaneView<const float> view() const { return {values.data(), columns, rows, stride}; }
};

void check_product(int rows, int inner, int columns, int gap, int threads) {
  INFO(rows << " x " << inner << " x " << columns << ", gap " << gap);
  Random random(rows + 7 * inner + 13 * columns);
  Matrix a(rows, inner, gap), b(inner, columns, 2 * gap), c(rows, columns, 3 * gap);
  a.fill(random);
  b.fill(random);
  cpu::Gemm(threads).multiply(std::as_const(a).view(), std::as_const(b).view(), c.view());
  double furthest = 0;
  bool gaps_untouched = true;
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < c.stride; ++x) {
      if (x >= columns) {
        gaps_untouched = gaps_untouched && c.at(y, x) == kUntouched;
        continue;
      }
      double sum = 0;
      for (int k = 0; k < inner; ++k) sum += double(a.at(y, k)) * b.at(k, x);
      furthest = std::max(furthest, std::abs(c.at(y, x) - sum));
    }
  }
  CHECK(furthest <= 1e-6 * std::sqrt(double(inner)) + 1e-7);
  CHECK(gaps_untouched);
}

}  // namespace

TEST_CASE("products of matrices of many shapes, with gaps between the rows") {
  for (int gap : {0, 3}) {
    check_product(1, 1, 1, gap, 1);
    check_product(5, 7, 3, gap, 1);
    check_product(600, 25, 1, gap, 2);   // a column of weights
    check_product(1, 25, 1000, gap, 2);  // a row of weights
    check_product(300, 180, 64, gap, 2);
    check_product(64, 200, 513, gap, 0);
  }
}

}  // namespace convfilt::test
