// Weights of 0 in float pictures on a device (zero_weights.hpp).

#include "kernels/plan/joint_plan.hpp"
#include "kernels/plan/zero_weights.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

__global__ void skip_zeros_kernel(PlaneView<const float> in, SumOfTaps sums, FloatFinish how,
                                  PlaneView<float> out, int first) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = first + blockIdx.y * kBlockRows + threadIdx.y;
  if (x >= out.width || y >= out.height) return;
  float& to = out.row(y)[x];
  if (to - to == 0) return;  // finite
  const auto row_at = [&](int row) {
    const int inside = border_index(sums.border, row, in.height);
    return inside < 0 ? nullptr : in.row(inside);
  };
  finish(how, sums.at(x / sums.channels, y, x % sums.channels, row_at), to);
}

}  // namespace

void skip_zeros(PictureView<const std::byte> in, const SumOfTaps& sums, const FloatFinish& how,
                PictureView<std::byte> out, const Stream& stream) {
  const auto results = samples_of<float>(out);
  for_launches(results.width, results.height, [&](dim3 grid, int first, int) {
    launch(grid, dim3(kBlockColumns, kBlockRows), stream, skip_zeros_kernel,
           samples_of<const float>(in), sums, how, results, first);
  });
}

}  // namespace convfilt::CONVFILT_BACKEND
