#include "src/lab/try/judge.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/splitmix.hpp"
#include "src/base/suggest.hpp"
#include "src/lab/compare/quartiles.hpp"
#include "src/lab/try/gpu_program.hpp"
#include "src/lab/try/launch_check.hpp"
#include "src/lab/try/oracle.hpp"
#include "src/mask/random.hpp"

namespace convfilt {
namespace {

constexpr int kWide = 300;    ///< columns of a picture, more than a byte counts
constexpr int kLong = 32771;  ///< samples of a line, more than 16 bits count

struct Size {
  int width = 1, height = 1, depth = 1;
};

/// A picture with so many outputs, as far as it has such sides.
Trial make_trial(const Size& size, const Mask& mask, const LessonTask& task, double largest = 1) {
  Trial trial{size.width, task.dimensions < 2 ? 1 : size.height, {}, mask};
  trial.depth = task.dimensions < 3 ? 1 : size.depth;
  trial.mask_depth = task.dimensions == 3 ? mask.height / mask.width : 1;
  trial.channels = task.channels;
  trial.is_valid = task.is_valid;
  trial.is_planar = task.is_planar;
  trial.largest = largest;
  if (task.is_valid) {
    trial.width += mask.width - 1;
    trial.height += trial.mask_height() - 1;
    trial.depth += trial.mask_depth - 1;
  }
  SplitMix random(std::uint64_t(trial.width) * 1000 + std::uint64_t(trial.height));
  trial.in.resize(std::size_t(trial.width) * std::size_t(trial.height) * std::size_t(trial.depth) *
                  std::size_t(trial.channels));
  for (float& sample : trial.in) sample = float(largest) * (float(1 + random.below(1000)) / 1000);
  return trial;
}

/// The outputs of a block, in columns, rows and planes; where blocks take the picture's outputs one
/// after the other, there are some rows.
Size tile_of(const LaunchSize& launch, const LessonTask& task) {
  const auto side = [&](std::int64_t said, int dimension, int usual) {
    return task.dimensions < dimension ? 1 : said > 0 ? int(said) : usual;
  };
  return {int(launch.outputs.width), side(launch.outputs.height, 2, 4),
          side(launch.outputs.depth, 3, 1)};
}

double taps_of(const LaunchSize& launch, const Mask& mask) {
  return double(launch.outputs.count()) * double(mask.weights.size());
}

/// Whether pictures of some blocks take long, since a thread computes many outputs under a large
/// mask.
bool is_slow(const LaunchSize& launch, const Mask& mask) {
  return taps_of(launch, mask) > 4e6;
}

/// The picture whose middle block is counted: the block's halo lies inside, and rows begin at lines
/// of the cache. The last block may be cut, where all would take long.
Size counted_size(const LaunchSize& launch, const Mask& mask, const LessonTask& task) {
  constexpr int kLine = 32;  // samples
  const int w = int(launch.outputs.width),
            h = int(std::max<std::int64_t>(launch.outputs.height, 1));
  const auto side = [&](int tile, int mask_side) {
    const int radius = mask_side / 2, before = (radius + tile - 1) / tile * tile;
    return before + tile + (is_slow(launch, mask) ? radius : before);
  };
  const int rows = is_slow(launch, mask) ? 2 * h + 1 : 3 * h;
  return {(side(w, mask.width) + kLine - 1) / kLine * kLine,
          task.dimensions == 3 ? side(h, mask.width) : std::max(side(h, mask.height), rows),
          side(int(launch.outputs.depth), mask.width)};
}

/// The sizes at which kernels go wrong: some tiles, one pixel, one less and one more than a tile,
/// and many columns.
std::vector<Size> sizes_for(const LaunchSize& launch, bool is_slow, const LessonTask& task) {
  const auto [w, h, d] = tile_of(launch, task);
  std::vector<Size> sizes = {{3 * w + 5, 3 * h + 3, 2 * d + 1},
                             {1, 1, 1},
                             {w, h, d},
                             {w + 1, h + 1, d + 1},
                             {std::max(1, w - 1), std::max(1, h - 1), std::max(1, d - 1)},
                             {2 * w, 2 * h, 2 * d},
                             {kWide, 2, 2},
                             {5, 2 * h + 1, 3},
                             {2 * w + 1, 3, 2 * d + 1}};
  if (is_slow)
    sizes = {{w + 5, h + 3, d + 1},      {1, 1, 1},    {w, h, d}, {w + 1, 3, 2},
             {std::max(1, w - 1), 5, 1}, {5, h + 1, d}};
  return sizes;
}

/// The first is counted. Other masks than the first are tried on two pictures alone.
std::vector<Trial> trials_for(const KernelFile& kernel, const std::vector<Mask>& masks,
                              const LessonTask& task) {
  std::vector<Trial> trials;
  const auto add = [&](const Size& size, const Mask& mask) {
    trials.push_back(make_trial(size, mask, task));
  };
  add(counted_size(kernel.launch, masks.front(), task), masks.front());
  const auto sizes = sizes_for(kernel.launch, is_slow(kernel.launch, masks.front()), task);
  for (const Size& size : sizes) add(size, masks.front());
  if (kernel.has_short) add({kLong, 1, 1}, masks.front());
  if (kernel.has_short && task.dimensions > 1) add({1, kLong, 1}, masks.front());
  for (std::size_t k = 1; k < masks.size(); ++k)
    for (const std::size_t i : {0, 3}) add(sizes[i], masks[k]);
  return trials;
}

/// Pictures that need more blocks than their sides hold whole ones, with different numbers of
/// columns and rows, unless the file's launch has one name for both.
std::vector<Trial> launch_trials(const KernelFile& kernel, const Mask& mask,
                                 const LessonTask& task) {
  const auto [w, h, d] = tile_of(kernel.launch, task);
  std::string names[2];
  for (std::size_t i = 0; i < std::min(kernel.arguments.size(), kernel.host->arguments.size()); ++i)
    if (const bool is_width = kernel.arguments[i] == KernelArgument::width;
        is_width || kernel.arguments[i] == KernelArgument::height)
      names[is_width] = kernel.host->arguments[i];
  const int more = is_slow(kernel.launch, mask) ? 1 : 3, side = more * std::max(w, h) + 1;
  std::vector<Size> sizes = {{more * w + 1, h + 1, d + 1}, {w + 1, more * h + 1, d + 1}};
  if (names[0] == names[1] && !names[0].empty()) sizes = {{side, side, d + 1}};
  std::vector<Trial> trials;
  for (const Size& size : sizes) trials.push_back(make_trial(size, mask, task));
  return trials;
}

std::string sides(std::int64_t width, std::int64_t height, std::int64_t depth = 1) {
  return to_string(BlockSides{{width, height}, depth});
}

/// Masks that a kernel may be meant for, and the task. The first mask is the largest, since tiles
/// and shared memory have room for some size.
struct Guess {
  std::vector<Mask> masks;
  std::string why;   ///< half a sentence, for the verdict
  std::string name;  ///< of the first
  LessonTask task;
};

/// Whether the kernel's array, where it has one, has room for a mask.
bool has_room(const KernelFile& kernel, const MaskRoom& room, const Mask& mask) {
  const bool is_volumes = kernel.dimensions == 3;
  return kernel.constant_mask.empty() ||
         (room.columns > 0 && is_volumes == (room.planes > 0)
              ? mask.width <= room.columns && mask.height <= room.rows * std::max(room.planes, 1)
              : int(mask.weights.size()) <= room.weights);
}

std::string text_of(const MaskRoom& room) {
  return room.columns > 0 ? sides(room.columns, room.rows, std::max(room.planes, 1))
                          : std::to_string(room.weights) + " weights";
}

/// The masks to try a kernel with, the likeliest first; one where there is no doubt.
std::vector<Guess> mask_guesses(const KernelFile& kernel, const MaskRoom& room,
                                const LessonWish& wish) {
  const int dimensions = kernel.dimensions, usual = dimensions == 3 ? 3 : 5, most = 15;
  const LessonTask task{dimensions, kernel.has_channels ? 3 : 1};
  // For lines in one row, and for volumes in as many planes as columns.
  const auto random = [&](int width, int height) {
    const int rows = dimensions == 1 ? 1 : dimensions == 3 ? width * width : height;
    Mask mask = random_mask(Weights::bits16, width, rows);
    if (dimensions == 3) mask.anchor_y = width / 2;
    return mask;
  };
  const auto name = [&](const Mask& mask) { return mask_sides(mask, task); };
  const std::string array = kernel.constant_mask;
  if (wish.mask || wish.size) {
    const std::int64_t width = wish.mask ? wish.mask->width : wish.size->width,
                       height = wish.mask ? wish.mask->height : wish.size->height;
    if (dimensions == 1 && height != 1)
      throw UsageError("the kernel filters lines, for which a mask has one row, as 5x1 has");
    if (dimensions == 3 && (wish.mask || width != height))
      throw UsageError(
          "the kernel filters volumes, for which masks are random cubes: --mask-size 3x3 is 3x3x3");
    const Mask mask = wish.mask ? *wish.mask : random(int(width), int(height));
    if (!has_room(kernel, room, mask))
      throw UsageError("the mask of " + name(mask) + " is larger than " + array + " in " +
                       quoted_name(kernel.path) + ", which has room for " + text_of(room));
    return {{{mask}, "as asked for", name(mask), task}};
  }
  std::vector<Guess> guesses;
  const auto add = [&](int width, int height, const std::string& why, const std::string& more) {
    const Mask mask = random(width, height);
    guesses.push_back({{mask}, why, name(mask) + (more.empty() ? "" : ", " + more), task});
  };
  if (kernel.is_told_size) {
    const bool any_height = dimensions == 2 && kernel.takes(KernelArgument::mask_height);
    for (const int side : {usual, 3}) {
      std::vector<std::pair<int, int>> sizes = {{side, side}, {3, 3}, {1, 1}};
      if (any_height) sizes = {{side, side}, {side, side - 2}, {side - 2, side}, {1, 1}};
      if (side == 3 && !any_height) sizes.erase(sizes.begin());
      Guess guess{{}, "since the kernel is told the size", "", task};
      for (const auto& [w, h] : sizes)
        if (const Mask mask = random(w, h); has_room(kernel, room, mask))
          guess.masks.push_back(mask);
      if (guess.masks.empty()) kernel.refuse(array + " has room for no weight");
      guess.name = name(guess.masks.front());
      if (guesses.empty() || guesses.front().name != guess.name) guesses.push_back(guess);
    }
    return guesses;
  }
  int least = 0;  // the side that leaves no larger one to try
  if (!array.empty()) {
    int columns = room.columns, rows = room.rows;
    if (dimensions == 1) {
      columns = room.weights;
      rows = 1;
    } else if (dimensions == 3) {
      columns = rows = int(std::lround(std::cbrt(double(room.weights))));
      rows *= columns;
    } else if (columns == 0) {
      columns = rows = int(std::lround(std::sqrt(double(room.weights))));
    }
    if (columns * rows != room.weights || columns < 1)
      kernel.refuse(array + " has room for " + std::to_string(room.weights) +
                    " weights, which make no " + (dimensions == 3 ? "cube" : "square") +
                    "; say the mask's size with --mask-size");
    const std::string what = "the size of " + array;
    add(columns, rows, what, what);
    least = dimensions == 2 ? std::min(columns, rows) : columns;
  } else {
    add(usual, usual, "the default; --mask-size says another", "the default");
  }
  // A program may fill but a part of a large array, and what a pointer leads to has any size.
  for (const int side : {5, 3, 7, 9, 11, 13, most})
    if (array.empty() ? side != usual && side <= 9 : side < least) add(side, side, "", "");
  return guesses;
}

/// The same with each task that the kernel may have.
std::vector<Guess> all_guesses(const KernelFile& kernel, const MaskRoom& room,
                               const LessonWish& wish) {
  const std::vector<Guess> masks = mask_guesses(kernel, room, wish);
  std::vector<Guess> all;
  for (const bool is_valid : {false, true})
    for (const bool is_planar : {false, true}) {
      const bool is_known = wish.is_valid || kernel.looks_valid;
      if (is_known && is_valid != wish.is_valid.value_or(true)) continue;
      if (is_planar && masks.front().task.channels == 1) continue;
      if (is_valid && !is_known && masks.front().masks.front().weights.size() == 1) continue;
      for (Guess guess : masks) {
        guess.task.is_valid = is_valid;
        guess.task.is_planar = is_planar;
        all.push_back(guess);
      }
    }
  return all;
}

std::string thread_at(const LessonFinding::ThreadPosition& place) {
  const bool has_z = place.block_z > 0 || place.thread_z > 0;
  return "thread " + at_place(place.thread_x, place.thread_y, place.thread_z, has_z) +
         " of block " + at_place(place.block_x, place.block_y, place.block_z, has_z);
}

/// "[3072], 1 sample behind the last row", of something that has so many cells.
std::string outside(std::int64_t cell, std::int64_t cells, const std::string& name,
                    const std::string& place) {
  const std::int64_t off = cell < 0 ? -cell : cell - cells + 1;
  return "[" + std::to_string(cell) + "], " + std::to_string(off) + " " + name +
         (off == 1 ? "" : "s") + (cell < 0 ? " before the first" : " behind the last") + place;
}

constexpr const char* kShort = ", as a short is, which ends at 32767";
constexpr const char* kUnsigned =
    "an unsigned coordinate below 0 is a large number: compute it as an int";

bool is_unsigned(std::int64_t cell) {
  return cell > std::int64_t{1} << 31 && cell < std::int64_t{1} << 32;
}

/// Which test for ghost cells is missing, if a sample is read that lies outside: those of the first
/// thread that does so tell it.
std::string missing_test(const LessonFinding& finding, const Trial& trial,
                         const LaunchSize& launch) {
  const Mask& mask = trial.mask;
  const std::int64_t row = std::int64_t{trial.width} * trial.channels, plane = row * trial.height,
                     samples = plane * trial.depth;
  const int left = mask.anchor_x, right = mask.width - 1 - left, top = mask.anchor_y,
            bottom = trial.mask_height() - 1 - top;
  const bool is_before = finding.cell < 0;
  const std::int64_t off =
      ((is_before ? -finding.cell : finding.cell - samples + 1) + trial.channels - 1) /
      trial.channels * trial.channels;
  if (trial.is_valid) return "its index is wrong, or an output too many is computed";
  // Threads of the first tile reach a halo before the picture, and none of them more than a tile.
  const std::int64_t reach = row * (top + launch.outputs.height) + left +
                             std::max(launch.outputs.width, launch.block.width);
  if (is_before && -finding.least > reach && trial.depth == 1)
    return "its index is negative, by up to " + std::to_string(-finding.least) +
           " in other threads: its sign is wrong, or more";
  if (mask.weights.size() == 1) return "its index is wrong";
  if (is_unsigned(finding.most)) return kUnsigned;
  const std::int64_t halo = (trial.height > 1 ? row * std::max({top, bottom, 1}) : 0) +
                            std::max(left, right) * trial.channels;
  if (off > halo + (trial.depth > 1 ? plane : 0)) return "its index is wrong by far";
  const std::string text = "the test for ghost cells misses ";
  const std::int64_t x = finding.place.block_x * launch.outputs.width + finding.place.thread_x;
  const bool is_in_row = off <= (is_before ? left : right) * trial.channels;
  // A mask that reaches two cells beyond would read the second, too.
  const auto has_equal = [&](std::int64_t cells, int reach_beyond) {
    return reach_beyond > 1 && finding.most < samples + cells;
  };
  if (trial.height == 1)
    return is_before                          ? text + "x < 0"
           : has_equal(trial.channels, right) ? "its test is x <= width, and x < width is right"
                                              : text + "x >= width";
  if (trial.depth > 1 && off > row * (is_before ? top : bottom))
    return text + (is_before ? "z < 0" : "z >= depth");
  // Beside a picture that is narrower than the mask one column and one row are the same.
  if (trial.width <= left + right || launch.outputs.height == 0)
    return text + (is_before ? "y < 0, or x < 0" : "y >= height, or x >= width");
  if (is_before)
    return text + (is_in_row ? "x < 0" : off <= row * top ? "y < 0" : "y < 0 and x < 0");
  if (is_in_row && x >= trial.width - 1 - right)
    return has_equal(trial.channels, right) ? "its test is x <= width, and x < width is right"
                                            : text + "x >= width";
  return has_equal(row, bottom) ? "its test is y <= height, and y < height is right"
                                : text + "y >= height";
}

std::string sides_of(const Trial& trial) {
  return sides(trial.width, trial.height, trial.depth);
}

std::string mask_sides(const Trial& trial) {
  return sides(trial.mask.width, trial.mask_height(), trial.mask_depth);
}

std::string in_picture(const Trial& trial) {
  return " (picture of " + sides_of(trial) + ", mask " + mask_sides(trial) + ")";
}

LessonSentence with_place(LessonSentence sentence, const Trial& trial) {
  sentence.text += in_picture(trial);
  sentence.picture = sides_of(trial);
  sentence.mask = mask_sides(trial);
  return sentence;
}

/// Whether a thread's output, in the order of threads, lies beyond the picture.
bool is_beyond(const LessonFinding::ThreadPosition& place, const Trial& trial,
               const LaunchSize& launch) {
  const BlockSides& outputs = launch.outputs;
  return outputs.height == 0 ||
         place.block_x * outputs.width + place.thread_x >= trial.out_width() ||
         place.block_y * outputs.height + place.thread_y >= trial.out_height() ||
         place.block_z * outputs.depth + place.thread_z >= trial.out_depth();
}

/// The mistake of threads beyond the picture when they write.
std::string beyond(const LessonFinding& finding, const Trial& trial, const LaunchSize& launch) {
  const BlockSides& outputs = launch.outputs;
  const LessonFinding::ThreadPosition& place = finding.place;
  const std::string text = "threads beyond the picture must not write";
  if (place.block_x * outputs.width + place.thread_x == trial.out_width())
    return text + ": a test is missing, or lets x == width pass, as x <= width does";
  if (outputs.height > 0 && place.block_y * outputs.height + place.thread_y == trial.out_height())
    return text + ": a test is missing, or lets y == height pass, as y <= height does";
  return text;
}

/// Whether some block has neighbours on all sides.
bool has_inside(const Trial& trial, const LaunchSize& launch) {
  const BlockSides grid = launch.grid(trial.out_width(), trial.out_height(), trial.out_depth());
  for (const std::int64_t blocks : {grid.width, grid.height, grid.depth})
    if (blocks == 2) return false;
  return grid.count() > 1;
}

/// Whether a thread is one of those that blocks have beyond their outputs, wherever these begin.
bool only_loads(const LessonFinding::ThreadPosition& place, const LaunchSize& launch) {
  const auto is_rim = [](int thread, std::int64_t threads, std::int64_t outputs) {
    return threads > outputs && thread >= outputs + (threads - outputs) / 2;
  };
  return is_rim(place.thread_x, launch.block.width, launch.outputs.width) ||
         is_rim(place.thread_y, launch.block.height, launch.outputs.height);
}

/// The meaning of a fault for the others and for the verdict.
enum Meaning : unsigned {
  explains_pixels = 1,  ///< so that wrong ones need no words
  is_cause_itself = 2,  ///< it is a mistake for itself, whatever the outputs are
  is_anywhere = 4,      ///< it is seen in many lines, and one sentence is enough
  is_harmless = 8       ///< a kernel in which it was seen may be right
};

/// A fault that a run shows.
struct FaultKind {
  std::string_view name;
  unsigned meaning;
  std::string_view text;  ///< for people; words in braces are replaced

