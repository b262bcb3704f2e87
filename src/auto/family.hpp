/// The family that `auto` takes.
#pragma once

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// The family for a problem. The problem alone decides it, so that every machine gives the same
/// bytes, except for transform's roundings. Separable: the mask has rank 1 to 3, two passes cost
/// clearly less than one, and 8-bit results keep the bound for masks up to 15x15. Transform: the
/// mask is so large that going tap by tap is several times slower, or so large and smooth that two
/// passes are; floats only where Problem::contrast is known and small. Direct: all others.
Family family_for(const Problem& problem);

/// Whether `auto` transforms pictures of any size, depth or channels with this problem's mask,
/// border and mode. If so, results may differ by a rounding from device to device.
bool may_transform(Problem problem);

}  // namespace convfilt
