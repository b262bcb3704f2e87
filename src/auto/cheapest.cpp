#include "src/auto/cheapest.hpp"

#include <string_view>
#include <vector>

#include "src/auto/order.hpp"

namespace convfilt {
namespace {

/// The strategies of the family that run on the device and take the problem.
std::vector<const Strategy*> candidates(Family family, const CudaDevice& device,
                                        const Problem& problem, const Machine& machine) {
  std::vector<const Strategy*> found;
  const auto add = [&](const Strategy& strategy) {
    if (strategy.family == family && strategy.runs_on(DeviceKind::cuda) &&
        device.major >= strategy.needs.major && strategy.refusal(problem).empty())
      found.push_back(&strategy);
  };
  if (family != Family::transform) {
    for (const Strategy* strategy : machine.strategies) add(*strategy);
    return found;
  }
  for (const std::string_view name : order_of(family, DeviceKind::cuda, problem))
    if (const Strategy* strategy = machine.find(name)) add(*strategy);
  // cuFFT is asked for last: loading it takes long.
  if (found.empty() || !found.front()->needs.fft) return found;
  std::vector<const Strategy*> without;
  for (const Strategy* strategy : found)
    if (!strategy->needs.fft) without.push_back(strategy);
  return without.empty() || machine.fft_missing().empty() ? found : without;
}

}  // namespace

Cheapest cheapest(Family family, const CudaDevice& device, const Problem& problem,
                  const Machine& machine, const Profile* profile) {
  const auto ms_of = [&](const Strategy& strategy) {
    return profile ? profile->ms_of(strategy, problem, device) : std::nullopt;
  };
  const std::vector<const Strategy*> found = candidates(family, device, problem, machine);
  if (found.empty()) return {};
  if (family == Family::transform) return {found.front(), ms_of(*found.front())};
  Cheapest best;
  for (const Strategy* strategy : found) {
    const auto ms = ms_of(*strategy);
    if (ms && (!best.ms || *ms < *best.ms)) best = {strategy, ms};
  }
  if (best.strategy) return best;
  for (const Strategy* strategy : found)
    if (!best.strategy || strategy->needs.major >= best.strategy->needs.major)
      best = {strategy, std::nullopt};
  return best;
}

}  // namespace convfilt
