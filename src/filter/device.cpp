#include "src/filter/device.hpp"

#include <algorithm>
#include <utility>

#include "kernels/backend/device_errors.hpp"
#include "src/base/errors.hpp"
#include "src/filter/mask_work.hpp"

namespace convfilt {
namespace {

bool is_for_device(const Choice& choice, const Choice& first) {
  return choice.device != DeviceKind::cpu && choice.device == first.device;
}

/// Whole pictures.
class DeviceWork final : public Work {
 public:
  DeviceWork(std::unique_ptr<Work> other, FilterPtr filter, const Place& place)
      : Work(*other), other_(std::move(other)), filter_(std::move(filter)), place_(place) {}

  Needs needs(int rows) const override { return other_->needs(rows); }

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<FunctionWorker>([this](const auto& in, const auto& out) {
      const auto make = [this] { return filter_->device_plan(this->in, place_, 0); };
      try {
        place_.convolver.run(filter_->text(), this->in, make, in, out);
        for (const MaskWork* mask : other_->mask_works()) mask->note();
      } catch (const DeviceMemoryError&) {
        other_->make_worker()->push(in, out);
      }
    });
  }

 private:
  std::unique_ptr<Work> other_;
  FilterPtr filter_;
  Place place_;
};

}  // namespace

void require_device(const Choice& choice, const Choice& first) {
  if (!is_for_device(choice, first))
    throw UsageError("strategy '" + std::string(choice.strategy->name) +
                     "' is not for this device");
}

std::unique_ptr<Work> by_device_plan(std::unique_ptr<Work> work, const Filter& filter,
                                     const Place& place) {
  const std::vector<const MaskWork*> masks = work->mask_works();
  if (work->in.depth != Depth::u8 || place.picture_depth != Depth::u8 || place.unit != 1 ||
      (work->in.channels != 1 && work->in.channels != 3) || place.keeps_channels ||
      !filter.resident_refuses().empty() || masks.empty())
    return work;
  const auto is_for_one = [&](const MaskWork* mask) {
    return is_for_device(mask->choice(), masks[0]->choice());
  };
  if (!std::ranges::all_of(masks, is_for_one)) {
    // Each was weighed as if its floats went to the GPU and back for it alone.
    std::vector<MaskJob> jobs;
    for (const MaskWork* mask : masks) jobs.push_back(mask->job());
    return place.convolver.take_gpu(jobs, work->in, work->out) ? filter.begin(work->in, place)
                                                               : std::move(work);
  }
  return std::make_unique<DeviceWork>(std::move(work), filter.shared_from_this(), place);
}

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
