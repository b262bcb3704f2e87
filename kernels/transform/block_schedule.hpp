/// How overlap-add and in-parts cut a picture into blocks whose outputs overlap, and add them up in
/// steps, so that the blocks of one step never meet.
///
/// Along an axis, outputs under a mask of w weights need `outputs + w - 1` samples, ghost cells
/// included. Output x sums weight(i) * sample(x + i). Block b holds the samples [b * S, b * S + S).
/// Under the weights [m, m + P) they reach the outputs [b * S - m - (P - 1), b * S - m + S). These
/// are S + P - 1 outputs, of which the next block shares P - 1. Blocks K apart write disjoint
/// outputs where K * S >= S + P - 1.
///
/// Instead of every K-th block, a launch may take one division of every block's outputs: a stretch
/// of P of them, of which a block has ceil((S + P - 1) / P), so S / P + 1 where P > 1 divides S.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/contract/border.hpp"
#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt::transform {

/// The indices first..first+count-1.
struct Interval {
  int first = 0, count = 0;
};

/// One axis of a schedule.
struct BlockAxis {
  int block = 1;      ///< S, the samples of a block
  int part = 1;       ///< P, the weights that a block is convolved with at once
  int steps = 1;      ///< K, the number of launches, each of which takes every K-th block
  int side = 1;       ///< w, the weights of the whole mask
  int divisions = 1;  ///< launches, each of which takes one stretch of every block's outputs
  int longest = 0;    ///< S takes the least work among transforms of up to so many samples; 0 where
                      ///< something else determines it

  int parts() const { return (side + part - 1) / part; }

  /// The number of blocks that cover the samples of that many outputs.
  int blocks(int outputs) const { return (outputs + side - 1 + block - 1) / block; }

  /// The outputs that block b adds to under these weights; some may lie outside the picture.
  Interval outputs_of(int b, Interval weights) const {
    return {b * block - weights.first - (weights.count - 1), block + weights.count - 1};
  }

  /// The blocks first, first + K, ... of a step that reach any output under these weights.
  Interval blocks_of_step(int outputs, Interval weights, int step) const {
    const int begin = weights.first / block;
    const int end = (outputs + weights.first + weights.count - 1 + block - 1) / block;
    const int first = begin + floor_modulo(step - begin, steps);
    return {first, first < end ? (end - first + steps - 1) / steps : 0};
  }

  /// The d-th division of the outputs that a block has under so many weights, from the first output
  /// on. Without divisions it is all of them.
  Interval division(int d, int weights) const {
    const int all = block + weights - 1;
    if (divisions == 1) return {0, all};
    const int share = part < block ? part : block;
    const int first = d * share < all ? d * share : all;
    return {first, share < all - first ? share : all - first};
  }

  /// The parts of the mask whose products with blocks are summed before they are added: each S / P
  /// th one, so that all reach the same outputs. In the frequency domain P divides S, or there is
  /// one part.
  int interleaved() const { return parts() > 1 ? block / part : 1; }

  /// The launches that add up the products of one part.
  int launches() const { return steps * divisions; }

  /// Whether the blocks of one step add to disjoint outputs.
  bool disjoint() const { return divisions > 1 || (steps - 1) * block >= part - 1; }
};

struct BlockSchedule {
  BlockAxis x, y;
  bool atomic = false;  ///< one step, in which blocks may meet
};

/// overlap-add convolves each block with the whole mask, by default in K = 2 steps, or in 1 along
/// an axis with one weight. In the spatial domain constant memory has room for parts of at most
/// kMaxPartSide weights along an axis, so it takes a larger mask part by part. By default a
/// block of the spatial domain has 32 samples along an axis, or the fewest that K allows. In the
/// frequency domain S + w - 1 is a power of two F from 16 to 512, with the least F^2 log F / S^2,
/// which is a transform's work per output. Where K allows none of these, F is the next power of two
/// that K allows.
BlockSchedule overlap_add_schedule(const Problem& problem, const Tuning& tuning);

/// Why the blocks of a step would meet, or a setting has no use; empty when all is well.
std::string overlap_add_refuses(const Problem& problem, const Tuning& tuning);

/// Why there would be too many blocks; empty when all is well.
std::string in_parts_refuses(const Problem& problem, const Tuning& tuning);

/// in-parts cuts the mask, too, into parts of --part weights, or else of the block's side, and
/// takes 2 steps. Parts of the spatial domain have at most kMaxPartSide weights along an axis, for
/// which constant memory has room. By default a block of the spatial domain has 32 samples along an
/// axis. In the frequency domain it follows overlap-add's rule with F up to 256 where that allows S
/// >= w, so that there is one part, and has 128 samples elsewhere. With --part it has twice as
/// many, and in the spatial domain the most multiples up to 32.
BlockSchedule in_parts_schedule(const Problem& problem, const Tuning& tuning);

/// The parts begin..begin+count-1 of the mask, row by row, each in a frame of columns x rows that
/// is filled up with zeros. Weights are divided by the divisor, and by the number of the frame's
/// samples, because transforms there and back multiply by that number.
std::vector<float> framed_parts(const Mask& mask, const BlockSchedule& schedule, int begin,
                                int count, int columns, int rows);

/// Cells of shared memory that a block of the spatial domain may take, which is 48 KB of floats.
inline constexpr int kMostCells = 12288;

/// Why the samples of a spatial block of such sides would not fit into shared memory, under a part
/// of that many columns; empty when they do.
std::string cells_refuse(std::int64_t columns, std::int64_t rows);

/// A block of threads.
struct Threads {
  int columns, rows;

  /// How many of them sweep a rectangle of cells, or of outputs.
  int busy(int cell_columns, int cell_rows) const {
    return (columns < cell_columns ? columns : cell_columns) *
           (rows < cell_rows ? rows : cell_rows);
  }
};

/// The threads of the spatial domain: outputs of a single row get a row of them.
inline Threads spatial_threads(Threads block, int out_rows) {
  return out_rows == 1 ? Threads{block.columns * block.rows, 1} : block;
}

/// What `explain` shows of a schedule, for a block of threads of that size. `total_bytes` are those
/// of a sum of the spatial domain.
Geometry geometry_of(const Problem& problem, const Tuning& tuning, const BlockSchedule& schedule,
                     Threads block, int total_bytes);

/// What spatial_blocks.cu's block with that geometry counts, in all launches that take it, for a
/// block of threads of that size. Under a mask in parts, each of which has launches of its own, it
/// is what the first launch of the first part counts, for a block in its middle. Empty for the
/// frequency domain, where a library does most, and for divisions under parts.
std::optional<Counts> block_counts_of(const Problem& problem, const Tuning& tuning,
                                      const BlockSchedule& schedule, Threads block,
                                      const Geometry& geometry, const BlockPlace& place);

}  // namespace convfilt::transform
