#include "strategy.hpp"

#include <stdexcept>

namespace convfilt {
namespace {

auto prepare_on(const Strategy& strategy, DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cpu: return strategy.prepare_cpu;
    case DeviceKind::emulator: return strategy.prepare_emulator;
    case DeviceKind::cuda: break;
  }
  return strategy.prepare_cuda;
}

}  // namespace

std::string_view name_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cpu: return "cpu";
    case DeviceKind::emulator: return "emulator";
    case DeviceKind::cuda: return "cuda";
  }
  return "?";
}

std::string_view name_of(Family family) {
  return family == Family::direct ? "direct" : "separable";
}

bool Strategy::runs_on(DeviceKind kind) const {
  return prepare_on(*this, kind) != nullptr;
}

std::unique_ptr<Plan> Strategy::prepare(const Problem& problem, DeviceKind kind,
                                        const PlanOptions& options) const {
  const auto prepare = prepare_on(*this, kind);
  if (!prepare) {
    throw std::invalid_argument(std::string(name) + " does not run on " +
                                std::string(name_of(kind)));
  }
  if (const std::string reason = refuses(problem); !reason.empty()) {
    throw std::invalid_argument(std::string(name) + " refuses " + to_string(problem) + ": " +
                                reason);
  }
  return prepare(problem, options);
}

}  // namespace convfilt
