/// The plans of overlap-add and in-parts, which add up blocks of overlapping outputs by a schedule.
#pragma once

#include "kernels/plan/device_plan.hpp"
#include "kernels/transform/block_schedule.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {

using namespace convfilt::transform;

/// Computes each block's outputs directly from its samples (spatial_blocks.cu).
std::unique_ptr<Plan> make_spatial_blocks_plan(const Problem&, const PlanOptions&,
                                               const BlockSchedule&);

/// Takes each block through the FFT (transformed_blocks.cu).
std::unique_ptr<Plan> make_transformed_blocks_plan(const Problem&, const PlanOptions&,
                                                   const BlockSchedule&);

/// Makes the plan for the domain that the options ask for.
inline std::unique_ptr<Plan> make_blocks_plan(const Problem& problem, const PlanOptions& options,
                                              const BlockSchedule& schedule) {
  return options.tuning[Setting::domain] == kSpatial
             ? make_spatial_blocks_plan(problem, options, schedule)
             : make_transformed_blocks_plan(problem, options, schedule);
}

}  // namespace convfilt::CONVFILT_BACKEND::transform
