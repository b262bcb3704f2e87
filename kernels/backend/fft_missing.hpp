/// Whether CUDA has Fourier transforms on this machine.
#pragma once

#include <string>

namespace convfilt {

/// Why it has none, with the remedy; empty where it has. Loads cuFFT.
std::string cuda_fft_missing();

}  // namespace convfilt
