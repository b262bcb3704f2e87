/// Fast ends of 8-bit sums, with the same results as IntegerFinish. HalfToEven is for divisors that
/// are powers of two, and FloatEnd is for these and for small odd ones. Neither saturates.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/contract/finish.hpp"

namespace convfilt {

/// The value that sums begin at, so that the end need not add it: the offset and half the divisor,
/// less one where ties exist.
inline std::int64_t start_of(const IntegerFinish& finish) {
  const auto lowest = std::int64_t(finish.lowest) * std::int64_t(finish.divisor);
  return lowest - finish.lowest_sum + finish.half - finish.even;
}

/// Ends a sum as (sum + offset) / 2^shift, rounded half to even. A sum that began at `start` is
/// raised by one where its quotient is odd. 32 bits hold it, since sums and `start` stay within
/// 2^30 (integer_finish()).
struct HalfToEven {
  std::int32_t start = 0;
  std::uint32_t parity = 0;  ///< moves the quotient's last bit to the top; 0 if nothing is rounded
  std::uint32_t shift = 0;
  int usable = 0;  ///< whether the divisor is a power of two

  /// The quotient of a sum that began at `start`, in the bits from `shift` on.
  CONVFILT_HD std::uint32_t unshifted(std::uint32_t sum) const {
    return sum + (sum * parity >> 31);
  }

  /// The quotient of a sum that began at `start`. It is not saturated.
  CONVFILT_HD std::int32_t operator()(std::int32_t sum) const {
    return std::int32_t(unshifted(std::uint32_t(sum))) >> shift;
  }
};

inline HalfToEven half_to_even(const IntegerFinish& finish) {
  HalfToEven end;
  end.usable = std::has_single_bit(finish.divisor);
  if (!end.usable) return end;
  end.start = std::int32_t(start_of(finish));
  end.shift = std::uint32_t(std::bit_width(finish.divisor) - 1);
  end.parity = finish.even ? 1u << (31 - end.shift) : 0;
  return end;
}

/// Ends sums of one digit of base 256 by one operation of floats, and sums of two digits,
/// 256 * top + low, by three. IntegerFinish takes some ten operations of integers, which a GPU does
/// at half the rate.
///
/// The bits of an integer n in 0..2^23 are those of the denormal float n * 2^-149. A product of
/// such floats is rounded, half to even, to a multiple of 2^-149. So the bits of a sum, taken as a
/// float and multiplied by 1 / divisor, become the rounded quotient. A quotient below 0 has the
/// sign bit, and saturates like any integer below 0.
struct FloatEnd {
  static constexpr float kUnit =
      0x1p-49f;  ///< two digits' sums are multiples of it, exact in 24 bits

  int usable = 0;
  std::int32_t start = 0;      ///< the top digit's sums begin with it, so none is negative
  std::int32_t low_start = 0;  ///< the low digit's sums begin with it, where it has a sign
  float scale = 0, bias = 0;

  /// The quotient of a sum of one digit, not saturated. The other overload takes two digits.
  CONVFILT_HD std::int32_t operator()(std::int32_t sum) const {
    return bits(multiply_add(scale, value(sum), bias));
  }

  CONVFILT_HD std::int32_t operator()(std::int32_t top, std::int32_t low) const {
    constexpr float kOne = 0x1p100f, k256 = 0x1p108f;  // as denormals: kUnit, 256 * kUnit
    return bits(multiply_add(k256, value(top), multiply_add(kOne, value(low), bias)) * scale);
  }

 private:
  CONVFILT_HD static float value(std::int32_t sum) {
#ifdef __CUDA_ARCH__
    return __int_as_float(sum);
#else
    return std::bit_cast<float>(sum);
#endif
  }
  CONVFILT_HD static std::int32_t bits(float rounded) {
#ifdef __CUDA_ARCH__
    return __float_as_int(rounded);
#else
    return std::bit_cast<std::int32_t>(rounded);
#endif
  }
};

/// The ranges of digits of base 256. Either the top digit has the sign and the others are 0..255,
/// or all of them are -128..127.
enum class Digits { unsigned_below, all_signed };

/// Makes the end of sums of samples 0..255 with those weights. It is unusable where the sums are
/// too large, or where the divisor is neither a power of two nor a small odd number.
FloatEnd float_end(const IntegerFinish& finish, const std::int32_t* weights, int count, int digits,
                   Digits kind = Digits::unsigned_below);

/// The sums of the digits of base 256 that the weights have. Digits beyond kDigits are not read.
template <int kDigits>
struct DigitSums {
  std::int32_t top, middle, low;

  CONVFILT_HD std::int32_t total() const {
    if (kDigits == 1) return top;
    return kDigits == 2 ? top * 256 + low : (top * 256 + middle) * 256 + low;
  }
  /// One or two digits end as floats.
  CONVFILT_HD std::int32_t ended(const FloatEnd& end) const {
    return kDigits == 1 ? end(top) : end(top, low);
  }
  /// Any number of digits ends as one integer.
  template <class End>
  CONVFILT_HD std::int32_t ended(const End& end) const {
    return end(total());
  }
};

}  // namespace convfilt
