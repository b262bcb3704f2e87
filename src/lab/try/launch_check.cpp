#include "src/lab/try/launch_check.hpp"

#include <algorithm>

#include "src/base/source_text.hpp"
#include "src/lab/try/oracle.hpp"

namespace convfilt {
namespace {

HostLaunch::Numbers numbers_for(const KernelFile& kernel, const Trial& trial, int times = 1) {
  using enum KernelArgument;
  // In the order of KernelArgument.
  const int values[] = {0,
                        0,
                        0,
                        trial.width * times,
                        trial.height * times,
                        trial.depth * times,
                        trial.mask.width,
                        trial.mask_height(),
                        trial.mask_depth,
                        trial.out_width() * times,
                        trial.out_height() * times,
                        trial.out_depth() * times,
                        trial.mask.width / 2,
                        trial.channels};
  HostLaunch::Numbers numbers;
  const std::vector<std::string>& names = kernel.host->arguments;
  for (std::size_t i = 0; i < std::min(kernel.arguments.size(), names.size()); ++i) {
    const KernelArgument argument = kernel.arguments[i];
    if (names[i].empty() || argument <= mask) continue;
    const bool is_of_mask =
        argument == radius || (argument >= mask_width && argument <= mask_depth);
    const bool is_given = is_of_mask && (!kernel.is_told_size || kernel.host->is_constant(i));
    (is_given ? numbers.given : numbers.sides)[names[i]] = values[std::size_t(argument)];
  }
  return numbers;
}

BlockSides sides_of(const HostLaunch::Sides& sides) {
  return {{sides.of[0], sides.of[1]}, sides.of[2]};
}

/// "4x2", or "4" of a line.
std::string blocks_of(const BlockSides& grid, bool is_line) {
  if (!is_line && grid.height == 0) return std::to_string(grid.width) + "x0";
  return to_string(is_line ? BlockSides{{grid.width, 0}} : grid);
}

bool has_fewer(const BlockSides& grid, const BlockSides& needed) {
  return grid.width < needed.width || grid.height < needed.height || grid.depth < needed.depth;
}

/// "outputs from column 48 and from row 16 on", which such a grid does not reach.
std::string beyond(const BlockSides& grid, const Trial& trial, const LaunchSize& launch) {
  if (launch.outputs.height == 0)
    return "outputs from number " + std::to_string(grid.width * launch.outputs.width) + " on";
  const std::int64_t across = launch.has_rows_first ? grid.height : grid.width,
                     down = launch.has_rows_first ? grid.width : grid.height;
  std::string text;
  const auto add = [&](const char* name, std::int64_t first, int side) {
    if (first < side)
      text += (text.empty() ? "outputs from " : " and from ") + (name + std::to_string(first));
  };
  add("column ", across * launch.outputs.width, trial.out_width());
  add("row ", down * std::max<std::int64_t>(launch.outputs.height, 1), trial.out_height());
  add("plane ", grid.depth * launch.outputs.depth, trial.out_depth());
  return text + " on";
}

std::string why_fewer(const KernelFile& kernel, const Trial& trial, const BlockSides& grid,
                      const BlockSides& needed) {
  const LaunchSize& launch = kernel.launch;
  if (kernel.has_grid_exchanged != launch.has_rows_first)
    return "; width and height are exchanged in the grid";
  if (launch.outputs.height == 0 && trial.out_height() > 1) return "";
  // Sides of whole blocks need no rounding.
  Trial whole = trial;
  for (int* side : {&whole.width, &whole.height, &whole.depth})
    if (*side > 1) --*side;
  const auto of_whole = kernel.host->grid(numbers_for(kernel, whole));
  if (!of_whole) return "";
  if (has_fewer(sides_of(*of_whole),
                launch.grid(whole.out_width(), whole.out_height(), whole.out_depth())))
    return "; it is too small even where the blocks fit the picture";
  const int axis = grid.width < needed.width ? 0 : grid.height < needed.height ? 1 : 2;
  const int side = launch.has_rows_first && axis < 2 ? 1 - axis : axis;
  const std::int64_t each[] = {launch.outputs.width, launch.outputs.height, launch.outputs.depth};
  const char* const sides[] = {"width", "height", "depth"};
  const std::string remedy =
      std::string("(") + sides[side] + (trial.is_valid ? " of the output + " : " + ") +
      std::to_string(each[side] - 1) + ") / " + std::to_string(each[side]) + " is right";
  return kernel.host->has_ceil(std::size_t(axis))
             ? "; ceil() comes too late, since a division of ints has rounded down before: " +
                   remedy
             : "; the grid is rounded down: " + remedy;
}

}  // namespace

LaunchCheck check_launch(const KernelFile& kernel, const LessonProgram& program,
                         const std::vector<Trial>& trials) {
  const HostLaunch& host = *kernel.host;
  const LaunchSize& launch = kernel.launch;
  const int line = kernel.line_at(host.at);
  LaunchCheck check;
  const auto remark = [&](const std::string& text) {
    check.remarks.push_back({"launch", kernel.line_at(host.grid_at()), text});
  };
  const auto picture = [](const Trial& trial) {
    if (trial.height == 1 && trial.depth == 1)
      return "a line of " + std::to_string(trial.width) + " samples";
    return "a picture of " + to_string(BlockSides{{trial.width, trial.height}, trial.depth});
  };
  for (const auto& [is_there, text] :
       {std::pair(!kernel.assumed.empty(), kernel.assumed + "; " + to_string(launch.block) +
                                               " threads are assumed, and --block says another"),
        {host.times > 1, "the file launches the kernel " + std::to_string(host.times) +
                             " times, and only this launch is judged"},
        {!kernel.assumed_shared.empty(), kernel.assumed_shared}})
    if (is_there) check.remarks.push_back({"launch", line, text});
  if (host.is_exchanged) {
    check.fault = {"launch", line,
                   host.function +
                       " launches <<<block, grid>>>: grid and block are exchanged, and the grid "
                       "comes first"};
    return check;
  }
  const HostLaunch::Numbers own;
  const auto threads = host.block(own);
  if (threads && launch.block.height > 0 && kernel.assumed.empty() &&
      threads->of[0] != launch.block.width && threads->of[0] == launch.block.height) {
    check.fault =
        LessonSentence{"launch", line,
                       host.function + " launches blocks of " + to_string(sides_of(*threads)) +
                           " threads, and the kernel needs " + to_string(launch.block) +
                           ": x and y of the block are exchanged"};
    return check;
  }
  const auto needed_for = [&](const Trial& trial) {
    return launch.grid(trial.out_width(), trial.out_height(), trial.out_depth());
  };
  const auto leaves_out = [&](const Trial& trial, const BlockSides& grid) {
    const TrialRun run = program.run(trial, grid);
    if (run.end != TrialRun::End::done) return true;
    for (std::size_t i = 0; i < run.out.size(); ++i)
      if (!is_written(run, i) || (launch.clears_out && run.is_set[i] == 1 && run.out[i] == 0))
        return true;
    return false;
  };
  const auto fault = [&](const Trial& trial, const BlockSides& grid, const std::string& why) {
    const BlockSides needed = needed_for(trial);
    const bool is_line = grid.height == 1 && needed.height == 1 && needed.depth == 1;
    return LessonSentence{
        "launch", kernel.line_at(host.grid_at()),
        host.function + " launches " + blocks_of(grid, is_line) +
            (grid.width * grid.height * grid.depth == 1 ? " block for " : " blocks for ") +
            picture(trial) + ", which needs " + blocks_of(needed, is_line) + ": " +
            beyond(grid, trial, launch) + " are not written" + why};
  };
  // The picture of the file itself.
  Trial itself = trials.front();
  bool is_known = true, is_constant = true;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    using enum KernelArgument;
    const KernelArgument argument = kernel.arguments[i];
    if (argument != width && argument != height && argument != depth) continue;
    const auto number = host.argument(i);
    is_known = is_known && number && *number >= 1 && *number < (1 << 24);
    is_constant = is_constant && host.is_constant(i);
    if (is_known)
      (argument == width    ? itself.width
       : argument == height ? itself.height
                            : itself.depth) = int(*number);
  }
  const auto own_grid = host.grid(own);
  for (const Trial& trial : trials) {
    const auto grid = host.grid(numbers_for(kernel, trial));
    if (!grid && !kernel.assumed.empty()) return check;  // it depends on the block
    if (!grid) {
      remark("the grid of " + host.function + " is not judged, since " + in_quotes(host.failed()) +
             " is not known here; blocks of " + to_string(launch.block) + " threads for " +
             to_string(launch.outputs) + " outputs are assumed");
      return check;
    }
    const BlockSides blocks = sides_of(*grid), needed = needed_for(trial);
    const auto of_larger = host.grid(numbers_for(kernel, trial, 1000));
    const bool is_fixed = of_larger && of_larger->of == grid->of;
    if (is_fixed) {
      const Trial& meant = is_known ? itself : trial;
      if (is_known && !has_fewer(blocks, needed_for(itself))) return check;
      // One block is enough where threads go on until all is done.
      if (!leaves_out(trial, BlockSides{{1, 1}})) return check;
      if (is_known)
        check.fault = fault(meant, blocks, "");
      else
        remark(host.function + " launches " + blocks_of(blocks, blocks.height == 1) +
               " blocks, whatever the picture: larger ones than they cover stay unfinished");
      return check;
    }
    if (!has_fewer(blocks, needed) || !leaves_out(trial, blocks)) continue;
    const LessonSentence sentence = fault(trial, blocks, why_fewer(kernel, trial, blocks, needed));
    if (is_known && is_constant && own_grid && !has_fewer(sides_of(*own_grid), needed_for(itself)))
      remark(sentence.text + "; its own picture, whose size never changes, is covered");
    else
      check.fault = sentence;
    return check;
  }
  return check;
}

}  // namespace convfilt
