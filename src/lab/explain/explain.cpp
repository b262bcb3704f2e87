#include "src/lab/explain/explain.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/strategy.hpp"
#include "src/base/errors.hpp"
#include "src/lab/explain/count_reads.hpp"

namespace convfilt {
namespace {

/// The reads of all threads that have outputs side by side. Where all of a thread's samples lie in
/// the image, it reads them in whole loads. Elsewhere it reads each tap of each output, also of
/// outputs beside the picture.
Reads reads_in_loads(const Geometry& g, const TileAxes& axes) {
  const TileAxis &x = axes.x, &y = axes.y;
  const int outputs = g.out_columns / g.block_columns;
  const auto taps_inside = [](const TileAxis& axis, int output) {
    const int first = output - axis.lead;
    return std::max(0, std::min(axis.inputs, first + axis.side) - std::max(0, first));
  };
  std::int64_t threads = 0, wide = 0, taps = 0;  // along x
  // The first thread begins further left, where its first sample's column is a whole load's.
  for (int first = -(-x.lead & (outputs - 1)); first < x.outputs; first += outputs) {
    const int sample = first - x.lead;
    ++threads;
    wide += sample >= 0 && sample + g.wide_columns <= x.inputs;
    for (int k = 0; k < outputs; ++k) taps += taps_inside(x, first + k);
  }
  std::int64_t whole = 0;  // rows of outputs, all of whose taps lie in the image
  for (int output = 0; output < y.outputs; ++output) whole += taps_inside(y, output) == y.side;
  const std::int64_t taps_y = y.all_taps_inside();
  const std::int64_t by_taps = taps * taps_y - wide * outputs * x.side * whole * y.side;
  const std::int64_t asked = threads * outputs * x.side * y.outputs * y.side;
  return {wide * g.wide_columns * whole * y.side + by_taps, asked - taps * taps_y};
}

RowLayout rows_of(const Problem& problem) {
  RowLayout rows;
  rows.bytes = std::int64_t(problem.width) * std::int64_t(size_of(problem.depth));
  rows.pitch = (rows.bytes + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
  // Packed rows start at all multiples of the common divisor in turn.
  const std::int64_t step = std::gcd(rows.bytes, std::int64_t(kPitchBytes));
  rows.lost_if_packed = double(kPitchBytes - step) / 2 / double(kPitchBytes);
  return rows;
}

struct Part {
  int width = 0, height = 0, count = 1;
};

/// The first part that the direct families cut a mask into.
Part first_share(const Mask& mask) {
  const Sides first = first_part(mask);
  return {first.width, first.height,
          ceil_div(mask.width, kMaxPartSide) * ceil_div(mask.height, kMaxPartSide)};
}

/// The part that blocks of the input spread over their outputs.
Part spread_part(const Geometry& g, const Mask& mask) {
  if (g.in_columns == 0 || g.out_columns < g.in_columns || g.out_rows < g.in_rows)
    return {mask.width, mask.height};
  const int width = g.out_columns - g.in_columns + 1, height = g.out_rows - g.in_rows + 1;
  return {width, height, ceil_div(mask.width, width) * ceil_div(mask.height, height)};
}

/// A large mask is filtered in parts whose blocks are alike, so its first part is explained.
void cut_mask(Explanation& e) {
  if (!e.strategy->geometry) return;
  const Mask& mask = e.asked.mask;
  const Geometry whole = e.strategy->geometry(e.asked, e.tuning);
  if (sums_by_library(*e.strategy, e.tuning)) return;
  for (const Part& part : {first_share(mask), spread_part(whole, mask)}) {
    if (part.count == 1) continue;
    Problem first = e.asked;
    first.mask = make_mask("first part of " + mask.name, part.width, part.height,
                           std::vector<double>(std::size_t(part.width) * part.height, 1),
                           double(part.width) * part.height);
    if (!e.strategy->refusal(first, e.tuning).empty()) continue;
    if (!same_blocks(whole, e.strategy->geometry(first, e.tuning))) continue;
    e.problem = first;
    e.parts = part.count;
    return;
  }
}

std::optional<Reads> reads_of(const std::optional<Counts>& counts) {
  if (!counts) return std::nullopt;
  return Reads{std::int64_t(counts->global_reads + counts->texture_fetches),
               std::int64_t(counts->ghost_cells)};
}

/// Whether a mask in parts is counted whole, while formulas are those of one part: a part alone
/// would have other blocks, as the squares that `direct` walks under.
bool counts_all_parts(const Explanation& e) {
  return e.strategy->family_of(e.tuning) == Family::direct && first_share(e.problem.mask).count > 1;
}

void explain_block(Explanation& e) {
  const Geometry& g = *e.geometry;
  e.occupancy = occupancy(*e.architecture, g.block_columns * g.block_rows, g.shared_bytes);
  e.axes = tile_axes(e.problem, g);
  e.middle_counts = count_middle_block(*e.strategy, e.problem, e.tuning);
  e.middle.count = reads_of(e.middle_counts);
  e.watched = watch_middle_block(*e.strategy, e.problem, e.tuning, true);
  if (e.rows.pitch != e.rows.bytes && !g.always_padded)
    e.packed = watch_middle_block(*e.strategy, e.problem, e.tuning, false);
  if (g.loads > 0 && !counts_all_parts(e)) e.middle.formula = Reads{std::llround(g.loads), 0};
}

void explain_picture(Explanation& e) {
  const int tile_x = e.geometry ? e.geometry->step_x() : 1;
  const int tile_y = e.geometry ? e.geometry->step_y() : 1;
  const Family family = e.strategy->family_of(e.tuning);
  e.counted = quickly_counted(e.problem, family, tile_x, tile_y);
  Problem constant = e.counted;
  constant.border = Border::constant;
  e.with_border.count = reads_of(count_reads(*e.strategy, e.counted, e.tuning));
  e.ghosts_out.count = reads_of(count_reads(*e.strategy, constant, e.tuning));
  // Where the size of blocks follows from the picture's, the picture that is counted may have other
  // blocks, and no formula is given.
  if (!e.geometry || !same_blocks(*e.geometry, block_geometry(*e.strategy, e.counted, e.tuning)))
    return;
  e.counted_axes = tile_axes(e.counted, *e.geometry);
  if (counts_all_parts(e)) return;
  e.ghosts_out.formula = reads_by_formula(*e.geometry, e.counted_axes);
  e.with_border.formula = e.ghosts_out.formula;
  if (e.with_border.formula && e.counted.border != Border::constant)
    e.with_border.formula = Reads{e.ghosts_out.formula->global + e.ghosts_out.formula->made_up, 0};
}

/// The explanation's problem and parts, and nothing else.
Explanation parts_of(const Strategy& strategy, const Problem& problem, const Tuning& tuning) {
  Explanation e;
  e.strategy = &strategy;
  e.tuning = tuning;
  e.asked = e.problem = problem;
  cut_mask(e);
  return e;
}

}  // namespace

Geometry block_geometry(const Strategy& strategy, const Problem& problem, const Tuning& tuning) {
  Geometry geometry = strategy.geometry(problem, tuning);
  geometry.lead_x += problem.mask.anchor_x - problem.lead_x();
  geometry.lead_y += problem.mask.anchor_y - problem.lead_y();
  return geometry;
}

std::int64_t outputs_of(const Geometry& g) {
  return std::int64_t(g.step_x()) * g.step_y();
}

std::int64_t taps_of(const Geometry& g, const Mask& mask) {
  return outputs_of(g) * mask.width * mask.height;
}

std::optional<Reads> reads_by_formula(const Geometry& g, const TileAxes& axes) {
  const double in_tile = double(g.in_columns) * g.in_rows;
  const double taps = double(axes.x.side) * axes.y.side * g.out_columns * g.out_rows;
  const bool halo = g.in_columns > g.out_columns || g.in_rows > g.out_rows;
  if (halo && g.loads == in_tile) {
    const std::int64_t inside = axes.x.all_inputs_inside() * axes.y.all_inputs_inside();
    return Reads{inside, axes.blocks() * g.in_columns * g.in_rows - inside};
  }
  const bool own_tile = g.in_columns == g.out_columns && g.in_rows == g.out_rows;
  if (own_tile && g.loads > in_tile) {
    const std::int64_t taps_inside = axes.x.all_taps_inside() * axes.y.all_taps_inside();
    const std::int64_t kept = axes.x.all_taps_in_own_tile() * axes.y.all_taps_in_own_tile();
    const std::int64_t cells = axes.x.all_inputs_inside() * axes.y.all_inputs_inside();
    return Reads{cells + taps_inside - kept, axes.taps() - taps_inside};
  }
  if (g.wide_columns > 0) return reads_in_loads(g, axes);
  const bool one_each = g.computing_threads == g.out_columns * g.out_rows;
  if (in_tile == 0 && one_each && g.loads - g.mask_loads == taps) {
    const std::int64_t inside = axes.x.all_taps_inside() * axes.y.all_taps_inside();
    return Reads{inside + (g.mask_loads > 0 ? axes.taps() : 0), axes.taps() - inside};
  }
  return std::nullopt;
}

std::vector<std::string> Explanation::differences() const {
  std::vector<std::string> sentences;
  const auto check = [&](const Compared& reads, const std::string& what) {
    if (!reads.differ()) return;
    const auto text = [](const Reads& r) {
      return std::to_string(r.global) + " reads and " + std::to_string(r.made_up) + " ghost cells";
    };
    sentences.push_back(std::string(strategy->name) + ", " + what + ": " + text(*reads.formula) +
                        " by formula, " + text(*reads.count) + " by count");
  };
  check(middle, "a block in the middle");
  if (geometry && middle_counts &&
      std::uint64_t(std::llround(geometry->adds)) != middle_counts->atomic_adds)
    sentences.push_back(std::string(strategy->name) +
                        ", a block in the middle: " + std::to_string(std::llround(geometry->adds)) +
                        " atomic additions by formula, " +
                        std::to_string(middle_counts->atomic_adds) + " by count");
  const auto check_warps = [&](const std::optional<WatchedBlock>& block, const std::string& what) {
    if (!block) return;
    for (const CountName& count : watched_counts()) {
      const std::uint64_t formula = count.of(block->formula), counted_ones = count.of(block->count);
      if (formula == counted_ones) continue;
      sentences.push_back(std::string(strategy->name) + ", " + what + ": " +
                          std::to_string(formula) + " " + std::string(count.name) +
                          " by formula, " + std::to_string(counted_ones) + " by count");
    }
  };
  check_warps(watched, "a block in the middle, warp by warp");
  check_warps(packed, "the same in packed rows");
  check(with_border, "all blocks of " + to_string(counted));
  check(ghosts_out, "all blocks of " + to_string(counted) + ", without ghost cells");
  return sentences;
}

double reads_per_output(const Strategy& strategy, const Problem& problem, const Tuning& tuning) {
  if (!strategy.geometry || sums_by_library(strategy, tuning)) return 0;
  const Explanation e = parts_of(strategy, problem, tuning);
  const Geometry g = strategy.geometry(e.problem, tuning);
  return e.parts * g.loads / double(outputs_of(g));
}

std::optional<double> bytes_per_output(const Strategy& strategy, const Problem& problem,
                                       const Tuning& tuning) {
  const double reads = reads_per_output(strategy, problem, tuning);
  if (reads == 0) return std::nullopt;
  const double sample = double(size_of(problem.depth));
  const Explanation e = parts_of(strategy, problem, tuning);
  const Geometry g = strategy.geometry(e.problem, tuning);
  const double outputs = double(outputs_of(g));
  const double bytes = (reads + 1) * sample + e.parts * g.mask_loads / outputs * (4 - sample);
  if (g.sum_bytes > 0) {
    // Each sum is set to zero before, in all buffers, and those that intervals reach are read when
    // the output is finished.
    const auto finished = [&](const Adding& a, int out, int in) {
      return g.private_sums == 1 ? 1 : std::min(a.sums, int(a.parts.size())) * double(out) / in;
    };
    const double whole = g.private_sums + finished(g.adding_x, g.out_columns, g.in_columns) *
                                              finished(g.adding_y, g.out_rows, g.in_rows);
    return bytes + (e.parts * (g.adds + g.sum_accesses) / outputs + whole) * g.sum_bytes;
  }
  // Between two parts a sum is written and read again, as 32 bits.
  const bool waits = strategy.family_of(tuning) == Family::direct;
  return bytes + (waits ? 2.0 * 4 * (first_share(problem.mask).count - 1) : 0);
}

Explanation explain(const Strategy& strategy, const Problem& problem, const Tuning& tuning,
                    const Architecture& architecture) {
  if (const std::string reason = strategy.refusal(problem, tuning); !reason.empty())
    throw UsageError(std::string(strategy.name) + " refuses " + to_string(problem) + ": " + reason);
  Explanation e = parts_of(strategy, problem, tuning);
  e.architecture = &architecture;
  e.rows = rows_of(problem);
  if (strategy.geometry) {
    e.geometry = block_geometry(strategy, e.problem, tuning);
    explain_block(e);
  }
  explain_picture(e);
  return e;
}

}  // namespace convfilt
