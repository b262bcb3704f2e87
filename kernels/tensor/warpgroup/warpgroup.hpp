/// tensor's way on devices whose warpgroups multiply (sm_90): whole bands out of shared memory.
#pragma once

#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// What explain says of it, beside the kernels of other devices.
inline constexpr char kOnWarpgroups[] =
    "Where warpgroups multiply (sm_90), four warps walk down 1,024 columns of a wide picture "
    "instead.";

/// A plan for a mask and a picture that this takes well, on such a device; otherwise none.
std::unique_ptr<Plan> group_plan(const Problem&, const PlanOptions&);

}  // namespace convfilt::CONVFILT_BACKEND