  bool is(Meaning one) const { return (meaning & one) != 0; }
};

/// Causes stand before what comes of them.
constexpr FaultKind kFaults[] = {
    {"outside_write", 0, "{who} writes {where}"},
    {"outside_read", explains_pixels, "{who} reads {where}"},
    {"write_to_input", is_cause_itself, "{who} writes {memory}[{cell}], which is an input"},
    {"left_barrier", explains_pixels | is_cause_itself,
     "only {threads} threads of a block reach this __syncthreads(), and the others have ended: a "
     "return, or an if, stands before it, and every thread must reach it"},
    {"other_barrier", explains_pixels | is_cause_itself,
     "threads of a block wait at different __syncthreads(), {threads} of them here: it stands in a "
     "branch"},
    {"lost_update", explains_pixels | is_cause_itself | is_anywhere,
     "{who} and {other} each read word {cell} of shared memory, change it and write it back, and "
     "no barrier lies between, so that one change is lost: atomicAdd() is probably missing"},
    {"race", explains_pixels | is_cause_itself | is_anywhere,
     "{who} and {other} use word {cell} of shared memory, one of them to write, and no barrier "
     "lies between: __syncthreads() is probably missing"},
    {"early_shared", explains_pixels | is_anywhere,
     "{who} reads word {cell} of shared memory before a thread writes it: what loads it, and a "
     "__syncthreads(), must stand before"},
    {"absent_lane", explains_pixels | is_cause_itself | is_anywhere | is_harmless,
     "{who} takes the value of lane {cell} of its warp in a shuffle in which that takes no part, "
     "since it is not there, has ended or stands in another branch: the result is undefined"},
    {"unset_shared", explains_pixels | is_anywhere,
     "{who} reads word {cell} of shared memory, which no thread has written: {why}"},
    {"twice", 0, "{who} writes out[{cell}], which another thread{line} has written{why}"},
    {"unset_output", explains_pixels,
     "{who} reads out[{cell}], which no thread has written: out is not 0 at the start, unless the "
     "host clears it, which --clear-out says, or 'out cleared' in the comment with the launch"},
    {"same_shared", is_anywhere | is_harmless,
     "{who} writes word {cell} of shared memory, where {other} has written the same, and no "
     "barrier lies between: equal values do no harm, and one thread would do"},
    {"same_twice", is_harmless,
     "{who} writes out[{cell}], where another thread{line} has written the same: one of them works "
     "in vain"}};
constexpr std::string_view kBothWrite =
    "{who} and {other} both write word {cell} of shared memory, with no barrier between, and leave "
    "different values: two threads have one cell, so that its index is wrong";

/// Its place among the faults; their number for something else that is wrong.
std::size_t weight_of(const std::string& kind) {
  return std::size_t(std::ranges::find(kFaults, kind, &FaultKind::name) - std::begin(kFaults));
}

FaultKind fault_kind(const std::string& kind) {
  const std::size_t i = weight_of(kind);
  return i < std::size(kFaults) ? kFaults[i] : FaultKind{kind, 0, ""};
}

/// Where an access leads that lies outside, and why.
std::string place_outside(const LessonFinding& finding, const Trial& trial,
                          const LaunchSize& launch) {
  const std::string& memory = finding.memory;
  const bool is_before = finding.cell < 0, is_write = finding.fault == "outside_write";
  const std::string word = "word " + std::to_string(finding.cell) + " of ";
  if (memory == "dynamic" || memory == "shared")
    return word + (memory == "dynamic" ? "dynamic shared" : "shared") + " memory, which is " +
           (is_before ? "before its first: its index is negative"
            : memory == "dynamic"
                ? "behind its last: its index is wrong, or the launch gives a block too few bytes"
            : only_loads(finding.place, launch)
                ? "behind its last: threads that load the halo alone must not compute"
                : "behind its last: its index is too large, or the tile too small");
  if (memory == "constant")
    return word + "constant memory, which lies " + (is_before ? "before" : "behind") +
           " the mask's array: a loop over the mask goes too far";
  if (memory == "mask")
    return memory + outside(finding.cell, std::int64_t(trial.mask.weights.size()), "weight", "") +
           ": a loop over the mask goes too far, or the mask's size stands fixed in the code";
  const auto samples = std::int64_t(memory == "in" ? trial.in.size() : trial.outputs());
  const std::string why =
      is_write         ? (is_beyond(finding.place, trial, launch) ? beyond(finding, trial, launch)
                                                                  : "its index is wrong")
      : memory == "in" ? missing_test(finding, trial, launch)
                       : "its index is wrong";
  const bool is_short = is_write && is_before && std::max(trial.width, trial.height) >= kLong;
  return memory + outside(finding.cell, samples, "sample", " row") + ": " + why +
         (is_short ? kShort : "");
}

LessonSentence sentence_of(const LessonFinding& finding, const Trial& trial,
                           const LaunchSize& launch) {
  const std::string line =
      finding.other.line > 0 ? " (line " + std::to_string(finding.other.line) + ")" : "";
  std::string why;
  if (finding.fault == "unset_shared")
    why = finding.is_inside || !has_inside(trial, launch)
              ? "the halo is probably not loaded, or not all of it"
              : "only blocks at the picture's rim read such cells, so that an else is missing "
                "which sets ghost cells to 0";
  else if (finding.fault == "twice" && launch.clears_out)
    why = ": several that add to one output need atomicAdd()";
  else if (finding.fault == "twice" && is_beyond(finding.place, trial, launch))
    why = ": " + beyond(finding, trial, launch);
  std::string text(finding.both_write ? kBothWrite : fault_kind(finding.fault).text);
  for (const auto& [word, value] :
       {std::pair<std::string, std::string>{"{who}", thread_at(finding.place)},
        {"{other}", thread_at(finding.other) + line},
        {"{line}", line},
        {"{memory}", finding.memory},
        {"{cell}", std::to_string(finding.cell)},
        {"{threads}", std::to_string(finding.threads)},
        {"{where}", place_outside(finding, trial, launch)},
        {"{why}", why}})
    if (const std::size_t at = text.find(word); at != text.npos)
      text.replace(at, word.size(), value);
  return with_place({finding.fault, finding.place.line, text, false, finding}, trial);
}

/// The sentence about a run that did not come to its end.
LessonSentence about_end(const TrialRun& run, const Trial& trial, double seconds) {
  const bool is_endless = run.end == TrialRun::End::too_long;
  std::string text = is_endless                   ? "it does not end"
                     : run.why.starts_with("it ") ? run.why
                                                  : "it crashes: " + run.why;
  if (is_endless && seconds > 0) text += with_format(" within %.0f s", seconds);
  if (is_endless && (run.place || !run.why.empty()))
    text += ", since " + (run.why.empty() ? "it has too much to do or a loop has no end" : run.why);
  LessonSentence sentence{is_endless ? "too_long" : "crash", 0, ""};
  if (run.place) {
    sentence.line = run.place->line;
    sentence.finding.emplace();
    sentence.finding->place = *run.place;
    const bool is_nowhere = run.memory == "nowhere";
    sentence.finding->memory = run.memory == "-" || is_nowhere ? "" : run.memory;
    sentence.finding->cell = run.cell;
    if (is_endless)
      text += "; " + thread_at(*run.place) + " is under way";
    else if (run.memory == "null")
      text += " at a null pointer, in " + thread_at(*run.place);
    else if (run.memory == "stack")
      text +=
          ", since a recursion or local arrays take more than 512 KiB in " + thread_at(*run.place);
    else
      text += (run.memory == "-" ? ""
               : is_nowhere      ? " at an address outside every array"
                                 : " at " + run.memory + "[" + std::to_string(run.cell) + "]") +
              ", in " + thread_at(*run.place) +
              (is_unsigned(run.cell) ? std::string(": ") + kUnsigned : "");
  }
  sentence.text = text;
  return with_place(sentence, trial);
}

void add_once(std::vector<LessonSentence>& to, LessonSentence sentence) {
  const bool is_known = std::ranges::any_of(to, [&](const LessonSentence& other) {
    return other.kind == sentence.kind &&
           (fault_kind(sentence.kind).is(is_anywhere) || other.line == sentence.line);
  });
  if (!is_known) to.push_back(std::move(sentence));
}

/// Whether `later` is seen since `first` is wrong, so that it needs no words.
bool follows(const LessonSentence& first, const LessonSentence& later) {
  if (&first == &later || weight_of(first.kind) >= weight_of(later.kind)) return false;
  const auto is = [](const LessonSentence& fault, std::initializer_list<std::string_view> kinds) {
    return std::ranges::find(kinds, fault.kind) != kinds.end();
  };
  if (is(first, {"left_barrier", "other_barrier"}))
    return is(later, {"race", "lost_update", "early_shared", "unset_shared", "twice"});
  if (is(first, {"outside_write"}))
    return !later.finding || is(later, {"twice", "unset_output", "unset_shared", "race"}) ||
           (is(later, {"outside_read"}) && first.finding && later.finding &&
            first.finding->memory != "out");
  if (is(first, {"outside_read"})) return is(later, {"twice", "unset_output"});
  return is(first, {"race", "lost_update"}) && is(later, {"early_shared", "unset_shared", "twice"});
}

void add_remarks(const Counts& counts, std::vector<LessonSentence>& remarks) {
  const WarpCounts& warps = counts.warps;
  if (warps.sectors > 2 * warps.fewest_sectors)
    add_once(remarks, {"uncoalesced", 0,
                       "warps touch " + std::to_string(warps.sectors) +
                           " sectors of 32 bytes of global memory in a block, and " +
                           std::to_string(warps.fewest_sectors) +
                           " would do if neighbouring threads used neighbouring samples"});
  if (warps.bank_conflicts > counts.shared_reads / 32)
    add_once(remarks, {"bank_conflicts", 0,
                       "bank conflicts cost a block " + std::to_string(warps.bank_conflicts) +
                           " further passes over shared memory"});
}

/// Judges runs of one program on pictures, each of which adds to the score.
class Judgement {
 public:
  Judgement(const std::vector<Trial>& trials, const LaunchSize& launch, const LessonWish& wish,
            double seconds = 0)
      : launch_(launch), wish_(wish), mask_(mask_sides(trials.front())), seconds_(seconds) {
    score_.pictures = score_.untried = int(trials.size());
  }

