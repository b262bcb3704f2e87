/// The parts that both products of im2col share, that of the library and Strassen's.
#pragma once

#include "kernels/plan/device_plan.hpp"
#include "kernels/transform/correlation.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {

constexpr std::size_t kPatchBytes = 64 << 20;  ///< bytes of patches that are made at a time

/// The plan for --gemm=strassen (im2col_strassen.cu).
std::unique_ptr<Plan> im2col_by_strassen(const Problem&, const PlanOptions&);

}  // namespace convfilt::CONVFILT_BACKEND::transform
