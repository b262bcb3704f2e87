/// Every strategy, in the textbook's order, and the plans that strategies' plans make together.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/strategy.hpp"

namespace convfilt {

std::span<const Strategy* const> strategies();

/// The strategy of that name, or null.
const Strategy* find_strategy(std::string_view name);

/// Makes a plan for edges of 8-bit pictures: how strongly brightness changes, from the responses to
/// one mask or two. Of each sample it makes a float, has `responses` filter the float picture, and
/// writes sqrt of the sum of the squares of response / divisor, computed in double precision,
/// rounded half to even and saturated. `responses` has a plan for each mask, on the same device,
/// for float pictures of the same shape and mode. `device` is the emulator or CUDA. Throws
/// DeviceError where this build has no CUDA.
std::unique_ptr<Plan> make_edge_plan(DeviceKind device,
                                     std::vector<std::unique_ptr<Plan>> responses,
                                     std::vector<double> divisors, const PlanOptions& options);

}  // namespace convfilt
