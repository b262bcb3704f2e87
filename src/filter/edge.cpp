#include "src/filter/edge.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "kernels/cpu/gradient_rows.hpp"
#include "kernels/cpu/row_buffer.hpp"
#include "kernels/registry.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/filter/alpha.hpp"
#include "src/mask/file.hpp"
#include "src/mask/make.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

const EdgeMethod& find_method(const std::string& name) {
  std::vector<std::string> names;
  for (const EdgeMethod& method : kEdgeMethods) {
    if (method.name == name) return method;
    names.emplace_back(method.name);
  }
  throw UsageError(unknown_name("edge method", name, names));
}

/// The masks without divisors and offsets. Whole weights over whole samples sum exactly in f32; the
/// divisor waits for double precision.
std::vector<Mask> without_divisors(std::vector<Mask> masks) {
  for (Mask& mask : masks) {
    mask.divisor = 1;
    mask.offset = 0;
  }
  return masks;
}

/// Edges of 8-bit pictures by two masks of whole weights, without floats between.
class GradientWorker final : public Worker {
 public:
  GradientWorker(const Problem& whole, const std::vector<GradientTap>& taps)
      : taps_(taps),
        lead_y_(whole.lead_y()),
        source_(whole, whole.lead_x(), whole.mask.width - 1 - whole.lead_x()),
        gathered_(whole.mask.height, source_.length(whole.out_width())),
        rows_(std::size_t(whole.mask.height)) {}

  void push(BandView<const std::byte> in, BandView<std::byte> out) override {
    const int height = int(rows_.size());
    for (int row = 0; row < out.height + height - 1; ++row) {
      std::rotate(rows_.begin(), rows_.begin() + 1, rows_.end());
      rows_.back() =
          source_.row(in, 0, out.width, out.top - lead_y_ + row, gathered_.row(row % height));
      const int y = row + 1 - height;
      if (y >= 0)
        gradient_row(taps_, rows_.data(), out.width * out.channels, row_of<std::uint8_t>(out, y));
    }
  }

 private:
  const std::vector<GradientTap>& taps_;
  int lead_y_;
  SourceRows<std::uint8_t> source_;
  cpu::RowBuffer<std::uint8_t> gathered_;
  std::vector<const std::uint8_t*> rows_;  ///< the rows under the mask
};

class GradientWork final : public Work {
 public:
  GradientWork(const Problem& whole, std::vector<GradientTap> taps)
      : Work(whole, ""), whole_(whole), taps_(std::move(taps)) {}

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<GradientWorker>(whole_, taps_);
  }

 private:
  Problem whole_;
  std::vector<GradientTap> taps_;
};

/// The purpose of the runs, for -v.
std::string description(int colours, bool weighted, const std::vector<Mask>& masks) {
  std::vector<std::string> names;
  for (const Mask& mask : masks) names.push_back(mask.name);
  return "edges of " + std::to_string(colours) + (colours == 1 ? " channel" : " channels") +
         " in f32" + (weighted ? ", premultiplied by alpha" : "") + ", with " + listed(names);
}

class EdgeFilter final : public Filter {
 public:
  explicit EdgeFilter(std::vector<Mask> masks)
      : masks_(std::move(masks)), whole_(without_divisors(masks_)) {
    const Mask& first = masks_[0];
    if (masks_.size() > 2) throw UsageError("edges take one mask or two");
    for (const Mask& mask : masks_) {
      if (mask.width != first.width || mask.height != first.height ||
          mask.anchor_x != first.anchor_x || mask.anchor_y != first.anchor_y)
        throw UsageError("masks of edges reach equally far");
      divisors_.push_back(mask.divisor);
    }
  }

  std::string text() const override {
    std::string text;
    for (const Mask& mask : masks_) text += (text.empty() ? "edge " : " and ") + text_of(mask);
    return text;
  }
  std::vector<Mask> masks() const override { return masks_; }
  bool keeps_lightness() const override { return false; }

  std::unique_ptr<Work> begin(const Shape& in, const Place& place) const override {
    const std::string text = description(std::min(in.channels, 3), in.channels == 4, masks_);
    if (in.channels == 4) return with_alpha(*this, in, {whole_, divisors_}, place, text);
    auto work = std::make_unique<FloatWork>(in, Responses{whole_, divisors_}, place);
    place.convolver.set_job(text);
    work->note_problems();
    if (in.depth == Depth::u8 && !work->is_whole() && divisors_ == std::vector<double>{1, 1}) {
      std::vector<GradientTap> taps = gradient_taps(whole_[0], whole_[1], in.channels);
      if (!taps.empty())
        return std::make_unique<GradientWork>(
            place.convolver.problem_of(in, whole_[0], place.border_value), std::move(taps));
    }
    return work;
  }

  ResidentPlan resident(const Shape& in, Convolver& convolver) const override {
    const ConvolverOptions& options = convolver.options();
    const Shape plane{in.width, in.height, 1, Depth::f32};
    const int runs = in.channels * int(masks_.size());
    ResidentPlan made;
    std::vector<std::unique_ptr<Plan>> responses;
    const auto transforms = masks_.size() > 1 ? std::make_shared<SharedTransforms>() : nullptr;
    for (const Mask& mask : whole_) {
      Problem problem = convolver.problem_of(plane, mask, options.border_value);
      const Choice choice = convolver.choice_for(problem, runs);
      if (choice.device == DeviceKind::cpu ||
          (!responses.empty() && choice.device != made.choice.device))
        throw UsageError("strategy '" + std::string(choice.strategy->name) +
                         "' is not for this device");
      problem.channels = in.channels;
      PlanOptions how = plan_options(choice, options);
      how.transforms = transforms;
      responses.push_back(choice.strategy->prepare(problem, choice.device, how));
      if (responses.size() == 1) made.choice = choice;
    }
    PlanOptions how = plan_options(made.choice, options);
    how.transforms = transforms;
    made.plan = make_edge_plan(made.choice.device, std::move(responses), divisors_, how);
    return made;
  }

  /// A plan holds floats for the picture and for each response, and the masks' plans.
  std::size_t most_resident() const override { return 2; }

 private:
  std::vector<Mask> masks_, whole_;
  std::vector<double> divisors_;
};

}  // namespace

std::vector<Mask> edge_masks(const EdgeOptions& options) {
  const EdgeMethod& method = find_method(options.method);
  const std::vector<std::string> directions(std::begin(kDirections), std::end(kDirections));
  if (std::find(directions.begin(), directions.end(), options.direction) == directions.end())
    throw UsageError(unknown_name("direction", options.direction, directions));
  if (method.second.empty() && options.direction != "both")
    throw UsageError("--direction=" + options.direction + ": " + options.method +
                     " has one mask for all directions; leave --direction out");
  if (options.sigma && !method.first.empty())
    throw UsageError("--sigma: only --method=log has one; to smooth before " + options.method +
                     ", blur the picture first");

  std::vector<Mask> masks;
  if (method.first.empty()) masks.push_back(log_mask(options.sigma.value_or(kDefaultLogSigma)));
  if (!method.first.empty() && options.direction != "y")
    masks.push_back(load_mask(std::string(method.first)));
  if (!method.second.empty() && options.direction != "x")
    masks.push_back(load_mask(std::string(method.second)));
  return masks;
}

FilterPtr edge_filter(std::vector<Mask> masks) {
  return std::make_shared<EdgeFilter>(std::move(masks));
}

}  // namespace convfilt
