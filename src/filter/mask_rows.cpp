#include "src/filter/mask_rows.hpp"

#include <algorithm>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"

namespace convfilt {
namespace {

std::string why_not_in_bands(const Choice& choice) {
  if (choice.device != DeviceKind::cpu)
    return "the " + std::string(name_of(choice.device)) + " filters whole pictures";
  if (choice.strategy->family != Family::direct && choice.strategy->family != Family::separable)
    return "strategy " + std::string(choice.strategy->name) + " transforms whole pictures";
  return "";
}

}  // namespace

MaskRows::MaskRows(const Problem& whole, int channels, int runs, const Place& place)
    : why_whole(place.why_whole),
      convolver_(place.convolver),
      whole_(whole),
      channels_(channels),
      runs_(runs) {
  if (const std::string refusal = mode_refuses(whole); !refusal.empty())
    throw UsageError("mask " + in_quotes(whole.mask.name) + ": " + refusal);
  const Choice& choice = convolver_.choice_for(whole, runs);
  strategy_ = choice.strategy;
  if (why_whole.empty()) why_whole = why_not_in_bands(choice);
}

MaskRows::MaskRows(const MaskRows& other)
    : why_whole(other.why_whole),
      convolver_(other.convolver_),
      whole_(other.whole_),
      channels_(other.channels_),
      runs_(other.runs_),
      strategy_(other.strategy_) {}

void MaskRows::push(PictureView<const std::byte> in, PictureView<std::byte> out, int) {
  if (!why_whole.empty()) return convolver_.run(whole_, runs_, in, out);
  const auto found = std::ranges::find(plans_, out.height, &Sized::rows);
  if (found != plans_.end()) {
    found->plan->run(in, out);
    return;
  }
  Problem band = whole_;
  band.mode = Mode::valid;
  band.border = Border::replicate;
  band.channels = channels_;
  band.width = in.width;
  band.height = in.height;
  PlanOptions how;
  how.threads = 1;
  how.tuning = convolver_.options().request.tuning;
  constexpr std::size_t kMostPlans = 4;  // most bands have one height, and the last another
  if (plans_.size() == kMostPlans) plans_.erase(plans_.begin());
  plans_.push_back({out.height, strategy_->prepare(band, DeviceKind::cpu, how)});
  plans_.back().plan->run(in, out);
}

std::int64_t MaskRows::plan_bytes() const {
  return why_whole.empty() ? 0 : convolver_.plan_bytes(whole_, runs_);
}

}  // namespace convfilt
