/// Products of matrices on the CPU, by Eigen.
#pragma once

#include "kernels/contract/plane_view.hpp"

namespace convfilt::cpu {

/// Row-major matrices of single precision are planes: width = columns, height = rows, stride =
/// leading dimension.
class Gemm {
 public:
  explicit Gemm(int threads) : threads_(threads) {}

  /// c = a * b, or added to c. No two of them overlap.
  void multiply(PlaneView<const float> a, PlaneView<const float> b, PlaneView<float> c,
                bool add = false) const;

 private:
  int threads_;
};

}  // namespace convfilt::cpu
