// The plans of the direct and the separable family: what happens to one plane.

#include <algorithm>
#include <vector>

#include "kernels/contract/dispatch.hpp"
#include "kernels/contract/separable.hpp"
#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

/// A plan whose kernels take a mask part by part.
class PartsPlan : public DevicePlan {
 protected:
  using DevicePlan::DevicePlan;

  /// Filters a plane by one part, in chunks of rows. `fresh` says that nothing has read the plane
  /// yet, and `weights` are the part's where they lie in global memory.
  template <class T, class Out>
  void run_part(Run run, const DevicePlane& in, const DevicePlane& out, const DevicePlane& partial,
                MaskPart<Out> part, const T& ghost, Shift shift, bool fresh,
                const std::byte* weights = nullptr) {
    part.dx += shift.x;
    part.dy += shift.y;
    for_row_chunks(out.height, [&](int first, int rows) {
      run(problem_,
          {in, out.rows(first, rows), partial.rows(first, rows), &part, &ghost, weights, &textures_,
           fresh && first == 0, options_.tuning, step()},
          stream_);
      part.dy += rows;
    });
  }
};

template <class T>
class DirectPlan : public PartsPlan {
 public:
  DirectPlan(const Problem& problem, const PlanOptions& options, Run run, InputLimits limits)
      : PartsPlan(problem, options, limits),
        run_(run),
        parts_(prepare_mask<T>(problem.mask).parts()),
        ghost_(ghost_sample<T>(problem)) {
    if (options.tuning[Setting::mask_memory] != kGlobal) return;
    const std::size_t bytes = sizeof(parts_[0].weights);
    hold(weights_, parts_.size() * bytes);
    upload_rows(weights_.data(), bytes, reinterpret_cast<const std::byte*>(parts_[0].weights),
                sizeof(parts_[0]), bytes, int(parts_.size()), stream_);
    stream_.synchronize();  // the weights have been read
  }

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    for (const auto& part : parts_) {
      const std::byte* const weights =
          weights_.data() ? weights_.data() + (&part - parts_.data()) * sizeof(part.weights)
                          : nullptr;
      run_part(run_, in, out, partial_.plane, part, ghost_, shift, part.first, weights);
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
  DeviceBuffer weights_;  // of all parts, if they lie in global memory
  OwnedPlane partial_;
};

template <class T>
class SeparablePlan : public PartsPlan {
  using RowResult = RowResultOf<T>;

 public:
  SeparablePlan(const Problem& problem, const PlanOptions& options, Run rows, Run columns)
      : PartsPlan(problem, options, {}),
        run_rows_(rows),
        run_columns_(columns),
        ghost_(ghost_sample<T>(problem)) {
    for (const auto& term : prepare_separable<T>(problem.mask).terms) {
      terms_.push_back({term.row.parts(kMaxPartWeights, 1), term.column.parts(1, kMaxPartWeights),
                        term.ghost_row_result(ghost_)});
    }
    for (Term& term : terms_) {
      for (auto& part : term.columns) {
        part.first = part.first && &term == &terms_.front();
        part.last = part.last && &term == &terms_.back();
      }
    }
  }

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    const DevicePlane& between = row_results_.plane;
    for (const Term& term : terms_) {
      for (const auto& part : term.rows)
        run_part(run_rows_, in, between, row_sums_.plane, part, ghost_, {shift.x, 0}, part.first);
      for (const auto& part : term.columns)
        run_part(run_columns_, between, out, sums_.plane, part, term.ghost_row_result, {0, shift.y},
                 &part == term.columns.data());
    }
  }

  std::size_t scratch_bytes(int in_height, int out_width, int out_height) const override {
    return plane_bytes(out_width, in_height, sizeof(RowResult)) +
           plane_bytes(out_width, row_sums() ? in_height : 0, sizeof(SumOf<RowResult>)) +
           plane_bytes(out_width, sums() ? out_height : 0, sizeof(SumOf<RowResult>));
  }

  void allocate_scratch(int in_height, int out_width, int out_height) override {
    shape(row_results_, out_width, in_height, sizeof(RowResult));
    if (row_sums()) shape(row_sums_, out_width, in_height, sizeof(SumOf<RowResult>));
    if (sums()) shape(sums_, out_width, out_height, sizeof(SumOf<RowResult>));
  }

 private:
  struct Term {
    std::vector<MaskPart<RowResult>> rows;
    std::vector<MaskPart<T>> columns;
    RowResult ghost_row_result;
  };

  // Whether launches of the row pass, or of the column pass, leave unfinished sums to others.
  bool row_sums() const { return terms_.front().rows.size() > 1; }
  bool sums() const { return terms_.size() > 1 || terms_.front().columns.size() > 1; }

  const Run run_rows_, run_columns_;
  const T ghost_;
  std::vector<Term> terms_;
  OwnedPlane row_results_, row_sums_, sums_;
};

}  // namespace

std::unique_ptr<Plan> make_direct_plan(const Problem& problem, const PlanOptions& options, Run run,
                                       InputLimits limits) {
  return with_depth(problem.depth, [&]<class T>(TypeTag<T>) -> std::unique_ptr<Plan> {
    return std::make_unique<DirectPlan<T>>(problem, options, run, limits);
  });
}

std::unique_ptr<Plan> make_separable_plan(const Problem& problem, const PlanOptions& options,
                                          Run rows, Run columns) {
  return with_depth(problem.depth, [&]<class T>(TypeTag<T>) -> std::unique_ptr<Plan> {
    return std::make_unique<SeparablePlan<T>>(problem, options, rows, columns);
  });
}

}  // namespace convfilt::CONVFILT_BACKEND
