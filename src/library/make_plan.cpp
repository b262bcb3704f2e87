#include <algorithm>
#include <cmath>

#include "src/auto/choice.hpp"
#include "src/base/errors.hpp"
#include "src/library/convfilt.hpp"

namespace convfilt {
namespace {

void require(bool holds, const std::string& sentence) {
  if (!holds) throw UsageError(sentence);
}

/// Throws UsageError for what load_mask() and pictures never give, but a program may.
void check_problem(const Problem& problem) {
  require(problem.width >= 1 && problem.height >= 1 && problem.channels >= 1,
          "a picture has at least 1x1 pixels of 1 channel, not " + to_string(problem));
  const Mask& mask = problem.mask;
  const auto is_side = [](int side) { return side >= 1 && side <= kMaxMaskSide; };
  require(is_side(mask.width) && is_side(mask.height),
          "a mask's sides are 1 to " + std::to_string(kMaxMaskSide) +
              "; make one with make_mask() or load_mask()");
  require(mask.weights.size() == std::size_t(mask.width) * std::size_t(mask.height),
          "a mask of " + std::to_string(mask.width) + "x" + std::to_string(mask.height) +
              " wants as many weights, not " + std::to_string(mask.weights.size()));
  require(mask.anchor_x >= 0 && mask.anchor_x < mask.width && mask.anchor_y >= 0 &&
              mask.anchor_y < mask.height,
          "a mask's anchor lies inside it");
  const auto is_finite = [](double value) { return std::isfinite(value); };
  require(std::all_of(mask.weights.begin(), mask.weights.end(), is_finite) &&
              is_finite(mask.offset) && is_finite(problem.border_value),
          "weights, offset and border value are finite numbers");
  require(is_finite(mask.divisor) && mask.divisor > 0, "a mask's divisor is above 0");
}

// A linker takes from convfilt_src only what is called, and callers of load_mask() are elsewhere.
[[gnu::used]] Mask (*const kTaken)(const std::string&) = &load_mask;

}  // namespace

std::unique_ptr<Plan> make_plan(const Problem& problem, const PlanRequest& request) {
  check_problem(problem);
  Request wanted;
  wanted.strategy = request.strategy;
  wanted.device = request.device;
  wanted.threads = request.threads;
  wanted.finite = request.finite;
  const Machine machine = this_machine();
  check_names(wanted, machine);
  const Choice choice = choose(problem, request.pictures, wanted, machine);
  PlanOptions options;
  options.device = choice.ordinal;
  options.threads = request.threads;
  return choice.strategy->prepare(problem, choice.device, options);
}

}  // namespace convfilt
