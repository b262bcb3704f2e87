/// Every strategy, in the textbook's order, and the plans that strategies' plans make together.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/plan/chain.hpp"
#include "kernels/plan/edges.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

std::span<const Strategy* const> strategies();

/// The strategy of that name, or null.
const Strategy* find_strategy(std::string_view name);

/// Makes a plan for pictures of one channel or three, of bytes or floats, whose result has the
/// answers to the responses to one mask or several: edges, mostly. It makes floats of the samples,
/// or of luma, has `responses` filter them, and writes the answers, computed in double precision;
/// as bytes, rounded half to even and saturated. `responses` has a plan for each mask, at most
/// EdgeAnswers::kMostMasks, on the same device, for float pictures of the same shape and mode.
/// `device` is the emulator or CUDA. Throws DeviceError where this build has no CUDA.
std::unique_ptr<Plan> make_edge_plan(DeviceKind device,
                                     std::vector<std::unique_ptr<Plan>> responses,
                                     const EdgeAnswers& how, const PlanOptions& options);

/// Makes a plan for 8-bit pictures of one channel or three, which makes floats of the samples, has
/// the steps filter them one behind the other, and rounds the last one's result half to even and
/// saturates it. The steps are plans on that device for float pictures, each for the result of the
/// one before. Throws as make_edge_plan() does.
std::unique_ptr<Plan> make_chain_plan(DeviceKind device, std::vector<std::unique_ptr<Plan>> steps,
                                      std::vector<StepResult> results, const PlanOptions& options);

}  // namespace convfilt
