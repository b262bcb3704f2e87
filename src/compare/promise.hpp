/// What the families of strategies promise (strategy.hpp, README), as numbers to hold results
/// against.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// The largest difference from the real-valued, saturated convolution that a result of this family
/// may have, in the units of unit_of() in truth.hpp. Nothing where nothing is promised: 16-bit
/// masks above 31x31 and float ones above 101x101 in the direct family, and float pictures with
/// samples that are no finite numbers in the families that mix samples far apart.
std::optional<double> promised_error(const Problem& problem, PictureView<const std::byte> in,
                                     Family family);

}  // namespace convfilt
