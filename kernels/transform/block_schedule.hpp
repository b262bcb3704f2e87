/// How overlap-add and in-parts cut a picture into blocks whose outputs overlap, and add them up in
/// steps, so that the blocks of one step never meet.
///
/// The samples that the outputs need, ghost cells made up, are `outputs + w - 1` along an axis for
/// a mask of w weights; output x sums weight(i) * sample(x + i). Block b holds the samples [b * S,
/// b * S + S). Under the weights [m, m + P) they reach the outputs [b * S - m - (P - 1), b * S - m
/// + S): S + P - 1 of them, P - 1 shared with the next block. Blocks K apart write disjoint outputs
/// where K * S >= S + P - 1.
#pragma once

#include <string>
#include <vector>

#include "kernels/contract/border.hpp"
#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// Indices first..first+count-1.
struct Interval {
  int first = 0, count = 0;
};

/// One axis of a schedule.
struct BlockAxis {
  int block = 1;  ///< S, samples of a block
  int part = 1;   ///< P, weights that a block is convolved with at once
  int steps = 1;  ///< K
  int side = 1;   ///< w, weights of the whole mask

  int parts() const { return (side + part - 1) / part; }

  /// Blocks that cover the samples of that many outputs.
  int blocks(int outputs) const { return (outputs + side - 1 + block - 1) / block; }

  /// Outputs that block b adds to under those weights, also where the picture has none.
  Interval outputs_of(int b, Interval weights) const {
    return {b * block - weights.first - (weights.count - 1), block + weights.count - 1};
  }

  /// Blocks first, first + K, ... of a step: those that reach any output under those weights.
  Interval blocks_of_step(int outputs, Interval weights, int step) const {
    const int begin = weights.first / block;
    const int end = (outputs + weights.first + weights.count - 1 + block - 1) / block;
    const int first = begin + floor_modulo(step - begin, steps);
    return {first, first < end ? (end - first + steps - 1) / steps : 0};
  }

  /// Whether blocks of one step add to disjoint outputs.
  bool disjoint() const { return (steps - 1) * block >= part - 1; }
};

struct BlockSchedule {
  BlockAxis x, y;
  bool atomic = false;  ///< one step, in which blocks may meet
};

/// overlap-add: a block is convolved with the whole mask, in K = 2 steps unless set. The block,
/// unless set: in the spatial domain 32, or the least that K allows where that is more; else such
/// that S + w - 1 is a power of two F, 16 to 512, and F^2 log F / S^2, a transform's work per
/// output, is least; where K allows none of these, with the next power of two that it allows.
BlockSchedule overlap_add_schedule(const Problem& problem, const Tuning& tuning);

/// Why the blocks of a step would meet, or a setting has no use; empty when all is well.
std::string overlap_add_refuses(const Problem& problem, const Tuning& tuning);

/// Why there would be too many blocks; empty when all is well.
std::string in_parts_refuses(const Problem& problem, const Tuning& tuning);

/// in-parts: the mask is cut too, into parts of the block's side (in the spatial domain at most
/// kMaxPartSide, by constant memory), in 2 steps. The block, unless set: in the spatial domain 32;
/// else by overlap-add's rule with F up to 256, where S >= w can be had; else 128.
BlockSchedule in_parts_schedule(const Problem& problem, const Tuning& tuning);

/// Parts begin..begin+count-1 of the mask, row by row, each in a frame of columns x rows, zeros
/// behind: weights over the divisor and over the frame's samples, since transforms there and back
/// multiply by these.
std::vector<float> framed_parts(const Mask& mask, const BlockSchedule& schedule, int begin,
                                int count, int columns, int rows);

/// What `explain` tells of a schedule, for such a block of threads.
Geometry geometry_of(const Problem& problem, const Tuning& tuning, const BlockSchedule& schedule,
                     int block_columns, int block_rows);

}  // namespace convfilt
