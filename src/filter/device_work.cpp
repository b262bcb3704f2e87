#include "src/filter/device_work.hpp"

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
    return std::make_unique<DeviceWorker>(*this);
  }

 private:
  class DeviceWorker final : public Worker {
   public:
    explicit DeviceWorker(const DeviceWork& work) : work_(work) {}

    void push(BandView<const std::byte> in, BandView<std::byte> out) override {
      const auto make = [&] { return work_.filter_->device_plan(work_.in, work_.place_, 0); };
      try {
        work_.place_.convolver.run(work_.filter_->text(), work_.in, make, in, out);
        for (const MaskWork* mask : work_.other_->mask_works()) mask->note();
      } catch (const DeviceMemoryError&) {
        work_.other_->make_worker()->push(in, out);
      }
    }

   private:
    const DeviceWork& work_;
  };

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

}  // namespace convfilt
