/// What there is to choose from: strategies, devices and profiles.
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

/// A test puts its own in.
struct Machine {
  std::span<const Strategy* const> strategies;
  int cores = 1;
  bool built_with_cuda = false;
  std::function<const CudaDevices&()> cuda;  ///< slow: asked only when the answer matters
  std::function<std::string()> fft_missing;  ///< why CUDA has no FFT here; empty where it has
  std::function<const std::vector<Profile>&()> profiles = known_profiles;  ///< reads files

  /// Null where there is no strategy of that name.
  const Strategy* find(std::string_view name) const;
};

/// The registry and this machine. Costs nothing; CUDA is not asked.
Machine this_machine();

/// Whether there is a CUDA device. Slow in a build with CUDA.
bool has_cuda(const Machine& machine);

/// CPU threads that a request makes use of: those beyond the cores make nothing faster.
int useful_threads(int wanted, const Machine& machine);

/// What a core of this machine takes, by the profile that knows its processor or is nearest.
CpuRates cpu_rates(const Machine& machine);

}  // namespace convfilt