  /// False where the others need not be tried.
  bool add(const Trial& trial, const TrialRun& run) {
    --score_.untried;
    std::set<std::string> faults;
    std::set<int> lost, raced;  // lines
    bool has_read_race = false;
    for (const LessonFinding& finding : run.findings) {
      faults.insert(finding.fault);
      if (finding.fault == "lost_update") lost.insert(finding.place.line);
      if (finding.fault == "race") raced.insert(finding.place.line);
      has_read_race = has_read_race || (finding.fault == "race" && !finding.both_write);
    }
    for (const LessonFinding& finding : run.findings) {
      const int line = finding.place.line;
      // A cell that is read too early is read before it is written.
      const bool is_unset = finding.fault == "unset_shared" || finding.fault == "early_shared";
      if (is_unset && faults.contains("race")) continue;
      // Who writes back what is lost races, too; and some of a word's bytes may be the same.
      if (finding.fault == "race" && lost.contains(line)) continue;
      // Without a barrier threads read what others write.
      if (finding.both_write && has_read_race) continue;
      if (finding.fault == "same_shared" && (lost.contains(line) || raced.contains(line))) continue;
      if (finding.fault == "absent_lane") continue;
      add_once(fault_kind(finding.fault).is(is_harmless) ? score_.remarks : score_.faults,
               sentence_of(finding, trial, launch_));
    }
    switch (run.end) {
      case TrialRun::End::too_long:
        // Each of the others would take its time.
        add_once(score_.faults, about_end(run, trial, seconds_));
        score_.ends = false;
        return false;
      case TrialRun::End::crashed: add_once(score_.faults, about_end(run, trial, 0)); return true;
      case TrialRun::End::refused: add_once(score_.faults, {"refused", 0, run.why}); return false;
      case TrialRun::End::done: break;
    }
    const Oracle oracle(trial, wish_.absolute, wish_.relative);
    LessonSentence sentence = about_pixels(oracle, run, launch_);
    const int tried = score_.pictures - score_.untried;
    const bool is_wide = trial.width >= kWide || trial.height == kLong;
    if (!sentence.text.empty() && !sentence.is_cause && is_wide && tried > 1 &&
        score_.right == tried - 1) {
      sentence.text += "; narrower pictures are right, so an index may be too small for its type";
      if (std::max(trial.width, trial.height) >= kLong) sentence.text += kShort;
    }
    // No fault of memory can be its cause.
    if (sentence.kind == "halo" && run.findings.empty()) sentence.is_cause = true;
    add_errors(oracle, run);
    if (!sentence.text.empty()) add_once(pixels_, with_place(sentence, trial));
    // The value of an absent lane matters where the kernel uses it.
    for (const LessonFinding& finding : run.findings)
      if (finding.fault == "absent_lane" && !sentence.text.empty())
        add_once(score_.faults, sentence_of(finding, trial, launch_));
    std::erase_if(faults, [](auto& fault) { return fault_kind(fault).is(is_harmless); });
    const bool is_right = sentence.text.empty() && faults.empty();
    if (is_right) ++score_.right;
    const bool is_first_mask = mask_sides(trial) == mask_;
    if (!is_right) (is_first_mask ? wrong_first_ : wrong_others_) = true;
    return true;
  }

