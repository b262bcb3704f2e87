/// The plans of overlap-add and in-parts, which add up blocks of overlapping outputs by a schedule.
#pragma once

#include "kernels/plan/sums.hpp"
#include "kernels/transform/block_schedule.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {

using namespace convfilt::transform;

/// Sums the private buffers of divisions, which lie one below the other, in their order.
template <class T, class Sum, class Finish>
__global__ void finish_divisions_kernel(PlaneView<const Sum> sums, PlaneView<T> out, int first,
                                        int height, Intervals columns, Intervals rows, Finish end) {
  const int x = blockIdx.x * kSumColumns + threadIdx.x;
  const int y = blockIdx.y * kSumRows + threadIdx.y;
  if (x >= out.width || y >= out.height) return;
  Sum sum = 0;
  for (int down = 0; down < rows.divisions; ++down) {
    if (!rows.covers(down, first + y)) continue;
    for (int across = 0; across < columns.divisions; ++across) {
      const int buffer = down * columns.divisions + across;
      if (columns.covers(across, x)) sum += sums.row(buffer * height + first + y)[x];
    }
  }
  finish(end, FinishedSum<Finish>(sum), out.row(y)[x]);
}

/// A plan that adds up by a schedule: in one plane of sums, or in a private buffer of each
/// division.
template <class T, class Finish, class Sum = FinishedSum<Finish>>
class ScheduledPlan : public AddingPlan<T, Finish, Sum> {
 public:
  ScheduledPlan(const Problem& problem, const PlanOptions& options, const Finish& end,
                const BlockSchedule& schedule)
      : AddingPlan<T, Finish, Sum>(problem, options, end, schedule.buffers()),
        schedule_(schedule) {}

 protected:
  /// The intervals of a step along both axes, under these weights of a part. All divisions are one
  /// step.
  struct Launch {
    Intervals x, y;
  };
  Launch launch_of(const DevicePlane& in, const PlaneView<Sum>& sums, Shift shift, int step,
                   Interval weights_x, Interval weights_y) {
    const BlockAxis &x = schedule_.x, &y = schedule_.y;
    const int height = sums.height / schedule_.buffers();
    const int before_x = this->problem_.mask.anchor_x - shift.x;
    const int before_y = this->problem_.mask.anchor_y - shift.y;
    if (schedule_.divided)
      return divisions_ = {divisions_of(x, sums.width, before_x, in.width),
                           divisions_of(y, height, before_y, in.height)};
    if (schedule_.parted) weights_x = {0, x.weights()}, weights_y = {0, y.weights()};
    return {intervals_of(x, sums.width, before_x, in.width, weights_x, x.steps, step % x.steps),
            intervals_of(y, height, before_y, in.height, weights_y, y.steps, step / x.steps)};
  }

  int steps() const { return schedule_.divided ? 1 : schedule_.x.steps * schedule_.y.steps; }

  void finish(const PlaneView<const Sum>& sums, const PlaneView<T>& out, int first,
              int height) override {
    if (!schedule_.divided) return AddingPlan<T, Finish, Sum>::finish(sums, out, first, height);
    launch(dim3(ceil_div(out.width, kSumColumns), ceil_div(out.height, kSumRows)),
           dim3(kSumColumns, kSumRows), this->stream_, finish_divisions_kernel<T, Sum, Finish>,
           sums, out, first, height, divisions_.x, divisions_.y, this->end_);
  }

  const BlockSchedule schedule_;

 private:
  Launch divisions_;  ///< of the last plane
};

/// Computes each block's outputs directly from its samples (spatial_blocks.cu).
std::unique_ptr<Plan> make_spatial_blocks_plan(const Problem&, const PlanOptions&,
                                               const BlockSchedule&);

/// Takes each block through the FFT (transformed_blocks.cu).
std::unique_ptr<Plan> make_transformed_blocks_plan(const Problem&, const PlanOptions&,
                                                   const BlockSchedule&);

/// The functions of overlap-add and in-parts for the registry; each has a schedule.
template <BlockSchedule (*schedule_of)(const Problem&, const Tuning&),
          std::string (*schedule_refuses)(const Problem&, const Tuning&)>
struct ByBlocks {
  static std::string refuses(const Problem& p, const Tuning& tuning) {
    const std::string reason =
        tuning[Setting::domain] == kSpatial ? direct_refuses(p, tuning) : transform_refuses(p);
    return reason.empty() ? schedule_refuses(p, tuning) : reason;
  }
  static std::unique_ptr<Plan> make_plan(const Problem& p, const PlanOptions& options) {
    const bool spatial = options.tuning[Setting::domain] == kSpatial;
    return (spatial ? make_spatial_blocks_plan : make_transformed_blocks_plan)(
        p, options, schedule_of(p, options.tuning));
  }
  static Geometry geometry(const Problem& p, const Tuning& tuning) {
    return geometry_of(p, tuning, schedule_of(p, tuning), total_bytes(p.depth));
  }
  static std::optional<Counts> block_counts(const Problem& p, const Tuning& tuning,
                                            const BlockPlace& place) {
    return block_counts_of(p, tuning, schedule_of(p, tuning), geometry(p, tuning), place);
  }
};

}  // namespace convfilt::CONVFILT_BACKEND::transform
