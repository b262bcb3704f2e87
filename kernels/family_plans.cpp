// The two families' plans: what happens to one plane.

#include <algorithm>
#include <vector>

#include "device_plan_base.hpp"
#include "dispatch.hpp"
#include "separable.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

template <class Out>
MaskPart<Out> shifted(MaskPart<Out> part, int x, int y) {
  part.dx += x;
  part.dy += y;
  return part;
}

template <class T>
class DirectPlan : public DevicePlan {
 public:
  DirectPlan(const Problem& problem, const PlanOptions& options, Run run, InputLimits limits)
      : DevicePlan(problem, options, limits),
        run_(run),
        parts_(prepare_mask<T>(problem.mask).parts()),
        ghost_(ghost_sample<T>(problem)) {}

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    for (const auto& part : parts_) {
      for_row_chunks(out.height, [&](int first, int rows) {
        const auto moved = shifted(part, shift.x, shift.y + first);
        run_(problem_,
             {in, out.rows(first, rows), partial_.plane.rows(first, rows), &moved, &ghost_,
              &textures_, part.first && first == 0, options_.tuning, step()},
             stream_);
      });
    }
  }

  std::size_t scratch_bytes(int, int out_width, int out_height) const override {
    return parts_.size() > 1 ? plane_bytes(out_width, out_height, sizeof(SumOf<T>)) : 0;
  }

  void allocate_scratch(int, int out_width, int out_height) override {
    if (parts_.size() > 1) shape(partial_, out_width, out_height, sizeof(SumOf<T>));
  }

 private:
  const Run run_;
  const std::vector<MaskPart<T>> parts_;
  const T ghost_;
  OwnedPlane partial_;
};

template <class T>
class SeparablePlan : public DevicePlan {
  using Mid = MidOf<T>;

 public:
  SeparablePlan(const Problem& problem, const PlanOptions& options, Run rows, Run columns)
      : DevicePlan(problem, options, {}), run_rows_(rows), run_columns_(columns) {
    const auto mask = prepare_separable<T>(problem.mask);
    row_parts_ = mask.row.parts(kMaxPartWeights, 1);
    column_parts_ = mask.column.parts(1, kMaxPartWeights);
    ghost_ = ghost_sample<T>(problem);
    mid_ghost_ = mask.mid_ghost(ghost_);
  }

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    const DevicePlane& mid = mid_.plane;
    for (const auto& part : row_parts_) {
      for_row_chunks(in.height, [&](int first, int rows) {
        const auto moved = shifted(part, shift.x, first);
        run_rows_(problem_,
                  {in, mid.rows(first, rows), partial_.plane.rows(first, rows), &moved, &ghost_,
                   &textures_, part.first && first == 0, options_.tuning, step()},
                  stream_);
      });
    }
    for (const auto& part : column_parts_) {
      for_row_chunks(out.height, [&](int first, int rows) {
        const auto moved = shifted(part, 0, shift.y + first);
        run_columns_(problem_,
                     {mid, out.rows(first, rows), partial_.plane.rows(first, rows), &moved,
                      &mid_ghost_, &textures_, part.first && first == 0, options_.tuning, step()},
                     stream_);
      });
    }
  }

  // Both passes leave unfinished sums: of the picture's rows, then of the result's.
  std::size_t scratch_bytes(int in_height, int out_width, int out_height) const override {
    const int sums = in_parts() ? std::max(in_height, out_height) : 0;
    return plane_bytes(out_width, in_height, sizeof(Mid)) +
           plane_bytes(out_width, sums, sizeof(SumOf<Mid>));
  }

  void allocate_scratch(int in_height, int out_width, int out_height) override {
    shape(mid_, out_width, in_height, sizeof(Mid));
    if (in_parts()) {
      shape(partial_, out_width, std::max(in_height, out_height), sizeof(SumOf<Mid>));
    }
  }

 private:
  bool in_parts() const { return row_parts_.size() > 1 || column_parts_.size() > 1; }

  const Run run_rows_, run_columns_;
  std::vector<MaskPart<Mid>> row_parts_;
  std::vector<MaskPart<T>> column_parts_;
  T ghost_{};
  Mid mid_ghost_{};
  OwnedPlane mid_, partial_;
};

}  // namespace

std::unique_ptr<Plan> make_direct_plan(const Problem& problem, const PlanOptions& options, Run run,
                                       InputLimits limits) {
  return with_depth(problem.depth, [&](auto depth) -> std::unique_ptr<Plan> {
    using T = typename decltype(depth)::type;
    return std::make_unique<DirectPlan<T>>(problem, options, run, limits);
  });
}

std::unique_ptr<Plan> make_separable_plan(const Problem& problem, const PlanOptions& options,
                                          Run rows, Run columns) {
  return with_depth(problem.depth, [&](auto depth) -> std::unique_ptr<Plan> {
    using T = typename decltype(depth)::type;
    return std::make_unique<SeparablePlan<T>>(problem, options, rows, columns);
  });
}

}  // namespace convfilt::CONVFILT_BACKEND
