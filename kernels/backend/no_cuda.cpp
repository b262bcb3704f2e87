// devices.hpp in a build without CUDA.

#include "kernels/backend/devices.hpp"

namespace convfilt {

const CudaDevices& cuda_devices() {
  static const CudaDevices none{
      {}, "this build has no CUDA; build it where nvcc is found, or use --device=cpu"};
  return none;
}

bool has_warpgroups(const CudaDevice&) {
  return false;
}

bool built_with_cuda() {
  return false;
}

std::vector<double> time_device_copy(std::size_t, int, int) {
  return {};
}

}  // namespace convfilt
