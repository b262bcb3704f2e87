/// Filters whose plan on a device does all that a picture needs.
#pragma once

#include <memory>

#include "src/filter/filter.hpp"

namespace convfilt {

/// Throws UsageError unless the choice is for a device, and for the same one as `first`.
void require_device(const Choice& choice, const Choice& first);

/// The filter's work on 8-bit pictures: by its plan for a device where all masks of the work are
/// for one, and by the work itself elsewhere, as where the device lacks memory.
std::unique_ptr<Work> by_device_plan(std::unique_ptr<Work> work, const Filter& filter,
                                     const Place& place);

}  // namespace convfilt
