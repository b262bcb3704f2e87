#include <algorithm>
#include <cmath>
#include <utility>

#include "src/auto/choice.hpp"
#include "src/base/numbers.hpp"
#include "src/base/suggest.hpp"
#include "src/base/words.hpp"
#include "src/library/checks.hpp"
#include "src/library/convfilt.hpp"
#include "src/mask/make.hpp"

namespace convfilt {
namespace {

/// Throws UsageError for values that load_mask() and pictures never give, but programs may.
void check_problem(const Problem& problem) {
  require(std::ranges::count(kDepths, problem.depth) > 0, "a picture's depth is u8, u16 or f32");
  require(std::ranges::count(kBorders, problem.border) > 0,
          "a border is replicate, constant, reflect, reflect101 or wrap");
  require(std::ranges::count(kModes, problem.mode) > 0, "a mode is same, valid or full");
  check_sides(problem.width, problem.height, problem.channels);
  const Mask& mask = problem.mask;
  check_mask_sides(mask.width, mask.height);
  require(mask.weights.size() == std::size_t(mask.width) * std::size_t(mask.height),
          "a mask of " + size_text(mask.width, mask.height) + " wants as many weights, not " +
              std::to_string(mask.weights.size()));
  require(mask.anchor_x >= 0 && mask.anchor_x < mask.width && mask.anchor_y >= 0 &&
              mask.anchor_y < mask.height,
          "a mask's anchor lies inside it");
  check_numbers(mask);
  require(std::isfinite(problem.border_value), "a border value is a finite number");
  if (problem.border != Border::constant) return;
  const std::string refusal = border_value_refuses(problem.border_value, problem.depth);
  require(refusal.empty(), "a border value is a sample: " + refusal);
}

/// A plan that checks the pictures before it runs, since a program may pass any shape.
class CheckedPlan final : public Plan {
 public:
  CheckedPlan(const Problem& problem, std::unique_ptr<Plan> plan)
      : problem_(problem), plan_(std::move(plan)) {}

  Timing run(PictureView<const std::byte> in, PictureView<std::byte> out) override {
    check(in, out);
    return plan_->run(in, out);
  }
  void run_resident(PictureView<const std::byte> in, PictureView<std::byte> out,
                    void* stream) override {
    check(in, out);
    plan_->run_resident(in, out, stream);
  }
  std::vector<double> time_resident(PictureView<const std::byte> in, int repeats) override {
    if (in.data) check("in", in, problem_.width, problem_.height);
    return plan_->time_resident(in, repeats);
  }
  std::int64_t host_bytes() const override { return plan_->host_bytes(); }
  Counts counts() const override { return plan_->counts(); }

 private:
  void check(const PictureView<const std::byte>& in, const PictureView<std::byte>& out) const {
    check("in", in, problem_.width, problem_.height);
    check("out", out, problem_.out_width(), problem_.out_height());
  }
  void check(const std::string& name, const PictureView<const std::byte>& view, int width,
             int height) const {
    require(view.data, name + " has no pixels");
    require(view.width == width && view.height == height && view.channels == problem_.channels,
            name + " is " + shape(view.width, view.height, view.channels) +
                ", where the plan has " + shape(width, height, problem_.channels));
    const auto bytes =
        std::ptrdiff_t(width) * problem_.channels * std::ptrdiff_t(size_of(problem_.depth));
    require(view.pitch >= bytes, name + " has rows of " + std::to_string(bytes) +
                                     " bytes, which begin only " + std::to_string(view.pitch) +
                                     " bytes apart");
  }
  static std::string shape(int width, int height, int channels) {
    return size_text(width, height) + "x" + std::to_string(channels);
  }

  const Problem problem_;
  const std::unique_ptr<Plan> plan_;
};

// A linker takes only called functions from convfilt_src, and the callers of load_mask() are
// elsewhere.
[[gnu::used]] Mask (*const kTaken)(const std::string&) = &load_mask;

}  // namespace

std::unique_ptr<Plan> make_plan(const Problem& problem, const PlanRequest& request) {
  check_problem(problem);
  require(request.threads >= 0 && request.threads <= kMostThreads,
          "threads are 0, for all cores, to " + std::to_string(kMostThreads));
  require(request.pictures >= 1, "a plan filters at least 1 picture");
  Request wanted;
  wanted.strategy = request.strategy;
  wanted.device = request.device;
  wanted.threads = request.threads;
  const Machine machine = this_machine();
  check_names(wanted, machine);
  const Choice choice = choose(problem, request.pictures, wanted, machine);
  PlanOptions options;
  options.device = choice.ordinal;
  options.threads = request.threads;
  return std::make_unique<CheckedPlan>(problem,
                                       choice.strategy->prepare(problem, choice.device, options));
}

}  // namespace convfilt
