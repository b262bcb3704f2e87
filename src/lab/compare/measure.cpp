#include "src/lab/compare/measure.hpp"

#include <algorithm>

#include "kernels/backend/devices.hpp"
#include "src/auto/choice.hpp"
#include "src/base/errors.hpp"

namespace convfilt {
namespace {

/// The places where a strategy runs unless one is asked for. It runs on a GPU if there is one, on
/// the CPU if it has code of its own for that or there is no GPU, and in the emulator only for want
/// of both.
std::vector<Location> locations_for(const Strategy& strategy, const Wanted& wanted,
                                    const Machine& machine) {
  if (wanted.kind) return {{*wanted.kind, wanted.ordinal}};
  std::vector<Location> locations;
  if (strategy.runs_on(DeviceKind::cuda) && has_cuda(machine))
    locations.push_back({DeviceKind::cuda, 0});
  // A kernel's source in plain loops on the CPU shows nothing beside the GPU, and takes long.
  const bool own_code = strategy.family == Family::direct || strategy.family == Family::separable;
  if (strategy.runs_on(DeviceKind::cpu) && (own_code || locations.empty()))
    locations.push_back({DeviceKind::cpu, 0});
  if (locations.empty()) locations.push_back({DeviceKind::emulator, 0});
  return locations;
}

/// The choice of `auto` for a picture of low contrast. Where it refuses, the choice has a reason
/// and no strategy.
Choice choice_of_auto(Problem problem, const Request& request, const Machine& machine) {
  problem.contrast = 1;
  try {
    return choose(problem, 1, request, machine);
  } catch (const UsageError& error) {
    return {nullptr, DeviceKind::cpu, 0, error.what(), ""};
  }
}

std::string told(const Choice& choice) {
  if (!choice.strategy) return "nothing: " + choice.why;
  return std::string(choice.strategy->name) + " on " +
         name_of(Location{choice.device, choice.ordinal}) + " (" + choice.why + ")";
}

/// How much faster than the baseline each row is, and how much slower than the fastest, by the time
/// an output takes.
void compare_with_each_other(std::vector<Row>& rows) {
  for (Row& row : rows) {
    if (!row.times) continue;
    row.times->best = 1;
    for (const Row& other : rows) {
      if (!other.times || other.location != row.location) continue;
      const double speed = row.times->pixels_per_second / other.times->pixels_per_second;
      if (other.contender == kBaseline) row.times->basic = speed;
      row.times->best = std::max(*row.times->best, 1 / speed);
    }
  }
}

std::vector<DeviceFacts> facts_of(const std::vector<Row>& rows, std::size_t bytes,
                                  DeviceLimits& limits) {
  std::vector<DeviceFacts> facts;
  for (const Row& row : rows) {
    const bool is_known = std::ranges::count(facts, row.location, &DeviceFacts::location) > 0;
    if (!row.refusal.empty() || is_known) continue;
    DeviceFacts fact{row.location, limits.peak(row.location)};
    if (row.location.kind != DeviceKind::emulator) {
      fact.copy_ms = limits.copy_ms(row.location, bytes);
      fact.bytes_per_second = 2e3 * double(bytes) / fact.copy_ms;
    }
    facts.push_back(std::move(fact));
  }
  std::stable_partition(facts.begin(), facts.end(), [](const DeviceFacts& f) {
    return f.location.kind != DeviceKind::emulator;
  });
  return facts;
}

}  // namespace

Comparison compare(const Problem& problem, const Image& picture, const CompareOptions& options,
                   const Machine& machine, DeviceLimits& limits, const Progress& progress) {
  const Wanted wanted = wanted_device(options.request.device, machine);
  Comparison comparison;
  comparison.problem = problem;
  comparison.sample_unit = unit_of(problem, picture.view());
  const Choice choice = choice_of_auto(problem, options.request, machine);
  comparison.auto_choice = told(choice);

  Bench bench({problem, picture, options, machine, limits});
  std::vector<Contender> contenders, emulated;
  for (Contender contender : options.contenders) {
    if (!contender.strategy) contender.strategy = choice.strategy;
    if (!contender.strategy || std::ranges::count(contenders, contender) > 0) continue;
    contenders.push_back(contender);
    const std::vector<Location> there = locations_for(*contender.strategy, wanted, machine);
    if (there.front().kind == DeviceKind::emulator) emulated.push_back(contender);
  }
  const Problem counted = emulated_crop(bench, emulated);
  for (const Contender& contender : contenders) {
    for (const Location& location : locations_for(*contender.strategy, wanted, machine)) {
      progress(name_of(contender) + " on " + name_of(location));
      Row row = measure_row(bench, contender, location,
                            location.kind == DeviceKind::emulator ? &counted : nullptr);
      row.by_auto = contender == Contender{choice.strategy, {}} &&
                    location == Location{choice.device, choice.ordinal};
      comparison.rows.push_back(std::move(row));
    }
  }
  compare_with_each_other(comparison.rows);
  progress("the copy");
  if (mode_refuses(problem).empty())
    comparison.devices = facts_of(comparison.rows, bench.whole().bytes(), limits);
  return comparison;
}

}  // namespace convfilt
