/// The plans that need no GPU, for the registry.
#pragma once

#include <memory>
#include <optional>

#include "kernels/plan/band.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// Strategy `cpu`: every weight times every sample, in vectors, on all cores.
/// Throws std::invalid_argument where arithmetic_refuses says why.
std::unique_ptr<Plan> prepare_cpu_direct(const Problem& problem, const PlanOptions& options);

/// Strategy `separable`: a row pass, then a column pass. Throws where separable_refuses says why.
std::unique_ptr<Plan> prepare_cpu_separable(const Problem& problem, const PlanOptions& options);

/// The same two for bands. In floats of 4 channels the fourth has `border_alpha` in ghost cells of
/// Border::constant, if it is there, and not the border value.
std::unique_ptr<BandPlan> prepare_direct_bands(const Problem& problem, const PlanOptions& options,
                                               std::optional<double> border_alpha);
std::unique_ptr<BandPlan> prepare_separable_bands(const Problem& problem,
                                                  const PlanOptions& options,
                                                  std::optional<double> border_alpha);

/// Strategy `coarse`, in rows of vectors. Throws where coarse::refuses says why.
std::unique_ptr<Plan> prepare_cpu_coarse(const Problem& problem, const PlanOptions& options);

}  // namespace convfilt
