#include "src/lesson/judge.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/splitmix.hpp"
#include "src/compare/spread.hpp"
#include "src/lesson/gpu_program.hpp"
#include "src/mask/random.hpp"

namespace convfilt {
namespace {

/// A sample by its column and row; ghost cells as somebody says.
using Samples = std::function<double(int x, int y)>;

/// What the kernel should have made, or what it would make if it did something wrong.
struct Variant {
  int dx = 0, dy = 0;  ///< the mask lies that far off
  bool flipped = false, transposed = false, replicates = false;
  /// Columns and rows of the picture that count as ghost cells, and of the mask that are left out.
  int left = 0, right = 0, upper = 0, lower = 0;
  int first_columns = 0, last_columns = 0, first_rows = 0, last_rows = 0;
};

class Oracle {
 public:
  explicit Oracle(const Trial& trial) : trial_(trial), mask_(trial.mask) {}

  double at(int x, int y, const Variant& variant = {}) const {
    double sum = 0;
    for (int j = variant.first_rows; j < mask_.height - variant.last_rows; ++j)
      for (int i = variant.first_columns; i < mask_.width - variant.last_columns; ++i)
        sum += weight(i, j, variant) * sample(x + i - mask_.anchor_x + variant.dx,
                                              y + j - mask_.anchor_y + variant.dy, variant);
    return sum;
  }

  /// Sums of floats may be off by their roundings, in any order.
  double tolerance() const {
    double sum = 0;
    for (const double weight : mask_.weights) sum += std::abs(weight / mask_.divisor);
    return sum * double(mask_.weights.size()) * 1.2e-7 + 1e-30;
  }

 private:
  double weight(int i, int j, const Variant& variant) const {
    if (variant.transposed && mask_.width == mask_.height) std::swap(i, j);
    if (variant.flipped) {
      i = mask_.width - 1 - i;
      j = mask_.height - 1 - j;
    }
    return double(float(mask_.weight(i, j) / mask_.divisor));
  }

  double sample(int x, int y, const Variant& variant) const {
    const bool inside = x >= variant.left && x < trial_.width - variant.right &&
                        y >= variant.upper && y < trial_.height - variant.lower;
    if (!inside && !variant.replicates) return 0;
    x = std::clamp(x, 0, trial_.width - 1);
    y = std::clamp(y, 0, trial_.height - 1);
    return double(trial_.in[std::size_t(y) * std::size_t(trial_.width) + std::size_t(x)]);
  }

