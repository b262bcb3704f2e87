#include "src/filter/mask_work.hpp"

#include "kernels/cpu/plans.hpp"
#include "kernels/plan/zero_weights.hpp"
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

MaskWork::MaskWork(const Problem& whole, int channels, double border_alpha, int runs,
                   const Place& place, int sharers)
    : Work(whole, place.why_whole),
      convolver_(place.convolver),
      whole_(whole),
      channels_(channels),
      border_alpha_(border_alpha),
      runs_(runs),
      sharers_(sharers) {
  if (const std::string refusal = mode_refuses(whole); !refusal.empty())
    throw UsageError("mask " + in_quotes(whole.mask.name) + ": " + refusal);
  // Integers stay within their range. Floats may be anything.
  whole_.contrast = place.picture_depth == Depth::f32 ? 0 : 1;
  choice_ = convolver_.choice_for(whole_, runs);
  if (why_whole.empty()) why_whole = why_not_in_bands(choice_);
}

Work::Needs MaskWork::needs(int) const {
  // Plans, their problems and the memory of earlier choices hold copies of the mask: up to that
  // many at once, by the peak with masks of 321 to 801 squared.
  constexpr std::int64_t kMasks = 8;
  if (!is_whole()) return {};
  return {0, plan_bytes() + kMasks * std::int64_t(sizeof(double)) * window.width * window.height};
}

std::unique_ptr<Worker> MaskWork::make_worker() const {
  if (is_whole())
    return std::make_unique<FunctionWorker>(
        [this](const auto& in, const auto& out) { convolver_.run(whole_, runs_, in, out); });
  Problem problem = whole_;
  problem.channels = channels_;
  PlanOptions how;
  how.threads = 1;
  const auto prepare =
      choice_.strategy->family == Family::direct ? prepare_direct_bands : prepare_separable_bands;
  return bands_without_zero_weights(problem, choice_.strategy->family, border_alpha_,
                                    prepare(problem, how, border_alpha_));
}

std::int64_t MaskWork::plan_bytes() const {
  return is_whole() ? convolver_.plan_bytes(whole_, runs_) : 0;
}

}  // namespace convfilt
