/// Every strategy, in the textbook's order.
#pragma once

#include <span>
#include <string_view>

#include "kernels/strategy.hpp"

namespace convfilt {

std::span<const Strategy* const> strategies();

/// The strategy of that name, or null.
const Strategy* find_strategy(std::string_view name);

/// The family `auto` uses: separable where the mask has rank 1 to 3, two passes cost clearly less
/// than one, and 8-bit results keep what is promised for masks up to 15x15; transform where masks
/// are so large that tap by tap is several times slower, or so large and smooth that two passes
/// are; else direct. Decided by the problem alone, so that every machine gives the same bytes, but
/// for transform's roundings. `finite`: no sample is infinite, NaN, or so large that sums of a
/// picture of them overflow, which a transform would spread.
Family family_for(const Problem& problem, bool finite = true);

}  // namespace convfilt
