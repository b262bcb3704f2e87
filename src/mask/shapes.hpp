/// Masks that are shapes: a weight is the share of a pixel that the shape covers, in 255ths, over
/// the sum of all. Whole numbers keep the sums of 8-bit pictures exact, and a constant as it is.
#pragma once

#include "kernels/problem.hpp"

namespace convfilt {

/// The largest radius of a disk and length of a motion, in pixels; their masks fit kMaxMaskSide.
inline constexpr double kMaxDiskRadius = 512, kMaxMotion = 724;

/// A disk, as a lens out of focus spreads a point. The rim's pixels have the share that lies within
/// `radius` (pixels) of the centre. Throws UsageError unless 0.5 <= radius <= kMaxDiskRadius.
Mask disk_mask(double radius);

/// A line one pixel wide and `length` pixels long, centred, as a camera in motion spreads a point.
/// At 0 `degrees` it lies along a row, and turns counter-clockwise. Throws UsageError unless 1 <=
/// length <= kMaxMotion and the angle is finite.
Mask motion_mask(double length, double degrees);

}  // namespace convfilt
