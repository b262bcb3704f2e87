/// tensor's way on devices whose warpgroups multiply (sm_90): banded matrices in shared memory.
#pragma once

#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup {

/// The sentence that `explain` adds to the description of the kernels for other devices.
inline constexpr char kOnWarpgroups[] =
    "Where warpgroups multiply (sm_90), four warps walk down 1,024 columns of a wide picture "
    "instead.";

/// Whether the mask and the picture suit warpgroups, on a device that has them.
bool takes(const Problem&);

/// A plan for a problem that warpgroups take, if the device has them and rows may have padding;
/// otherwise null.
std::unique_ptr<Plan> make_plan(const Problem&, const PlanOptions&);

/// The same for three interleaved channels, whose colours are taken apart.
namespace colour {

/// Whether this takes the mask and the picture better than warpgroup.cu's kernel.
bool takes(const Problem&);

/// A plan for a problem that it takes, on a device that has warpgroups.
std::unique_ptr<Plan> make_plan(const Problem&, const PlanOptions&);

}  // namespace colour
}  // namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup
