/// Strategy separable-tensor on devices whose warpgroups multiply (sm_90).
#pragma once

#include "kernels/contract/separable.hpp"
#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::separable_tensor::warpgroup {

/// The sentence that `explain` adds to the description of the kernels for other devices.
inline constexpr char kNote[] =
    "Where warpgroups multiply (sm_90), four warps walk down 64 columns instead, 32 rows at a "
    "time.";

/// Whether the mask suits warpgroups, on a device that has them: its rank is 1.
inline bool takes(const SeparableMask<std::uint8_t>& mask) {
  return mask.terms.size() == 1;
}

/// A plan for a mask that warpgroups take, if the device has them and rows may have sides;
/// otherwise null.
std::unique_ptr<Plan> make_plan(const Problem&, const PlanOptions&,
                                const SeparableMask<std::uint8_t>&);

}  // namespace convfilt::CONVFILT_BACKEND::separable_tensor::warpgroup
