#include "kernels/transform/overlap_save.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/backend/fourier.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/plan/block_counts.hpp"
#include "kernels/transform/block_schedule.hpp"

namespace convfilt::transform {
namespace {

constexpr int kLargestBlock = 8192;
constexpr int kFewestColumns = 16;  // whose row fills a burst of memory, even with bytes
constexpr int kSpatialKept = 32;    // outputs on a side: a warp's row, and few samples beside it

// The least power of two that holds all outputs and the mask less one. Larger blocks gain nothing.
int useful(int outputs, int side) {
  return int(std::bit_ceil(unsigned(outputs + side - 1)));
}

Tiling tiling_of(const Sides& block, const Mask& mask, int out_width, int out_height) {
  const int columns = block.width - mask.width + 1, rows = block.height - mask.height + 1;
  return {block.width,
          block.height,
          columns,
          rows,
          ceil_div(out_width, columns),
          ceil_div(out_height, rows)};
}

double transform_work(const Tiling& tiling) {
  const double samples = double(tiling.columns) * tiling.rows;
  return double(tiling.across) * tiling.down * samples * std::log2(samples);
}

Tiling least_work(const Mask& mask, int out_width, int out_height) {
  const int most_columns = std::clamp(useful(out_width, mask.width), kFewestColumns, kLargestBlock);
  const int most_rows = std::min(useful(out_height, mask.height), kLargestBlock);
  Tiling best = tiling_of({most_columns, most_rows}, mask, out_width, out_height);
  for (int rows = most_rows; rows >= mask.height; rows /= 2) {
    for (int columns = most_columns; columns >= std::max(mask.width, kFewestColumns);
         columns /= 2) {
      const Tiling tiling = tiling_of({columns, rows}, mask, out_width, out_height);
      if (transform_work(tiling) < transform_work(best)) best = tiling;
    }
  }
  return best;
}

/// A block's side, or the number of samples under all outputs where that is less.
int clipped(int side, int outputs, int mask_side) {
  return std::min(side, outputs + mask_side - 1);
}

bool spatial(const Tuning& tuning) {
  return tuning[Setting::domain] == kSpatial;
}

/// The parts of a mask along an axis, each of which has a launch of its own in the spatial domain.
int spatial_parts(int mask_side) {
  return ceil_div(mask_side, kMaxPartSide);
}

/// The samples that all parts fetch along an axis, for so many outputs that are kept.
double fetched(int kept, int mask_side) {
  return double(spatial_parts(mask_side)) * (kept - 1) + mask_side;
}

/// The same as a formula: "(L + w - 1)".
std::string fetched_text(const std::string& kept, const std::string& side, int mask_side) {
  const int parts = spatial_parts(mask_side);
  return parts == 1 ? "(" + kept + " + " + side + " - 1)"
                    : "(" + std::to_string(parts) + " * (" + kept + " - 1) + " + side + ")";
}

/// Samples an output as a formula. Along an axis without a halo, samples and outputs cancel.
std::string spatial_reads_text(const Tiling& tiling, const Mask& mask) {
  const auto is = [](const std::string& name, int kept) {
    return ", " + name + " = " + std::to_string(kept);
  };
  const auto one_axis = [&](const std::string& side, int mask_side, int kept) {
    return fetched_text("L", side, mask_side) + " / L" + is("L", kept);
  };
  if (mask.width == 1 && mask.height == 1) return "1";
  if (mask.height == 1) return one_axis("w", mask.width, tiling.kept_columns);
  if (mask.width == 1) return one_axis("h", mask.height, tiling.kept_rows);
  // A small picture clips blocks along one axis.
  const bool square = tiling.kept_columns == tiling.kept_rows;
  return fetched_text(square ? "L" : "Lx", "w", mask.width) + " * " +
         fetched_text(square ? "L" : "Ly", "h", mask.height) +
         (square ? " / L^2" + is("L", tiling.kept_columns)
                 : " / (Lx * Ly)" + is("Lx", tiling.kept_columns) + is("Ly", tiling.kept_rows));
}

}  // namespace

Tiling overlap_save_tiling(const Problem& problem, const Tuning& tuning, int out_width,
                           int out_height) {
  const Mask& mask = problem.mask;
  const int side = tuning[Setting::block];
  if (side > 0)
    return tiling_of({clipped(side, out_width, mask.width), clipped(side, out_height, mask.height)},
                     mask, out_width, out_height);
  if (!spatial(tuning)) return least_work(mask, out_width, out_height);
  const Sides block{clipped(mask.width + kSpatialKept - 1, out_width, mask.width),
                    clipped(mask.height + kSpatialKept - 1, out_height, mask.height)};
  return tiling_of(block, mask, out_width, out_height);
}

int overlap_save_batch(const Tiling& tiling, int planes, std::size_t block_bytes) {
  const int most = int(std::clamp<std::size_t>(kBatchBytes / block_bytes, 1, kMostBatch));
  const int tiles = tiling.tiles() * planes;
  const auto transformed = [&](int batch) { return ceil_div(tiles, batch) * batch; };
  int best = ceil_div(tiles, ceil_div(tiles, most));
  for (int batch = best - 1, half = best / 2; batch > half; --batch)
    if (transformed(batch) < 0.98 * transformed(best)) best = batch;
  return best;
}

std::string overlap_save_refuses(const Problem& problem, const Tuning& tuning) {
  const int block = tuning[Setting::block];
  const int needed = std::max(problem.mask.width, problem.mask.height);
  if (block > 0 && block < needed) {
    return "blocks of " + by(block, block) + " do not hold the mask of " +
           by(problem.mask.width, problem.mask.height) + "; use --block=" + std::to_string(needed) +
           " or more, or leave it out";
  }
  const Tiling tiling =
      overlap_save_tiling(problem, tuning, problem.out_width(), problem.out_height());
  if (const std::string reason = blocks_refuse(tiling.across, tiling.down); !reason.empty()) {
    return reason;
  }
  if (!spatial(tuning)) return transform_refuses(problem);
  const Sides part = largest_part(problem.mask);
  const std::string cells =
      cells_refuse(tiling.kept_columns + part.width - 1, tiling.kept_rows + part.height - 1);
  return cells.empty() ? arithmetic_refuses(problem) : cells;
}

Geometry overlap_save_geometry(const Problem& problem, const Tuning& tuning) {
  const int width = problem.out_width(), height = problem.out_height();
  const Tiling tiling = overlap_save_tiling(problem, tuning, width, height);
  const Threads threads =
      spatial(tuning) ? threads_over(tiling.kept_columns, tiling.kept_rows)
                      : threads_over(good_fft_size(tiling.columns), good_fft_rows(tiling.rows));
  Geometry g;
  g.block_columns = threads.columns;
  g.block_rows = threads.rows;
  g.loading_threads = threads.busy(tiling.columns, tiling.rows);
  g.computing_threads = threads.busy(tiling.kept_columns, tiling.kept_rows);
  g.in_columns = tiling.columns;
  g.in_rows = tiling.rows;
  g.out_columns = tiling.kept_columns;
  g.out_rows = tiling.kept_rows;
  g.lead_x = problem.lead_x();
  g.lead_y = problem.lead_y();
  if (spatial(tuning)) {
    const Sides part = first_part(problem.mask);
    g.loading_threads =
        threads.busy(tiling.kept_columns + part.width - 1, tiling.kept_rows + part.height - 1);
    // Each part of a large mask has a launch of its own, which fetches what that part covers.
    g.loads = fetched(tiling.kept_columns, problem.mask.width) *
              fetched(tiling.kept_rows, problem.mask.height);
    g.loads_per_output = spatial_reads_text(tiling, problem.mask);
    g.shared_bytes = kMostCells * size_of(problem.depth);
    g.note =
        "A block of threads fetches the samples of one block. Unless --block says their side, "
        "blocks keep " +
        by(kSpatialKept, kSpatialKept) + " outputs.";
    return g;
  }
  g.loads = double(tiling.columns) * tiling.rows;
  g.loads_per_output = "columns * rows / ((columns - w + 1) * (rows - h + 1))";
  g.note =
      std::to_string(tiling.tiles()) + " blocks of a plane, each transformed forward and back as " +
      by(good_fft_size(tiling.columns), good_fft_rows(tiling.rows)) +
      " samples; one more transform for the mask. Many blocks of threads load and keep one of "
      "them. Unless --block says their side, they are powers of two with the least work for the "
      "picture: blocks * columns * rows * log2(columns * rows).";
  return g;
}

std::optional<Counts> overlap_save_block_counts(const Problem& problem, const Tuning& tuning,
                                                const BlockPlace& place) {
  const Sides mask = first_part(problem.mask);
  if (!spatial(tuning) || mask.width < problem.mask.width || mask.height < problem.mask.height)
    return std::nullopt;
  const Geometry g = overlap_save_geometry(problem, tuning);
  BlockFormula block(problem, g, place);
  for_each_sweep(g, g.in_columns, g.in_rows, [&](auto cell_of) {
    block.read(cell_of);
    block.write_shared(g.in_columns, cell_of);
  });
  block.barrier();
  // A warp's outputs lie in one row, so its cells lie side by side, in banks of their own.
  for_each_sweep(g, g.out_columns, g.out_rows, [&](auto output_of) {
    for_each_tap(mask, [&](int i, int j) {
      block.read_mask(output_of);
      block.read_shared(g.in_columns, moved(output_of, i, j));
    });
    block.write(output_of);
  });
  return block.counts();
}

}  // namespace convfilt::transform
