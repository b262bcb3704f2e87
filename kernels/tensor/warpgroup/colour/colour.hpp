/// tensor's way for three interleaved channels on devices whose warpgroups multiply (sm_90).
#pragma once

#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup::colour {

/// A plan, if this takes the mask and the picture better than warpgroup.cu's kernel and the device
/// has warpgroups; otherwise null.
std::unique_ptr<Plan> make_plan(const Problem&, const PlanOptions&);

}  // namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup::colour
