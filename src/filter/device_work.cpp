#include "src/filter/device_work.hpp"

#include <algorithm>

#include "kernels/backend/device_errors.hpp"
#include "src/base/errors.hpp"
#include "src/filter/mask_work.hpp"

namespace convfilt {
namespace {

bool is_for_device(const Choice& choice, const Choice& first) {
  return choice.device != DeviceKind::cpu && choice.device == first.device;
}

class DeviceWork final : public Work {
 public:
  DeviceWork(std::unique_ptr<Work> other, std::string text, Convolver& convolver,
             std::function<ResidentPlan()> make)
      : Work(*other),
        other_(std::move(other)),
        text_(std::move(text)),
        convolver_(convolver),
        make_(std::move(make)) {}

  Needs needs(int rows) const override { return other_->needs(rows); }

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<DeviceWorker>(*this);
  }

 private:
  class DeviceWorker final : public Worker {
   public:
    explicit DeviceWorker(const DeviceWork& work) : work_(work) {}

    void push(BandView<const std::byte> in, BandView<std::byte> out) override {
      try {
        work_.convolver_.run(work_.text_, work_.in, work_.make_, in, out);
        for (const MaskWork* mask : work_.other_->mask_works()) mask->note();
      } catch (const DeviceMemoryError&) {
        work_.other_->make_worker()->push(in, out);
      }
    }

   private:
    const DeviceWork& work_;
  };

  std::unique_ptr<Work> other_;
  const std::string text_;
  Convolver& convolver_;
  const std::function<ResidentPlan()> make_;
};

}  // namespace

void require_device(const Choice& choice, const Choice& first) {
  if (!is_for_device(choice, first))
    throw UsageError("strategy '" + std::string(choice.strategy->name) +
                     "' is not for this device");
}

bool suits_device_plan(const Work& work, const Filter& filter, const Place& place) {
  const auto masks = work.mask_works();
  return work.in.depth == Depth::u8 && place.picture_depth == Depth::u8 && place.unit == 1 &&
         (work.in.channels == 1 || work.in.channels == 3) && !place.keeps_channels &&
         filter.resident_refuses().empty() && !masks.empty() &&
         std::ranges::all_of(masks, [&](const MaskWork* mask) {
           return is_for_device(mask->choice(), masks[0]->choice());
         });
}

std::unique_ptr<Work> device_work(std::unique_ptr<Work> other, std::string text,
                                  Convolver& convolver, std::function<ResidentPlan()> make) {
  return std::make_unique<DeviceWork>(std::move(other), std::move(text), convolver,
                                      std::move(make));
}

}  // namespace convfilt
