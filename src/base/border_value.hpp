/// Checks border values against a picture's depth.
#pragma once

#include <string>

#include "kernels/problem.hpp"

namespace convfilt {

/// Empty if `value` is a sample of this depth; else the samples it has, such as "u8, whole numbers
/// from 0 to 255".
std::string border_value_refuses(double value, Depth depth);

}  // namespace convfilt
