/// Strategy separable for small square masks of 16-bit and float samples.
#pragma once

#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/side_samples.hpp"
#include "kernels/separable/walk/mask.hpp"

namespace convfilt::CONVFILT_BACKEND::separable::walk {

using namespace convfilt::separable::walk;

/// Whether a picture of that many channels can be filtered with its channels side by side, and its
/// rows have room for ghost cells.
inline bool takes(int channels, const PlanOptions& options) {
  return (channels == 1 || channels == 3) && has_room_for_sides(options);
}

/// The plan for a mask of square_mask(). Its row pass must end without a finish.
template <class T>
std::unique_ptr<Plan> make_plan(const Problem&, const PlanOptions&, const SquareMask& mask);

/// The geometry for pictures of one channel.
template <class T>
Geometry geometry(const Problem&);

}  // namespace convfilt::CONVFILT_BACKEND::separable::walk
