/// The strategies, devices and profiles to choose from.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend/devices.hpp"
#include "kernels/strategy.hpp"
#include "src/auto/profile_store.hpp"

namespace convfilt {

/// Tests replace it.
struct Machine {
  std::span<const Strategy* const> strategies;
  int cores = 1;
  bool built_with_cuda = false;
  std::function<const CudaDevices&()> cuda;  ///< slow: asked only when the answer matters
  std::function<std::string()> fft_missing;  ///< why CUDA has no FFT here; empty where it has
  std::function<const std::vector<Profile>&()> profiles = known_profiles;  ///< reads files

  /// Null if no strategy has that name.
  const Strategy* find(std::string_view name) const;
};

/// The registry and this machine. Takes no time; it does not call CUDA.
Machine this_machine();

/// Whether there is a CUDA device. Slow in a build with CUDA.
bool has_cuda(const Machine& machine);

/// The CPU threads that a request uses: at most the cores, since more make nothing faster.
int useful_threads(int wanted, const Machine& machine);

/// The rates of this machine's cores, from the profile of its processor or the nearest one.
CpuRates cpu_rates(const Machine& machine);

}  // namespace convfilt
