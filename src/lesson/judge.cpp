#include "src/lesson/judge.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
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
};

class Oracle {
 public:
  explicit Oracle(const Trial& trial) : trial_(trial), mask_(trial.mask) {}

  double at(int x, int y, const Variant& variant = {}) const {
    double sum = 0;
    for (int j = 0; j < mask_.height; ++j)
      for (int i = 0; i < mask_.width; ++i)
        sum +=
            weight(i, j, variant) * sample(x + i - mask_.anchor_x + variant.dx,
                                           y + j - mask_.anchor_y + variant.dy, variant.replicates);
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

  double sample(int x, int y, bool replicates) const {
    const bool inside = x >= 0 && x < trial_.width && y >= 0 && y < trial_.height;
    if (!inside && !replicates) return 0;
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

/// The picture whose middle block is counted: the block's halo lies inside, and rows begin at lines
/// of the cache.
std::pair<int, int> counted_size(const LaunchSize& launch, const Mask& mask) {
  constexpr int kLine = 32;  // samples
  const int w = int(launch.outputs.width),
            h = int(std::max<std::int64_t>(launch.outputs.height, 1));
  const auto side = [](int tile, int mask_side) {
    return (2 * ((mask_side / 2 + tile - 1) / tile) + 1) * tile;
  };
  return {(side(w, mask.width) + kLine - 1) / kLine * kLine, std::max(side(h, mask.height), 3 * h)};
}

/// The sizes at which kernels go wrong: one pixel, some tiles, and one less and one more than one.
std::vector<std::pair<int, int>> sizes_for(const LaunchSize& launch) {
  const int w = int(launch.outputs.width),
            h = int(launch.outputs.height > 0 ? launch.outputs.height : 4);
  return {{3 * w + 5, 3 * h + 3},
          {1, 1},
          {w, h},
          {w + 1, h + 1},
          {std::max(1, w - 1), std::max(1, h - 1)},
          {2 * w, 2 * h},
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
  const auto sizes = sizes_for(launch);
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

/// With which masks a kernel is tried, into the verdict.
void choose_masks(const KernelFile& kernel, const MaskRoom& room, const MaskWish& wish,
                  LessonVerdict& verdict) {
  constexpr int kUsual = 5;
  const bool has_size =
      kernel.takes(KernelArgument::mask_width) || kernel.takes(KernelArgument::radius);
  const std::string array = kernel.constant_mask;
  if (wish.mask || wish.size) {
    verdict.masks = {wish.mask ? *wish.mask : random_of(wish.size->width, wish.size->height)};
    verdict.why_masks = "as asked for";
  } else if (has_size) {
    const bool any_height = kernel.takes(KernelArgument::mask_height);
    // The first is the largest, since tiles and shared memory have room for some size.
    std::vector<std::pair<int, int>> sizes = {{kUsual, kUsual}, {3, 3}, {1, 1}};
    if (any_height) sizes = {{kUsual, kUsual}, {kUsual, 3}, {3, kUsual}, {1, 1}};
    for (const auto& [w, h] : sizes) {
      const bool fits = array.empty() || (room.columns > 0 ? w <= room.columns && h <= room.rows
                                                           : w * h <= room.weights);
      if (fits) verdict.masks.push_back(random_of(w, h));
    }
    if (verdict.masks.empty())
      throw IoError(quoted_name(kernel.path) + ": " + array + " has room for no weight");
    verdict.why_masks = "since the kernel is told the size";
  } else if (!array.empty()) {
    int columns = room.columns, rows = room.rows;
    if (columns == 0) columns = rows = int(std::lround(std::sqrt(double(room.weights))));
    if (columns * rows != room.weights || columns < 1)
      throw IoError(quoted_name(kernel.path) + ": " + array + " has room for " +
                    std::to_string(room.weights) +
                    " weights, which make no square; say the mask's size with --mask-size");
    verdict.masks = {random_of(columns, rows)};
    verdict.why_masks = "the size of " + array;
  } else {
    verdict.masks = {random_of(kUsual, kUsual)};
    verdict.why_masks = "the default; --mask-size says another";
  }
}

std::string pixel(int x, int y) {
  return "(" + std::to_string(x) + ", " + std::to_string(y) + ")";
}

std::string thread_at(const LessonFinding::Place& place) {
  return "thread " + pixel(place.thread_x, place.thread_y) + " of block " +
         pixel(place.block_x, place.block_y);
}

/// Where in a picture a cell lies that is outside it.
std::string outside(std::int64_t cell, const Trial& trial) {
  const std::int64_t samples = std::int64_t{trial.width} * trial.height;
  const std::int64_t off = cell < 0 ? -cell : cell - samples + 1;
  return "[" + std::to_string(cell) + "], " + std::to_string(off) +
         (off == 1 ? " sample " : " samples ") +
         (cell < 0 ? "before the first row" : "behind the last row");
}

std::string in_picture(const Trial& trial) {
  return " (picture of " + sides(trial.width, trial.height) + ", mask " +
         sides(trial.mask.width, trial.mask.height) + ")";
}

LessonSentence sentence_of(const LessonFinding& finding, const Trial& trial) {
  const std::string who = thread_at(finding.place), cell = std::to_string(finding.cell);
  const std::string other =
      finding.other.line > 0 ? " (line " + std::to_string(finding.other.line) + ")" : "";
  std::string text;
  if (finding.memory == "dynamic")
    text = who + (finding.fault == "outside_read" ? " reads word " : " writes word ") + cell +
           " of dynamic shared memory, which is " +
           (finding.cell < 0 ? "before its first"
                             : "behind its last: its index is wrong, or the launch gives a block "
                               "too few bytes");
  else if (finding.fault == "outside_read")
    text = who + " reads " + finding.memory + outside(finding.cell, trial) +
           ": the test for ghost cells misses " +
           (finding.cell < 0 ? "y < 0, or x < 0" : "y >= height, or x >= width");
  else if (finding.fault == "outside_write")
    text = who + " writes " + finding.memory + outside(finding.cell, trial) +
           ": threads beyond the picture must not write";
  else if (finding.fault == "write_to_input")
    text = who + " writes " + finding.memory + "[" + cell + "], which is an input";
  else if (finding.fault == "unset_shared")
    text = who + " reads word " + cell + " of shared memory, which no thread has written: " +
           "the halo is probably not loaded, or not all of it";
  else if (finding.fault == "unset_output")
    text = who + " reads out[" + cell + "], which nobody has written: out is not 0 at the start";
  else if (finding.fault == "race")
    text = who + " and " + thread_at(finding.other) + other + " use word " + cell +
           " of shared memory, one of them to write, and no barrier lies between: "
           "__syncthreads() is probably missing";
  else if (finding.fault == "twice")
    text = who + " writes out[" + cell + "], which another thread" + other + " has written";
  else if (finding.fault == "left_barrier")
    text = "only " + std::to_string(finding.threads) +
           " threads of a block reach this __syncthreads(), and the others have ended: a return, "
           "or an if, stands before it";
  else
    text = "threads of a block wait at different __syncthreads(), " +
           std::to_string(finding.threads) + " of them here: it stands in a branch";
  return {finding.fault, finding.place.line, text + in_picture(trial)};
}

/// What is wrong with a result, as far as its pixels tell.
LessonSentence about_pixels(const Trial& trial, const std::vector<float>& out,
                            const LaunchSize& launch) {
  const Mask& mask = trial.mask;
  const Oracle oracle(trial);
  const double tolerance = oracle.tolerance();
  const auto got = [&](int x, int y) {
    return double(out[std::size_t(y) * std::size_t(trial.width) + std::size_t(x)]);
  };
  std::vector<std::pair<int, int>> wrong;
  std::int64_t unwritten = 0;
  for (int y = 0; y < trial.height; ++y)
    for (int x = 0; x < trial.width; ++x) {
      if (std::abs(got(x, y) - oracle.at(x, y)) <= tolerance) continue;
      wrong.emplace_back(x, y);
      unwritten += std::isinf(got(x, y)) ? 1 : 0;
    }
  if (wrong.empty()) return {};
  const std::size_t all = std::size_t(trial.width) * std::size_t(trial.height);
  const auto [x0, y0] = wrong.front();
  const std::string how_many =
      std::to_string(wrong.size()) + " of " + std::to_string(all) + " outputs";
  if (unwritten == std::int64_t(wrong.size()))
    return {"unwritten", 0,
            how_many + " are never written, the first at " + pixel(x0, y0) +
                ": too few threads or blocks write, or their test is too strict" +
                in_picture(trial)};

  const auto is_all = [&](const Variant& variant) {
    for (int y = 0; y < trial.height; ++y)
      for (int x = 0; x < trial.width; ++x)
        if (!(std::abs(got(x, y) - oracle.at(x, y, variant)) <= tolerance)) return false;
    return true;
  };
  constexpr int kMostOff = 4;
  for (int dy = -kMostOff; dy <= kMostOff; ++dy)
    for (int dx = -kMostOff; dx <= kMostOff; ++dx) {
      if ((dx == 0 && dy == 0) || !is_all({.dx = dx, .dy = dy})) continue;
      return {"shifted", 0,
              "all outputs are those of a mask that lies " + pixel(dx, dy) +
                  " off: the input tile, or the radius, is off by as much" + in_picture(trial)};
    }
  if (is_all({.flipped = true}))
    return {"flipped", 0,
            "all outputs are those of the mask turned by 180 degrees: the task is a correlation, "
            "with weights as they stand" +
                in_picture(trial)};
  if (is_all({.transposed = true}))
    return {
        "transposed", 0,
        "all outputs are those of the mask with rows and columns exchanged" + in_picture(trial)};
  if (is_all({.replicates = true}))
    return {"ghost_cells", 0,
            "ghost cells are the nearest samples, and should be 0" + in_picture(trial)};

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
                ": the sum does not begin at 0" + in_picture(trial)};
  }

  const int left = mask.anchor_x, top = mask.anchor_y, right = mask.width - 1 - left,
            bottom = mask.height - 1 - top;
  const auto every = [&](const std::function<bool(int x, int y)>& is_there) {
    return std::ranges::all_of(wrong, [&](auto at) { return is_there(at.first, at.second); });
  };
  const struct {
    const char* name;
    std::function<bool(int, int)> has;
  } sides[] = {{"left", [&](int x, int) { return x < left; }},
               {"right", [&](int x, int) { return x >= trial.width - right; }},
               {"upper", [&](int, int y) { return y < top; }},
               {"lower", [&](int, int y) { return y >= trial.height - bottom; }}};
  for (const auto& side : sides)
    if (every(side.has))
      return {"ghost_cells", 0,
              how_many + " are wrong, all at the " + side.name +
                  " border: the test for ghost cells is wrong there" + in_picture(trial)};
  const auto at_border = [&](int x, int y) {
    return std::ranges::any_of(sides, [&](const auto& side) { return side.has(x, y); });
  };
  if (every(at_border))
    return {"ghost_cells", 0,
            how_many + " are wrong, all at borders: the test for ghost cells is wrong" +
                in_picture(trial)};
  const int w = int(launch.outputs.width),
            h = int(std::max<std::int64_t>(launch.outputs.height, 1));
  const auto at_tile = [&](int x, int y) {
    return x % w < left || x % w >= w - right || y % h < top || y % h >= h - bottom;
  };
  if (every(at_tile) && w > left + right && h > top + bottom)
    return {"halo", 0,
            how_many +
                " are wrong, all at edges of tiles: the halo is not loaded there, or not "
                "where it is read" +
                in_picture(trial)};
  char numbers[80];
  std::snprintf(numbers, sizeof numbers, "%.6g and not %.6g", got(x0, y0), oracle.at(x0, y0));
  return {
      "wrong", 0,
      how_many + " are wrong, the first at " + pixel(x0, y0) + ": " + numbers + in_picture(trial)};
}

void add_once(std::vector<LessonSentence>& to, LessonSentence sentence) {
  // One missing barrier is seen in many lines.
  const bool is_anywhere = sentence.kind == "race" || sentence.kind == "unset_shared";
  const bool is_known = std::ranges::any_of(to, [&](const LessonSentence& other) {
    return other.kind == sentence.kind && (is_anywhere || other.line == sentence.line);
  });
  if (!is_known) to.push_back(std::move(sentence));
}

/// Where a fault stands among others: causes before what comes of them.
std::ptrdiff_t weight_of(const LessonSentence& fault) {
  const std::string_view order[] = {"outside_write", "outside_read",  "write_to_input",
                                    "left_barrier",  "other_barrier", "race",
                                    "unset_shared",  "twice",         "unset_output"};
  return std::ranges::find(order, fault.kind) - std::begin(order);
}

/// Whether the fault explains wrong pixels, so that these need no words.
bool explains_pixels(const LessonSentence& fault) {
  const std::string_view kinds[] = {"outside_read", "race",          "unset_shared",
                                    "left_barrier", "other_barrier", "unset_output"};
  return std::ranges::count(kinds, fault.kind) > 0;
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
                       "shared memory is passed over " + std::to_string(warps.bank_conflicts) +
                           " times more than it would be without bank conflicts"});
}

/// Judges runs of one program on pictures, each of which adds to the score.
class Judgement {
 public:
  Judgement(const std::vector<Trial>& trials, const LaunchSize& launch) : launch_(launch) {
    score_.pictures = score_.untried = int(trials.size());
  }

