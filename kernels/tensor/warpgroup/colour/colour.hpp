/// tensor's way for three interleaved channels on devices whose warpgroups multiply (sm_90).
#pragma once

#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup::colour {

/// Makes a plan if the device has warpgroups and this suits the mask and the picture better than
/// warpgroup.cu's kernel; otherwise gives null.
std::unique_ptr<Plan> make_plan(const Problem&, const PlanOptions&);

}  // namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup::colour