  const Trial& trial_;
  const Mask& mask_;
};

Trial make_trial(int width, int height, const Mask& mask) {
  SplitMix random(std::uint64_t(width) * 1000 + std::uint64_t(height));
  Trial trial{width, height, {}, mask};
  trial.in.resize(std::size_t(width) * std::size_t(height));
  for (float& sample : trial.in) sample = float(1 + random.below(1000)) / 1000;
  return trial;
}

constexpr int kWide = 300;  ///< columns of a picture, more than a byte counts

/// Whether pictures of some blocks take long, since a thread computes many outputs under a large
/// mask.
bool is_slow(const LaunchSize& launch, const Mask& mask) {
  constexpr double kTaps = 4e6;  // of a block
  return double(launch.outputs.width) * double(std::max<std::int64_t>(launch.outputs.height, 1)) *
             double(mask.weights.size()) >
         kTaps;
}

/// The picture whose middle block is counted: the block's halo lies inside, and rows begin at lines
/// of the cache. The last block may be cut, where all would take long.
std::pair<int, int> counted_size(const LaunchSize& launch, const Mask& mask) {
  constexpr int kLine = 32;  // samples
  const int w = int(launch.outputs.width),
            h = int(std::max<std::int64_t>(launch.outputs.height, 1));
  const auto side = [&](int tile, int mask_side) {
    const int radius = mask_side / 2, before = (radius + tile - 1) / tile * tile;
    return before + tile + (is_slow(launch, mask) ? radius : before);
  };
  const int rows = is_slow(launch, mask) ? 2 * h + 1 : 3 * h;
  return {(side(w, mask.width) + kLine - 1) / kLine * kLine, std::max(side(h, mask.height), rows)};
}

/// The sizes at which kernels go wrong: some tiles, one pixel, one less and one more than a tile,
/// and many columns.
std::vector<std::pair<int, int>> sizes_for(const LaunchSize& launch, bool is_slow) {
  const int w = int(launch.outputs.width),
            h = int(launch.outputs.height > 0 ? launch.outputs.height : 4);
  if (is_slow)
    return {{w + 5, h + 3}, {1, 1}, {w, h}, {w + 1, 3}, {std::max(1, w - 1), 5}, {5, h + 1}};
  return {{3 * w + 5, 3 * h + 3},
          {1, 1},
          {w, h},
          {w + 1, h + 1},
          {std::max(1, w - 1), std::max(1, h - 1)},
          {2 * w, 2 * h},
          {kWide, 2},
          {5, 2 * h + 1},
          {2 * w + 1, 3}};
}

/// The first is counted. Other masks than the first are tried on two pictures alone.
std::vector<Trial> trials_for(const LaunchSize& launch, const std::vector<Mask>& masks) {
  std::vector<Trial> trials;
  const auto add = [&](std::pair<int, int> size, const Mask& mask) {
    trials.push_back(make_trial(size.first, size.second, mask));
  };
  add(counted_size(launch, masks.front()), masks.front());
  const auto sizes = sizes_for(launch, is_slow(launch, masks.front()));
  for (const auto& size : sizes) add(size, masks.front());
  for (std::size_t k = 1; k < masks.size(); ++k)
    for (const std::size_t i : {0, 3}) add(sizes[i], masks[k]);
  return trials;
}

Mask random_of(std::int64_t width, std::int64_t height) {
  return random_mask(Weights::bits16, int(width), int(height));
}

std::string sides(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

/// Masks that a kernel may be meant for. The first is the largest, since tiles and shared memory
/// have room for some size.
struct MaskGuess {
  std::vector<Mask> masks;
  std::string why;   ///< half a sentence, for the verdict
  std::string name;  ///< of the first
};

/// Whether the kernel's array, where it has one, has room for a mask of that size.
bool has_room(const KernelFile& kernel, const MaskRoom& room, int width, int height) {
  return kernel.constant_mask.empty() ||
         (room.columns > 0 ? width <= room.columns && height <= room.rows
                           : std::int64_t{width} * height <= room.weights);
}

std::string text_of(const MaskRoom& room) {
  return room.columns > 0 ? sides(room.columns, room.rows)
                          : std::to_string(room.weights) + " weights";
}

/// Refuses a mask that somebody asks for and the kernel's array has no room for.
void refuse_larger(const KernelFile& kernel, const MaskRoom& room, const Mask& mask) {
  if (has_room(kernel, room, mask.width, mask.height)) return;
  throw UsageError("the mask of " + sides(mask.width, mask.height) + " is larger than " +
                   kernel.constant_mask + " in " + quoted_name(kernel.path) +
                   ", which has room for " + text_of(room));
}

/// The masks to try a kernel with, the likeliest first; one where there is no doubt.
std::vector<MaskGuess> mask_guesses(const KernelFile& kernel, const MaskRoom& room,
                                    const MaskWish& wish) {
  constexpr int kUsual = 5, kMost = 15;
  const auto refuse = [&](const std::string& why) {
    throw KernelRefused(quoted_name(kernel.path) + ": " + why, 0, why);
  };
  const std::string array = kernel.constant_mask;
  if (wish.mask || wish.size) {
    const Mask mask = wish.mask ? *wish.mask : random_of(wish.size->width, wish.size->height);
    refuse_larger(kernel, room, mask);
    return {{{mask}, "as asked for", sides(mask.width, mask.height)}};
  }
  std::vector<MaskGuess> guesses;
  if (kernel.is_told_size) {
    const bool any_height = kernel.takes(KernelArgument::mask_height);
    for (const int side : {kUsual, 3}) {
      std::vector<std::pair<int, int>> sizes = {{side, side}, {3, 3}, {1, 1}};
      if (any_height) sizes = {{side, side}, {side, side - 2}, {side - 2, side}, {1, 1}};
      if (side == 3 && !any_height) sizes.erase(sizes.begin());
      MaskGuess guess{{}, "since the kernel is told the size", ""};
      for (const auto& [w, h] : sizes)
        if (has_room(kernel, room, w, h)) guess.masks.push_back(random_of(w, h));
      if (guess.masks.empty()) refuse(array + " has room for no weight");
      guess.name = sides(guess.masks.front().width, guess.masks.front().height);
      if (guesses.empty() || guesses.front().name != guess.name) guesses.push_back(guess);
    }
    return guesses;
  }
  int least = 0;  // the side that leaves no larger one to try
  if (!array.empty()) {
    int columns = room.columns, rows = room.rows;
    if (columns == 0) columns = rows = int(std::lround(std::sqrt(double(room.weights))));
    if (columns * rows != room.weights || columns < 1)
      refuse(array + " has room for " + std::to_string(room.weights) +
             " weights, which make no square; say the mask's size with --mask-size");
    const std::string name = "the size of " + array;
    guesses.push_back({{random_of(columns, rows)}, name, sides(columns, rows) + ", " + name});
    least = std::min(columns, rows);
  } else {
    guesses.push_back({{random_of(kUsual, kUsual)},
                       "the default; --mask-size says another",
                       sides(kUsual, kUsual) + ", the default"});
  }
  // A program may fill but a part of a large array, and what a pointer leads to has any size.
  for (const int side : {kUsual, 3, 7, 9, 11, 13, kMost})
    if (array.empty() ? side != kUsual && side <= 9 : side < least)
      guesses.push_back({{random_of(side, side)}, "", sides(side, side)});
  return guesses;
}

std::string mask_sides(const Mask& mask) {
  return sides(mask.width, mask.height);
}

std::string pixel(int x, int y) {
  return "(" + std::to_string(x) + ", " + std::to_string(y) + ")";
}

std::string thread_at(const LessonFinding::Place& place) {
  return "thread " + pixel(place.thread_x, place.thread_y) + " of block " +
         pixel(place.block_x, place.block_y);
}

/// "[3072], 1 sample behind the last row", of something that has so many cells.
std::string outside(std::int64_t cell, std::int64_t cells, const std::string& name,
                    const std::string& place) {
  const std::int64_t off = cell < 0 ? -cell : cell - cells + 1;
  return "[" + std::to_string(cell) + "], " + std::to_string(off) + " " + name +
         (off == 1 ? "" : "s") + (cell < 0 ? " before the first" : " behind the last") + place;
}

/// Which test for ghost cells is missing, if a sample is read that lies outside: those of the first
/// thread that does so tell it.
std::string missing_test(const LessonFinding& finding, const Trial& trial,
                         const LaunchSize& launch) {
  const Mask& mask = trial.mask;
  const std::int64_t samples = std::int64_t{trial.width} * trial.height;
  const int left = mask.anchor_x, right = mask.width - 1 - left, top = mask.anchor_y,
            bottom = mask.height - 1 - top;
  const std::int64_t off = finding.cell < 0 ? -finding.cell : finding.cell - samples + 1;
  // Threads of the first tile reach a halo before the picture, and none of them more than a tile.
  const std::int64_t reach = std::int64_t{trial.width} * (top + launch.outputs.height) + left +
                             std::max(launch.outputs.width, launch.block.width);
  if (finding.cell < 0 && -finding.least > reach)
    return "its index is negative, by up to " + std::to_string(-finding.least) +
           " in other threads: its sign is wrong, or more";
  if (mask.weights.size() == 1) return "its index is wrong";
  if (off > std::int64_t{trial.width} * std::max({top, bottom, 1}) + std::max(left, right))
    return "its index is wrong by far";
  const std::string text = "the test for ghost cells misses ";
  // Beside a picture that is narrower than the mask one column and one row are the same.
  if (trial.width <= left + right || launch.outputs.height == 0)
    return text + (finding.cell < 0 ? "y < 0, or x < 0" : "y >= height, or x >= width");
  const bool is_in_row = off <= (finding.cell < 0 ? left : right);
  if (finding.cell < 0)
    return text + (is_in_row                                ? "x < 0"
                   : off <= std::int64_t{trial.width} * top ? "y < 0"
                                                            : "y < 0 and x < 0");
  const std::int64_t x = finding.place.block_x * launch.outputs.width + finding.place.thread_x;
  return text + (is_in_row && x >= trial.width - 1 - right ? "x >= width" : "y >= height");
}

std::string in_picture(const Trial& trial) {
  return " (picture of " + sides(trial.width, trial.height) + ", mask " +
         sides(trial.mask.width, trial.mask.height) + ")";
}

LessonSentence with_place(LessonSentence sentence, const Trial& trial) {
  sentence.text += in_picture(trial);
  sentence.picture = sides(trial.width, trial.height);
  sentence.mask = sides(trial.mask.width, trial.mask.height);
  return sentence;
}

LessonSentence sentence_of(const LessonFinding& finding, const Trial& trial,
                           const LaunchSize& launch) {
  const std::string who = thread_at(finding.place), cell = std::to_string(finding.cell);
  const std::string other =
      finding.other.line > 0 ? " (line " + std::to_string(finding.other.line) + ")" : "";
  const bool is_outside = finding.fault == "outside_read" || finding.fault == "outside_write";
  const std::string does = finding.fault == "outside_read" ? " reads " : " writes ";
  const std::int64_t samples = std::int64_t{trial.width} * trial.height;
  std::string text;
  if (is_outside && (finding.memory == "dynamic" || finding.memory == "shared"))
    text = who + does + "word " + cell + " of " +
           (finding.memory == "dynamic" ? "dynamic shared" : "shared") + " memory, which is " +
           (finding.cell < 0 ? "before its first: its index is negative"
            : finding.memory == "dynamic"
                ? "behind its last: its index is wrong, or the launch gives a block too few bytes"
                : "behind its last: its index is too large");
  else if (is_outside && finding.memory == "constant")
    text = who + does + "word " + cell + " of constant memory, which lies " +
           (finding.cell < 0 ? "before" : "behind") +
           " the mask's array: a loop over the mask goes too far";
  else if (is_outside && finding.memory == "mask")
    text = who + does + "mask" +
           outside(finding.cell, std::int64_t(trial.mask.weights.size()), "weight", "") +
           ": a loop over the mask goes too far, or the mask's size stands fixed in the code";
  else if (finding.fault == "outside_read")
    text = who + does + finding.memory + outside(finding.cell, samples, "sample", " row") + ": " +
           (finding.memory == "in" ? missing_test(finding, trial, launch) : "its index is wrong");
  else if (finding.fault == "outside_write") {
    const Extent& outputs = launch.outputs;
    const bool is_inside =
        outputs.height > 0 &&
        finding.place.block_x * outputs.width + finding.place.thread_x < trial.width &&
        finding.place.block_y * outputs.height + finding.place.thread_y < trial.height;
    text = who + does + finding.memory + outside(finding.cell, samples, "sample", " row") +
           (is_inside ? ": its index is wrong" : ": threads beyond the picture must not write");
  } else if (finding.fault == "write_to_input")
    text = who + " writes " + finding.memory + "[" + cell + "], which is an input";
  else if (finding.fault == "unset_shared")
    text = who + " reads word " + cell + " of shared memory, which no thread has written: " +
           "the halo is probably not loaded, or not all of it";
  else if (finding.fault == "early_shared")
    text =
        who + " reads word " + cell +
        " of shared memory before a thread writes it: what loads it, and a __syncthreads(), must "
        "stand before";
  else if (finding.fault == "unset_output")
    text =
        who + " reads out[" + cell +
        "], which nobody has written: out is not 0 at the start, unless the host clears it, which "
        "--clear-out says, or 'out cleared' in the comment with the launch";
  else if (finding.fault == "race")
    text = who + " and " + thread_at(finding.other) + other + " use word " + cell +
           " of shared memory, one of them to write, and no barrier lies between: "
           "__syncthreads() is probably missing";
  else if (finding.fault == "lost_update")
    text =
        who + " and " + thread_at(finding.other) + other + " each read word " + cell +
        " of shared memory, change it and write it back, and no barrier lies between, so that one "
        "change is lost: atomicAdd() is probably missing";
  else if (finding.fault == "same_shared")
    text = who + " writes word " + cell + " of shared memory, where " + thread_at(finding.other) +
           other +
           " has written the same, and no barrier lies between: equal values do no harm, and "
           "one thread would do";
  else if (finding.fault == "absent_lane")
    text =
        who + " takes the value of lane " + cell +
        " of its warp in a shuffle in which that takes no part, since it is not there, has ended "
        "or stands in another branch: nobody knows what it gets";
  else if (finding.fault == "twice")
    text = who + " writes out[" + cell + "], which another thread" + other + " has written" +
           (launch.clears_out ? ": several that add to one output need atomicAdd()" : "");
  else if (finding.fault == "same_twice")
    text = who + " writes out[" + cell + "], where another thread" + other +
           " has written the same: one of them works in vain";
  else if (finding.fault == "left_barrier")
    text = "only " + std::to_string(finding.threads) +
           " threads of a block reach this __syncthreads(), and the others have ended: a return, "
           "or an if, stands before it";
  else
    text = "threads of a block wait at different __syncthreads(), " +
           std::to_string(finding.threads) + " of them here: it stands in a branch";
  LessonSentence sentence{finding.fault, finding.place.line, text, finding};
  return with_place(sentence, trial);
}

/// What became of a run that did not come to its end.
LessonSentence about_end(const TrialRun& run, const Trial& trial, double seconds) {
  const bool is_endless = run.end == TrialRun::End::too_long;
  std::string text = is_endless                   ? "it does not end"
                     : run.why.starts_with("it ") ? run.why
                                                  : "it crashes: " + run.why;
  char limit[40];
  std::snprintf(limit, sizeof limit, " within %.0f s", seconds);
  if (is_endless && seconds > 0) text += limit;
  if (is_endless && (run.place || !run.why.empty()))
    text += ", since " + (run.why.empty() ? "it has too much to do or a loop has no end" : run.why);
  LessonSentence sentence{is_endless ? "too_long" : "crash", 0, ""};
  if (run.place) {
    sentence.line = run.place->line;
    sentence.finding.emplace();
    sentence.finding->place = *run.place;
    sentence.finding->memory = run.memory == "-" ? "" : run.memory;
    sentence.finding->cell = run.cell;
    if (is_endless)
      text += "; " + thread_at(*run.place) + " is under way";
    else if (run.memory == "null")
      text += " at a null pointer, in " + thread_at(*run.place);
    else if (run.memory == "stack")
      text +=
          ", since a recursion or local arrays take more than 512 KiB in " + thread_at(*run.place);
    else
      text +=
          (run.memory == "-" ? "" : " at " + run.memory + "[" + std::to_string(run.cell) + "]") +
          ", in " + thread_at(*run.place);
  }
  sentence.text = text;
  return with_place(sentence, trial);
}

/// What is wrong with a result, as far as its pixels tell.
LessonSentence about_pixels(const Trial& trial, const TrialRun& run, const LaunchSize& launch) {
  const std::vector<float>& out = run.out;
  const Mask& mask = trial.mask;
  const Oracle oracle(trial);
  const double tolerance = oracle.tolerance();
  const auto got = [&](int x, int y) {
    return double(out[std::size_t(y) * std::size_t(trial.width) + std::size_t(x)]);
  };
  const auto is_written = [&](int x, int y) {
    return run.is_set.empty()
               ? !std::isinf(got(x, y))
               : bool(run.is_set[std::size_t(y) * std::size_t(trial.width) + std::size_t(x)]);
  };
  std::vector<std::pair<int, int>> wrong;
  std::int64_t unwritten = 0;
  for (int y = 0; y < trial.height; ++y)
    for (int x = 0; x < trial.width; ++x) {
      if (is_written(x, y) && std::abs(got(x, y) - oracle.at(x, y)) <= tolerance) continue;
      wrong.emplace_back(x, y);
      unwritten += is_written(x, y) ? 0 : 1;
    }
  if (wrong.empty()) return {};
  const std::size_t all = std::size_t(trial.width) * std::size_t(trial.height);
  const auto [x0, y0] = wrong.front();
  const std::string how_many =
      std::to_string(wrong.size()) + " of " + std::to_string(all) + " outputs";
  if (unwritten == std::int64_t(all) && all > 1)
    return {"unwritten", 0, "no output is written at all"};
  if (unwritten == std::int64_t(wrong.size()))
    return {"unwritten", 0,
            how_many + " are never written, the first at " + pixel(x0, y0) +
                ": too few threads or blocks write, or their test is too strict"};

  const auto is_nan = [&](const auto& at) { return std::isnan(got(at.first, at.second)); };
  if (unwritten == 0 && std::ranges::all_of(wrong, is_nan))
    return {"not_a_number", 0,
            how_many + " are no numbers, the first at " + pixel(x0, y0) +
                ": a variable that nobody sets takes part, or what does lies outside"};

  const auto is_all = [&](const Variant& variant) {
    for (int y = 0; y < trial.height; ++y)
      for (int x = 0; x < trial.width; ++x)
        if (!(std::abs(got(x, y) - oracle.at(x, y, variant)) <= tolerance)) return false;
    return true;
  };
  const struct {
    Variant variant;
    const char *what, *test;
  } strict[] = {{{.left = 1}, "first column", "x >= 0"},
                {{.right = 1}, "last column", "x < width"},
                {{.upper = 1}, "first row", "y >= 0"},
                {{.lower = 1}, "last row", "y < height"},
                {{.left = 1, .upper = 1}, "first column and row", "x >= 0 && y >= 0"},
                {{.right = 1, .lower = 1}, "last column and row", "x < width && y < height"}};
  for (const auto& one : strict)
    if (is_all(one.variant))
      return {"ghost_cells", 0,
              how_many + " are wrong, since the picture's " + one.what +
                  " counts as ghost cells: the test for samples inside is " + one.test};
  const struct {
    Variant variant;
    const char* what;
  } short_of[] = {{{.last_columns = 1}, "last column"},
                  {{.last_rows = 1}, "last row"},
                  {{.first_columns = 1}, "first column"},
                  {{.first_rows = 1}, "first row"},
                  {{.last_columns = 1, .last_rows = 1}, "last column and row"}};
  if (mask.width > 1 && mask.height > 1)
    for (const auto& one : short_of)
      if (is_all(one.variant))
        return {"taps", 0,
                std::string("all outputs lack the mask's ") + one.what +
                    ": a loop over the mask ends too early, or begins too late"};
  constexpr int kMostOff = 4;
  for (int dy = -kMostOff; dy <= kMostOff; ++dy)
    for (int dx = -kMostOff; dx <= kMostOff; ++dx) {
      if ((dx == 0 && dy == 0) || !is_all({.dx = dx, .dy = dy})) continue;
      return {"shifted", 0,
              "all outputs are those of a mask that lies " + pixel(dx, dy) +
                  " off: the input tile, or the radius, is off by as much"};
    }
  if (is_all({.flipped = true}))
    return {"flipped", 0,
            "all outputs are those of the mask turned by 180 degrees: the task is a correlation, "
            "with weights as they stand"};
  if (is_all({.transposed = true}))
    return {"transposed", 0, "all outputs are those of the mask with rows and columns exchanged"};
  if (is_all({.replicates = true}))
    return {"ghost_cells", 0, "ghost cells are the nearest samples, and should be 0"};

  const double more = got(x0, y0) - oracle.at(x0, y0);
  const auto is_off = [&](auto at) {
    const double off = got(at.first, at.second) - oracle.at(at.first, at.second);
    return std::abs(off - more) <= tolerance + std::abs(more) * 1e-5;
  };
  if (wrong.size() == all && all > 1 && std::ranges::all_of(wrong, is_off)) {
    char number[40];
    std::snprintf(number, sizeof number, "%.4g", std::abs(more));
    return {"offset", 0,
            std::string("all outputs are ") + number + (more > 0 ? " too large" : " too small") +
                ": the sum does not begin at 0"};
  }

  char numbers[80];
  std::snprintf(numbers, sizeof numbers, "%.6g and not %.6g", got(x0, y0), oracle.at(x0, y0));
  const std::string first = is_written(x0, y0) ? numbers : "not written";
  const std::string example = "as at " + pixel(x0, y0) + ", which is " + first;

  // What is written at the least and at the most, where outputs should be beyond.
  double lowest = got(x0, y0), highest = lowest;
  for (int y = 0; y < trial.height; ++y)
    for (int x = 0; x < trial.width; ++x) {
      lowest = std::min(lowest, got(x, y));
      highest = std::max(highest, got(x, y));
    }
  const auto is_clamped = [&](auto at) {
    const double is = got(at.first, at.second), should_be = oracle.at(at.first, at.second);
    return (is == lowest && should_be < lowest) || (is == highest && should_be > highest);
  };
  if (unwritten == 0 && lowest < highest && wrong.size() < all &&
      std::ranges::all_of(wrong, is_clamped))
    return {
        "clamped", 0,
        how_many + " are wrong, " + example +
            ", and should lie beyond all that the kernel writes: it seems to clamp its outputs, "
            "which are to stay as they are"};

  const int left = mask.anchor_x, top = mask.anchor_y, right = mask.width - 1 - left,
            bottom = mask.height - 1 - top;
  const auto every = [&](const std::function<bool(int x, int y)>& is_there) {
    return std::ranges::all_of(wrong, [&](auto at) { return is_there(at.first, at.second); });
  };
  const struct {
    const char* name;
    std::function<bool(int, int)> has;
  } sides[] = {{"left", [&](int x, int) { return x <= left; }},
               {"right", [&](int x, int) { return x >= trial.width - 1 - right; }},
               {"upper", [&](int, int y) { return y <= top; }},
               {"lower", [&](int, int y) { return y >= trial.height - 1 - bottom; }}};
  // A test that is too strict spoils a column more than the mask reaches.
  for (const auto& side : sides)
    if (every(side.has))
      return {"ghost_cells", 0,
              how_many + " are wrong, all at the " + side.name + " border, " + example +
                  ": the test for ghost cells is wrong there"};
  const auto at_border = [&](int x, int y) {
    return std::ranges::any_of(sides, [&](const auto& side) { return side.has(x, y); });
  };
  if (every(at_border))
    return {"ghost_cells", 0,
            how_many + " are wrong, all at borders, " + example +
                ": the test for ghost cells is wrong"};
  const int w = int(launch.outputs.width),
            h = int(std::max<std::int64_t>(launch.outputs.height, 1));
  const auto at_tile = [&](int x, int y) {
    return x % w < left || x % w >= w - right || y % h < top || y % h >= h - bottom;
  };
  if (every(at_tile) && w > left + right && h > top + bottom)
    return {"halo", 0,
            how_many + " are wrong, all at edges of tiles, " + example +
                ": the halo is not loaded there, or not where it is read"};
  return {"wrong", 0, how_many + " are wrong, " + example};
}

void add_once(std::vector<LessonSentence>& to, LessonSentence sentence) {
  // One missing barrier is seen in many lines.
  const bool is_anywhere = sentence.kind == "race" || sentence.kind == "lost_update" ||
                           sentence.kind == "same_shared" || sentence.kind == "absent_lane" ||
                           sentence.kind == "unset_shared" || sentence.kind == "early_shared";
  const bool is_known = std::ranges::any_of(to, [&](const LessonSentence& other) {
    return other.kind == sentence.kind && (is_anywhere || other.line == sentence.line);
  });
  if (!is_known) to.push_back(std::move(sentence));
}

/// Where a fault stands among others: causes before what comes of them.
std::ptrdiff_t weight_of(const LessonSentence& fault) {
  const std::string_view order[] = {"outside_write", "outside_read",  "write_to_input",
                                    "left_barrier",  "other_barrier", "lost_update",
                                    "race",          "early_shared",  "absent_lane",
                                    "unset_shared",  "twice",         "unset_output"};
  return std::ranges::find(order, fault.kind) - std::begin(order);
}

/// Whether the fault explains wrong pixels, so that these need no words.
bool explains_pixels(const LessonSentence& fault) {
  const std::string_view kinds[] = {"outside_read",  "race",         "lost_update",
                                    "unset_shared",  "early_shared", "left_barrier",
                                    "other_barrier", "unset_output", "absent_lane"};
  return std::ranges::count(kinds, fault.kind) > 0;
}

/// Whether a kernel in which it was seen may be right.
bool is_harmless(const std::string& fault) {
  return fault == "same_twice" || fault == "same_shared" || fault == "absent_lane";
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
  Judgement(const std::vector<Trial>& trials, const LaunchSize& launch, double seconds = 0)
      : launch_(launch), mask_(mask_sides(trials.front().mask)), seconds_(seconds) {
    score_.pictures = score_.untried = int(trials.size());
  }

  /// False where the others need not be tried.
  bool add(const Trial& trial, const TrialRun& run) {
    --score_.untried;
    std::set<std::string> faults;
    std::set<int> lost, raced;  // lines
    for (const LessonFinding& finding : run.findings) {
      faults.insert(finding.fault);
      if (finding.fault == "lost_update") lost.insert(finding.place.line);
      if (finding.fault == "race") raced.insert(finding.place.line);
    }
    for (const LessonFinding& finding : run.findings) {
      const int line = finding.place.line;
      // A cell that is read too early is read before it is written.
      const bool is_unset = finding.fault == "unset_shared" || finding.fault == "early_shared";
      if (is_unset && faults.contains("race")) continue;
      // Who writes back what is lost races, too; and some of a word's bytes may be the same.
      if (finding.fault == "race" && lost.contains(line)) continue;
      if (finding.fault == "same_shared" && (lost.contains(line) || raced.contains(line))) continue;
      if (finding.fault == "absent_lane") continue;
      add_once(is_harmless(finding.fault) ? score_.remarks : score_.faults,
               sentence_of(finding, trial, launch_));
    }
    switch (run.end) {
      case TrialRun::End::too_long:
        // Each of the others would take its time.
        add_once(score_.faults, about_end(run, trial, seconds_));
        return false;
      case TrialRun::End::crashed: add_once(score_.faults, about_end(run, trial, 0)); return true;
      case TrialRun::End::refused: add_once(score_.faults, {"refused", 0, run.why}); return false;
      case TrialRun::End::done: break;
    }
    LessonSentence sentence = about_pixels(trial, run, launch_);
    const int tried = score_.pictures - score_.untried;
    if (!sentence.text.empty() && trial.width == kWide && tried > 1 && score_.right == tried - 1)
      sentence.text += "; narrower pictures are right, so an index may be too small for its type";
    if (!sentence.text.empty()) add_once(pixels_, with_place(sentence, trial));
    // What a lane that is absent gives matters where somebody makes use of it.
    for (const LessonFinding& finding : run.findings)
      if (finding.fault == "absent_lane" && !sentence.text.empty())
        add_once(score_.faults, sentence_of(finding, trial, launch_));
    std::erase_if(faults, is_harmless);
    const bool is_right = sentence.text.empty() && faults.empty();
    if (is_right) ++score_.right;
    const bool is_first_mask = mask_sides(trial.mask) == mask_;
    if (!is_right) (is_first_mask ? wrong_first_ : wrong_others_) = true;
    return true;
  }

  LessonScore score() {
    // What a kernel does to memory says more than what comes of it.
    if (std::ranges::none_of(score_.faults, explains_pixels) && !pixels_.empty())
      add_once(score_.faults, pixels_.front());
    std::ranges::stable_sort(score_.faults, {}, weight_of);
    if (wrong_others_ && !wrong_first_ && score_.untried == 0)
      score_.faults.insert(score_.faults.begin(),
                           {"mask_size",
                            0,
                            "it is right under a mask of " + mask_ +
                                " and wrong under others: a size or a radius stands fixed in the "
                                "code, though the kernel is told the mask's",
                            {},
                            "",
                            ""});
    return score_;
  }

 private:
  const LaunchSize& launch_;
  std::string mask_;  ///< that of the first pictures
  double seconds_;    ///< after which a run is stopped; 0 = not told
  bool wrong_first_ = false, wrong_others_ = false;
  LessonScore score_;
  std::vector<LessonSentence> pixels_;
};

/// Whether some of the outputs are right, where all would take long. Says where the first that is
/// wrong lies.
std::optional<LessonSentence> about_some_pixels(const Trial& trial, const std::vector<float>& out) {
  constexpr int kOutputs = 4096;
  const Oracle oracle(trial);
  SplitMix random(1);
  for (int k = 0; k < kOutputs; ++k) {
    const int x = int(random.below(std::uint64_t(trial.width))),
              y = int(random.below(std::uint64_t(trial.height)));
    const double got = double(out[std::size_t(y) * std::size_t(trial.width) + std::size_t(x)]);
    if (std::abs(got - oracle.at(x, y)) <= oracle.tolerance()) continue;
    return LessonSentence{"large", 0,
                          "outputs of a large picture are wrong, one at " + pixel(x, y) +
                              ", though those of small ones are right: an index is too large "
                              "for its type, or blocks are missing" +
                              in_picture(trial)};
  }
  return std::nullopt;
}

LessonOnGpu judge_on_gpu(const KernelFile& kernel, const GpuWish& wish,
                         const std::vector<Trial>& trials, bool is_right,
                         std::vector<LessonSentence>& remarks) {
  constexpr int kSide = 4096, kRepeats = 51;
  const GpuProgram program(kernel, wish.device, wish.nvcc);
  LessonOnGpu gpu;
  gpu.device = wish.device.name;
  const std::vector<TrialRun> runs = program.run(trials);
  Judgement judgement(trials, kernel.launch);
  for (std::size_t i = 0; i < runs.size(); ++i) judgement.add(trials[i], runs[i]);
  gpu.score = judgement.score();
  if (!is_right || !gpu.score.is_right()) return gpu;

  const Trial large = make_trial(kSide, kSide, trials.front().mask);
  const TrialRun run = program.time(large, kRepeats);
  if (run.end == TrialRun::End::too_long) {
    add_once(remarks, {"slow", 0, "it takes too long to be timed on the GPU" + in_picture(large)});
    return gpu;
  }
  ++gpu.score.pictures;
  if (run.end != TrialRun::End::done) {
    gpu.score.faults.push_back({"crash", 0, "it crashes: " + run.why + in_picture(large)});
    return gpu;
  }
  if (const auto sentence = about_some_pixels(large, run.out)) {
    gpu.score.faults.push_back(*sentence);
    return gpu;
  }
  ++gpu.score.right;
  gpu.width = gpu.height = kSide;
  const double ms = spread_of(run.ms).median;
  gpu.times = {{kernel.kernel, ms, run.copy_ms > 0 ? ms / run.copy_ms : 0}};
  for (TimeRow& row : time_textbook(large, wish.device.ordinal, kRepeats))
    gpu.times.push_back(std::move(row));
  return gpu;
}

/// What the kernel prints, in its first lines.
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

/// What a kernel makes of one picture with several blocks, which is no square.
struct Probe {
  LessonScore score;
  std::size_t outputs = 0, all = 0;  ///< that are right, and that there are
  bool ends = true;
  bool has_not_a_number = false;  ///< in its outputs, for a reason that nothing else tells
};

Probe probe(const LessonProgram& program, const LaunchSize& launch, const Mask& mask) {
  const auto [width, height] = sizes_for(launch, is_slow(launch, mask)).front();
  const std::vector<Trial> trials = {make_trial(width, height, mask)};
  const Trial& trial = trials.front();
  const TrialRun run = program.run(trial);
  Judgement judgement(trials, launch, LessonProgram::kProcessorSeconds);
  judgement.add(trial, run);
  Probe probe;
  probe.score = judgement.score();
  probe.ends = run.end != TrialRun::End::too_long;
  if (run.end != TrialRun::End::done) return probe;
  const Oracle oracle(trial);
  probe.all = trial.in.size();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const float got = run.out[std::size_t(y) * std::size_t(width) + std::size_t(x)];
      probe.outputs += std::abs(double(got) - oracle.at(x, y)) <= oracle.tolerance() ? 1 : 0;
      probe.has_not_a_number = probe.has_not_a_number || std::isnan(got);
    }
  for (const LessonFinding& finding : run.findings)
    if (finding.fault == "outside_read" || finding.fault == "absent_lane")
      probe.has_not_a_number = false;
  return probe;
}

/// Which of the masks a kernel is right under; those with which it is nearest, where it is under
/// none.
struct Fit {
  std::size_t guess = 0;
  bool is_right = false, ends = true;
  LessonScore first;  ///< under the first
};

Fit fit_of(const LessonProgram& program, const LaunchSize& launch,
           const std::vector<MaskGuess>& guesses) {
  Fit fit;
  std::size_t most = 0;
  for (std::size_t i = 0; i < guesses.size() && !fit.is_right && fit.ends; ++i) {
    const Probe tried = probe(program, launch, guesses[i].masks.front());
    if (i == 0) fit.first = tried.score;
    fit.is_right = tried.score.is_right();
    fit.ends = tried.ends;
    // A few outputs are right by chance.
    const bool is_near = tried.outputs > most && 2 * tried.outputs > tried.all;
    if (!fit.is_right && !is_near) continue;
    most = tried.outputs;
    fit.guess = i;
  }
  return fit;
}

/// Puts the masks into the verdict, and says what is known of them.
void take_masks(const std::vector<MaskGuess>& guesses, const Fit& fit, bool is_told,
                LessonVerdict& verdict) {
  const MaskGuess& taken = guesses[fit.guess];
  const std::string first = guesses.front().name;
  verdict.masks = taken.masks;
  verdict.why_masks = taken.why;
  if (fit.is_right && fit.guess > 0 && !fit.first.faults.empty()) {
    verdict.why_masks = "for which it is right; --mask-size says another";
    verdict.remarks.push_back({"mask_guess", 0,
                               "it is right under a mask of " + taken.name + ", and wrong under " +
                                   first + ": " + fit.first.faults.front().text +
                                   "; --mask-size says which is meant"});
  } else if (!fit.is_right && fit.ends && guesses.size() > 1 && !is_told) {
    std::string others;
    for (std::size_t i = 0; i < guesses.size(); ++i)
      if (i != fit.guess)
        others += (others.empty()            ? ""
                   : i + 1 == guesses.size() ? " and "
                                             : ", ") +
                  sides(guesses[i].masks.front().width, guesses[i].masks.front().height);
    const std::string why = taken.why.substr(0, taken.why.find(';'));
    verdict.why_masks = (why.empty() ? "which comes nearest" : why) + "; it is wrong under " +
                        others + ", too; --mask-size says another";
  }
}

/// Refuses a mask that is smaller than the array of a kernel which takes all of that.
void refuse_smaller(const KernelFile& kernel, const MaskRoom& room, const Mask& mask,
                    const LessonProgram& program) {
  const bool is_smaller = !kernel.constant_mask.empty() && int(mask.weights.size()) < room.weights;
  if (kernel.is_told_size || !is_smaller) return;
  if (!probe(program, kernel.launch, mask).has_not_a_number) return;
  throw UsageError("the mask of " + sides(mask.width, mask.height) + " is smaller than " +
                   kernel.constant_mask + " in " + quoted_name(kernel.path) + ", which is for " +
                   text_of(room) + ", and the kernel takes more of it than the mask has");
}

/// A kernel as a program, with those of its parameters exchanged whose names say nothing if only
/// that makes its results right; and the masks that it is tried with, into the verdict and `fit`.
std::unique_ptr<LessonProgram> program_of(KernelFile& kernel, const MaskWish& wish,
                                          LessonVerdict& verdict, Fit& fit) {
  auto program = std::make_unique<LessonProgram>(kernel);
  const MaskRoom room = program->mask_room();
  const std::vector<MaskGuess> guesses = mask_guesses(kernel, room, wish);
  if (wish.mask || wish.size) refuse_smaller(kernel, room, guesses.front().masks.front(), *program);
  if (guesses.size() > 1 || !kernel.guesses.empty())
    fit = fit_of(*program, kernel.launch, guesses);
  else
    fit.is_right = true;
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
    const Fit others = fit_of(*tried, other.launch, guesses);
    is_known = others.is_right;
    if (!is_known) continue;
    fit = others;
    kernel = other;
    program = std::move(tried);
  }
  take_masks(guesses, fit, kernel.is_told_size, verdict);
  verdict.remarks.push_back({"guessed",
                             0,
                             guesses_text(kernel) +
                                 (is_known ? ", since the other way round it is wrong" : "") +
                                 "; names that say it are in, out, mask, width and height",
                             {},
                             "",
                             ""});
  return program;
}

}  // namespace

