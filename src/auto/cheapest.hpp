/// Which strategy of a family auto takes on a GPU.
#pragma once

#include <optional>

#include "src/auto/machine.hpp"

namespace convfilt {

struct Cheapest {
  const Strategy* strategy = nullptr;  ///< null where no strategy of the family runs there
  std::optional<double> ms;            ///< its kernels' time, where the profile knows
};

/// Among direct and separable strategies the one with the least time by the profile: they give the
/// same bytes. Among transforms, whose bytes may differ by a rounding, the first in the order that
/// the problem alone decides (order.hpp); where cuFFT is missing, the first that needs none, if one
/// takes the problem. Without a profile, or where it knows no strategy that takes the problem: what
/// needs the newest device, and of these the last in the registry.
Cheapest cheapest(Family family, const CudaDevice& device, const Problem& problem,
                  const Machine& machine, const Profile* profile);

}  // namespace convfilt
