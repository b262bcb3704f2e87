#include "src/filter/filter.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <utility>

#include "src/auto/family.hpp"
#include "src/base/errors.hpp"
#include "src/base/splitmix.hpp"

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

}  // namespace

Work::Work(const Problem& whole, std::string why_whole)
    : in{whole.width, whole.height, whole.channels, whole.depth},
      out{whole.out_width(), whole.out_height(), whole.channels, whole.depth},
      window(window_of(whole)),
      border(whole.border),
      offset_x(whole.mask.anchor_x - window.lead_x),
      offset_y(whole.mask.anchor_y - window.lead_y),
      why_whole(std::move(why_whole)) {}

ResidentPlan Filter::resident(const Shape& in, Convolver& convolver) const {
  if (const std::string why = resident_refuses(); !why.empty()) throw UsageError(why);
  return device_plan(in, {convolver, convolver.options().border_value}, 2);
}

std::unique_ptr<Work> begin(const Filter& filter, const Shape& in, Convolver& convolver,
                            const Metadata* metadata) {
  convolver.check_border_value(in.depth);
  convolver.next_filter();
  return filter.begin(in, {convolver, convolver.options().border_value, 1, in.depth, metadata});
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

std::string text_of(const Mask& mask) {
  const auto number = [](int value) { return std::to_string(value); };
  std::string text = number(mask.width) + "x" + number(mask.height) + " at " +
                     number(mask.anchor_x) + "," + number(mask.anchor_y) + ", divisor " +
                     exact(mask.divisor) + ", offset " + exact(mask.offset) + ", weights";
  // Many weights are no text to read, and take long to print.
  constexpr std::size_t kMostWeights = 9;
  if (mask.weights.size() <= kMostWeights) {
    for (const double weight : mask.weights) text += " " + exact(weight);
    return text;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(mask.weights.data()),
                               mask.weights.size() * sizeof(double));
  return text + " of hash " + digits_of(stable_hash(bytes));
}

}  // namespace convfilt
