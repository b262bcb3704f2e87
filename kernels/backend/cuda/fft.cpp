#include "kernels/backend/cuda/fft.hpp"

#include <algorithm>
#include <string>

#include "kernels/backend/cuda/library.hpp"
#include "kernels/backend/devices.hpp"

namespace convfilt::cuda {
namespace {

#define CUFFT_FUNCTION(name) decltype(&::name) name = library.function<decltype(&::name)>(#name)

struct Cufft {
  Library library{"cuFFT", {"libcufft.so.12", "libcufft.so.11"}};  // CUDA 13, CUDA 12
  CUFFT_FUNCTION(cufftCreate);
  CUFFT_FUNCTION(cufftDestroy);
  CUFFT_FUNCTION(cufftSetAutoAllocation);
  CUFFT_FUNCTION(cufftSetStream);
  CUFFT_FUNCTION(cufftSetWorkArea);
  CUFFT_FUNCTION(cufftMakePlanMany64);
  CUFFT_FUNCTION(cufftExecR2C);
  CUFFT_FUNCTION(cufftExecC2R);
};

const Cufft& cufft() {
  static const Cufft functions;
  return functions;
}

void check(cufftResult result, const char* call) {
  if (result == CUFFT_SUCCESS) return;
  const std::string what = "cuFFT: error " + std::to_string(int(result)) + " in " + call;
  if (result == CUFFT_ALLOC_FAILED)
    throw DeviceMemoryError(what + "; free device memory, or use --device=cpu");
  throw DeviceError(what + "; try --device=cpu, or a strategy of the direct family");
}

#define CUFFT_CHECK(call) check(cufft().call, #call)

}  // namespace

CufftPlan::CufftPlan(int columns, int rows, int batch, cufftType type, const Stream& stream) {
  CUFFT_CHECK(cufftCreate(&handle_));
  try {
    long long sizes[] = {rows, columns};
    const bool lines = rows == 1;
    CUFFT_CHECK(cufftSetAutoAllocation(handle_, 0));
    CUFFT_CHECK(cufftMakePlanMany64(handle_, lines ? 1 : 2, lines ? sizes + 1 : sizes, nullptr, 1,
                                    0, nullptr, 1, 0, type, batch, &workspace_bytes_));
    CUFFT_CHECK(cufftSetStream(handle_, stream.get()));
  } catch (...) {
    cufft().cufftDestroy(handle_);
    throw;
  }
}

CufftPlan::~CufftPlan() {
  CUDA_IGNORE(cufft().cufftDestroy(handle_));
}

Fft::Fft(int columns, int rows, int batch, const Stream& stream)
    : forward_(columns, rows, batch, CUFFT_R2C, stream),
      inverse_(columns, rows, batch, CUFFT_C2R, stream) {}

std::size_t Fft::workspace_bytes() const {
  return std::max(forward_.workspace_bytes(), inverse_.workspace_bytes());
}

void Fft::use_workspace(std::byte* memory) {
  if (workspace_bytes() == 0) return;
  CUFFT_CHECK(cufftSetWorkArea(forward_.get(), memory));
  CUFFT_CHECK(cufftSetWorkArea(inverse_.get(), memory));
}

void Fft::forward(const float* samples, Complex* spectra) const {
  CUFFT_CHECK(cufftExecR2C(forward_.get(), const_cast<float*>(samples),
                           reinterpret_cast<cufftComplex*>(spectra)));
}

void Fft::inverse(Complex* spectra, float* samples) const {
  CUFFT_CHECK(cufftExecC2R(inverse_.get(), reinterpret_cast<cufftComplex*>(spectra), samples));
}

}  // namespace convfilt::cuda

namespace convfilt {

std::string cuda_fft_missing() {
  try {
    cuda::cufft();
  } catch (const DeviceError& missing) {
    return missing.what();
  }
  return "";
}

}  // namespace convfilt
