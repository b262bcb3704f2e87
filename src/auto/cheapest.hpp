/// Which strategy of a family auto takes on a GPU.
#pragma once

#include <optional>

#include "src/auto/choice.hpp"

namespace convfilt {

struct Cheapest {
  const Strategy* strategy = nullptr;  ///< null where no strategy of the family runs there
  std::optional<double> ms;            ///< of its kernels, where the profile knows
};

/// In the direct and the separable family, whose strategies give the same bytes, this is the
/// strategy that takes the least time by the profile. Without a profile, or where it knows no
/// strategy that takes the problem, it is the one that needs the newest device, and the last of
/// these in the registry. Transforms may differ by a rounding, so there the problem alone decides;
/// where cuFFT is missing, one that needs none is taken if it takes the problem.
Cheapest cheapest(Family family, const CudaDevice& device, const Problem& problem,
                  const Machine& machine, const Profile* profile);

}  // namespace convfilt
