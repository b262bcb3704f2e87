// overlap-add: disjoint blocks of samples, overlapping blocks of outputs (Oppenheim and Schafer,
// Discrete-Time Signal Processing 3e, ch. 8.7.3; in two dimensions alike).
//
//   Each block of S x S samples is convolved with the whole mask by itself, and reaches
//   (S + w - 1) x (S + h - 1) outputs. Where the outputs of blocks overlap, they are added, in
//   K steps an axis (K * K launches), since blocks K apart do not overlap:
//
//       samples  |  0  |  1  |  2  |  3  |      block b runs in step b mod K, here K = 2
//       step 0   <------->   <------->          blocks 0 and 2
//       step 1         <------->   <------->    blocks 1 and 3
//
//   If (K - 1) * S >= w - 1 and h - 1, no two blocks of a launch write the same output, and plain
//   additions suffice. --accumulate=atomic takes one launch, whose additions are atomic, and
//   --accumulate=divisions one that gives the blocks of each step a buffer, all of which it sums.
//   Per output: 1 global read, and (1 + (w - 1) / S) * (1 + (h - 1) / S) additions to the plane
//   of sums, e.g. 1.14 at 9x9 (S = 120).
//   Siblings: overlap-save reads overlapping blocks and writes disjoint ones; in-parts cuts the
//   mask as well. The kernels are in transformed_blocks.cu, and for --domain=spatial in
//   spatial_blocks.cu.

#include "kernels/transform/block_plans.hpp"

namespace convfilt::CONVFILT_BACKEND::overlap_add {

using namespace convfilt::transform;
using namespace CONVFILT_BACKEND::transform;
namespace {

using Own = ByBlocks<overlap_add_schedule, overlap_add_refuses>;

}  // namespace

extern const Strategy strategy{
    .name = "overlap-add",
    .summary = "disjoint blocks, overlapping outputs added in steps",
    .family = Family::transform,
    .refuses = Own::refuses,
    .make_plan = Own::make_plan,
    .geometry = Own::geometry,
    .block_counts = Own::block_counts,
    .needs = {.fft = true},
    .settings = {Setting::domain, Setting::accumulate, Setting::block, Setting::steps},
    .spatial_family = Family::reordered,
};

}  // namespace convfilt::CONVFILT_BACKEND::overlap_add
