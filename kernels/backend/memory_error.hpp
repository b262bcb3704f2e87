/// Too little device memory, which a caller may step round: a smaller problem may fit.
#pragma once

#include "kernels/strategy.hpp"

namespace convfilt {

struct DeviceMemoryError : DeviceError {
  using DeviceError::DeviceError;
};

}  // namespace convfilt
