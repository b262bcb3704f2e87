/// What strategy separable does with small square masks where samples are no bytes.
#pragma once

#include "device_plan.hpp"
#include "line_mask.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Whether so many channels are filtered together, side by side.
inline bool walks_lines(int channels) {
  return channels == 1 || channels == 3;
}

/// `mask`: of line_mask(), whose row pass ends without a finish.
template <class T>
std::unique_ptr<Plan> line_walk_plan(const Problem&, const PlanOptions&, const LineMask& mask);

/// Of one channel.
template <class T>
Geometry line_walk_geometry(const Problem&, const LineMask& mask);

}  // namespace convfilt::CONVFILT_BACKEND
