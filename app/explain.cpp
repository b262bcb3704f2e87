#include "explain.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "commands.hpp"
#include "errors.hpp"
#include "explain_text.hpp"
#include "mask_file.hpp"
#include "registry.hpp"
#include "sides.hpp"
#include "tile_picture.hpp"

namespace convfilt {
namespace {

/// Ones of that many columns and rows, or a mask by name: only its size and place matter here.
Mask mask_of(const std::string& word) {
  const auto sides = parse_sides(word);
  if (!sides) return load_mask(word);
  const auto fits = [](std::int64_t side) { return side >= 1 && side <= kMaxMaskSide; };
  if (!fits(sides->width) || !fits(sides->height))
    throw UsageError("--mask: sides are 1 to " + std::to_string(kMaxMaskSide));
  const int width = int(sides->width), height = int(sides->height);
  return make_mask("ones", width, height, std::vector<double>(std::size_t(width) * height, 1),
                   double(width) * height);
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
  problem.mask = mask_of(command.mask);
  if (!command.picture.empty()) check_plot(command.picture);
  const Explanation explanation =
      explain(*find_strategy(options.request.strategy), problem, options.request.tuning,
              find_architecture(command.architecture));
  if (!command.picture.empty()) plot_to_file(command.picture, tile_picture(explanation), kTilePage);
  print_result(to_text(explanation));
  if (!explanation.differences().empty())
    throw std::logic_error("formula and count differ: " + explanation.differences().front());
}

}  // namespace convfilt
