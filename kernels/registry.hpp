/// Every strategy, in the textbook's order.
#pragma once

#include <span>
#include <string_view>

#include "kernels/strategy.hpp"

namespace convfilt {

std::span<const Strategy* const> strategies();

/// The strategy of that name, or null.
const Strategy* find_strategy(std::string_view name);

}  // namespace convfilt
