#include "src/filter/resident.hpp"

#include <algorithm>
#include <utility>

namespace convfilt {
namespace {

/// Each plan holds device memory, up to some pictures' worth.
constexpr std::size_t kMostPlans = 8;

}  // namespace

ResidentFilter::ResidentFilter(const ConvolverOptions& options, const Mask& mask,
                               DeviceQueue& queue, Machine machine)
    : convolver_(options, std::move(machine)), mask_(mask), queue_(queue) {}

Shape ResidentFilter::result_of(const Shape& in) const {
  convolver_.check_border_value(in.depth);
  return convolver_.result_of(in, mask_);
}

ResidentFilter::Prepared& ResidentFilter::prepared_for(const Shape& shape) {
  const auto found = std::ranges::find(prepared_, shape, &Prepared::shape);
  if (found != prepared_.end()) {
    std::rotate(found, found + 1, prepared_.end());
    return prepared_.back();
  }
  if (prepared_.size() == kMostPlans) {
    // A plan must outlive the work that it has queued.
    queue_.synchronize();
    prepared_.erase(prepared_.begin());
  }
  const ConvolverOptions& options = convolver_.options();
  const Choice choice = convolver_.choice_for(shape, mask_, options.border_value, 1);
  PlanOptions how;
  how.device = choice.ordinal;
  how.threads = options.request.threads;
  how.padded_pitch = options.padded_pitch;
  how.tuning = options.request.tuning;
  prepared_.push_back(
      {shape, choice,
       choice.strategy->prepare(convolver_.problem_of(shape, mask_, options.border_value),
                                choice.device, how)});
  return prepared_.back();
}

const Strategy& ResidentFilter::run(PictureView<const std::byte> in, Depth depth,
                                    PictureView<std::byte> out) {
  const Prepared& prepared = prepared_for({in.width, in.height, in.channels, depth});
  prepared.plan->run_resident(in, out, queue_.stream());
  return *prepared.choice.strategy;
}

void ResidentFilter::release() {
  queue_.synchronize();
  prepared_.clear();
}

}  // namespace convfilt
