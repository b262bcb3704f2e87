/// Strategies that auto takes in a fixed order, without a profile: all on the CPU and in the
/// emulator, and transforms everywhere, since their bytes may differ by a rounding.
#pragma once

#include <string_view>
#include <vector>

#include "src/auto/machine.hpp"

namespace convfilt {

/// Names, the first choice first. They depend only on the problem and the kind of device. Direct
/// and separable strategies on a GPU have no order: see cheapest.hpp.
std::vector<std::string_view> order_of(Family family, DeviceKind kind, const Problem& problem);

/// The first of order_of() that runs on such a device and takes the problem; else null.
const Strategy* first_in_order(Family family, DeviceKind kind, const Problem& problem,
                               const Machine& machine);

}  // namespace convfilt
