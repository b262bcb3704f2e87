/// Products of matrices on the CPU, by Eigen.
#pragma once

#include "kernels/contract/plane_view.hpp"

namespace convfilt::cpu {

/// Planes stand for row-major matrices in single precision: the width is the number of columns, the
/// height that of rows, and the stride is the leading dimension.
class Gemm {
 public:
  explicit Gemm(int threads) : threads_(threads) {}

  /// Sets c to a * b, or adds a * b to c. No two of them may overlap.
  void multiply(PlaneView<const float> a, PlaneView<const float> b, PlaneView<float> c,
                bool add = false) const;

 private:
  int threads_;
};

}  // namespace convfilt::cpu
