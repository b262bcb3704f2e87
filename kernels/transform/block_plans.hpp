/// Plans of overlap-add and in-parts: blocks whose outputs overlap, by a schedule.
#pragma once

#include "block_schedule.hpp"
#include "device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {

inline constexpr int kBlockColumns = 32;  // threads: one warp along a row
inline constexpr int kBlockRows = 8;

/// Each block's outputs computed directly from its samples (spatial_blocks.cu).
std::unique_ptr<Plan> make_spatial_blocks_plan(const Problem&, const PlanOptions&,
                                               const BlockSchedule&);

}  // namespace convfilt::CONVFILT_BACKEND
