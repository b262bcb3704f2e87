#include "src/auto/machine.hpp"

#include <algorithm>
#include <thread>

#include "kernels/cpu/peak.hpp"
#include "kernels/registry.hpp"

namespace convfilt {

const Strategy* Machine::find(std::string_view name) const {
  for (const Strategy* strategy : strategies)
    if (strategy->name == name) return strategy;
  return nullptr;
}

Machine this_machine() {
  static const int cores = int(std::max(1u, std::thread::hardware_concurrency()));  // reads a file
  return {strategies(), cores, built_with_cuda(), cuda_devices, cuda_fft_missing, known_profiles};
}

bool has_cuda(const Machine& machine) {
  return machine.built_with_cuda && !machine.cuda().devices.empty();
}

int useful_threads(int wanted, const Machine& machine) {
  return wanted > 0 ? std::min(wanted, machine.cores) : machine.cores;
}

CpuRates cpu_rates(const Machine& machine) {
  const Profile* profile = profile_for(machine.profiles(), cpu::name());
  return profile ? profile->cpu : CpuRates{};
}

}  // namespace convfilt
