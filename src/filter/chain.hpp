/// Filters one behind the other.
#pragma once

#include <vector>

#include "src/filter/filter.hpp"

namespace convfilt {

/// Filters the picture by the first step, what that gives by the second, and so on. Samples between
/// steps are floats in the picture's units, which no step rounds or holds to a range; alpha goes
/// from 0 to 1. The result has the picture's depth. Each step has the same border. One step alone
/// is that filter.
FilterPtr chain(std::vector<FilterPtr> steps);

}  // namespace convfilt
