/// tensor's way on devices whose warpgroups multiply (sm_90): banded matrices in shared memory.
#pragma once

#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup {

/// What explain adds to the description of the kernels for other devices.
inline constexpr char kOnWarpgroups[] =
    "Where warpgroups multiply (sm_90), four warps walk down 1,024 columns of a wide picture "
    "instead.";

/// Makes a plan if the device has warpgroups and they suit the mask and the picture; otherwise
/// gives null.
std::unique_ptr<Plan> make_plan(const Problem&, const PlanOptions&);

}  // namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup
