#include "kernels/backend/devices.hpp"

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

double fp32_peak(const CudaDevice& device) {
  // A fused multiply-add is two operations.
  return 2.0 * device.clock_hz * device.multiprocessors * fp32_units(device.major, device.minor);
}

}  // namespace convfilt
