/// What separable-tensor does on devices whose warpgroups multiply (sm_90).
#pragma once

#include "kernels/contract/separable.hpp"
#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::separable_tensor::warpgroup {

/// What explain says of it, beside the kernels of other devices.
inline constexpr char kNote[] =
    "Where warpgroups multiply (sm_90), four warps walk down 64 columns instead, 32 rows at a "
    "time.";

/// A plan where the mask's rank is 1, the device has them and the picture's rows may have sides;
/// otherwise none.
std::unique_ptr<Plan> make_plan(const Problem&, const PlanOptions&,
                                const SeparableMask<std::uint8_t>&);

}  // namespace convfilt::CONVFILT_BACKEND::separable_tensor::warpgroup
