/// The CUDA devices of this machine, and why there are none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/strategy.hpp"

namespace convfilt {

struct CudaDevices {
  std::vector<CudaDevice> devices;
  std::string missing;  ///< without devices: what is missing (build, driver, device), the remedy
};

/// Asks the driver, once, which costs some 0.1 to 0.3 s the first time where a driver is installed.
const CudaDevices& cuda_devices();

/// Throws DeviceError, which names the strategy, when that device lacks the compute capability that
/// the strategy needs. Asks the driver only for a strategy that needs one.
void require_capability(std::string_view strategy, const Needs& needs, int ordinal);

/// Tensor cores multiply bytes in the layout of tensor_core.hpp from this compute capability on.
inline constexpr int kTensorCoreMajor = 8;

/// Warpgroups multiply bytes together at this compute capability alone (warpgroup.hpp).
inline constexpr int kWarpgroupMajor = 9;

/// Whether warpgroups of that device multiply bytes together: it has compute capability 9.0, and
/// this build has machine code for sm_90a.
bool has_warpgroups(const CudaDevice& device);

/// Why CUDA has no Fourier transforms on this machine, with the remedy; empty where it has. Loads
/// cuFFT.
std::string cuda_fft_missing();

/// False in a build without CUDA. Costs nothing.
bool built_with_cuda();

/// Single-precision operations a second, a fused multiply-add being two, with all units busy at the
/// highest clock; 0 for a compute capability that is not known here.
double fp32_peak(const CudaDevice& device);

/// Milliseconds of copies of that many bytes inside a device: what a kernel that reads and writes
/// them once is measured against. Empty in a build without CUDA.
std::vector<double> time_device_copy(std::size_t bytes, int repeats, int ordinal = 0);

}  // namespace convfilt
