/// Checks of what programs pass, where the command line and files never give other values. All
/// functions throw UsageError.
#pragma once

#include "kernels/problem.hpp"

namespace convfilt {

inline constexpr int kMostThreads = 1024;

void check_sides(int width, int height, int channels);

/// Checks a mask's weights, offset and divisor.
void check_numbers(const Mask& mask);

}  // namespace convfilt
