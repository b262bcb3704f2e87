#include "src/filter/mask_rows.hpp"

#include "kernels/cpu/plans.hpp"
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

MaskRows::MaskRows(const Problem& whole, int channels, double border_alpha, int runs,
                   const Place& place)
    : why_whole(place.why_whole),
      convolver_(place.convolver),
      whole_(whole),
      channels_(channels),
      border_alpha_(border_alpha),
      runs_(runs) {
  if (const std::string refusal = mode_refuses(whole); !refusal.empty())
    throw UsageError("mask " + in_quotes(whole.mask.name) + ": " + refusal);
  choice_ = convolver_.choice_for(whole, runs);
  if (why_whole.empty()) why_whole = why_not_in_bands(choice_);
}

MaskRows::MaskRows(const MaskRows& other)
    : why_whole(other.why_whole),
      convolver_(other.convolver_),
      whole_(other.whole_),
      channels_(other.channels_),
      border_alpha_(other.border_alpha_),
      runs_(other.runs_),
      choice_(other.choice_) {}

void MaskRows::push(BandView<const std::byte> in, BandView<std::byte> out) {
  if (!why_whole.empty()) return convolver_.run(whole_, runs_, in, out);
  if (!plan_) {
    Problem problem = whole_;
    problem.channels = channels_;
    PlanOptions how;
    how.threads = 1;
    const auto prepare =
        choice_.strategy->family == Family::direct ? prepare_direct_bands : prepare_separable_bands;
    plan_ = prepare(problem, how, border_alpha_);
  }
  plan_->run_band(in, out);
}

std::int64_t MaskRows::plan_bytes() const {
  return why_whole.empty() ? 0 : convolver_.plan_bytes(whole_, runs_);
}

}  // namespace convfilt