  bool is_right() const { return score_.is_right(); }

  bool has_cause() const { return std::ranges::any_of(pixels_, &LessonSentence::is_cause); }

  /// Finds the cause of the outputs of a further picture, if there is one.
  void explain(const Trial& trial, const TrialRun& run) {
    if (run.end != TrialRun::End::done) return;
    const LessonSentence sentence = about_pixels(Oracle(trial), run, launch_);
    const bool has_tile = run.counts.shared_reads > 0;
    if (sentence.is_cause && sentence.kind != "outputs" &&
        (has_tile || sentence.kind != "transposed_tile"))
      pixels_.insert(pixels_.begin(), with_place(sentence, trial));
  }

  LessonScore score() {
    std::ranges::stable_sort(score_.faults, {},
                             [](const auto& fault) { return weight_of(fault.kind); });
    const auto cause = std::ranges::find(pixels_, true, &LessonSentence::is_cause);
    const auto has_one = [&](Meaning meaning) {
      return std::ranges::any_of(
          score_.faults, [&](const auto& fault) { return fault_kind(fault.kind).is(meaning); });
    };
    const bool is_told = cause == pixels_.end() ||
                         (cause->kind != "transposed_tile" && has_one(is_cause_itself)) ||
                         (cause->kind == "ghost_cells" &&
                          (score_.has_fault("outside_read") || score_.has_fault("unset_shared")));
    if (!is_told) {
      // A wrong index is seen where it leads.
      for (const LessonSentence& fault : score_.faults)
        if (cause->line == 0 && fault.finding && fault.finding->memory == "out")
          cause->line = fault.line;
      // Where the index is right, what it leads to is another mistake.
      const std::string_view others[] = {"flipped", "taps", "factor", "sum", "whole_sum"};
      if (std::ranges::count(others, cause->kind) == 0) score_.faults.clear();
      score_.faults.insert(score_.faults.begin(), *cause);
    } else if (!has_one(explains_pixels) && !pixels_.empty()) {
      // A fault in memory says more than the wrong outputs that it causes.
      add_once(score_.faults, pixels_.front());
    }
    for (std::size_t i = 0; i < score_.faults.size(); ++i)
      std::erase_if(score_.faults,
                    [&](const LessonSentence& fault) { return follows(score_.faults[i], fault); });
    if (wrong_others_ && !wrong_first_ && score_.untried == 0)
      score_.faults.insert(score_.faults.begin(),
                           {"mask_size", 0,
                            "it is right under a mask of " + mask_ +
                                " and wrong under others: a size or a radius stands fixed in the "
                                "code, though the kernel is told the mask's"});
    return score_;
  }

