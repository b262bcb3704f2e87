/// The end of 8-bit sums in one or three operations of floats a sum, where IntegerFinish takes some
/// ten of integers, which a GPU does at half the rate. With the same result.
///
/// The bits of an integer 0..2^23 are those of a denormal float, as many times 2^-149. A product of
/// such floats is rounded, half to even, to a whole number of 2^-149: so sums of integers, taken as
/// floats, times 1 / divisor have the bits of the rounded quotient. A quotient below 0 has the sign
/// bit, which saturates like any integer below 0.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/contract/finish.hpp"

namespace convfilt {

/// For sums of one digit of base 256, or of two: 256 * top + low.
struct FloatEnd {
  static constexpr float kUnit = 0x1p-49f;  ///< of two digits together: 24 bits are exact

  int usable = 0;
  std::int32_t start = 0;  ///< what the top digit's sums begin with, so that they are not negative
  std::int32_t low_start = 0;  ///< likewise the low digit's, where it has a sign
  float scale = 0, bias = 0;

  /// Of the only digit's sum. Not saturated.
  CONVFILT_HD std::int32_t operator()(std::int32_t sum) const {
    return bits(multiply_add(scale, value(sum), bias));
  }

  CONVFILT_HD std::int32_t operator()(std::int32_t top, std::int32_t low) const {
    constexpr float kOne = 0x1p100f, k256 = 0x1p108f;  // times 2^-149: kUnit, and 256 of it
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

/// Digits of base 256: 0..255 below the top one, which has the sign, or all of them -128..127.
enum class Digits { unsigned_below, all_signed };

/// For sums of samples 0..255 with those weights. Unusable where the sums are too large, or the
/// divisor is neither a power of two nor a small odd number.
FloatEnd float_end(const IntegerFinish& finish, const std::int32_t* weights, int count, int digits,
                   Digits kind = Digits::unsigned_below);

}  // namespace convfilt
