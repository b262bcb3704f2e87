/// cuFFT and cuBLAS, which are loaded when they are first used, so that the program starts fast and
/// runs where they are missing.
#pragma once

#include <cublas_v2.h>
#include <cufft.h>

#include <cstddef>

#include "kernels/backend/cuda/owners.hpp"
#include "kernels/backend/fourier.hpp"
#include "kernels/contract/plane_view.hpp"

namespace convfilt::cuda {

/// One direction of a batch of transforms.
class CufftPlan {
 public:
  CufftPlan(int columns, int rows, int batch, cufftType type);
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;
  ~CufftPlan();

  cufftHandle get() const { return handle_; }
  std::size_t workspace_bytes() const { return workspace_bytes_; }

 private:
  cufftHandle handle_ = 0;
  std::size_t workspace_bytes_ = 0;
};

/// Fourier transforms on the device. It has the interface of cpu::Fft, over device memory, in the
/// stream that it was made for. The Stream must outlive it.
class Fft {
 public:
  Fft(int columns, int rows, int batch, const Stream& stream);

  /// An estimate of workspace_bytes() before there is a plan. cuFFT takes at most a copy of the
  /// spectra at good_fft_size().
  static std::size_t estimated_workspace(int columns, int rows, int batch) {
    return (std::size_t(columns) / 2 + 1) * rows * batch * sizeof(Complex);
  }
  std::size_t workspace_bytes() const;

  /// It must be called before a transform, with workspace_bytes() of device memory.
  void use_workspace(std::byte* memory);

  void forward(const float* samples, Complex* spectra) const;

  /// The spectra are overwritten.
  void inverse(Complex* spectra, float* samples) const;

 private:
  const Stream& stream_;
  CufftPlan forward_, inverse_;
};

/// Products of matrices on the device. It has the interface of cpu::Gemm, over device memory, in
/// the stream that it was made for. The Stream must outlive it. It computes in single precision,
/// without TF32.
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
  const Stream& stream_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace convfilt::cuda
