/// Planes of sums in device memory: how they start and end, in launches of at most kMaxLaunchRows
/// rows, and a plan whose blocks add to them. Only .cu files include it.
#pragma once

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {

inline constexpr int kSumColumns = 32;  // threads of a block: one warp along a row
inline constexpr int kSumRows = 8;

/// The type in which outputs of T are added up, part by part in any order. Floats are added up in
/// double precision, because the roundings of a flat picture all go one way, which makes 2 steps of
/// 16 bits at 101x101.
template <class T>
using Total = std::conditional_t<std::is_same_v<SumOf<T>, float>, double, SumOf<T>>;

/// The bytes of such a sum, for samples of that depth.
inline int total_bytes(Depth depth) {
  return with_depth(depth, []<class T>(TypeTag<T>) { return int(sizeof(Total<T>)); });
}

template <class Sum>
__global__ void zero_kernel(PlaneView<Sum> sums) {
  const int x = blockIdx.x * kSumColumns + threadIdx.x;
  const int y = blockIdx.y * kSumRows + threadIdx.y;
  if (x < sums.width && y < sums.height) sums.row(y)[x] = 0;
}

/// The type of sums that a finish takes.
template <class Finish>
using FinishedSum = std::conditional_t<std::is_same_v<Finish, IntegerFinish>, std::int32_t, float>;

template <class T, class Sum, class Finish>
__global__ void finish_kernel(PlaneView<const Sum> sums, PlaneView<T> out, Finish end) {
  const int x = blockIdx.x * kSumColumns + threadIdx.x;
  const int y = blockIdx.y * kSumRows + threadIdx.y;
  if (x < out.width && y < out.height)
    finish(end, FinishedSum<Finish>(sums.row(y)[x]), out.row(y)[x]);
}

/// Fills a plane with zeros.
template <class Sum>
void zero(const PlaneView<Sum>& sums, const Stream& stream) {
  const dim3 grid(ceil_div(sums.width, kSumColumns), ceil_div(sums.height, kSumRows));
  launch(grid, dim3(kSumColumns, kSumRows), stream, zero_kernel<Sum>, sums);
}

/// Ends the sums of the outputs. The plane of sums may be larger than that of outputs.
template <class T, class Sum, class Finish>
void finish_sums(const PlaneView<const Sum>& sums, const PlaneView<T>& out, const Finish& end,
                 const Stream& stream) {
  const dim3 grid(ceil_div(out.width, kSumColumns), ceil_div(out.height, kSumRows));
  launch(grid, dim3(kSumColumns, kSumRows), stream, finish_kernel<T, Sum, Finish>, sums, out, end);
}

/// A plan whose blocks have overlapping outputs. They add to a plane of sums, which one kernel
/// finishes in the end; a derived plan may have several such planes, one below the other, and
/// another kernel. Finish is IntegerFinish or FloatFinish, and says how sums of pictures of T end.
template <class T, class Finish, class Sum = FinishedSum<Finish>>
class AddingPlan : public DevicePlan {
 public:
  AddingPlan(const Problem& problem, const PlanOptions& options, const Finish& end, int buffers = 1)
      : DevicePlan(problem, options, {}), end_(end), buffers_(buffers) {}

 protected:
  /// Adds every weight times its sample to the sums, which start at zero.
  virtual void add_up(const DevicePlane& in, const PlaneView<Sum>& sums, Shift shift) = 0;

  /// Finishes outputs from that row on, of the given height in all.
  virtual void finish(const PlaneView<const Sum>& sums, const PlaneView<T>& out, int first,
                      int /*height*/) {
    finish_sums(sums.rows(first, out.height), out, end_, stream_);
  }

  /// Whether add_up() relies on the zeros.
  virtual bool starts_at_zero() const { return true; }

  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) final {
    const auto sums = sums_.plane.view<Sum>();
    if (starts_at_zero())
      for_row_chunks(sums.height,
                     [&](int first, int rows) { zero(sums.rows(first, rows), stream_); });
    add_up(in, sums, shift);
    for_row_chunks(out.height, [&](int first, int rows) {
      finish(sums_.plane.view<const Sum>(), out.rows(first, rows).template view<T>(), first,
             out.height);
    });
  }

  std::size_t scratch_bytes(int, int out_width, int out_height) const override {
    return plane_bytes(out_width, out_height, sizeof(Sum)) * std::size_t(buffers_);
  }

  void allocate_scratch(int, int out_width, int out_height) override {
    shape(sums_, out_width, out_height * buffers_, sizeof(Sum));
  }

  const Finish end_;

 private:
  const int buffers_;
  OwnedPlane sums_;
};

}  // namespace convfilt::CONVFILT_BACKEND
