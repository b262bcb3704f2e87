/// FFT and GEMM of the emulator and the host backend: the CPU's.
#pragma once

#include "kernels/backend/emulator/owners.hpp"
#include "kernels/backend/host/fft.hpp"
#include "kernels/backend/host/gemm.hpp"

namespace convfilt::emulator {

class Fft : public cpu::Fft {
 public:
  Fft(int columns, int rows, int batch, const Stream& stream)
      : cpu::Fft(columns, rows, batch, stream.threads()) {}
};

class Gemm : public cpu::Gemm {
 public:
  explicit Gemm(const Stream& stream) : cpu::Gemm(stream.threads()) {}
};

}  // namespace convfilt::emulator
