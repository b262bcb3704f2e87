/// The best rates of a device, which the times of `compare` are held against.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "kernels/strategy.hpp"

namespace convfilt {

/// A device as a row names it.
struct Location {
  DeviceKind kind = DeviceKind::cpu;
  int ordinal = 0;  ///< CUDA only

  auto operator<=>(const Location&) const = default;
};

/// "cpu", "emulator", "cuda:0".
std::string name_of(const Location& location);

struct Peak {
  std::string name;  ///< the processor's or GPU's
  int threads = 0;   ///< the processor's; 0 for a GPU
  double fp32 = 0;   ///< operations a second, a multiply-add being two; 0 = not known
};

/// Measures each thing once.
class DeviceLimits {
 public:
  /// `threads` of the CPU; 0 = all cores.
  explicit DeviceLimits(int threads) : threads_(threads) {}

  const Peak& peak(const Location& location);

  /// Milliseconds of a copy of that many bytes on the device, the median of several; the emulator
  /// has none.
  double copy_ms(const Location& location, std::size_t bytes);

 private:
  int threads_;
  std::map<Location, Peak> peaks_;
  std::map<std::pair<Location, std::size_t>, double> copies_;
};

}  // namespace convfilt
