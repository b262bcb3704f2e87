#include "src/filter/resident.hpp"

#include <algorithm>
#include <utility>

namespace convfilt {

ResidentFilter::ResidentFilter(const ConvolverOptions& options, FilterPtr filter,
                               DeviceQueue& queue, Machine machine)
    : convolver_(options, std::move(machine)), filter_(std::move(filter)), queue_(queue) {}

Shape ResidentFilter::result_of(const Shape& in) {
  const auto found = std::ranges::find(prepared_, in, &Prepared::shape);
  return found != prepared_.end() ? found->result : begin(*filter_, in, convolver_)->out;
}

ResidentFilter::Prepared& ResidentFilter::prepared_for(const Shape& shape) {
  const auto found = std::ranges::find(prepared_, shape, &Prepared::shape);
  if (found != prepared_.end()) {
    std::rotate(found, found + 1, prepared_.end());
    return prepared_.back();
  }
  if (prepared_.size() == filter_->most_resident()) {
    // A plan must outlive the work that it has queued.
    queue_.synchronize();
    prepared_.erase(prepared_.begin());
  }
  prepared_.push_back({shape, result_of(shape), filter_->resident(shape, convolver_)});
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
