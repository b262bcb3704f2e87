#include "src/lab/explain/reuse.hpp"

#include "kernels/registry.hpp"
#include "src/lab/explain/explain.hpp"

namespace convfilt {
namespace {

Mask mask_of(int side, int dimensions) {
  const int height = dimensions == 1 ? 1 : side;
  const std::size_t weights = std::size_t(side) * std::size_t(height);
  return make_mask("box", side, height, std::vector<double>(weights, 1), double(weights));
}

/// Operations for each byte that is moved, where an output moves so many samples.
double operations_of(double moved, const Problem& problem) {
  const double taps = double(problem.mask.width) * problem.mask.height;
  return 2 * taps / (moved * double(size_of(problem.depth)));
}

Tuning tuning_of(const Strategy& strategy) {
  Tuning tuning;
  if (strategy.has(Setting::domain)) tuning[Setting::domain] = kSpatial;
  return tuning;
}

/// Whether a setting says the side of a strategy's tile.
bool has_tile(const Strategy& strategy) {
  return strategy.has(Setting::tile) || strategy.has(Setting::block);
}

TileOf tile_of(const Strategy& strategy, const Problem& problem) {
  const Geometry g = strategy.geometry(problem, tuning_of(strategy));
  if (!has_tile(strategy) || g.in_columns == g.out_columns) return TileOf::none;
  return g.block_columns == g.in_columns ? TileOf::input : TileOf::output;
}

ReuseCell cell_of(const Strategy& strategy, const Problem& problem, int tile) {
  ReuseCell cell;
  cell.tile = tile;
  Tuning tuning = tuning_of(strategy);
  // --block is the side of the samples under an output tile.
  if (strategy.has(Setting::block)) tuning[Setting::block] = tile + problem.mask.width - 1;
  if (strategy.has(Setting::tile)) {
    // --tile is the output tile's side.
    tuning[Setting::tile] = tile;
    const Geometry g = strategy.geometry(problem, tuning);
    tuning[Setting::tile] = tile - (g.block_columns - g.out_columns);
    if (tuning[Setting::tile] < 1) {
      cell.refusal = "the mask leaves no output of the tile";
      return cell;
    }
  }
  cell.refusal = strategy.refusal(problem, tuning);
  const Geometry g = block_geometry(strategy, problem, tuning);
  const TileAxes axes = tile_axes(problem, g);
  const double outputs = double(g.step_x()) * g.step_y();
  cell.reads = g.loads / outputs;
  cell.reuse = double(problem.mask.width) * problem.mask.height / cell.reads;
  cell.operations = operations_of(cell.reads, problem);
  cell.of_moved = operations_of(cell.reads + 1, problem);
  if (const auto reads = reads_by_formula(g, axes))
    cell.ghosts_out =
        double(axes.x.all_taps_inside()) * double(axes.y.all_taps_inside()) / double(reads->global);
  return cell;
}

}  // namespace

std::string reuse_refusal(const Strategy& strategy) {
  Problem problem;
  problem.width = problem.height = 1024;
  problem.mask = mask_of(3, 2);
  const Tuning tuning = tuning_of(strategy);
  if (!strategy.block_counts || !strategy.block_counts(problem, tuning, {512, 512}))
    return "what a block of it reads is not held against a formula";
  if (strategy.geometry(problem, tuning).sum_bytes > 0)
    return "it reads each sample once, and adds to each sum many times";
  return "";
}

std::vector<const Strategy*> strategies_with_reuse() {
  std::vector<const Strategy*> found;
  for (const Strategy* strategy : strategies())
    if (reuse_refusal(*strategy).empty()) found.push_back(strategy);
  return found;
}

std::vector<ReuseRow> reuse_rows(std::span<const Strategy* const> strategies,
                                 const Problem& picture, int dimensions, std::span<const int> masks,
                                 std::span<const int> tiles) {
  std::vector<ReuseRow> rows;
  for (const int side : masks) {
    Problem problem = picture;
    problem.mask = mask_of(side, dimensions);
    if (dimensions == 1) problem.height = 1;
    for (const Strategy* strategy : strategies) {
      ReuseRow row{strategy, tuning_of(*strategy), problem.mask, {}};
      for (const int tile : tiles) row.cells.push_back(cell_of(*strategy, problem, tile));
      row.tile_of = tile_of(*strategy, problem);
      // Large tiles have next to no halo, so that each sample is read once.
      const double reads = has_tile(*strategy) ? 1 : cell_of(*strategy, problem, 1).reads;
      row.reuse_limit = double(problem.mask.width) * problem.mask.height / reads;
      row.operations_limit = operations_of(reads, problem);
      row.of_moved_limit = operations_of(reads + 1, problem);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace convfilt
