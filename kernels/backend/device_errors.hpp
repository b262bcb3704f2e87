/// Failures of a device that a caller may step round: another problem or strategy may do.
#pragma once

#include "kernels/strategy.hpp"

namespace convfilt {

/// Too little device memory.
struct DeviceMemoryError : DeviceError {
  using DeviceError::DeviceError;
};

/// A library that the strategy needs cannot be loaded.
struct MissingLibraryError : DeviceError {
  using DeviceError::DeviceError;
};

}  // namespace convfilt