  /// False where the others need not be tried.
  bool add(const Trial& trial, const TrialRun& run) {
    --score_.untried;
    std::set<std::string> faults;
    for (const LessonFinding& finding : run.findings) faults.insert(finding.fault);
    for (const LessonFinding& finding : run.findings) {
      // A cell that is read too early is read before it is written.
      if (finding.fault == "unset_shared" && faults.contains("race")) continue;
      add_once(score_.faults, sentence_of(finding, trial));
    }
    switch (run.end) {
      case TrialRun::End::too_long:
        // Each of the others would take its time.
        add_once(score_.faults, {"endless", 0, "it does not end" + in_picture(trial)});
        return false;
      case TrialRun::End::crashed:
        add_once(score_.faults, {"crash", 0, "it crashes: " + run.why + in_picture(trial)});
        return true;
      case TrialRun::End::refused: add_once(score_.faults, {"refused", 0, run.why}); return false;
      case TrialRun::End::done: break;
    }
    const LessonSentence sentence = about_pixels(trial, run.out, launch_);
    if (!sentence.text.empty()) add_once(pixels_, sentence);
    if (sentence.text.empty() && run.findings.empty()) ++score_.right;
    return true;
  }

  LessonScore score() {
    // What a kernel does to memory says more than what comes of it.
    if (std::ranges::none_of(score_.faults, explains_pixels) && !pixels_.empty())
      add_once(score_.faults, pixels_.front());
    std::ranges::stable_sort(score_.faults, {}, weight_of);
    return score_;
  }

