/// Real weights as integers over a power of two.
#pragma once

#include <cstdint>
#include <vector>

namespace convfilt {

/// Reals in fixed point: round(real * 2^shift), the sum of all kept as near as it can be, and the
/// bound that follows for samples in 0..sample_range: |sum(fixed * in) / 2^shift - sum(real * in)|.
struct FixedPoint {
  std::vector<std::int32_t> weights;
  double error = 0;
};
FixedPoint fixed_point(const std::vector<double>& reals, int shift, double sample_range);

}  // namespace convfilt
