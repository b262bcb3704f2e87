#include "src/filter/filter.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <utility>

#include "src/auto/family.hpp"
#include "src/base/stable_hash.hpp"
#include "src/filter/alpha.hpp"
#include "src/filter/mask_rows.hpp"

namespace convfilt {
namespace {

/// Unlike numbers have unlike words.
std::string exact(double value) {
  char text[32];
  return {text, std::to_chars(std::begin(text), std::end(text), value).ptr};
}

/// Whether results may differ by a rounding from device to device.
bool depends_on_device(const Filter& filter, const ConvolverOptions& options) {
  if (const Strategy* strategy = this_machine().find(options.request.strategy))
    return strategy->family == Family::transform;
  return std::ranges::any_of(filter.masks(), [&](const Mask& mask) {
    Problem problem;
    problem.mask = mask;
    problem.border = options.border;
    problem.border_value = options.border_value;
    problem.mode = options.mode;
    return may_transform(problem);
  });
}

/// A mask over all channels of a picture without alpha.
class MaskWork final : public Work {
 public:
  MaskWork(const Problem& whole, const MaskRows& rows) : Work(whole, rows.why_whole), rows_(rows) {}

  Needs needs(int) const override {
    // Plans have the mask, so have their problems, and so has what is remembered of masks: up to
    // that many at once, counted with masks of 481 to 801 squared.
    constexpr std::int64_t kMasks = 16;
    if (!is_whole()) return {};
    return {0, rows_.plan_bytes() +
                   kMasks * std::int64_t(sizeof(double)) * window.width * window.height};
  }

  std::unique_ptr<Worker> make_worker() const override { return std::make_unique<MaskRows>(rows_); }

 private:
  MaskRows rows_;
};

class MaskFilter final : public Filter {
 public:
  explicit MaskFilter(Mask mask) : mask_(std::move(mask)) {}

  std::string text() const override { return "mask " + text_of(mask_); }
  std::vector<Mask> masks() const override { return {mask_}; }
  bool keeps_lightness() const override { return has_unit_gain(mask_); }

  std::unique_ptr<Work> begin(const Shape& in, const Place& place) const override {
    Mask mask = mask_;
    mask.offset *= place.unit;
    const Problem problem = place.convolver.problem_of(in, mask, place.border_value);
    if (in.channels == 4) {
      Responses responses{{mask}, {}, mask.offset, has_unit_gain(mask)};
      responses.masks[0].offset = 0;
      return with_alpha(*this, in, std::move(responses), place,
                        "a picture with alpha: where it is opaque, as if it had none; elsewhere "
                        "premultiplied by alpha, in f32");
    }
    const MaskRows rows(problem, in.channels, 0, 1, place);
    if (rows.why_whole.empty()) place.convolver.note(problem);
    return std::make_unique<MaskWork>(problem, rows);
  }

  ResidentPlan resident(const Shape& in, Convolver& convolver) const override {
    const ConvolverOptions& options = convolver.options();
    const Problem problem = convolver.problem_of(in, mask_, options.border_value);
    const Choice choice = convolver.choice_for(problem, 1);
    return {choice,
            choice.strategy->prepare(problem, choice.device, plan_options(choice, options))};
  }

 private:
  Mask mask_;
};

}  // namespace

Work::Work(const Problem& whole, std::string why_whole)
    : in{whole.width, whole.height, whole.channels, whole.depth},
      out{whole.out_width(), whole.out_height(), whole.channels, whole.depth},
      window(window_of(whole)),
      border(whole.border),
      offset_x(whole.mask.anchor_x - window.lead_x),
      offset_y(whole.mask.anchor_y - window.lead_y),
      why_whole(std::move(why_whole)) {}

std::unique_ptr<Work> begin(const Filter& filter, const Shape& in, Convolver& convolver,
                            const Metadata::Bytes* profile) {
  convolver.check_border_value(in.depth);
  return filter.begin(in, {convolver, convolver.options().border_value, 1, in.depth, profile});
}

std::string describe(const Filter& filter, const ConvolverOptions& options) {
  std::string text = filter.text() + ", border " + std::string(name_of(options.border));
  if (options.border == Border::constant) text += " " + exact(options.border_value);
  text += ", mode " + std::string(name_of(options.mode)) + ", strategy " + options.request.strategy;
  if (const std::string tuning = to_string(options.request.tuning); !tuning.empty())
    text += " with " + tuning;
  const std::string& device = options.request.device;
  if (depends_on_device(filter, options)) text += " on " + device.substr(0, device.find(':'));
  return text;
}

FilterPtr mask_filter(Mask mask) {
  return std::make_shared<MaskFilter>(std::move(mask));
}

std::string text_of(const Mask& mask) {
  const auto number = [](int value) { return std::to_string(value); };
  std::string text = number(mask.width) + "x" + number(mask.height) + " at " +
                     number(mask.anchor_x) + "," + number(mask.anchor_y) + ", divisor " +
                     exact(mask.divisor) + ", offset " + exact(mask.offset) + ", weights";
  std::string weights;
  for (const double weight : mask.weights) weights += " " + exact(weight);
  // Many weights are no text to read.
  constexpr std::size_t kMostWeights = 9;
  if (mask.weights.size() <= kMostWeights) return text + weights;
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx",
                static_cast<unsigned long long>(stable_hash(weights)));
  return text + " of hash " + hash;
}

bool has_unit_gain(const Mask& mask) {
  return std::abs(gain(mask) - 1) <= 1e-6;
}

}  // namespace convfilt
