/// What auto takes in a fixed order, whatever a profile says: all strategies on the CPU and in the
/// emulator, and transforms everywhere, since bytes may differ by a rounding between these.
#pragma once

#include <string_view>
#include <vector>

#include "src/auto/machine.hpp"

namespace convfilt {

/// Names, the first choice first, by the problem and the kind of device alone. Direct and separable
/// strategies on a GPU have no order: see cheapest.hpp.
std::vector<std::string_view> order_of(Family family, DeviceKind kind, const Problem& problem);

/// The first of order_of() that runs on such a device and takes the problem; null where none does.
const Strategy* first_in_order(Family family, DeviceKind kind, const Problem& problem,
                               const Machine& machine);

}  // namespace convfilt