 private:
  void add_errors(const Oracle& oracle, const TrialRun& run) {
    // Not a number stays the largest.
    const auto raise = [](double& most, double error) { most = error <= most ? most : error; };
    const bool may_be_not_a_number = std::ranges::none_of(run.findings, [](const auto& finding) {
      return finding.fault == "outside_read" || finding.fault == "absent_lane";
    });
    bool measures = true;
    oracle.all_of([&](const Cell& cell) {
      const auto place = std::size_t(oracle.place_of(cell));
      const double expected = oracle.at(cell), got = double(run.out[place]),
                   error = is_written(run, place) ? std::abs(got - expected) : std::nan("");
      // Behind an output that is no number, errors of the picture say nothing.
      if (measures) {
        raise(score_.absolute_error, error);
        raise(score_.relative_error, error == 0 ? 0 : error / std::abs(expected));
        if (const double most = oracle.tolerance(expected); most > 0)
          raise(score_.of_tolerance, error / most);
        score_.is_off = score_.is_off || error > oracle.rounding();
        measures = !std::isnan(score_.absolute_error);
      }
      ++score_.outputs;
      score_.right_outputs += std::abs(got - expected) <= oracle.allowed(expected) ? 1 : 0;
      score_.has_not_a_number = score_.has_not_a_number || (may_be_not_a_number && std::isnan(got));
      return true;
    });
  }

