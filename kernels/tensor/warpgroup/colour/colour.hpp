/// tensor's way for three interleaved channels on devices whose warpgroups multiply (sm_90).
#pragma once

#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup::colour {

/// Whether this takes the mask and the picture better than warpgroup.cu's kernel.
bool takes(const Problem&);

/// A plan for a problem that it takes, on a device that has warpgroups.
std::unique_ptr<Plan> make_plan(const Problem&, const PlanOptions&);

}  // namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup::colour
