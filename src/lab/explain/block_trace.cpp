#include "src/lab/explain/block_trace.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "src/lab/explain/count_reads.hpp"
#include "src/lab/explain/explain.hpp"

namespace convfilt {
namespace {

/// Loads with one key are of one step. It is what a thread adds to its own place, or to its own
/// number and 0, to find its sample.
using Key = std::pair<int, int>;

constexpr std::int64_t kMostSamples = 1 << 24;  // of a picture that is run for one block

std::optional<Recording> record(const Strategy& strategy, const Problem& problem,
                                const Tuning& tuning, std::optional<BlockIndex> at) {
  Recording recording;
  if (at) recording.at_x = at->x, recording.at_y = at->y;
  run_on_zeros(strategy, problem, {.tuning = tuning, .recording = &recording});
  if (recording.reads.empty() || recording.reads.size() != recording.counted) return std::nullopt;
  return recording;
}

/// The rectangle around some reads, with zeros.
template <class Takes>
SampleGrid grid_around(const std::vector<SampleRead>& reads, Takes takes) {
  int left = INT_MAX, top = INT_MAX, right = INT_MIN, bottom = INT_MIN;
  for (const SampleRead& read : reads) {
    if (!takes(read)) continue;
    left = std::min(left, read.x);
    right = std::max(right, read.x + 1);
    top = std::min(top, read.y);
    bottom = std::max(bottom, read.y + 1);
  }
  if (left == INT_MAX) return {};
  SampleGrid grid{left, top, right - left, bottom - top, {}};
  grid.values.assign(std::size_t(grid.columns) * grid.rows, 0);
  return grid;
}

/// The keys in an order in which each thread meets them, and by rows and columns where no thread
/// says. Empty where there is no such order.
std::vector<Key> in_order(const std::map<Key, std::set<Key>>& after) {
  std::map<Key, int> before;
  for (const auto& [key, later] : after) {
    before[key];
    for (const Key& next : later) ++before[next];
  }
  std::set<Key> ready;
  for (const auto& [key, count] : before)
    if (count == 0) ready.insert(key);
  std::vector<Key> order;
  while (!ready.empty()) {
    const Key key = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(key);
    for (const Key& next : after.at(key))
      if (--before[next] == 0) ready.insert(next);
  }
  return order.size() == before.size() ? order : std::vector<Key>();
}

/// Each key of kept samples, and the keys that come next in some thread.
template <class KeyOf>
std::map<Key, std::set<Key>> successors(const Recording& recording, KeyOf key_of) {
  std::map<Key, std::set<Key>> after;
  std::map<Key, Key> last;  // of each thread
  for (const SampleRead& read : recording.reads) {
    if (!read.kept) continue;
    const Key key = key_of(read), thread(read.thread_y, read.thread_x);
    after[key];
    const auto before = last.find(thread);
    if (before != last.end()) after[before->second].insert(key);
    last[thread] = key;
  }
  return after;
}

/// Finds the steps in which the kept samples were loaded: whether there is an order of steps that
/// all threads keep, and only ghost cells are left out.
bool find_steps(const Recording& recording, const SampleGrid& tile, std::int64_t ghosts,
                BlockTrace& trace) {
  const auto by_place = [&](const SampleRead& read) {
    return Key(read.y - tile.top - read.thread_y, read.x - tile.left - read.thread_x);
  };
  const auto by_number = [&](const SampleRead& read) {
    const int cell = (read.y - tile.top) * tile.columns + read.x - tile.left;
    return Key(cell - (read.thread_y * recording.block_columns + read.thread_x), 0);
  };
  // The loop of the kernel is the simpler one of the two.
  const auto places = successors(recording, by_place), numbers = successors(recording, by_number);
  trace.numbered = numbers.size() < places.size();
  const std::vector<Key> order = in_order(trace.numbered ? numbers : places);
  if (order.empty()) return false;
  for (const Key& key : order)
    trace.loads.push_back({0, tile.left + key.second, tile.top + key.first});
  trace.steps = tile;
  for (const SampleRead& read : recording.reads) {
    if (!read.kept) continue;
    const Key key = trace.numbered ? by_number(read) : by_place(read);
    const auto step = std::find(order.begin(), order.end(), key) - order.begin();
    ++trace.loads[std::size_t(step)].loads;
    int& cell = trace.steps.at(read.x - tile.left, read.y - tile.top);
    if (cell != 0) return false;  // A sample that is loaded twice has no one step.
    cell = int(step) + 1;
  }
  return std::ranges::count(trace.steps.values, 0) == ghosts;
}

/// Counts places from the sample under the block's first output.
void move(BlockTrace& trace, int x, int y) {
  for (SampleGrid* grid : {&trace.steps, &trace.uses, &trace.direct})
    grid->left += x, grid->top += y;
  for (LoadStep& step : trace.loads) step.x += x, step.y += y;
  for (ThreadUses& thread : trace.threads)
    if (thread.count > 0) thread.left += x, thread.right += x, thread.top += y, thread.bottom += y;
}

}  // namespace

std::optional<BlockTrace> trace_block(const Strategy& strategy, const Problem& problem,
                                      const Tuning& asked, std::optional<BlockIndex> at) {
  if (!strategy.geometry || !strategy.runs_on(DeviceKind::emulator)) return std::nullopt;
  if (sums_by_library(strategy, asked)) return std::nullopt;
  Problem run = problem;
  // Where an output lies over a sample is that of Mode::same, and the same for blocks of any mode.
  if (!at) run.mode = Mode::same;
  const Tuning tuning = with_tile_of(strategy, run, asked);
  const Geometry g = block_geometry(strategy, run, tuning);
  const TileAxes axes = tile_axes(run, g);
  if (at) {
    // A border with samples of the image for ghost cells reads those in other places. Blocks that
    // add to their neighbours are no grid of one launch, and wide loads shift the grid.
    run.border = Border::constant;
    const bool too_large = std::int64_t(run.width) * run.height > kMostSamples;
    if (too_large || g.adding_x.steps > 0 || g.wide_columns > 0) return std::nullopt;
  } else {
    run = with_middle_block(strategy, run, tuning);
    if (!same_blocks(strategy.geometry(run, tuning), g)) return std::nullopt;
  }
  const auto recording = record(strategy, run, tuning, at);
  if (!recording) return std::nullopt;

  BlockTrace trace;
  trace.out_columns = at ? axes.x.outputs_of(at->x) : g.step_x();
  trace.out_rows = at ? axes.y.outputs_of(at->y) : g.step_y();
  trace.taps =
      at ? axes.x.taps_inside(at->x) * axes.y.taps_inside(at->y)
         : std::int64_t(g.step_x()) * g.step_y() * problem.mask.width * problem.mask.height;
  trace.block_columns = recording->block_columns;
  trace.block_rows = recording->block_rows;
  trace.threads = recording->threads;
  const auto kept = [](const SampleRead& read) { return read.kept; };
  SampleGrid tile = grid_around(recording->reads, kept);
  std::int64_t ghosts = 0;
  if (at && !tile.empty()) {
    tile = {axes.x.first_input(at->x), axes.y.first_input(at->y), g.in_columns, g.in_rows, {}};
    tile.values.assign(std::size_t(tile.columns) * tile.rows, 0);
    ghosts = std::int64_t(tile.columns) * tile.rows -
             std::int64_t(axes.x.inputs_inside(at->x)) * axes.y.inputs_inside(at->y);
  }
  if (!tile.empty()) {
    if (tile.columns != g.in_columns || tile.rows != g.in_rows) return std::nullopt;
    if (!find_steps(*recording, tile, ghosts, trace)) return std::nullopt;
  }
  trace.uses = trace.direct = grid_around(recording->reads, [](const SampleRead&) { return true; });
  for (const SampleRead& read : recording->reads) {
    const int column = read.x - trace.uses.left, row = read.y - trace.uses.top;
    trace.uses.at(column, row) += int(read.uses);
    trace.direct.at(column, row) += !read.kept;
  }
  if (at)
    move(trace, -axes.x.first_output(at->x) - axes.x.shift(),
         -axes.y.first_output(at->y) - axes.y.shift());
  else if (tile.empty())
    move(trace, -trace.uses.left - problem.mask.anchor_x, -trace.uses.top - problem.mask.anchor_y);
  else
    move(trace, -tile.left - g.lead_x, -tile.top - g.lead_y);
  return trace;
}

}  // namespace convfilt
