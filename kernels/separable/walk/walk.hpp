/// What strategy separable does with small square masks where samples are no bytes.
#pragma once

#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/side_samples.hpp"
#include "kernels/separable/walk/mask.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Whether channels are filtered together, side by side, with room for what lies beside rows.
inline bool walks_lines(int channels, const PlanOptions& options) {
  return (channels == 1 || channels == 3) && has_room_for_sides(options);
}

/// `mask`: of line_mask(), whose row pass ends without a finish.
template <class T>
std::unique_ptr<Plan> line_walk_plan(const Problem&, const PlanOptions&, const LineMask& mask);

/// Of one channel.
template <class T>
Geometry line_walk_geometry(const Problem&);

}  // namespace convfilt::CONVFILT_BACKEND
