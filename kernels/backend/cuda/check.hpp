/// Every CUDA call goes through here: a failure becomes a DeviceError that says where.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kernels/backend/device_errors.hpp"
#include "kernels/backend/devices.hpp"

namespace convfilt::cuda {

[[noreturn]] inline void throw_cuda_error(cudaError_t error, const char* call, const char* file,
                                          int line) {
  cudaGetLastError();  // a sticky "last error" would be reported again by the next launch
  const std::string what = std::string("CUDA: ") + cudaGetErrorString(error) + " in " + call +
                           " (" + file + ":" + std::to_string(line) + ")";
  if (error == cudaErrorMemoryAllocation)
    throw DeviceMemoryError(what + "; free device memory, or use --device=cpu");
  throw DeviceError(what + "; try --device=cpu");
}

inline void check(cudaError_t error, const char* call, const char* file, int line) {
  if (error != cudaSuccess) throw_cuda_error(error, call, file, line);
}

}  // namespace convfilt::cuda

#define CUDA_CHECK(call) ::convfilt::cuda::check((call), #call, __FILE_NAME__, __LINE__)
/// Destructors call it, since a failure there cannot be mended, and the call that caused it has
/// reported it.
#define CUDA_IGNORE(call) static_cast<void>(call)
