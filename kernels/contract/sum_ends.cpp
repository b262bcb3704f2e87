#include "kernels/contract/sum_ends.hpp"

#include <algorithm>

namespace convfilt {
namespace {

struct Range {
  std::int64_t low = 0, high = 0;

  void add(std::int64_t weight) { (weight < 0 ? low : high) += 255 * weight; }
  bool fits(int bits) const { return low > -(1LL << bits) && high < 1LL << bits; }
};

}  // namespace

FloatEnd float_end(const IntegerFinish& finish, const std::int32_t* weights, int count, int digits,
                   Digits kind) {
  const std::int64_t divisor = finish.divisor, offset = -finish.lowest_sum;
  // An odd divisor has no ties. A quotient lies at least 1 / (2 * divisor) away from a half, and
  // its error is below 2^-14 for quotients up to 2^9.
  const bool exact = std::has_single_bit(finish.divisor), near = divisor % 2 == 1 && divisor < 1024;
  FloatEnd end;
  if (finish.lowest != 0 || digits > 2 || !(exact || near)) return end;
  Range sums, tops, lows;
  sums.low = sums.high = offset;
  for (int k = 0; k < count; ++k) {
    const std::int32_t byte = digits == 1 ? 0 : weights[k] & 255;
    const std::int32_t low = kind == Digits::all_signed && byte > 127 ? byte - 256 : byte;
    sums.add(weights[k]);
    lows.add(low);
    tops.add(digits == 1 ? weights[k] : (weights[k] - low) / 256);
  }
  constexpr int kDenormal = 23, kExact = 24;  // bits
  if (near && std::max(-sums.low, sums.high) > 512 * divisor) return end;
  if (digits == 1) {
    // Sums are raised by a whole number of divisors, so that its quotient can be taken off exactly.
    const std::int64_t below = (std::max<std::int64_t>(0, -sums.low) + divisor - 1) / divisor;
    end.start = std::int32_t(below * divisor + offset);
    end.scale = float(1.0 / double(divisor));
    end.bias = -std::ldexp(float(below), -149);
    end.usable = below < 1 << 22 && Range{0, sums.high + below * divisor}.fits(kDenormal);
  } else {
    const std::int64_t bias = offset + 256 * tops.low + lows.low;
    end.start = std::int32_t(-tops.low);
    end.low_start = std::int32_t(-lows.low);
    end.scale = float(std::ldexp(1.0 / double(divisor), -100));
    end.bias = float(bias) * FloatEnd::kUnit;
    end.usable = Range{0, lows.high - lows.low}.fits(kDenormal) &&
                 Range{0, tops.high - tops.low}.fits(kDenormal) &&
                 Range{bias, bias + lows.high - lows.low}.fits(kExact) && sums.fits(kExact);
  }
  return end;
}

}  // namespace convfilt
