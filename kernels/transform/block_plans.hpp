/// Plans of overlap-add and in-parts: blocks whose outputs overlap, by a schedule.
#pragma once

#include "kernels/plan/device_plan.hpp"
#include "kernels/transform/block_schedule.hpp"

namespace convfilt::CONVFILT_BACKEND {

inline constexpr int kBlockColumns = 32;  // threads: one warp along a row
inline constexpr int kBlockRows = 8;

/// Each block's outputs computed directly from its samples (spatial_blocks.cu).
std::unique_ptr<Plan> make_spatial_blocks_plan(const Problem&, const PlanOptions&,
                                               const BlockSchedule&);

/// Each block through the FFT (transformed_blocks.cu).
std::unique_ptr<Plan> make_transformed_blocks_plan(const Problem&, const PlanOptions&,
                                                   const BlockSchedule&);

/// In the domain of the options' tuning.
inline std::unique_ptr<Plan> make_blocks_plan(const Problem& problem, const PlanOptions& options,
                                              const BlockSchedule& schedule) {
  return options.tuning[Setting::domain] == kSpatial
             ? make_spatial_blocks_plan(problem, options, schedule)
             : make_transformed_blocks_plan(problem, options, schedule);
}

}  // namespace convfilt::CONVFILT_BACKEND
