#include "src/explain/overlap_costs.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/backend/fourier.hpp"
#include "kernels/contract/ceil_div.hpp"
#include "kernels/registry.hpp"
#include "kernels/transform/block_schedule.hpp"
#include "kernels/transform/overlap_save.hpp"

namespace convfilt {
namespace {

using transform::BlockAxis, transform::BlockSchedule, transform::Intervals;

/// Multiplications of so many real transforms, N log N each, and of products of so many spectra.
double multiplications_of(const OverlapCosts& costs, double products) {
  const double samples = double(costs.frame_columns) * costs.frame_rows;
  const double frequencies = (costs.frame_columns / 2 + 1) * double(costs.frame_rows);
  return costs.transforms * samples * std::log2(samples) + 4 * frequencies * products;
}

void add_discard(const Problem& p, OverlapCosts& costs) {
  const transform::Tiling tiling =
      transform::overlap_save_tiling(p, {}, p.out_width(), p.out_height());
  costs.block_columns = tiling.columns;
  costs.block_rows = tiling.rows;
  costs.frame_columns = good_fft_size(tiling.columns);
  costs.frame_rows = good_fft_rows(tiling.rows);
  const double frequencies = (costs.frame_columns / 2 + 1) * double(costs.frame_rows);
  const std::size_t bytes = std::size_t(costs.frame_columns) * costs.frame_rows * sizeof(float) +
                            std::size_t(frequencies) * sizeof(Complex);
  costs.blocks = tiling.tiles();
  costs.transforms = 2 * costs.blocks + 1;
  costs.reads = costs.blocks * tiling.columns * tiling.rows;
  costs.writes = double(p.out_width()) * p.out_height();
  // Load, transform, multiply, transform back, keep.
  costs.launches = 5 * ceil_div(tiling.tiles(), transform::overlap_save_batch(tiling, 1, bytes));
  costs.multiplications = multiplications_of(costs, costs.blocks);
}

/// What the intervals of one axis have in all.
struct AxisSums {
  double pairs = 0, outputs = 0;
};
AxisSums sums_of(const Intervals& on, int outputs) {
  AxisSums sums;
  for (int n = 0; n < on.count; ++n) {
    const int p = on.interval(n), first = on.output(p);
    sums.pairs += on.blocks_of(p).count;
    sums.outputs += std::min(outputs, first + on.axis.reach()) - std::max(0, first);
  }
  return sums;
}

void add_schedule(const Problem& p, const BlockSchedule& s, OverlapCosts& costs) {
  const int width = p.out_width(), height = p.out_height();
  costs.block_columns = s.x.block;
  costs.block_rows = s.y.block;
  costs.frame_columns = good_fft_size(s.x.frame());
  costs.frame_rows = good_fft_size(s.y.frame());
  const int parts = s.x.parts() * s.y.parts();
  const bool kept = parts > 1;
  const int batch = s.batch(costs.frame_columns * costs.frame_rows, width, height, kept);
  const auto launches_of = [&](double frames) { return std::ceil(frames / batch); };
  double intervals = 0, products = 0;
  for (int step = 0; step < (s.divided ? 1 : s.x.steps * s.y.steps); ++step) {
    const auto along = [&](const BlockAxis& axis, int outputs, int before, int inputs, int step) {
      return s.divided ? divisions_of(axis, outputs, before, inputs)
                       : intervals_of(axis, outputs, before, inputs, {0, axis.weights()},
                                      axis.steps, step);
    };
    const Intervals x = along(s.x, width, p.lead_x(), p.width, step % s.x.steps);
    const Intervals y = along(s.y, height, p.lead_y(), p.height, step / s.x.steps);
    if (step == 0) {
      costs.blocks = double(x.blocks()) * y.blocks();
      costs.reads = double(x.samples) * y.samples;
    }
    const AxisSums across = sums_of(x, width), down = sums_of(y, height);
    const double of_step = double(x.count) * y.count;
    intervals += of_step;
    products += across.pairs * down.pairs;
    costs.additions += across.outputs * down.outputs;
    // Load, transform, multiply, transform back, add; blocks that are kept are loaded before.
    costs.launches += (kept ? 3 : 5) * launches_of(of_step);
  }
  if (kept) costs.launches += 2 * launches_of(costs.blocks);
  costs.launches += s.divided ? 1 : 2;  // zeros before, the ends of sums behind
  const double outputs = double(width) * height;
  costs.writes = outputs + (s.divided ? costs.additions : outputs);
  costs.transforms = costs.blocks + intervals + parts;
  costs.multiplications = multiplications_of(costs, products);
}

}  // namespace

std::vector<OverlapCosts> overlap_costs(const Problem& p) {
  std::vector<OverlapCosts> all;
  for (const char* name : {"overlap-save", "overlap-add", "in-parts"}) {
    OverlapCosts& costs = all.emplace_back();
    costs.name = name == std::string_view("overlap-save") ? "overlap-discard (overlap-save)" : name;
    const Strategy& strategy = *find_strategy(name);
    costs.refusal = strategy.refusal(p);
    if (!costs.refusal.empty()) continue;
    if (strategy.has(Setting::part))
      add_schedule(p, transform::in_parts_schedule(p, {}), costs);
    else if (strategy.has(Setting::steps))
      add_schedule(p, transform::overlap_add_schedule(p, {}), costs);
    else
      add_discard(p, costs);
    if (strategy.runs_on(DeviceKind::cpu))
      costs.bytes = double(strategy.prepare(p, DeviceKind::cpu, {})->host_bytes());
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
