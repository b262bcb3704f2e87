// fft_missing.hpp in a build without cuFFT.

#include "kernels/backend/fft_missing.hpp"

namespace convfilt {

std::string cuda_fft_missing() {
  return "this build has no cuFFT; build it where cufft.h is found, or use --device=cpu";
}

}  // namespace convfilt
