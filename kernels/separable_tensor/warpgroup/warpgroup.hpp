/// What separable-tensor does on devices whose warpgroups multiply (sm_90).
#pragma once

#include "kernels/contract/separable.hpp"
#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::separable_tensor::warpgroup {

/// What `explain` adds to the description of the kernels for other devices.
inline constexpr char kNote[] =
    "Where warpgroups multiply (sm_90), four warps walk down 64 columns instead, 32 rows at a "
    "time.";

/// Makes a plan if the mask's rank is 1, the device has warpgroups, and the picture's rows may have
/// ghost cells beside them; otherwise gives null.
std::unique_ptr<Plan> make_plan(const Problem&, const PlanOptions&,
                                const SeparableMask<std::uint8_t>&);

}  // namespace convfilt::CONVFILT_BACKEND::separable_tensor::warpgroup