 private:
  const LaunchSize& launch_;
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

}  // namespace

LessonVerdict judge(const KernelFile& kernel, const MaskWish& wish,
                    const std::optional<GpuWish>& gpu) {
  const LessonProgram program(kernel);
  LessonVerdict verdict;
  choose_masks(kernel, program.mask_room(), wish, verdict);
  const std::vector<Trial> trials = trials_for(kernel.launch, verdict.masks);
  Judgement judgement(trials, kernel.launch);
  bool goes_on = true;
  for (std::size_t i = 0; i < trials.size() && goes_on; ++i) {
    const TrialRun run = program.run(trials[i]);
    goes_on = judgement.add(trials[i], run);
    if (i > 0 || run.end != TrialRun::End::done) continue;
    const Extent& outputs = kernel.launch.outputs;
    const double taps = double(outputs.width) * double(std::max<std::int64_t>(outputs.height, 1)) *
                        double(trials[i].mask.weights.size());
    const std::uint64_t reads = run.counts.global_reads;
    verdict.block = {kernel.kernel, kernel.launch.threads(), outputs, run.counts,
                     reads > 0 ? taps / double(reads) : 0};
  }
  verdict.host = judgement.score();
  if (verdict.block) {
    add_remarks(verdict.block->counts, verdict.remarks);
    verdict.textbook = count_textbook(verdict.masks.front());
  }
  if (gpu && goes_on) try {
      verdict.gpu = judge_on_gpu(kernel, *gpu, trials, verdict.host.is_right(), verdict.remarks);
    } catch (const CompilerError& error) {
      if (gpu->is_asked) throw IoError(std::string(error.what()));
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
