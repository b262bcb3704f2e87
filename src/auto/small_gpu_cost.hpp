/// What a strategy costs on a GPU where a picture is so small that few of its multiprocessors work,
/// each one for long.
#pragma once

#include <optional>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

inline constexpr double kSmallPixels = 640 * 480;

/// Microseconds of a picture of kSmallPixels, as measured on an H200, with masks of 16-bit weights;
/// nothing for a strategy that auto never takes. warpgroups: whether tensor's kernels of these take
/// the picture. taps: multiply-adds of a sample, of `coarse` the mask's width and height together.
std::optional<double> small_picture_us(const Strategy& strategy, Depth depth, bool colour,
                                       bool warpgroups, double taps);

}  // namespace convfilt
