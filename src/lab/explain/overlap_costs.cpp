#include "src/lab/explain/overlap_costs.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/backend/fourier.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/ceil_div.hpp"
#include "kernels/registry.hpp"
#include "kernels/transform/block_schedule.hpp"
#include "kernels/transform/overlap_save.hpp"

namespace convfilt {
namespace {

using transform::BlockAxis, transform::BlockSchedule, transform::Interval, transform::Intervals;

/// Multiplications of so many real transforms, N log N each, and of products of so many spectra.
double multiplications_of(const OverlapCosts& costs, double products) {
  const double samples = double(costs.frame_columns) * costs.frame_rows;
  const double frequencies = (costs.frame_columns / 2 + 1) * double(costs.frame_rows);
  return costs.transforms * samples * std::log2(samples) + 4 * frequencies * products;
}

void add_discard(const Problem& p, const Tuning& tuning, OverlapCosts& costs) {
  const transform::Tiling tiling =
      transform::overlap_save_tiling(p, tuning, p.out_width(), p.out_height());
  const double outputs = double(p.out_width()) * p.out_height();
  costs.block_columns = tiling.columns;
  costs.block_rows = tiling.rows;
  costs.blocks = tiling.tiles();
  costs.writes = outputs;
  if (tuning[Setting::domain] == kSpatial) {
    // Each part of the mask has a launch. All but the first take up the sums that the last one
    // left.
    costs.launches = ceil_div(p.mask.width, kMaxPartSide) * ceil_div(p.mask.height, kMaxPartSide);
    costs.reads = costs.blocks * find_strategy("overlap-save")->geometry(p, tuning).loads;
    costs.additions = outputs * (costs.launches - 1);
    costs.multiplications = outputs * p.mask.width * p.mask.height;
    return;
  }
  costs.frame_columns = good_fft_size(tiling.columns);
  costs.frame_rows = good_fft_rows(tiling.rows);
  const double frequencies = (costs.frame_columns / 2 + 1) * double(costs.frame_rows);
  const std::size_t bytes = std::size_t(costs.frame_columns) * costs.frame_rows * sizeof(float) +
                            std::size_t(frequencies) * sizeof(Complex);
  costs.transforms = 2 * costs.blocks + 1;
  costs.reads = costs.blocks * tiling.columns * tiling.rows;
  // Load, transform, multiply, transform back, keep.
  costs.launches = 5 * ceil_div(tiling.tiles(), transform::overlap_save_batch(tiling, 1, bytes));
  costs.multiplications = multiplications_of(costs, costs.blocks);
}

/// One axis of a launch: its intervals, and what they have in all under those weights of the mask
/// that the launch takes. `outputs` are those of each pair of a block and a part in the spatial
/// domain, where a pair is added by itself; `weighed` are their weights, and `taps` those that meet
/// the block's samples.
struct AxisSums {
  Intervals on;
  double pairs = 0, reached = 0, samples = 0, outputs = 0, weighed = 0, taps = 0;
};

AxisSums sums_of(const Intervals& on, int outputs, Interval weights) {
  AxisSums sums{on};
  for (int n = 0; n < on.count; ++n) {
    const int p = on.interval(n), first = on.output(p);
    const Interval blocks = on.blocks_of(p);
    sums.pairs += blocks.count;
    sums.reached += std::min(outputs, first + on.axis.reach()) - std::max(0, first);
    for (int j = blocks.first; j < blocks.first + blocks.count; ++j) {
      const Interval part = on.weights_of(p, j, weights);
      if (part.count == 0) continue;
      const int left = on.output(0) + j * on.axis.block + part.first;
      sums.samples += std::min(on.axis.block, on.samples - j * on.axis.block);
      for (int k = std::max(0, -left); k < on.axis.block + part.count - 1 && left + k < outputs;
           ++k)
        ++sums.outputs, sums.weighed += part.count,
            sums.taps +=
            std::min({k + 1, part.count, on.axis.block, on.axis.block + part.count - 1 - k});
    }
  }
  return sums;
}

void add_schedule(const Problem& p, const BlockSchedule& s, bool spatial, OverlapCosts& costs) {
  const int width = p.out_width(), height = p.out_height();
  costs.block_columns = s.x.block;
  costs.block_rows = s.y.block;
  const auto along = [&](const BlockAxis& axis, int outputs, int before, int inputs, int step,
                         Interval weights) {
    if (s.divided) return sums_of(divisions_of(axis, outputs, before, inputs), outputs, weights);
    const Interval all = s.parted ? Interval{0, axis.weights()} : weights;
    return sums_of(intervals_of(axis, outputs, before, inputs, all, axis.steps, step), outputs,
                   weights);
  };
  // Calls f(x, y) for each launch of blocks, of which each piece of the mask has some.
  const auto for_launches = [&](auto f) {
    for (int down = 0; down < (spatial ? s.y.pieces() : 1); ++down)
      for (int across = 0; across < (spatial ? s.x.pieces() : 1); ++across)
        for (int step = 0; step < (s.divided ? 1 : s.x.steps * s.y.steps); ++step)
          f(along(s.x, width, p.lead_x(), p.width, step % s.x.steps,
                  spatial ? s.x.piece(across) : Interval{0, s.x.weights()}),
            along(s.y, height, p.lead_y(), p.height, step / s.x.steps,
                  spatial ? s.y.piece(down) : Interval{0, s.y.weights()}));
  };
  const double outputs = double(width) * height;
  costs.launches = 2;  // zeros before, the ends of sums behind
  costs.writes = outputs * (1 + s.buffers());
  if (spatial)
    return for_launches([&](const AxisSums& x, const AxisSums& y) {
      costs.blocks = double(x.on.blocks()) * y.on.blocks();
      costs.reads += x.samples * y.samples;
      costs.additions += x.outputs * y.outputs;
      costs.launches += x.on.count > 0 && y.on.count > 0;
      // Along a row, zeros beside the samples are multiplied, too.
      costs.multiplications += x.weighed * y.taps;
    });
  costs.frame_columns = good_fft_size(s.x.frame());
  costs.frame_rows = good_fft_rows(s.y.frame());
  const int parts = s.x.parts() * s.y.parts();
  const bool kept = parts > 1;
  const int batch = s.batch(costs.frame_columns * costs.frame_rows, width, height, kept);
  const auto launches_of = [&](double frames) { return std::ceil(frames / batch); };
  double intervals = 0, products = 0;
  for_launches([&](const AxisSums& x, const AxisSums& y) {
    costs.blocks = double(x.on.blocks()) * y.on.blocks();
    costs.reads = double(x.on.samples) * y.on.samples;
    const double of_step = double(x.on.count) * y.on.count;
    intervals += of_step;
    products += x.pairs * y.pairs;
    costs.additions += x.reached * y.reached;
    // Load, transform, multiply, transform back, add; blocks that are kept are loaded before.
    costs.launches += (kept ? 3 : 5) * launches_of(of_step);
  });
  if (kept) costs.launches += 2 * launches_of(costs.blocks);
  if (s.divided) {  // whose buffers need no zeros, but each sum is written there
    costs.launches -= 1;
    costs.writes = outputs + costs.additions;
  }
  costs.transforms = costs.blocks + intervals + parts;
  costs.multiplications = multiplications_of(costs, products);
}

}  // namespace

std::vector<OverlapCosts> overlap_costs(const Problem& p, const Tuning& asked) {
  std::vector<OverlapCosts> all;
  for (const char* name : {"overlap-save", "overlap-add", "in-parts"}) {
    OverlapCosts& costs = all.emplace_back();
    costs.name = name == std::string_view("overlap-save") ? "overlap-discard (overlap-save)" : name;
    const Strategy& strategy = *find_strategy(name);
    Tuning tuning;
    for (const Setting setting : strategy.settings) tuning[setting] = asked[setting];
    costs.refusal = strategy.refusal(p, tuning);
    if (!costs.refusal.empty()) continue;
    const bool spatial = tuning[Setting::domain] == kSpatial;
    if (strategy.has(Setting::part))
      add_schedule(p, transform::in_parts_schedule(p, tuning), spatial, costs);
    else if (strategy.has(Setting::steps))
      add_schedule(p, transform::overlap_add_schedule(p, tuning), spatial, costs);
    else
      add_discard(p, tuning, costs);
    if (strategy.runs_on(DeviceKind::cpu))
      costs.bytes = double(strategy.prepare(p, DeviceKind::cpu, {.tuning = tuning})->host_bytes());
  }
  OverlapCosts& direct = all.emplace_back();
  const double outputs = double(p.out_width()) * p.out_height();
  direct.name = "direct sum (basic)";
  direct.writes = outputs;
  direct.reads = direct.multiplications = outputs * p.mask.width * p.mask.height;
  direct.launches = 1;
  direct.bytes = (outputs + double(p.width) * p.height) * double(size_of(p.depth));
  return all;
}

}  // namespace convfilt