  const LaunchSize& launch_;
  const LessonWish& wish_;
  std::string mask_;  ///< that of the first pictures
  double seconds_;    ///< after which a run is stopped; 0 = not told
  bool wrong_first_ = false, wrong_others_ = false;
  LessonScore score_;
  std::vector<LessonSentence> pixels_;
};

/// Whether some of the outputs are right, where all would take long. Says where the first that is
/// wrong lies.
std::optional<LessonSentence> about_some_pixels(const Oracle& oracle,
                                                const std::vector<float>& out) {
  constexpr int kOutputs = 4096;
  const Trial& trial = oracle.trial();
  SplitMix random(1);
  for (int k = 0; k < kOutputs; ++k) {
    const Cell cell{int(random.below(std::uint64_t(trial.out_width()))),
                    int(random.below(std::uint64_t(trial.out_height()))),
                    int(random.below(std::uint64_t(trial.out_depth()))), 0};
    const double expected = oracle.at(cell), got = double(out[std::size_t(oracle.place_of(cell))]);
    if (std::abs(got - expected) <= oracle.allowed(expected)) continue;
    return LessonSentence{"large", 0,
                          "outputs of a large picture are wrong, one at " + pixel(trial, cell) +
                              ", though those of small ones are right: an index is too large "
                              "for its type, or blocks are missing" +
                              in_picture(trial)};
  }
  return std::nullopt;
}

/// Whether our strategies do the same.
bool is_textbooks(const LessonTask& task) {
  return task.dimensions == 2 && task.channels == 1 && !task.is_valid;
}

LessonOnGpu judge_on_gpu(const KernelFile& kernel, const GpuWish& wish,
                         const std::vector<Trial>& trials, const LessonTask& task,
                         const LessonWish& how, bool is_right,
                         std::vector<LessonSentence>& remarks) {
  constexpr int kRepeats = 51;
  constexpr double kSeconds = 60;  // of the timed runs
  const GpuProgram program(kernel, wish.device, wish.nvcc);
  LessonOnGpu gpu;
  gpu.device = wish.device.name;
  const std::vector<TrialRun> runs = program.run(trials);
  Judgement judgement(trials, kernel.launch, how);
  for (std::size_t i = 0; i < runs.size(); ++i) judgement.add(trials[i], runs[i]);
  gpu.score = judgement.score();
  if (!is_right || !gpu.score.is_right()) return gpu;

  const Size size = task.dimensions == 1   ? Size{1 << 24}
                    : task.dimensions == 2 ? Size{4096, 4096}
                                           : Size{256, 256, 256};
  const Trial large = make_trial(size, trials.front().mask, task);
  const TrialRun run = program.run({&large, 1}, kSeconds, kRepeats).front();
  if (run.end == TrialRun::End::too_long) {
    add_once(remarks, {"slow", 0, "it takes too long to be timed on the GPU" + in_picture(large)});
    return gpu;
  }
  ++gpu.score.pictures;
  if (run.end != TrialRun::End::done) {
    gpu.score.faults.push_back({"crash", 0, "it crashes: " + run.why + in_picture(large)});
    return gpu;
  }
  if (const auto sentence = about_some_pixels(Oracle(large, how.absolute, how.relative), run.out)) {
    gpu.score.faults.push_back(*sentence);
    return gpu;
  }
  ++gpu.score.right;
  gpu.width = size.width;
  gpu.height = size.height * size.depth;
  const double ms = quartiles_of(run.ms).median;
  gpu.times = {{kernel.kernel, ms, run.copy_ms > 0 ? ms / run.copy_ms : 0}};
  if (is_textbooks(task))
    for (TimeRow& row : time_textbook(large, wish.device.ordinal, kRepeats))
      gpu.times.push_back(std::move(row));
  return gpu;
}

/// The first lines that the kernel prints.
std::string first_lines(const std::string& printed) {
  constexpr std::size_t kLines = 3, kColumns = 120;
  std::string text;
  std::size_t at = 0;
  for (std::size_t k = 0; k < kLines && at < printed.size(); ++k) {
    const std::size_t end = std::min(printed.find('\n', at), printed.size());
    if (end > at)
      text += (text.empty() ? "" : " | ") +
              printable_name(printed.substr(at, std::min(end - at, kColumns)));
    at = end + 1;
  }
  return text + (at < printed.size() ? " ..." : "");
}

/// Who is given what, for parameters whose names do not say it.
std::string guesses_text(const KernelFile& kernel) {
  std::string text;
  for (const auto& [one, other] : kernel.guesses)
    text += (text.empty() ? "" : "; ") + kernel.parameters[one] + " and " +
            kernel.parameters[other] + " are taken for " + name_of(kernel.arguments[one]) +
            " and " + name_of(kernel.arguments[other]);
  return text;
}

/// A kernel's result for one picture that has several blocks and is no square.
LessonScore probe(const LessonProgram& program, const LaunchSize& launch, const Mask& mask,
                  const LessonTask& task, const LessonWish& wish) {
  const std::vector<Trial> trials = {
      make_trial(sizes_for(launch, is_slow(launch, mask), task).front(), mask, task)};
  Judgement judgement(trials, launch, wish, LessonProgram::kProcessorSeconds);
  judgement.add(trials.front(), program.run(trials.front()));
  return judgement.score();
}

/// Which of the masks a kernel is right under; those with which it is nearest, where it is under
/// none.
struct Fit {
  std::size_t guess = 0;
  bool is_right = false, ends = true;
  LessonScore first;  ///< under the first
};

Fit fit_of(const LessonProgram& program, const LaunchSize& launch,
           const std::vector<Guess>& guesses, const LessonWish& wish) {
  Fit fit;
  std::size_t most = 0;
  for (std::size_t i = 0; i < guesses.size() && !fit.is_right && fit.ends; ++i) {
    const LessonScore tried =
        probe(program, launch, guesses[i].masks.front(), guesses[i].task, wish);
    if (i == 0) fit.first = tried;
    fit.is_right = tried.is_right();
    fit.ends = tried.ends;
    // A few outputs are right by chance. Another size is no better guess where the kernel is told
    // it, nor outputs that lie inside where it writes more.
    const bool is_other =
        i > 0 && guesses[i].masks.size() > 1 && guesses[i].task == guesses[0].task;
    const bool writes_more = i > 0 && guesses[i].task.is_valid && !tried.faults.empty() &&
                             tried.faults.front().kind == "outside_write";
    const bool is_near = tried.right_outputs > most && 2 * tried.right_outputs > tried.outputs &&
                         !is_other && !writes_more;
    if (!fit.is_right && !is_near) continue;
    most = tried.right_outputs;
    fit.guess = i;
  }
  return fit;
}

/// Puts the masks into the verdict, and says what is known of them.
void take_masks(const std::vector<Guess>& guesses, const Fit& fit, bool is_told,
                LessonVerdict& verdict) {
  const Guess& taken = guesses[fit.guess];
  const std::string first = guesses.front().name;
  verdict.task = taken.task;
  verdict.masks = taken.masks;
  verdict.why_masks = taken.why;
  std::vector<std::string> others;  // masks
  for (std::size_t i = 0; i < guesses.size(); ++i)
    if (i != fit.guess && guesses[i].task == taken.task)
      others.push_back(mask_sides(guesses[i].masks.front(), taken.task));
  if (fit.is_right && taken.name != first && !fit.first.faults.empty()) {
    verdict.why_masks = "for which it is right; --mask-size says another";
    verdict.remarks.push_back({"mask_guess", 0,
                               "it is right under a mask of " + taken.name + ", and wrong under " +
                                   first + ": " + fit.first.faults.front().text +
                                   "; --mask-size says which is meant"});
  } else if (!fit.is_right && fit.ends && !others.empty() && !is_told) {
    const std::string why = taken.why.substr(0, taken.why.find(';'));
    verdict.why_masks = (why.empty() ? "which comes nearest" : why) + "; it is wrong under " +
                        listed(others) + ", too; --mask-size says another";
  }
}

/// Refuses a mask that is smaller than the array of a kernel which takes all of that.
void refuse_smaller(const KernelFile& kernel, const MaskRoom& room, const Guess& guess,
                    const LessonProgram& program, const LessonWish& wish) {
  const Mask& mask = guess.masks.front();
  const bool is_smaller = !kernel.constant_mask.empty() && int(mask.weights.size()) < room.weights;
  if (kernel.is_told_size || !is_smaller) return;
  if (!probe(program, kernel.launch, mask, guess.task, wish).has_not_a_number) return;
  throw UsageError("the mask of " + mask_sides(mask, guess.task) + " is smaller than " +
                   kernel.constant_mask + " in " + quoted_name(kernel.path) + ", which is for " +
                   text_of(room) + ", and the kernel takes more of it than the mask has");
}

/// A kernel as a program, with those of its parameters exchanged whose names say nothing if only
/// that makes its results right; and the masks that it is tried with, into the verdict and `fit`.
std::unique_ptr<LessonProgram> program_of(KernelFile& kernel, const LessonWish& wish,
                                          LessonVerdict& verdict, Fit& fit) {
  auto program = std::make_unique<LessonProgram>(kernel);
  const MaskRoom room = program->mask_room();
  const std::vector<Guess> guesses = all_guesses(kernel, room, wish);
  if (wish.mask || wish.size) refuse_smaller(kernel, room, guesses.front(), *program, wish);
  if (guesses.size() > 1 || !kernel.guesses.empty() || !kernel.other_launches.empty())
    fit = fit_of(*program, kernel.launch, guesses, wish);
  else
    fit.is_right = true;
  // A launch with rows and columns exchanged, or too few blocks, may cover the first picture.
  const auto covers = [&](const Fit& with) {
    const Guess& guess = guesses[with.guess];
    const Size tile = tile_of(kernel.launch, guess.task);
    const TrialRun run = program->run(
        make_trial({3 * tile.width, tile.height, tile.depth}, guess.masks.front(), guess.task));
    return run.end == TrialRun::End::done && std::ranges::count(run.is_set, 0) == 0;
  };
  const LaunchSize said = kernel.launch;
  bool is_found = fit.is_right && (kernel.other_launches.empty() || covers(fit));
  for (std::size_t i = 0; !is_found && i < kernel.other_launches.size(); ++i) {
    kernel.launch = kernel.other_launches[i];
    program->launch_as(kernel.launch);
    const Fit others = fit_of(*program, kernel.launch, guesses, wish);
    is_found = others.is_right && covers(others);
    if (is_found) fit = others;
  }
  if (!is_found) {
    kernel.launch = said;
    program->launch_as(said);
  }
  if (fit.is_right || kernel.guesses.empty()) {
    take_masks(guesses, fit, kernel.is_told_size, verdict);
    return program;
  }
  bool is_known = false;
  const std::size_t count = kernel.guesses.size();
  for (std::size_t which = 1; which < std::size_t{1} << count && !is_known; ++which) {
    KernelFile other = kernel;
    for (std::size_t k = 0; k < count; ++k)
      if (which >> k & 1)
        std::swap(other.arguments[kernel.guesses[k].first],
                  other.arguments[kernel.guesses[k].second]);
    auto tried = std::make_unique<LessonProgram>(other);
    const Fit others = fit_of(*tried, other.launch, guesses, wish);
    is_known = others.is_right;
    if (!is_known) continue;
    fit = others;
    kernel = other;
    program = std::move(tried);
  }
  take_masks(guesses, fit, kernel.is_told_size, verdict);
  verdict.remarks.push_back({"guessed", 0,
                             guesses_text(kernel) +
                                 (is_known ? ", since the other way round it is wrong" : "") +
                                 "; names that say it are in, out, mask, width and height"});
  return program;
}

}  // namespace

bool LessonScore::has_fault(std::string_view kind) const {
  return std::ranges::find(faults, kind, &LessonSentence::kind) != faults.end();
}

std::string mask_sides(const Mask& mask, const LessonTask& task) {
  return sides(mask.width, task.dimensions == 3 ? mask.width : mask.height) +
         (task.dimensions == 3 ? "x" + std::to_string(mask.width) : "");
}

LessonVerdict judge(const KernelFile& file, const LessonWish& wish,
                    const std::optional<GpuWish>& gpu) {
  KernelFile kernel = file;
  LessonVerdict verdict;
  Fit fit;
  const std::unique_ptr<LessonProgram> program = program_of(kernel, wish, verdict, fit);
  const auto refuse_guess = [&](bool is_right) {
    if (!is_right && !kernel.guessed.empty())
      throw KernelRefused(quoted_name(kernel.path) + ": " + kernel.guessed,
                          kernel.line_at(kernel.host->at), kernel.guessed);
  };
  refuse_guess(fit.ends);
  verdict.arguments = kernel.arguments;
  verdict.launch = kernel.launch;
  const std::vector<Trial> trials = trials_for(kernel, verdict.masks, verdict.task);
  if (!fit.ends) {
    // Another run would take its time, too.
    verdict.host = fit.first;
    verdict.host.pictures = int(trials.size());
    verdict.host.untried = verdict.host.pictures - 1;
    return verdict;
  }
  Judgement judgement(trials, kernel.launch, wish, LessonProgram::kProcessorSeconds);
  bool goes_on = true, has_printed = false;
  for (std::size_t i = 0; i < trials.size() && goes_on; ++i) {
    const TrialRun run = program->run(trials[i]);
    if (const std::string lines = first_lines(run.printed); !lines.empty() && !has_printed) {
      has_printed = true;
      verdict.remarks.push_back({"prints", 0, "it prints: " + lines});
    }
    goes_on = judgement.add(trials[i], run);
    if (i > 0 || run.end != TrialRun::End::done) continue;
    if (run.counts.warps.warps == 0) {
      verdict.remarks.push_back(
          {"uncounted", 0, "a block of it does too much to be counted beside our strategies"});
      continue;
    }
    const double taps = taps_of(kernel.launch, trials[i].mask) * verdict.task.channels;
    const std::uint64_t reads = run.counts.global_reads;
    verdict.block = {kernel.kernel, kernel.launch.threads(), kernel.launch.outputs, run.counts,
                     reads > 0 ? taps / double(reads) : 0};
  }
  if (goes_on && !judgement.is_right() && !judgement.has_cause()) {
    // Rows as long as columns, and large samples, show what others hide.
    const Size tile = tile_of(kernel.launch, verdict.task);
    const int side = 2 * std::max(tile.width, tile.height) + 5;
    const Trial square =
        make_trial({side, side, 2 * tile.depth + 1}, verdict.masks.front(), verdict.task, 1000);
    if (!is_slow(kernel.launch, verdict.masks.front()))
      judgement.explain(square, program->run(square));
  }
  verdict.host = judgement.score();
  refuse_guess(verdict.host.is_right());
  // A grid for "valid" outputs is no mistake where somebody asks for --mode same.
  if (kernel.host && (verdict.task.is_valid || !kernel.looks_valid)) {
    const LaunchCheck check =
        check_launch(kernel, *program, launch_trials(kernel, verdict.masks.front(), verdict.task));
    verdict.launch_fault = check.fault;
    verdict.remarks.insert(verdict.remarks.end(), check.remarks.begin(), check.remarks.end());
  }
  for (LessonSentence& remark : verdict.host.remarks) add_once(verdict.remarks, remark);
  if (verdict.block) {
    add_remarks(verdict.block->counts, verdict.remarks);
    if (is_textbooks(verdict.task)) verdict.textbook = count_textbook(verdict.masks.front());
  }
  const auto remark_no_gpu = [&](const std::string& why) {
    add_once(verdict.remarks, {"no_gpu", 0, "it is not tried on the GPU: " + why});
  };
  if (gpu && goes_on) try {
      verdict.gpu = judge_on_gpu(kernel, *gpu, trials, verdict.task, wish, verdict.host.is_right(),
                                 verdict.remarks);
    } catch (const CompilerError& error) {
      if (gpu->is_asked) throw NoVerdictError(error.what());
      remark_no_gpu(error.what());
    } catch (const DeviceError& error) {
      if (gpu->is_asked) throw;
      remark_no_gpu(error.what());
    }
  return verdict;
}

}  // namespace convfilt
