#include "src/filter/mask.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/filter/alpha.hpp"
#include "src/filter/mask_work.hpp"

namespace convfilt {
namespace {

class MaskFilter final : public Filter {
 public:
  explicit MaskFilter(Mask mask) : mask_(std::move(mask)) {}

  std::string text() const override { return "mask " + text_of(mask_); }
  std::vector<Mask> masks() const override { return {mask_}; }
  const Mask* only_mask() const override { return &mask_; }
  bool keeps_lightness() const override { return has_unit_gain(mask_); }

  std::unique_ptr<Work> begin(const Shape& in, const Place& place) const override {
    Mask mask = mask_;
    mask.offset *= place.unit;
    const Problem problem = place.convolver.problem_of(in, mask, place.border_value);
    if (in.channels == 4) return with_alpha(*this, in, mask, has_unit_gain(mask), place);
    auto work = std::make_unique<MaskWork>(problem, in.channels, 0, 1, place);
    if (!work->is_whole()) place.convolver.note(problem);
    return work;
  }

  ResidentPlan device_plan(const Shape& in, const Place& place, int) const override {
    const Problem problem = place.convolver.problem_of(in, mask_, place.border_value);
    const Choice choice = place.convolver.choice_for(problem, 1);
    return {choice,
            choice.strategy->prepare(problem, choice.device,
                                     plan_options(choice, place.convolver.options())),
            {problem.out_width(), problem.out_height(), in.channels, in.depth}};
  }

 private:
  Mask mask_;
};

}  // namespace

FilterPtr mask_filter(Mask mask) {
  return std::make_shared<MaskFilter>(std::move(mask));
}

bool has_unit_gain(const Mask& mask) {
  return std::abs(gain(mask) - 1) <= 1e-6;
}

}  // namespace convfilt
