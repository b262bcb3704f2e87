/// A plan whose blocks write overlapping outputs: they add to sums in a plane of their own, and one
/// kernel finishes the sums. For .cu files.
#pragma once

#include "device_plan_base.hpp"

namespace convfilt::CONVFILT_BACKEND {

inline constexpr int kSumColumns = 32;  // threads of a block: one warp along a row
inline constexpr int kSumRows = 8;

template <class Sum>
__global__ void zero_kernel(PlaneView<Sum> sums) {
  const int x = blockIdx.x * kSumColumns + threadIdx.x;
  const int y = blockIdx.y * kSumRows + threadIdx.y;
  if (x < sums.width && y < sums.height) sums.row(y)[x] = 0;
}

/// What a finish takes.
template <class Finish>
using FinishedSum = std::conditional_t<std::is_same_v<Finish, IntegerFinish>, std::int32_t, float>;

template <class T, class Sum, class Finish>
__global__ void finish_kernel(PlaneView<const Sum> sums, PlaneView<T> out, Finish end) {
  const int x = blockIdx.x * kSumColumns + threadIdx.x;
  const int y = blockIdx.y * kSumRows + threadIdx.y;
  if (x < out.width && y < out.height)
    finish(end, FinishedSum<Finish>(sums.row(y)[x]), out.row(y)[x]);
}

/// Finish: how sums of pictures of T end, IntegerFinish or FloatFinish.
template <class T, class Finish, class Sum = FinishedSum<Finish>>
class AddingPlan : public DevicePlan {
 public:
  AddingPlan(const Problem& problem, const PlanOptions& options, const Finish& end)
      : DevicePlan(problem, options, {}), end_(end) {}

 protected:
  /// Adds every weight times its sample to the sums, which start at zero.
  virtual void add_up(const DevicePlane& in, const PlaneView<Sum>& sums, Shift shift) = 0;

  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) final {
    const dim3 block(kSumColumns, kSumRows);
    const auto sums = sums_.plane.view<Sum>();
    const auto grid = [&](int rows) {
      return dim3(ceil_div(out.width, kSumColumns), ceil_div(rows, kSumRows));
    };
    for_row_chunks(out.height, [&](int first, int rows) {
      launch(grid(rows), block, stream_, zero_kernel<Sum>, sums.rows(first, rows));
    });
    add_up(in, sums, shift);
    for_row_chunks(out.height, [&](int first, int rows) {
      launch(grid(rows), block, stream_, finish_kernel<T, Sum, Finish>,
             sums_.plane.rows(first, rows).template view<const Sum>(),
             out.rows(first, rows).template view<T>(), end_);
    });
  }

  std::size_t scratch_bytes(int, int out_width, int out_height) const override {
    return plane_bytes(out_width, out_height, sizeof(Sum));
  }

  void allocate_scratch(int, int out_width, int out_height) override {
    shape(sums_, out_width, out_height, sizeof(Sum));
  }

 private:
  const Finish end_;
  OwnedPlane sums_;
};

}  // namespace convfilt::CONVFILT_BACKEND