LessonVerdict judge(const KernelFile& file, const MaskWish& wish,
                    const std::optional<GpuWish>& gpu) {
  KernelFile kernel = file;
  LessonVerdict verdict;
  Fit fit;
  const std::unique_ptr<LessonProgram> program = program_of(kernel, wish, verdict, fit);
  verdict.arguments = kernel.arguments;
  const std::vector<Trial> trials = trials_for(kernel.launch, verdict.masks);
  if (!fit.ends) {
    // Another run would take its time, too.
    verdict.host = fit.first;
    verdict.host.pictures = int(trials.size());
    verdict.host.untried = verdict.host.pictures - 1;
    return verdict;
  }
  Judgement judgement(trials, kernel.launch, LessonProgram::kProcessorSeconds);
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
    const Extent& outputs = kernel.launch.outputs;
    const double taps = double(outputs.width) * double(std::max<std::int64_t>(outputs.height, 1)) *
                        double(trials[i].mask.weights.size());
    const std::uint64_t reads = run.counts.global_reads;
    verdict.block = {kernel.kernel, kernel.launch.threads(), outputs, run.counts,
                     reads > 0 ? taps / double(reads) : 0};
  }
  verdict.host = judgement.score();
  for (LessonSentence& remark : verdict.host.remarks) add_once(verdict.remarks, remark);
  if (verdict.block) {
    add_remarks(verdict.block->counts, verdict.remarks);
    verdict.textbook = count_textbook(verdict.masks.front());
  }
  if (gpu && goes_on) try {
      verdict.gpu = judge_on_gpu(kernel, *gpu, trials, verdict.host.is_right(), verdict.remarks);
    } catch (const CompilerError& error) {
      if (gpu->is_asked) throw NoVerdictError(error.what());
      add_once(verdict.remarks,
               {"no_gpu", 0, "it is not tried on the GPU: " + std::string(error.what())});
    } catch (const DeviceError& error) {
      if (gpu->is_asked) throw;
      add_once(verdict.remarks,
               {"no_gpu", 0, "it is not tried on the GPU: " + std::string(error.what())});
    }
  return verdict;
}

}  // namespace convfilt
