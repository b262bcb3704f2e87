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
  std::string missing;  ///< why there are no devices, and the remedy; empty if there are some
};

/// Asks the driver at the first call, which takes 0.1 to 0.3 s where a driver is installed.
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

/// Why CUDA has no Fourier transforms on this machine, with the remedy; empty where it has some.
/// The call loads cuFFT.
std::string cuda_fft_missing();

/// Whether this build has CUDA. The driver is not asked.
bool built_with_cuda();

/// Single-precision operations a second if all units are busy at the highest clock. A fused
/// multiply-add counts as two. The result is 0 for a compute capability that is not known here.
double fp32_peak(const CudaDevice& device);

/// Milliseconds that each of `repeats` copies of that many bytes inside a device takes. Kernels
/// that read and write them once are measured against it. Empty in a build without CUDA.
std::vector<double> time_device_copy(std::size_t bytes, int repeats, int ordinal = 0);

}  // namespace convfilt
