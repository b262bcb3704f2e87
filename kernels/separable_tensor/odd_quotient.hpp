/// Sums of 8-bit pictures ended by one multiplication, where no sum lies halfway.
#pragma once

#include <cstdint>

#include "kernels/contract/finish.hpp"

namespace convfilt {

/// The end where the divisor is odd, so that there are no ties: a sum that began at offset and half
/// is multiplied by almost 2^(32 + shift) / divisor, and the upper 32 bits are shifted.
struct OddQuotient {
  std::int32_t magic = 0;
  std::uint32_t shift = 0;

  CONVFILT_HD std::int32_t operator()(std::int32_t sum) const {
#ifdef __CUDA_ARCH__
    return __mulhi(sum, magic) >> shift;
#else
    return std::int32_t(std::int64_t(sum) * magic >> 32) >> shift;
#endif
  }
};

/// From an end for samples of 0..255 whose divisor is odd and above 1. Not saturated: quotients
/// above 255 may err, but not below 256. (n * error < 2^(32 + shift), the error being below the
/// divisor; as in finish.hpp.)
inline OddQuotient odd_quotient(const IntegerFinish& finish) {
  OddQuotient end;
  const std::uint64_t divisor = finish.divisor;
  while (256 * divisor * divisor >> (32 + end.shift) != 0) ++end.shift;
  end.magic = std::int32_t(((std::uint64_t(1) << (32 + end.shift)) + divisor - 1) / divisor);
  return end;
}

}  // namespace convfilt
