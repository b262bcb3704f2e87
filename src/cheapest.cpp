#include "cheapest.hpp"

#include <cstdio>

#include "gpu_cost.hpp"

namespace convfilt {

Preferred cheapest(Family family, int major, const Problem& problem, const Machine& machine) {
  const Strategy *best = nullptr, *without_fft = nullptr;
  double least = 0;
  for (const Strategy* strategy : machine.strategies) {
    if (strategy->family != family || !strategy->runs_on(DeviceKind::cuda)) continue;
    const auto time = microseconds_of(*strategy, problem, major);
    if (!time || !runs_on_capability(*strategy, major) || !strategy->refusal(problem).empty())
      continue;
    if (strategy->name == kWithoutFft) without_fft = strategy;
    if (best && *time >= least) continue;
    least = *time;
    best = strategy;
  }
  if (without_fft && best != without_fft && !machine.fft_missing().empty()) {
    best = without_fft;
    least = *microseconds_of(*best, problem, major);
  }
  if (!best) return {};
  char text[64];
  std::snprintf(text, sizeof text, ", some %.2g ms on an H200", least / 1e3);
  return {best, text};
}

}  // namespace convfilt
