// Vectors of 8-bit pictures' sums: the pair multiply-add, IntegerFinish, and the way back to bytes.
//
// Part of every instruction set's copy of integer_rows.cpp, hence included once for each (Highway's
// "-inl" pattern).
#if defined(CONVFILT_INTEGER_VECTORS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVFILT_INTEGER_VECTORS_INL_HPP
#undef CONVFILT_INTEGER_VECTORS_INL_HPP
#else
#define CONVFILT_INTEGER_VECTORS_INL_HPP
#endif

#include <hwy/highway.h>

#include "kernels/cpu/integer_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace convfilt::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<std::int32_t>;
using Vector = hn::Vec<Lanes>;

constexpr Lanes d32;

HWY_INLINE int lanes() {
  return int(hn::Lanes(d32));
}

// sum + low(pairs) * low(weights) + high(pairs) * high(weights), in every lane.
HWY_INLINE Vector add_products(Vector pairs, Vector weights, Vector sum) {
#if HWY_TARGET == HWY_AVX3_DL
  // Highway's target lacks the compiler's avx512vnni, though machines that it is chosen on have it.
  asm("vpdpwssd %2, %1, %0" : "+v"(sum.raw) : "v"(pairs.raw), "v"(weights.raw));
  return sum;
#elif HWY_TARGET == HWY_SCALAR
  const Vector low = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs)),
                             hn::ShiftRight<16>(hn::ShiftLeft<16>(weights)));
  return hn::Add(sum,
                 hn::Add(low, hn::Mul(hn::ShiftRight<16>(pairs), hn::ShiftRight<16>(weights))));
#else
  const hn::Repartition<std::int16_t, Lanes> d16;
  Vector other = hn::Zero(d32);
  const Vector products = hn::ReorderWidenMulAccumulate(
      d32, hn::BitCast(d16, pairs), hn::BitCast(d16, weights), hn::Zero(d32), other);
  return hn::Add(sum, hn::RearrangeToOddPlusEven(products, other));
#endif
}

// Division by a power of two: (sum + offset) >> shift, rounded half to even. Saturating comes
// after.
struct ShiftFinish {
  explicit ShiftFinish(const VectorFinish& f)
      : offset(hn::Set(d32, f.offset)),
        even(hn::Set(d32, f.even)),
        below_half(hn::Set(d32, f.half - f.even)),
        shift(f.shift) {}

  HWY_INLINE Vector operator()(Vector sum) const {
    const Vector n = hn::Add(sum, offset);
    // Half less one, and one more where the quotient is odd: ties go to the even side. Flooring
    // shifts make that true of negative numbers too. A divisor of 1 has neither.
    const Vector odd = hn::And(hn::ShiftRightSame(n, shift), even);
    return hn::ShiftRightSame(hn::Add(n, hn::Add(odd, below_half)), shift);
  }

  Vector offset, even, below_half;
  int shift;
};

// Division by any divisor, for quotients of 0 to 255.
struct DivideFinish {
  explicit DivideFinish(const VectorFinish& f)
      : lowest(hn::Set(d32, f.lowest_sum)),
        highest(hn::Set(d32, f.highest_sum)),
        offset(hn::Set(d32, f.offset + f.half)),
        divisor(hn::Set(d32, f.divisor)),
        even(hn::Set(d32, f.even)),
        inverse(hn::Set(hn::Rebind<float, Lanes>(), 1.0f / float(f.divisor))) {}

  HWY_INLINE Vector operator()(Vector sum) const {
    const hn::Rebind<float, Lanes> df;
    const Vector n = hn::Add(hn::Min(hn::Max(sum, lowest), highest), offset);
    // The quotient is at most 256, so the single-precision estimate is off by one at most; the
    // remainder tells, exactly.
    const Vector estimate = hn::ConvertTo(d32, hn::Mul(hn::ConvertTo(df, n), inverse));
    const Vector rest = hn::Sub(n, hn::Mul(estimate, divisor));
    const auto above = hn::Not(hn::Lt(rest, divisor));
    // Masks are -1 where true.
    const Vector quotient =
        hn::Sub(hn::Add(estimate, hn::ShiftRight<31>(rest)), hn::VecFromMask(d32, above));
    // A tie was rounded up; half to even wants it down again where the quotient is odd.
    const auto exact = hn::Or(hn::Eq(rest, hn::Zero(d32)), hn::Eq(rest, divisor));
    return hn::Sub(quotient, hn::And(quotient, hn::IfThenElseZero(exact, even)));
  }

  Vector lowest, highest, offset, divisor, even;
  hn::Vec<hn::Rebind<float, Lanes>> inverse;
};

// Saturates and stores one vector.
HWY_INLINE void store_bytes(Vector values, std::uint8_t* out) {
  const hn::Rebind<std::int16_t, Lanes> d16;
  const hn::Rebind<std::uint8_t, Lanes> d8;
  hn::StoreU(hn::DemoteTo(d8, hn::DemoteTo(d16, values)), d8, out);
}

// Saturates and stores vectors side by side.
template <int kWide>
HWY_INLINE void store_bytes(const Vector (&values)[kWide], std::uint8_t* out) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  if constexpr (kWide == 4) {
    const __m512i packed = _mm512_packus_epi16(_mm512_packs_epi32(values[0].raw, values[1].raw),
                                               _mm512_packs_epi32(values[2].raw, values[3].raw));
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_storeu_si512(out, _mm512_permutexvar_epi32(order, packed));
    return;
  }
#elif HWY_TARGET == HWY_AVX2
  if constexpr (kWide == 4) {
    const __m256i packed = _mm256_packus_epi16(_mm256_packs_epi32(values[0].raw, values[1].raw),
                                               _mm256_packs_epi32(values[2].raw, values[3].raw));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                        _mm256_permutevar8x32_epi32(packed, order));
    return;
  }
#endif
  CONVFILT_UNROLL_ALL
  for (int v = 0; v < kWide; ++v) store_bytes(values[v], out + v * lanes());
}

}  // namespace HWY_NAMESPACE
}  // namespace convfilt::cpu
HWY_AFTER_NAMESPACE();

#endif
