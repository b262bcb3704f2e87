/// Weights of 0 in float pictures that have NaN or infinities.
///
/// 0 times NaN is NaN, so that kernels, which multiply every weight with every sample, spread it
/// over the whole mask. An output without such a sample under the mask is finite. So the others are
/// computed anew from the weights that are not 0, tap by tap as the direct family does
/// (contract/arithmetic.hpp). The kernels pay nothing for it, and finite pictures a look at the
/// results, only where the mask has a 0.
#pragma once

#include <memory>
#include <optional>

#include "kernels/plan/band.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// The plan of a family, which then takes no sample under a weight of 0; the plan itself where it
/// never does, and of transforms, which are for finite pictures. On a GPU this holds for run(), and
/// not for run_resident().
std::unique_ptr<Plan> without_zero_weights(const Problem& problem, Family family, int threads,
                                           std::unique_ptr<Plan> plan);

/// The same for a worker of bands on one thread. `border_alpha`: prepare_direct_bands.
std::unique_ptr<Worker> bands_without_zero_weights(const Problem& problem, Family family,
                                                   std::optional<double> border_alpha,
                                                   std::unique_ptr<Worker> worker);

}  // namespace convfilt
