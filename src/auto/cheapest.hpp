/// The strategy that auto takes on a GPU, from a family.
#pragma once

#include <optional>

#include "src/auto/machine.hpp"

namespace convfilt {

struct Cheapest {
  const Strategy* strategy = nullptr;  ///< null where no strategy of the family runs there
  std::optional<double> ms;            ///< its kernels' time, where the profile knows
};

/// Direct and separable strategies of a family give the same bytes, so the profile's fastest is
/// taken. Transforms may differ by a rounding, so the first in the order of order.hpp is taken,
/// which depends on the problem alone; without cuFFT, the first that does not need it, if there is
/// one. Without a profile, or if it knows no strategy for the problem, the strategy that needs the
/// newest device is taken, and of these the last in the registry.
Cheapest cheapest(Family family, const CudaDevice& device, const Problem& problem,
                  const Machine& machine, const Profile* profile);

}  // namespace convfilt
