/// The strategies of machines without a GPU, for the registry.
#pragma once

#include <memory>

#include "kernels/strategy.hpp"

namespace convfilt {

/// Strategy `cpu`: every weight times every sample, vectorised, all cores.
/// Throws std::invalid_argument where arithmetic_refuses says why.
std::unique_ptr<Plan> prepare_cpu_direct(const Problem& problem, const PlanOptions& options);

/// Strategy `separable`: row pass, column pass. Throws where separable_refuses says why.
std::unique_ptr<Plan> prepare_cpu_separable(const Problem& problem, const PlanOptions& options);

/// Strategy `coarse`, in rows of vectors. Throws where coarse_refuses says why.
std::unique_ptr<Plan> prepare_cpu_coarse(const Problem& problem, const PlanOptions& options);

}  // namespace convfilt
