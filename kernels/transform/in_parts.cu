// in-parts: picture and mask both cut, for masks of any size (partitioned convolution; Wefers,
// Partitioned Convolution Algorithms for Real-Time Auralization, 2015, ch. 5).
//
//   The picture is cut into blocks of S x S samples, the mask into parts of P x P weights. Block b
//   under part m gives outputs of block b - m, so the outputs of block k collect a row of pairs:
//
//               part 0   part 1   part 2
//       k = 0   block 0  block 1  block 2      frequency: one transform a block and a part,
//       k = 1   block 1  block 2  block 3      one inverse a row of this table:
//       k = 2   block 2  block 3  block 4      Y[k] = sum over m of X[k + m] * conj(M[m])
//
//   A pair reaches S + P - 1 outputs, of which the next row shares P - 1. So rows are added in two
//   steps an axis, even ones before odd ones. In the spatial domain a launch takes one part and one
//   step, which makes four launches a part. Its pairs lie 2 * S apart and are S + P - 1 <= 2 * S
//   wide, so none write the same outputs. Additions are atomic only with --accumulate=atomic.
//   Per output in the frequency domain: 1 global read, 2 * F^2 / S^2 multiply-adds a part, e.g. 8.
//   Sibling: overlap-add, whose one part is the mask. The kernels are in transformed_blocks.cu and
//   spatial_blocks.cu.

#include "kernels/transform/block_plans.hpp"
#include "kernels/transform/grid.hpp"

namespace convfilt::CONVFILT_BACKEND::in_parts {

using namespace convfilt::transform;
using namespace CONVFILT_BACKEND::transform;
namespace {

constexpr Setting kTunable[] = {Setting::domain, Setting::accumulate, Setting::block};

std::string refuses(const Problem& p, const Tuning& tuning) {
  const std::string reason =
      tuning[Setting::domain] == kSpatial ? direct_refuses(p, tuning) : transform_refuses(p);
  return reason.empty() ? in_parts_refuses(p, tuning) : reason;
}

std::unique_ptr<Plan> prepare(const Problem& p, const PlanOptions& options) {
  return make_blocks_plan(p, options, in_parts_schedule(p, options.tuning));
}

Geometry geometry(const Problem& p, const Tuning& tuning) {
  return geometry_of(p, tuning, in_parts_schedule(p, tuning), kBlockColumns, kBlockRows);
}

}  // namespace

extern const Implementation implementation{
    .name = "in-parts",
    .summary = "picture and mask both in blocks, for the largest masks",
    .family = Family::transform,
    .refuses = refuses,
    .prepare = prepare,
    .geometry = geometry,
    .needs = {.fft = true},
    .settings = kTunable,
    .spatial_family = Family::reordered,
};

}  // namespace convfilt::CONVFILT_BACKEND::in_parts
