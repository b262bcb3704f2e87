#include "src/explain/explain.hpp"

#include <stdexcept>
#include <string>

#include "app/commands.hpp"
#include "kernels/registry.hpp"
#include "src/base/log.hpp"
#include "src/compare/contenders.hpp"
#include "src/explain/text.hpp"
#include "src/explain/tile_picture.hpp"
#include "src/mask/file.hpp"

namespace convfilt {
namespace {

constexpr const char* kDefaultMasks[] = {"5x5", "3x3"};

/// The problem with the mask asked for, else with the first default that the strategy takes in its
/// default settings.
Problem with_mask(Problem problem, const ExplainCommand& command, const Strategy& strategy) {
  problem.mask = mask_named(command.mask.value_or(kDefaultMasks[0]));
  if (command.mask || strategy.refusal(problem).empty()) return problem;
  Problem other = problem;
  other.mask = mask_named(kDefaultMasks[1]);
  return strategy.refusal(other).empty() ? other : problem;
}

constexpr int kManyWeights = 200 * 200;  // fewer are counted in a moment
constexpr int kLargestDefault = 4;       // times the sides of the default picture

/// Whether a block in the middle could not be counted, though the strategy has blocks.
bool lacks_middle(const Explanation& explanation) {
  return explanation.geometry && !explanation.middle_counts &&
         explanation.strategy->runs_on(DeviceKind::emulator);
}

}  // namespace

void run(const ExplainCommand& command) {
  const ConvolverOptions& options = command.convolver;
  Problem problem;
  problem.width = command.width;
  problem.height = command.height;
  problem.depth = command.depth;
  problem.border = options.border;
  problem.border_value = options.border_value;
  problem.mode = options.mode;
  const Strategy& strategy = *find_strategy(options.request.strategy);
  problem = with_mask(problem, command, strategy);
  if (!command.picture.empty()) {
    check_drawable(strategy);
    if (command.mask) check_keeps_mask(*command.mask, command.picture);
    check_plot(command.picture);
  }
  if (problem.mask.width * problem.mask.height > kManyWeights)
    log_note("counting in the emulator what kernels read; a mask of " +
             std::to_string(problem.mask.width) + "x" + std::to_string(problem.mask.height) +
             " may take some seconds");
  const Architecture& architecture = find_architecture(command.architecture);
  Explanation explanation = explain(strategy, problem, options.request.tuning, architecture);
  // A block may be so large that the default picture has none in its middle.
  for (int times = 2; times <= kLargestDefault && !command.sized && lacks_middle(explanation);
       times *= 2) {
    problem.width = command.width * times;
    problem.height = command.height * times;
    explanation = explain(strategy, problem, options.request.tuning, architecture);
  }
  if (!command.picture.empty()) {
    const TilePicture picture = tile_picture(explanation);
    plot_to_file(command.picture, picture.script, picture.page);
  }
  print_text(to_text(explanation));
  if (!explanation.differences().empty())
    throw std::logic_error("formula and count differ: " + explanation.differences().front());
}

}  // namespace convfilt
