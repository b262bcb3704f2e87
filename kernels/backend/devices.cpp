#include "kernels/backend/devices.hpp"

#include "kernels/backend/device_queue.hpp"

namespace convfilt {
namespace {

/// Single-precision units of a multiprocessor, by compute capability (CUDA C++ Programming Guide,
/// "Arithmetic Instructions": results per clock cycle and multiprocessor).
int fp32_units(int major, int minor) {
  if (major == 7) return 64;
  if (major == 8) return minor == 0 ? 64 : 128;
  return major >= 9 ? 128 : 0;
}

}  // namespace

void require_capability(std::string_view strategy, const Needs& needs, int ordinal) {
  if (needs.major == 0) return;
  for (const CudaDevice& device : cuda_devices().devices) {
    if (device.ordinal != ordinal) continue;
    if (const std::string reason = needs.refusal_of(device); !reason.empty())
      throw DeviceError("strategy '" + std::string(strategy) + "': " + reason);
  }
}

double fp32_peak(const CudaDevice& device) {
  // A fused multiply-add is two operations.
  return 2.0 * device.clock_hz * device.multiprocessors * fp32_units(device.major, device.minor);
}

// These are the answers of a build without CUDA. cuda/devices.cpp has those of a build with it.
#ifndef CONVFILT_HAS_CUDA

const CudaDevices& cuda_devices() {
  static const auto& none = *new const CudaDevices{
      {},
      "this build has no CUDA; where nvcc is found, CONVFILT_CUDA=AUTO samples/setup.sh builds one "
      "that has, and the CPU does the same without a GPU"};
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

struct DeviceQueue::State {};
DeviceQueue::DeviceQueue(int) {
  throw DeviceError(cuda_devices().missing);
}
DeviceQueue::~DeviceQueue() = default;
void* DeviceQueue::stream() const {
  return nullptr;
}
std::byte* DeviceQueue::reserve(std::size_t) {
  return nullptr;
}
void DeviceQueue::release() {}
void DeviceQueue::synchronize() const {}

#endif

// This is the answer of a build without cuFFT. cuda/libraries.cpp has that of a build with it.
#ifndef CONVFILT_HAS_CUDA_LIBRARIES

std::string cuda_fft_missing() {
  return "this build has no cuFFT; build it where cufft.h is found, or use --device=cpu";
}

#endif

}  // namespace convfilt
