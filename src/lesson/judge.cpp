#include "src/lesson/judge.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "src/base/splitmix.hpp"

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
  Oracle(const Trial& trial, const Mask& mask) : trial_(trial), mask_(mask) {}

  double at(int x, int y, const Variant& variant = {}) const {
    double sum = 0;
    for (int j = 0; j < mask_.height; ++j)
      for (int i = 0; i < mask_.width; ++i)
        sum +=
            weight(i, j, variant) * sample(x + i - mask_.anchor_x + variant.dx,
                                           y + j - mask_.anchor_y + variant.dy, variant.replicates);
    return sum / mask_.divisor;
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
    return double(float(mask_.weight(i, j)));
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

Trial make_trial(int width, int height) {
  SplitMix random(std::uint64_t(width) * 1000 + std::uint64_t(height));
  Trial trial{width, height, {}};
  for (int i = 0; i < width * height; ++i) trial.in.push_back(float(1 + random.below(1000)) / 1000);
  return trial;
}

/// The sizes at which kernels go wrong: one pixel, some tiles, and one less and one more than one.
std::vector<std::pair<int, int>> sizes_for(const LaunchSize& launch) {
  const int w = int(launch.outputs.width), h = int(launch.outputs.height);
  return {{3 * w + 5, 3 * h + 3},
          {1, 1},
          {w, h},
          {w + 1, h + 1},
          {std::max(1, w - 1), std::max(1, h - 1)},
          {2 * w, 2 * h},
          {5, 2 * h + 1},
          {2 * w + 1, 3}};
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
  return " (picture of " + std::to_string(trial.width) + "x" + std::to_string(trial.height) + ")";
}

LessonSentence sentence_of(const LessonFinding& finding, const Trial& trial) {
  const std::string who = thread_at(finding.place), cell = std::to_string(finding.cell);
  const std::string other =
      finding.other.line > 0 ? " (line " + std::to_string(finding.other.line) + ")" : "";
  std::string text;
  if (finding.fault == "outside_read")
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
    text = who + " reads out[" + cell + "], which nobody has written";
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
LessonSentence about_pixels(const Trial& trial, const std::vector<float>& out, const Mask& mask,
                            const LaunchSize& launch) {
  const Oracle oracle(trial, mask);
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
  const int w = int(launch.outputs.width), h = int(launch.outputs.height);
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

void add(std::vector<LessonSentence>& to, LessonSentence sentence) {
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
  const std::string_view kinds[] = {"outside_read", "race", "unset_shared", "left_barrier",
                                    "other_barrier"};
  return std::ranges::count(kinds, fault.kind) > 0;
}

void add_remarks(const LessonCounts& counts, std::vector<LessonSentence>& remarks) {
  if (counts.sectors > 2 * counts.fewest_sectors)
    add(remarks, {"uncoalesced", 0,
                  "warps touch " + std::to_string(counts.sectors) +
                      " sectors of 32 bytes of global memory in a block, and " +
                      std::to_string(counts.fewest_sectors) +
                      " would do if neighbouring threads used neighbouring samples"});
  if (counts.bank_conflicts > counts.shared_reads / 32)
    add(remarks, {"bank_conflicts", 0,
                  "shared memory is passed over " + std::to_string(counts.bank_conflicts) +
                      " times more than it would be without bank conflicts"});
}

}  // namespace

LessonVerdict judge(const KernelFile& kernel, const Mask& mask) {
  const LessonProgram program(kernel);
  LessonVerdict verdict;
  bool is_first = true;
  std::vector<LessonSentence> pixels;
  for (const auto& [width, height] : sizes_for(kernel.launch)) {
    const Trial trial = make_trial(width, height);
    const TrialRun run = program.run(trial, mask);
    ++verdict.trials;
    std::set<std::string> faults;
    for (const LessonFinding& finding : run.findings) faults.insert(finding.fault);
    for (const LessonFinding& finding : run.findings) {
      // A cell that is read too early is read before it is written.
      if (finding.fault == "unset_shared" && faults.contains("race")) continue;
      add(verdict.faults, sentence_of(finding, trial));
    }
    switch (run.end) {
      case TrialRun::End::too_long:
        add(verdict.faults, {"endless", 0, "it does not end" + in_picture(trial)});
        // Each would take its time.
        return verdict;
      case TrialRun::End::crashed:
        add(verdict.faults, {"crash", 0, "it crashes: " + run.why + in_picture(trial)});
        continue;
      case TrialRun::End::refused: add(verdict.faults, {"refused", 0, run.why}); return verdict;
      case TrialRun::End::done: break;
    }
    const LessonSentence sentence = about_pixels(trial, run.out, mask, kernel.launch);
    if (!sentence.text.empty()) add(pixels, sentence);
    if (sentence.text.empty() && run.findings.empty()) ++verdict.right;
    if (std::exchange(is_first, false)) verdict.counts = run.counts;
  }
  // What a kernel does to memory says more than what comes of it.
  if (std::ranges::none_of(verdict.faults, explains_pixels) && !pixels.empty())
    add(verdict.faults, pixels.front());
  std::ranges::stable_sort(verdict.faults, {}, weight_of);
  add_remarks(verdict.counts, verdict.remarks);
  return verdict;
}

}  // namespace convfilt
