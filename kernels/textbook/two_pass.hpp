/// The launchers of two_pass.cu, which separable uses for masks that its own kernel does not take.
#pragma once

#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::two_pass {

void run_rows(const Problem&, const LaunchJob&, const Stream&);
void run_columns(const Problem&, const LaunchJob&, const Stream&);

/// The geometry of the smallest tile that consists of whole blocks of both kernels.
Geometry geometry();

}  // namespace convfilt::CONVFILT_BACKEND::two_pass
