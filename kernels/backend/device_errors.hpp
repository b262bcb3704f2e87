/// Failures of a device that a caller may step round: another problem or strategy may do.
#pragma once

#include "kernels/strategy.hpp"

namespace convfilt {

/// Too little device memory.
struct DeviceMemoryError : DeviceError {
  using DeviceError::DeviceError;
};

/// A CUDA library that the strategy needs is not on this machine.
struct MissingLibraryError : DeviceError {
  using DeviceError::DeviceError;
};

}  // namespace convfilt
