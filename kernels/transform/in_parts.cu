// in-parts: picture and mask both cut, for masks of any size (partitioned convolution; Wefers,
// Partitioned Convolution Algorithms for Real-Time Auralization, 2015, ch. 5).
//
//   The picture is cut into blocks of S x S samples (--block), the mask into parts of P x P weights
//   (--part, which divides S, or else S itself). With P = S, block b under part m gives outputs of
//   block b - m, so the outputs of block k collect a row of pairs:
//
//               part 0   part 1   part 2
//       k = 0   block 0  block 1  block 2      frequency: one transform a block and a part,
//       k = 1   block 1  block 2  block 3      one inverse a row of this table:
//       k = 2   block 2  block 3  block 4      Y[k] = sum over m of X[k + m] * conj(M[m])
//
//   With q = S / P parts to a block, every q-th part has such a table of its own.
//   A pair reaches S + P - 1 outputs, of which the next row shares P - 1. So rows are added in two
//   steps an axis, even ones before odd ones: such rows lie 2 * S apart and are S + P - 1 <= 2 * S
//   wide. --accumulate=divisions takes S / P + 1 launches instead, each of which adds one stretch
//   of P outputs of every row. In the spatial domain each part has launches of its own.
//   Masks up to 128x128 are one part by default, which makes this overlap-add; --part cuts them.
//   Per output in the frequency domain: 1 global read, 2 * F^2 / S^2 multiply-adds a part, e.g. 8.
//   Sibling: overlap-add. The kernels are in transformed_blocks.cu and spatial_blocks.cu.

#include "kernels/plan/sums.hpp"
#include "kernels/transform/block_plans.hpp"
#include "kernels/transform/grid.hpp"

namespace convfilt::CONVFILT_BACKEND::in_parts {

using namespace convfilt::transform;
using namespace CONVFILT_BACKEND::transform;
namespace {

constexpr Setting kTunable[] = {Setting::domain, Setting::accumulate, Setting::block,
                                Setting::part};

std::string refuses(const Problem& p, const Tuning& tuning) {
  const std::string reason =
      tuning[Setting::domain] == kSpatial ? direct_refuses(p, tuning) : transform_refuses(p);
  return reason.empty() ? in_parts_refuses(p, tuning) : reason;
}

std::unique_ptr<Plan> prepare(const Problem& p, const PlanOptions& options) {
  return make_blocks_plan(p, options, in_parts_schedule(p, options.tuning));
}

Geometry geometry(const Problem& p, const Tuning& tuning) {
  return geometry_of(p, tuning, in_parts_schedule(p, tuning), {kBlockColumns, kBlockRows},
                     total_bytes(p.depth));
}

std::optional<Counts> block_counts(const Problem& p, const Tuning& tuning,
                                   const BlockPlace& place) {
  return block_counts_of(p, tuning, in_parts_schedule(p, tuning), {kBlockColumns, kBlockRows},
                         geometry(p, tuning), place);
}

}  // namespace

extern const Implementation implementation{
    .name = "in-parts",
    .summary =
        "picture and mask both in blocks; masks up to 128x128 as overlap-add, unless cut by --part",
    .family = Family::transform,
    .refuses = refuses,
    .prepare = prepare,
    .geometry = geometry,
    .block_counts = block_counts,
    .needs = {.fft = true},
    .settings = kTunable,
    .spatial_family = Family::reordered,
};

}  // namespace convfilt::CONVFILT_BACKEND::in_parts
