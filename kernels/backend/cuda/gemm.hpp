/// Products of matrices on the device, by cuBLAS.
#pragma once

#include <cublas_v2.h>

#include "kernels/backend/cuda/owners.hpp"
#include "kernels/contract/plane_view.hpp"

namespace convfilt::cuda {

/// It has the interface of cpu::Gemm, over device memory, in the stream that it was made for. It
/// computes in single precision, without TF32.
class Gemm {
 public:
  explicit Gemm(const Stream& stream);
  Gemm(const Gemm&) = delete;
  Gemm& operator=(const Gemm&) = delete;
  ~Gemm();

  /// Sets c to a * b, or adds a * b to c.
  void multiply(PlaneView<const float> a, PlaneView<const float> b, PlaneView<float> c,
                bool add = false) const;

 private:
  cublasHandle_t handle_ = nullptr;
};

}  // namespace convfilt::cuda
