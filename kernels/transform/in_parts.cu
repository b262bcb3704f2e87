// in-parts: picture and mask both cut, for masks of any size (partitioned convolution; Wefers,
// Partitioned Convolution Algorithms for Real-Time Auralization, 2015, ch. 5).
//
//   The picture is cut into blocks of L2 samples (--block), the mask into parts of L1 weights
//   (--part, which divides L2). Along an axis, the pair of part i and block j reaches L1 + L2 - 1
//   outputs from i * L1 + j * L2 on. Pairs that begin together are an interval. Intervals that
//   begin L1 + L2 apart never meet, so they make L2 / L1 + 1 divisions, here 3 of 6 parts:
//
//       division 0 |(0,0)       |      |(1,1) (3,0)      |      |(0,3) (2,2) (4,1)
//       division 1        |(1,0)       |      |(0,2) (2,1) (4,0)|
//       division 2               |(0,1) (2,0) |      |(1,2) (3,1) (5,0)
//
//   Each division has a private buffer (--accumulate=divisions), so that all intervals run at once:
//   a block of threads each in the spatial domain; in the frequency domain one transform a block
//   and a part, and one inverse an interval, of Y = sum over its pairs of X[j] * conj(M[i]). The
//   buffers are summed at the end. --accumulate=steps takes a division at a time, and one buffer.
//   Masks up to 128x128 are one part by default, which makes this overlap-add; --part cuts them.
//   Per output in the frequency domain: 1 global read, 2 * F^2 / S^2 multiply-adds a part, e.g. 8.
//   Sibling: overlap-add. The kernels are in transformed_blocks.cu and spatial_blocks.cu.

#include "kernels/transform/block_plans.hpp"

namespace convfilt::CONVFILT_BACKEND::in_parts {

using namespace convfilt::transform;
using namespace CONVFILT_BACKEND::transform;
namespace {

using Own = ByBlocks<in_parts_schedule, in_parts_refuses>;

}  // namespace

extern const Strategy strategy{
    .name = "in-parts",
    .summary =
        "picture and mask both in blocks; masks up to 128x128 as overlap-add, unless cut by --part",
    .family = Family::transform,
    .refuses = Own::refuses,
    .make_plan = Own::make_plan,
    .geometry = Own::geometry,
    .block_counts = Own::block_counts,
    .needs = {.fft = true},
    .settings = {Setting::domain, Setting::accumulate, Setting::block, Setting::part},
    .spatial_family = Family::reordered,
};

}  // namespace convfilt::CONVFILT_BACKEND::in_parts
