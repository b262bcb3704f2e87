/// FFT and GEMM of the backend that is compiled for, beside what launch.hpp gives.
///
/// They have the interface of backend/host/fft.hpp and backend/host/gemm.hpp, but are made for a
/// Stream instead of a number of threads. On CUDA they work in device memory. The emulator and the
/// host use the libraries of the CPU.
#pragma once

#include "kernels/backend/launch.hpp"

#if defined(CONVFILT_EMULATE) || defined(CONVFILT_HOST)

#include "kernels/backend/host/fft.hpp"
#include "kernels/backend/host/gemm.hpp"

namespace convfilt::CONVFILT_BACKEND {

class Fft : public cpu::Fft {
 public:
  Fft(int columns, int rows, int batch, const Stream& stream)
      : cpu::Fft(columns, rows, batch, stream.threads()) {}
};

class Gemm : public cpu::Gemm {
 public:
  explicit Gemm(const Stream& stream) : cpu::Gemm(stream.threads()) {}
};

}  // namespace convfilt::CONVFILT_BACKEND

#else

#include "kernels/backend/cuda/libraries.hpp"

#endif
