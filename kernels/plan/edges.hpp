/// Edges of 8-bit pictures on a device: how strongly brightness changes, from the responses to one
/// mask or two.
#pragma once

#include <memory>
#include <vector>

#include "kernels/backend/devices.hpp"
#include "kernels/plan.hpp"

namespace convfilt {

// The function below, by backend.
namespace emulator {
std::unique_ptr<Plan> make_edge_plan(std::vector<std::unique_ptr<Plan>>, std::vector<double>,
                                     const PlanOptions&);
}
namespace cuda {
std::unique_ptr<Plan> make_edge_plan(std::vector<std::unique_ptr<Plan>>, std::vector<double>,
                                     const PlanOptions&);
}

/// Makes a plan for pictures of depth u8. Of each sample it makes a float, has `responses` filter
/// the float picture, and writes sqrt of the sum of the squares of response / divisor, computed in
/// double precision, rounded half to even and saturated. `responses` has a plan for each mask, one
/// or two, on the same device, for float pictures of the same shape and mode. `device` is the
/// emulator or CUDA. Throws DeviceError where this build has no CUDA.
std::unique_ptr<Plan> make_edge_plan(DeviceKind device,
                                     std::vector<std::unique_ptr<Plan>> responses,
                                     std::vector<double> divisors, const PlanOptions& options);

}  // namespace convfilt
