/// separable-tensor's way on devices whose warpgroups multiply (sm_90).
#pragma once

#include "device_plan.hpp"
#include "separable.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// A plan where the device has them and the picture's rows may have sides; otherwise none.
std::unique_ptr<Plan> separable_group_plan(const Problem&, const PlanOptions&,
                                           const SeparableMask<std::uint8_t>&);

}  // namespace convfilt::CONVFILT_BACKEND
