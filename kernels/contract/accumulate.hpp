/// How a kernel starts and ends an output's sum, so that a mask larger than one part can be carried
/// on.
#pragma once

#include "kernels/contract/arithmetic.hpp"

namespace convfilt {

/// Zero for the first part of a mask, else what the part before left.
template <class Out>
CONVFILT_HD inline SumOf<Out> begin_sum(const MaskPart<Out>& part,
                                        const PlaneView<SumOf<Out>>& partial, int x, int y) {
  return part.first ? SumOf<Out>(0) : partial.row(y)[x];
}

/// Scales, rounds and stores the sum after the last part; before it, leaves the sum to the next
/// part.
template <class Out>
CONVFILT_HD inline void end_sum(const MaskPart<Out>& part, const PlaneView<SumOf<Out>>& partial,
                                const PlaneView<Out>& out, int x, int y, SumOf<Out> sum) {
  if (part.last) {
    finish(part.finish, sum, out.row(y)[x]);
  } else {
    partial.row(y)[x] = sum;
  }
}

}  // namespace convfilt
