/// FFT and GEMM of the backend that is compiled for, beside what launch.hpp gives.
///
/// All have the interface of cpu/fft.hpp and cpu/gemm.hpp, but are made for a Stream instead of a
/// number of threads, and take device memory.
#pragma once

#include "kernels/backend/launch.hpp"

#if defined(CONVFILT_EMULATE)
#include "kernels/backend/emulator/libraries.hpp"
#elif defined(CONVFILT_HOST)
#include "kernels/backend/emulator/libraries.hpp"
namespace convfilt::host {
using emulator::Fft;
using emulator::Gemm;
}  // namespace convfilt::host
#else
#include "kernels/backend/cuda/fft.hpp"
#include "kernels/backend/cuda/gemm.hpp"
#endif
