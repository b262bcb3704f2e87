#include "src/auto/cheapest.hpp"

#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace convfilt {
namespace {

// From this many samples of the result on, a GPU takes less time by coarse grids than by a
// transform; fewer do not fill it. Pictures of 8 bits gain earlier, since a transform moves them as
// floats. So do the largest masks: at 257x257 an H200 takes 1.4 times as long by a transform of
// 1920x1080 samples.
constexpr double kLeastCoarseSamplesEarly = 1.5e6, kLeastCoarseSamples = 2.2e6;

// Up to this many pixels, one transform of the whole picture takes less time than blocks, which are
// then too few to fill a GPU. Under a large mask blocks are larger, and so fewer.
constexpr double kMostWholePixels = 0.5e6, kMostWholePixelsLarge = 1e6;
constexpr double kLargeWeights = 91 * 91;

// Under still larger masks most of each block is halo, and one transform always takes less time.
constexpr double kMostBlockWeights = 225.0 * 225;

/// What is tried first, second and third.
std::array<std::string_view, 3> order_of_transforms(const Problem& problem) {
  const double pixels = double(problem.out_width()) * problem.out_height();
  const double weights = double(problem.mask.width) * problem.mask.height;
  const double most_whole = weights < kLargeWeights ? kMostWholePixels : kMostWholePixelsLarge;
  const bool whole = pixels <= most_whole || weights > kMostBlockWeights;
  const bool early = problem.depth == Depth::u8 || weights > kMostBlockWeights;
  const bool coarse =
      pixels * problem.channels >= (early ? kLeastCoarseSamplesEarly : kLeastCoarseSamples);
  const std::string_view first = whole ? "fft" : "overlap-save";
  const std::string_view second = whole ? "overlap-save" : "fft";
  if (coarse) return {"coarse", first, second};
  return {first, second, "coarse"};
}

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
  for (const std::string_view name : order_of_transforms(problem))
    for (const Strategy* strategy : machine.strategies)
      if (strategy->name == name) add(*strategy);
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
