/// The parts that both products of im2col share, that of the library and Strassen's.
#pragma once

#include "kernels/plan/device_plan.hpp"
#include "kernels/transform/correlation.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {

constexpr std::size_t kPatchBytes = 64 << 20;  ///< bytes of patches that are made at a time

/// The plan for --gemm=strassen (im2col_strassen.cu).
std::unique_ptr<Plan> im2col_by_strassen(const Problem&, const PlanOptions&);

/// A buffer as a matrix without gaps.
inline PlaneView<float> view(const DeviceBuffer& buffer, int columns, int rows) {
  return {reinterpret_cast<float*>(buffer.data()), columns, rows, columns};
}

/// Copies floats to the beginning of a buffer, in stream order.
inline void upload_floats(const std::vector<float>& values, const DeviceBuffer& buffer,
                          const Stream& stream) {
  const std::size_t bytes = values.size() * sizeof(float);
  upload_rows(buffer.data(), bytes, reinterpret_cast<const std::byte*>(values.data()), bytes, bytes,
              1, stream);
}

inline PlaneView<const float> read(const PlaneView<float>& m) {
  return {m.data, m.width, m.height, m.stride};
}

}  // namespace convfilt::CONVFILT_BACKEND::transform
