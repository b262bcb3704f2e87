/// Which family `auto` takes.
#pragma once

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// The family for a problem, decided by the problem alone, so that every machine gives the same
/// bytes, but for transform's roundings: separable where the mask has rank 1 to 3, two passes cost
/// clearly less than one, and 8-bit results keep the bound for masks up to 15x15; transform where
/// the mask is so large that tap by tap is several times slower, or so large and smooth that two
/// passes are; else direct. `finite`: no sample is infinite, NaN, or so large that sums of a
/// picture of them overflow, which a transform would spread.
Family family_for(const Problem& problem, bool finite = true);

/// Whether `auto` transforms pictures of some size, depth or channels with this problem's mask,
/// border and mode, so that results may differ by a rounding from device to device.
bool may_transform(Problem problem);

}  // namespace convfilt
