/// A plan whose blocks write overlapping outputs: they add to sums in a plane of their own, and one
/// kernel finishes the sums. For .cu files.
#pragma once

#include "kernels/plan/device_plan_base.hpp"
#include "kernels/plan/sums.hpp"

namespace convfilt::CONVFILT_BACKEND {

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
    const auto sums = sums_.plane.view<Sum>();
    for_row_chunks(out.height, [&](int first, int rows) { zero(sums.rows(first, rows), stream_); });
    add_up(in, sums, shift);
    for_row_chunks(out.height, [&](int first, int rows) {
      finish_sums(sums_.plane.rows(first, rows).template view<const Sum>(),
                  out.rows(first, rows).template view<T>(), end_, stream_);
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
