/// Which border values are samples of a picture.
#pragma once

#include <string>

#include "kernels/problem.hpp"

namespace convfilt {

/// What samples of this depth are, where `value` is none of them: "u8, whole numbers from 0 to
/// 255". Empty where it is one.
std::string border_value_refuses(double value, Depth depth);

}  // namespace convfilt
