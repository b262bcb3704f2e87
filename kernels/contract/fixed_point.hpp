/// Real weights as integers over a power of two.
#pragma once

#include <cstdint>
#include <vector>

namespace convfilt {

/// Reals in fixed point: round(real * 2^shift), except that some are moved by a unit to keep the
/// sum of all. `error` bounds |sum(fixed * in) / 2^shift - sum(real * in)| for samples in
/// 0..sample_range.
struct FixedPoint {
  std::vector<std::int32_t> weights;
  double error = 0;
};
FixedPoint fixed_point(const std::vector<double>& reals, int shift, double sample_range);

}  // namespace convfilt
