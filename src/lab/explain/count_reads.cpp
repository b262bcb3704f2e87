#include "src/lab/explain/count_reads.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/contract/arithmetic.hpp"
#include "src/auto/choice.hpp"
#include "src/lab/explain/tile_axis.hpp"
#include "src/picture/image.hpp"

namespace convfilt {
namespace {

constexpr std::int64_t kMostWatched = 1 << 24;  // samples of a picture; many steps need large ones
constexpr double kMoment = 2;  // seconds of one core, so that every machine counts the same picture

/// The problem on a picture whose result has this many columns and rows.
Problem with_outputs(Problem problem, int columns, int rows) {
  problem.width += columns - problem.out_width();
  problem.height += rows - problem.out_height();
  return problem;
}

/// Blocks from an edge to the first whose input tile and taps all lie in the image.
int edge_blocks(int mask_side, int tile) {
  return (mask_side - 1 + tile - 1) / tile + 1;
}

}  // namespace

std::span<const CountName> watched_counts() {
  static constexpr CountName kNames[] = {
      {"warps", [](const Counts& c) { return c.warps.warps; }},
      {"divergent warps", [](const Counts& c) { return c.warps.divergent_warps; }},
      {"warps that diverge while loading", [](const Counts& c) { return c.warps.diverge_loading; }},
      {"warps that diverge while computing",
       [](const Counts& c) { return c.warps.diverge_computing; }},
      {"global reads", [](const Counts& c) { return c.global_reads + c.texture_fetches; }},
      {"global writes", [](const Counts& c) { return c.global_writes; }},
      {"mask reads", [](const Counts& c) { return c.mask_reads; }},
      {"shared reads", [](const Counts& c) { return c.shared_reads; }},
      {"shared writes", [](const Counts& c) { return c.shared_writes; }},
      {"barriers", [](const Counts& c) { return c.barriers; }},
      {"ghost cells", [](const Counts& c) { return c.ghost_cells; }},
      {"atomic additions", [](const Counts& c) { return c.atomic_adds; }},
      {"additions", [](const Counts& c) { return c.sum_adds; }},
      {"sectors", [](const Counts& c) { return c.warps.sectors; }},
      {"fewest sectors", [](const Counts& c) { return c.warps.fewest_sectors; }},
      {"bursts", [](const Counts& c) { return c.warps.bursts; }},
      {"bank conflicts", [](const Counts& c) { return c.warps.bank_conflicts; }},
  };
  return kNames;
}

Tuning with_tile_of(const Strategy& strategy, const Problem& problem, Tuning tuning) {
  if (problem.mask.height == 1 && problem.mask.width > 1 && strategy.has(Setting::tile) &&
      !tuning[Setting::tile])
    tuning[Setting::tile] = strategy.geometry(problem, tuning).out_columns;
  return tuning;
}

std::size_t parts_with_launches(const Geometry& g) {
  const bool own = g.adding_x.sums == 0 && !g.adding_x.parts.empty();
  return own ? g.adding_x.parts.size() * g.adding_y.parts.size() : 1;
}

Counts run_on_zeros(const Strategy& strategy, const Problem& problem, const PlanOptions& options) {
  Problem plane = problem;
  plane.channels = 1;
  const auto plan = strategy.prepare(plane, DeviceKind::emulator, options);
  Image in(plane.width, plane.height, 1, plane.depth);
  Image out(plane.out_width(), plane.out_height(), 1, plane.depth);
  for (int y = 0; y < in.height(); ++y) std::memset(in.view().row(y), 0, in.row_bytes());
  plan->run(in.view(), out.view());
  return plan->counts();
}

bool same_blocks(const Geometry& a, const Geometry& b) {
  return a.out_columns == b.out_columns && a.out_rows == b.out_rows &&
         a.in_columns == b.in_columns && a.in_rows == b.in_rows && a.loads == b.loads;
}

namespace {

/// Along which axes the picture has a single row or column of blocks, which would be larger in a
/// larger picture.
struct Clipped {
  bool x, y;
};

/// That tells only of axes along which the mask has one weight and the input tile no halo, so that
/// a picture of one row of blocks has a block in its middle.
Clipped clipped(const Strategy& strategy, const Problem& problem, const Tuning& tuning,
                const Geometry& g) {
  const int columns = problem.out_width(), rows = problem.out_height();
  const auto grows = [&](int more_columns, int more_rows) {
    const Problem larger = with_outputs(problem, more_columns, more_rows);
    return !same_blocks(strategy.geometry(larger, tuning), g);
  };
  return {problem.mask.width == 1 && g.in_columns <= g.step_x() && columns <= g.step_x() &&
              grows(3 * g.step_x(), rows),
          problem.mask.height == 1 && g.in_rows <= g.step_y() && rows <= g.step_y() &&
              grows(columns, 3 * g.step_y())};
}

/// How many columns and rows of blocks a picture has that ends just behind a block in its middle,
/// less one.
struct Blocks {
  int columns, rows;
};
Blocks blocks_before(const Mask& mask, const Geometry& geometry) {
  return {2 * edge_blocks(mask.width, geometry.step_x()),
          2 * edge_blocks(mask.height, geometry.step_y())};
}

}  // namespace

std::optional<Counts> count_reads(const Strategy& strategy, const Problem& problem,
                                  const Tuning& tuning) {
  if (!strategy.runs_on(DeviceKind::emulator)) return std::nullopt;
  PlanOptions options;
  options.tuning = tuning;
  const Counts counts = run_on_zeros(strategy, problem, options);
  if (counts.global_reads + counts.texture_fetches + counts.ghost_cells == 0) return std::nullopt;
  return counts;
}

std::optional<Counts> count_middle_block(const Strategy& strategy, const Problem& problem,
                                         const Tuning& asked) {
  if (!strategy.geometry) return std::nullopt;
  const Tuning tuning = with_tile_of(strategy, problem, asked);
  const Geometry geometry = strategy.geometry(problem, tuning);
  const auto [one_column, one_row] = clipped(strategy, problem, tuning, geometry);
  const auto [columns, rows] = blocks_before(problem.mask, geometry);
  Counts block{};
  for (const int more_x : {0, 1}) {
    for (const int more_y : {0, 1}) {
      if ((one_column && more_x == 0) || (one_row && more_y == 0)) continue;
      const Problem small = with_outputs(
          problem, one_column ? problem.out_width() : (columns + more_x) * geometry.step_x(),
          one_row ? problem.out_height() : (rows + more_y) * geometry.step_y());
      if (!same_blocks(strategy.geometry(small, tuning), geometry)) return std::nullopt;
      const auto counts = count_reads(strategy, small, tuning);
      if (!counts) return std::nullopt;
      add(block, *counts, more_x == more_y ? 1 : -std::uint64_t(1));
    }
  }
  return block;
}

namespace {

/// A picture with a block in its middle that is watched alone.
struct Watched {
  Problem picture;
  PlanOptions options;
  BlockPlace place;
};

std::optional<Watched> watched(const Strategy& strategy, const Problem& problem,
                               const Tuning& asked, bool padded_pitch) {
  if (!strategy.block_counts || !strategy.runs_on(DeviceKind::emulator)) return std::nullopt;
  const Tuning tuning = with_tile_of(strategy, problem, asked);
  const Geometry g = strategy.geometry(problem, tuning);
  const auto [columns, rows] = blocks_before(problem.mask, g);
  const int steps_x = std::max(1, g.adding_x.steps), steps_y = std::max(1, g.adding_y.steps);
  // Rows that are packed begin in a sector as those of the problem's picture do.
  constexpr int kSamePlaces = int(kPitchBytes);
  const int whole = (columns + 1) * steps_x * g.step_x();
  const int more = ((problem.out_width() - whole) % kSamePlaces + kSamePlaces) % kSamePlaces;
  const auto [one_column, one_row] = clipped(strategy, problem, tuning, g);
  Watched watched;
  watched.picture =
      with_outputs(problem, one_column ? problem.out_width() : whole + more,
                   one_row ? problem.out_height() : (rows + 1) * steps_y * g.step_y());
  const Problem& small = watched.picture;
  if (std::int64_t(small.width) * small.height > kMostWatched) return std::nullopt;
  if (!same_blocks(strategy.geometry(small, tuning), g)) return std::nullopt;
  watched.options.tuning = tuning;
  watched.options.padded_pitch = padded_pitch;
  // In steps, and under each part of a mask, each launch takes other blocks. Otherwise all launches
  // take the same ones.
  const bool others = steps_x * steps_y * int(parts_with_launches(g)) > 1;
  watched.options.watch = others ? Watch::first : Watch::middle;
  const auto middle = [](const TileAxis& axis, int steps) {
    return axis.first_output((axis.tiles() + steps - 1) / steps / 2 * steps);
  };
  const TileAxes axes = tile_axes(small, g);
  watched.place = {middle(axes.x, steps_x), middle(axes.y, steps_y), padded_pitch};
  return watched;
}

}  // namespace

std::optional<WatchedBlock> watch_middle_block(const Strategy& strategy, const Problem& problem,
                                               const Tuning& tuning, bool padded_pitch) {
  const auto block = watched(strategy, problem, tuning, padded_pitch);
  if (!block) return std::nullopt;
  const std::optional<Counts> formula =
      strategy.block_counts(block->picture, block->options.tuning, block->place);
  if (!formula) return std::nullopt;
  return WatchedBlock{*formula, run_on_zeros(strategy, block->picture, block->options)};
}

std::optional<Counts> count_watched_block(const Strategy& strategy, const Problem& problem,
                                          const Tuning& tuning, bool padded_pitch) {
  const auto [width, height] = first_part(problem.mask);
  if (width < problem.mask.width || height < problem.mask.height) return std::nullopt;
  const auto block = watched(strategy, problem, tuning, padded_pitch);
  if (!block || block->options.watch != Watch::middle) return std::nullopt;
  return run_on_zeros(strategy, block->picture, block->options);
}

Problem with_middle_block(const Strategy& strategy, const Problem& problem, const Tuning& tuning) {
  const Geometry g = strategy.geometry(problem, tuning);
  const auto [one_column, one_row] = clipped(strategy, problem, tuning, g);
  const auto [columns, rows] = blocks_before(problem.mask, g);
  return with_outputs(problem, one_column ? problem.out_width() : (columns + 1) * g.step_x(),
                      one_row ? problem.out_height() : (rows + 1) * g.step_y());
}

Problem quickly_counted(const Problem& problem, Family family, int tile_x, int tile_y) {
  const auto fewer = [](int outputs, int tile) {
    const int tiles = outputs / tile;
    return (tiles + 1) / 2 * tile + outputs % tile;
  };
  Problem small = problem;
  while (emulator_seconds(workload_of(small, family), 1) > kMoment) {
    const int columns = small.out_width(), rows = small.out_height();
    Problem next = columns >= rows ? with_outputs(small, fewer(columns, tile_x), rows)
                                   : with_outputs(small, columns, fewer(rows, tile_y));
    if (next.width < 1 || next.height < 1) break;
    if (next.width == small.width && next.height == small.height) break;
    small = std::move(next);
  }
  return small;
}

bool sums_by_library(const Strategy& strategy, const Tuning& tuning) {
  // A strategy that sums with its own kernels has blocks, and no choice of domain.
  return strategy.family_of(tuning) == Family::transform &&
         (!strategy.geometry || strategy.has(Setting::domain));
}

}  // namespace convfilt
