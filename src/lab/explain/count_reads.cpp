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

/// Pictures of whole blocks with one in the middle, far from all edges.
class MiddleBlock {
 public:
  MiddleBlock(const Strategy& strategy, const Problem& problem, const Tuning& asked)
      : tuning(with_tile_of(strategy, problem, asked)),
        geometry(strategy.geometry(problem, tuning)),
        strategy_(strategy),
        problem_(problem) {
    const Mask& mask = problem.mask;
    const int width = problem.out_width(), height = problem.out_height();
    const int step_x = geometry.step_x(), step_y = geometry.step_y();
    one_column = mask.width == 1 && geometry.in_columns <= step_x && width <= step_x &&
                 !has_blocks(with_outputs(problem, 3 * step_x, height));
    one_row = mask.height == 1 && geometry.in_rows <= step_y && height <= step_y &&
              !has_blocks(with_outputs(problem, width, 3 * step_y));
    columns = 2 * edge_blocks(mask.width, step_x) + 1;
    rows = 2 * edge_blocks(mask.height, step_y) + 1;
  }

  /// The picture of so many columns and rows of blocks, and so many more columns of outputs.
  Problem picture(int across, int down, int more = 0) const {
    return with_outputs(problem_,
                        one_column ? problem_.out_width() : across * geometry.step_x() + more,
                        one_row ? problem_.out_height() : down * geometry.step_y());
  }

  /// Whether blocks of another picture are the problem's.
  bool has_blocks(const Problem& picture) const {
    return same_blocks(strategy_.geometry(picture, tuning), geometry);
  }

  const Tuning tuning;
  const Geometry geometry;
  int columns, rows;  ///< of blocks in a picture that ends just behind a block in its middle

  /// Whether the picture has a single column or row of blocks, which would be larger in a larger
  /// picture. That tells only of axes along which the mask has one weight and the input tile no
  /// halo, so that a picture of one row of blocks has a block in its middle.
  bool one_column, one_row;

 private:
  const Strategy& strategy_;
  const Problem& problem_;
};

/// A picture with a block in its middle that is watched alone.
struct Watched {
  Problem picture;
  PlanOptions options;
  BlockPlace place;
};

std::optional<Watched> watched(const Strategy& strategy, const Problem& problem,
                               const Tuning& asked, bool padded_pitch) {
  if (!strategy.block_counts || !strategy.runs_on(DeviceKind::emulator)) return std::nullopt;
  const MiddleBlock block(strategy, problem, asked);
  const Geometry& g = block.geometry;
  const int steps_x = std::max(1, g.adding_x.steps), steps_y = std::max(1, g.adding_y.steps);
  // Rows that are packed begin in a sector as those of the problem's picture do.
  constexpr int kSamePlaces = int(kPitchBytes);
  const int whole = block.columns * steps_x * g.step_x();
  const int more = ((problem.out_width() - whole) % kSamePlaces + kSamePlaces) % kSamePlaces;
  const Problem small = block.picture(block.columns * steps_x, block.rows * steps_y, more);
  if (std::int64_t(small.width) * small.height > kMostWatched) return std::nullopt;
  if (!block.has_blocks(small)) return std::nullopt;
  // In steps, and under each part of a mask, each launch takes other blocks. Otherwise all launches
  // take the same ones.
  const bool others = steps_x * steps_y * int(parts_with_launches(g)) > 1;
  const auto middle = [](const TileAxis& axis, int steps) {
    return axis.first_output((axis.tiles() + steps - 1) / steps / 2 * steps);
  };
  const TileAxes axes = tile_axes(small, g);
  return Watched{small,
                 {.padded_pitch = padded_pitch,
                  .tuning = block.tuning,
                  .watch = others ? Watch::first : Watch::middle},
                 {middle(axes.x, steps_x), middle(axes.y, steps_y), padded_pitch}};
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

std::optional<Counts> count_reads(const Strategy& strategy, const Problem& problem,
                                  const Tuning& tuning) {
  if (!strategy.runs_on(DeviceKind::emulator)) return std::nullopt;
  const Counts counts = run_on_zeros(strategy, problem, {.tuning = tuning});
  if (counts.global_reads + counts.texture_fetches + counts.ghost_cells == 0) return std::nullopt;
  return counts;
}

std::optional<Counts> count_middle_block(const Strategy& strategy, const Problem& problem,
                                         const Tuning& asked) {
  if (!strategy.geometry) return std::nullopt;
  const MiddleBlock middle(strategy, problem, asked);
  Counts block{};
  for (const int less_x : {1, 0}) {
    for (const int less_y : {1, 0}) {
      if ((middle.one_column && less_x) || (middle.one_row && less_y)) continue;
      const Problem small = middle.picture(middle.columns - less_x, middle.rows - less_y);
      if (!middle.has_blocks(small)) return std::nullopt;
      const auto counts = count_reads(strategy, small, middle.tuning);
      if (!counts) return std::nullopt;
      add(block, *counts, less_x == less_y ? 1 : -std::uint64_t(1));
    }
  }
  return block;
}

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
  const MiddleBlock middle(strategy, problem, tuning);
  return middle.picture(middle.columns, middle.rows);
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
