#include "src/filter/resident.hpp"

#include <algorithm>
#include <utility>

namespace convfilt {
namespace {}  // namespace

PlanOptions plan_options(const Choice& choice, const ConvolverOptions& options) {
  PlanOptions how;
  how.device = choice.ordinal;
  how.threads = options.request.threads;
  how.padded_pitch = options.padded_pitch;
  how.tuning = options.request.tuning;
  return how;
}

ResidentWork resident_mask(Mask mask) {
  return {[mask](const Shape& in, const Convolver& convolver) {
            convolver.check_border_value(in.depth);
            return convolver.result_of(in, mask);
          },
          [mask](const Shape& in, Convolver& convolver) {
            const ConvolverOptions& options = convolver.options();
            const Choice choice = convolver.choice_for(in, mask, options.border_value, 1);
            return ResidentPlan{choice, choice.strategy->prepare(
                                            convolver.problem_of(in, mask, options.border_value),
                                            choice.device, plan_options(choice, options))};
          }};
}

ResidentFilter::ResidentFilter(const ConvolverOptions& options, ResidentWork work,
                               DeviceQueue& queue, Machine machine)
    : convolver_(options, std::move(machine)), work_(std::move(work)), queue_(queue) {}

Shape ResidentFilter::result_of(const Shape& in) const {
  return work_.result_of(in, convolver_);
}

ResidentFilter::Prepared& ResidentFilter::prepared_for(const Shape& shape) {
  const auto found = std::ranges::find(prepared_, shape, &Prepared::shape);
  if (found != prepared_.end()) {
    std::rotate(found, found + 1, prepared_.end());
    return prepared_.back();
  }
  if (prepared_.size() == work_.most_plans) {
    // A plan must outlive the work that it has queued.
    queue_.synchronize();
    prepared_.erase(prepared_.begin());
  }
  prepared_.push_back({shape, work_.plan_for(shape, convolver_)});
  return prepared_.back();
}

const Strategy& ResidentFilter::run(PictureView<const std::byte> in, Depth depth,
                                    PictureView<std::byte> out) {
  const ResidentPlan& made = prepared_for({in.width, in.height, in.channels, depth}).made;
  made.plan->run_resident(in, out, queue_.stream());
  return *made.choice.strategy;
}

void ResidentFilter::release() {
  queue_.synchronize();
  prepared_.clear();
}

}  // namespace convfilt
