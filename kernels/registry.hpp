/// Every strategy, in the textbook's order.
#pragma once

#include <span>
#include <string_view>

#include "strategy.hpp"

namespace convfilt {

std::span<const Strategy* const> strategies();

/// The strategy of that name, or null.
const Strategy* find_strategy(std::string_view name);

/// The family `auto` uses: separable where the mask has rank 1 to 3, two passes cost clearly less
/// than one, and 8-bit results keep what is promised for masks up to 15x15; else direct. Decided by the
/// problem alone, so that every machine gives the same bytes.
Family family_for(const Problem& problem);

}  // namespace convfilt
