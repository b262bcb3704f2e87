#include "src/auto/cheapest.hpp"

#include <cstdio>

#include "src/auto/gpu_cost.hpp"

namespace convfilt {

Preferred cheapest(Family family, int major, const Problem& problem, const Machine& machine) {
  struct {
    const Strategy* strategy = nullptr;
    double time = 0;
  } best, without_fft;
  for (const Strategy* strategy : machine.strategies) {
    if (strategy->family != family || !strategy->runs_on(DeviceKind::cuda)) continue;
    const auto time = microseconds_of(*strategy, problem, major);
    if (!time || major < strategy->needs.major || !strategy->refusal(problem).empty()) continue;
    if (!best.strategy || *time < best.time) best = {strategy, *time};
    if (strategy->needs.fft) continue;
    if (!without_fft.strategy || *time < without_fft.time) without_fft = {strategy, *time};
  }
  if (!best.strategy) return {};
  if (best.strategy->needs.fft && without_fft.strategy && !machine.fft_missing().empty())
    best = without_fft;
  char text[64];
  std::snprintf(text, sizeof text, ", some %.2g ms on an H200", best.time / 1e3);
  return {best.strategy, text};
}

}  // namespace convfilt
