/// tensor's way for three interleaved channels on devices whose warpgroups multiply (sm_90).
#pragma once

#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// A plan for a mask and a picture that this takes better than tensor_groups.cu does, on a device
/// with warpgroups; otherwise none.
std::unique_ptr<Plan> colour_plan(const Problem&, const PlanOptions&);

}  // namespace convfilt::CONVFILT_BACKEND
