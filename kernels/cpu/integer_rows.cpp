#include "kernels/cpu/integer_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/cpu/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/integer_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convfilt::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<std::int32_t>;
using Vector = hn::Vec<Lanes>;

constexpr Lanes d32;

HWY_INLINE int lanes() {
  return int(hn::Lanes(d32));
}

// Gives sum + low(pairs) * low(weights) + high(pairs) * high(weights) in every lane.
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

// Divides by a power of two: (sum + offset) / 2^shift, rounded half to even. The caller saturates.
// Sums begin at `begin`, so that nothing is to be added to them at their end.
struct ShiftFinish {
  explicit ShiftFinish(const VectorFinish& f)
      : begin(hn::Set(d32, f.offset + f.half)),
        rest(hn::Set(d32, f.divisor - 1)),
        to_even(hn::Set(d32, ~f.even)),
        shift(f.shift) {}

  HWY_INLINE Vector operator()(Vector sum) const {
    // Half is in the sum already, so without a rest it was a tie, which went up. Shifts round down,
    // so negative numbers round in the same way.
    const Vector quotient = hn::ShiftRightSame(sum, shift);
    const auto is_tie = hn::Eq(hn::And(sum, rest), hn::Zero(d32));
    return hn::IfThenElse(is_tie, hn::And(quotient, to_even), quotient);
  }

  Vector begin, rest, to_even;
  int shift;
};

// Divides by any divisor, for quotients of 0 to 255.
struct DivideFinish {
  explicit DivideFinish(const VectorFinish& f)
      : begin(hn::Zero(d32)),
        lowest(hn::Set(d32, f.lowest_sum)),
        highest(hn::Set(d32, f.highest_sum)),
        offset(hn::Set(d32, f.offset + f.half)),
        divisor(hn::Set(d32, f.divisor)),
        even(hn::Set(d32, f.even)),
        inverse(hn::Set(hn::Rebind<float, Lanes>(), 1.0f / float(f.divisor))) {}

  HWY_INLINE Vector operator()(Vector sum) const {
    const hn::Rebind<float, Lanes> df;
    const Vector n = hn::Add(hn::Min(hn::Max(sum, lowest), highest), offset);
    // The quotient is at most 256, so the single-precision estimate is off by one at most, and the
    // exact remainder tells whether it is.
    const Vector estimate = hn::ConvertTo(d32, hn::Mul(hn::ConvertTo(df, n), inverse));
    const Vector rest = hn::Sub(n, hn::Mul(estimate, divisor));
    const auto above = hn::Not(hn::Lt(rest, divisor));
    // A vector from a mask is -1 where the mask is true.
    const Vector quotient =
        hn::Sub(hn::Add(estimate, hn::ShiftRight<31>(rest)), hn::VecFromMask(d32, above));
    // A tie has been rounded up. Half to even takes it down again where the quotient is odd.
    const auto exact = hn::Or(hn::Eq(rest, hn::Zero(d32)), hn::Eq(rest, divisor));
    return hn::Sub(quotient, hn::And(quotient, hn::IfThenElseZero(exact, even)));
  }

  Vector begin, lowest, highest, offset, divisor, even;
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

// The vectors side by side are enough independent sums to hide the latency of the multiply-add, and
// few enough to stay in registers, of which the older instruction sets have 16.
constexpr bool kManyRegisters =
    HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON;
constexpr int kVectors = 4;
template <int kRows>
constexpr int kVectorsOf = kManyRegisters ? kVectors : 8 / kRows;

template <int kRows, int kWide>
HWY_INLINE void set_all(Vector value, Vector (&sum)[kRows][kWide]) {
  CONVFILT_UNROLL_ALL
  for (int k = 0; k < kRows * kWide; ++k) sum[k / kWide][k % kWide] = value;
}

template <int kRows, int kWide>
HWY_INLINE void shift_left_15_and_add(Vector value, Vector (&sum)[kRows][kWide]) {
  CONVFILT_UNROLL_ALL
  for (int k = 0; k < kRows * kWide; ++k) {
    Vector& here = sum[k / kWide][k % kWide];
    here = hn::Add(hn::ShiftLeft<15>(here), value);
  }
}

template <bool kFolds, int kRows, int kWide>
HWY_INLINE void add_taps(const IntegerTaps& taps, int begin, int end,
                         const std::int32_t* const* sources, int x, Vector (&sum)[kRows][kWide]) {
  const std::int32_t* weights = taps.weights.data() + std::ptrdiff_t(begin) * kRows;
  constexpr int kStep = kFolds ? 2 : 1;
  for (int t = begin; t < end; t += kStep, weights += kStep * kRows) {
    const std::int32_t* source = sources[t] + x;
    Vector pairs[kWide];
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kWide; ++v) {
      pairs[v] = hn::LoadU(d32, source + v * lanes());
      // Two bytes leave 16 bits no carry.
      if constexpr (kFolds)
        pairs[v] = hn::Add(pairs[v], hn::LoadU(d32, sources[t + 1] + x + v * lanes()));
    }
    CONVFILT_UNROLL_ALL
    for (int r = 0; r < kRows; ++r) {
      const Vector weight = hn::Set(d32, weights[r]);
      CONVFILT_UNROLL_ALL
      for (int v = 0; v < kWide; ++v) sum[r][v] = add_products(pairs[v], weight, sum[r][v]);
    }
  }
}

template <int kRows, int kWide, class Finish>
HWY_INLINE void filter_block(const IntegerTaps& taps, const std::int32_t* const* sources, int x,
                             const Finish& finish, std::uint8_t* const* out, int out_x) {
  Vector sum[kRows][kWide];
  if (HWY_LIKELY(taps.high == 0)) {
    set_all(finish.begin, sum);
  } else {
    set_all(hn::Zero(d32), sum);
    add_taps<false>(taps, 0, taps.high, sources, x, sum);
    shift_left_15_and_add(finish.begin, sum);
  }
  const int single = taps.high + taps.folds;
  add_taps<true>(taps, taps.high, single, sources, x, sum);
  add_taps<false>(taps, single, taps.count(), sources, x, sum);
  CONVFILT_UNROLL_ALL
  for (int r = 0; r < kRows; ++r) {
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kWide; ++v) sum[r][v] = finish(sum[r][v]);
    if (!out[r]) continue;
    store_bytes(sum[r], out[r] + out_x);
  }
}

template <int kRows, class Finish>
HWY_INLINE void filter_rows_of(const IntegerTaps& taps, const std::int32_t* const* sources, int n,
                               const Finish& finish, std::uint8_t* const* out) {
  int x = 0;
  constexpr int kWide = kVectorsOf<kRows>;
  for (; x + kWide * lanes() <= n; x += kWide * lanes()) {
    filter_block<kRows, kWide>(taps, sources, x, finish, out, x);
  }
  for (; x + lanes() <= n; x += lanes()) {
    filter_block<kRows, 1>(taps, sources, x, finish, out, x);
  }
  if (x == n) return;
  // The samples beyond n belong to another tile, so the last vector goes through a buffer.
  std::uint8_t ends[kRows][HWY_MAX_BYTES / 4];
  std::uint8_t* end_rows[kRows];
  for (int r = 0; r < kRows; ++r) end_rows[r] = out[r] ? ends[r] : nullptr;
  filter_block<kRows, 1>(taps, sources, x, finish, end_rows, 0);
  for (int r = 0; r < kRows; ++r) {
    if (out[r]) std::memcpy(out[r] + x, ends[r], std::size_t(n - x));
  }
}

template <int kRows>
HWY_INLINE void filter_rows_by(const IntegerTaps& taps, const std::int32_t* const* sources, int n,
                               const VectorFinish& finish, std::uint8_t* const* out) {
  if (finish.shift >= 0) {
    filter_rows_of<kRows>(taps, sources, n, ShiftFinish(finish), out);
  } else {
    filter_rows_of<kRows>(taps, sources, n, DivideFinish(finish), out);
  }
}

void filter_rows(const IntegerTaps& taps, const std::int32_t* const* sources, int n,
                 const VectorFinish& finish, std::uint8_t* const* out) {
  if (taps.rows == 4) {
    filter_rows_by<4>(taps, sources, n, finish, out);
  } else {
    filter_rows_by<2>(taps, sources, n, finish, out);
  }
}

void make_pairs(const std::uint8_t* first, const std::uint8_t* second, int n, std::int32_t* pairs) {
  const hn::Rebind<std::uint8_t, Lanes> d8;
  for (int x = 0; x < n; x += lanes()) {
    const Vector low = hn::PromoteTo(d32, hn::LoadU(d8, first + x));
    const Vector high = hn::PromoteTo(d32, hn::LoadU(d8, second + x));
    hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(high)), d32, pairs + x);
  }
}

HWY_INLINE void add_row_taps(const IntegerTaps& taps, int begin, int end,
                             const std::int32_t* const* rows, int x, Vector (&sum)[2][kVectors]) {
  for (int t = begin; t < end; ++t) {
    const Vector weight = hn::Set(d32, taps.weights[std::size_t(t)]);
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kVectors; ++v) {
      const int at = x + v * lanes() + taps.places[std::size_t(t)].offset;
      sum[0][v] = add_products(hn::LoadU(d32, rows[0] + at), weight, sum[0][v]);
      sum[1][v] = add_products(hn::LoadU(d32, rows[1] + at), weight, sum[1][v]);
    }
  }
}

void pass_pairs(const IntegerTaps& taps, const std::int32_t* const* rows, int n,
                const VectorFinish& finish, std::int32_t* pairs) {
  const ShiftFinish shifted(finish);
  const Vector lowest = hn::Set(d32, -32768), highest = hn::Set(d32, 32767);
  for (int x = 0; x < n; x += kVectors * lanes()) {
    Vector sum[2][kVectors];
    if (HWY_LIKELY(taps.high == 0)) {
      set_all(shifted.begin, sum);
    } else {
      set_all(hn::Zero(d32), sum);
      add_row_taps(taps, 0, taps.high, rows, x, sum);
      shift_left_15_and_add(shifted.begin, sum);
    }
    add_row_taps(taps, taps.high, taps.count(), rows, x, sum);
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kVectors; ++v) {
      const Vector first = hn::Min(hn::Max(shifted(sum[0][v]), lowest), highest);
      const Vector second = hn::Min(hn::Max(shifted(sum[1][v]), lowest), highest);
      const Vector low = hn::And(first, hn::Set(d32, 0xffff));
      hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(second)), d32, pairs + x + v * lanes());
    }
  }
}

#if HWY_TARGET == HWY_AVX3_DL
HWY_INLINE Vector add_byte_products(Vector bytes, std::int32_t weights, Vector sum) {
  const Vector all = hn::Set(d32, weights);
  asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(bytes.raw), "v"(all.raw));
  return sum;
}

// One load and one permutation bring four pixels, where pairs of 16 bits would come from memory two
// pixels at a time, and most of those loads would cross a cache line.
template <bool kHigh>
HWY_INLINE void pass_bytes(const RowTaps& taps, const std::uint8_t* const* rows, int n,
                           const VectorFinish& finish, std::int32_t* pairs) {
  alignas(64) std::uint8_t order[64];
  for (int i = 0; i < 64; ++i) order[i] = std::uint8_t(i / 4 + i % 4 * taps.step);
  const __m512i four_pixels = _mm512_load_si512(order);
  const __m512i rows_beside =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
  const Vector begin = hn::Set(d32, finish.offset + finish.half);
  for (int x = 0; x < n; x += kVectors * lanes()) {
    Vector low[2][kVectors], high[2][kVectors];
    set_all(begin, low);
    set_all(hn::Zero(d32), high);
    for (std::size_t q = 0; q < taps.low.size(); ++q) {
      const std::size_t at = std::size_t(x) + 4 * q * std::size_t(taps.step);
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < 2 * kVectors; ++k) {
        const int half = k / kVectors, v = k % kVectors;
        const __m256i source = _mm256_loadu_si256(
            reinterpret_cast<const __m256i*>(rows[half] + at + std::size_t(v) * 16));
        const Vector bytes{_mm512_permutexvar_epi8(four_pixels, _mm512_castsi256_si512(source))};
        low[half][v] = add_byte_products(bytes, taps.low[q], low[half][v]);
        if constexpr (kHigh) high[half][v] = add_byte_products(bytes, taps.high[q], high[half][v]);
      }
    }
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kVectors; ++v) {
      Vector sum[2];
      CONVFILT_UNROLL_ALL
      for (int half = 0; half < 2; ++half) {
        sum[half] = low[half][v];
        if constexpr (kHigh) sum[half] = hn::Add(sum[half], hn::ShiftLeft<8>(high[half][v]));
        sum[half] = hn::ShiftRightSame(sum[half], finish.shift);
      }
      // The packing saturates, and leaves four of the even row beside four of the odd one.
      _mm512_storeu_si512(
          pairs + x + v * 16,
          _mm512_shuffle_epi8(_mm512_packs_epi32(sum[0].raw, sum[1].raw), rows_beside));
    }
  }
}
#endif

bool takes_bytes(const RowTaps& taps) {
  return HWY_TARGET == HWY_AVX3_DL && !taps.low.empty();
}

void pass_rows(const RowTaps& taps, const TwoRows& rows, int n, const VectorFinish& finish,
               std::int32_t* pairs) {
#if HWY_TARGET == HWY_AVX3_DL
  if (takes_bytes(taps)) {
    return taps.high.empty() ? pass_bytes<false>(taps, rows.bytes, n, finish, pairs)
                             : pass_bytes<true>(taps, rows.bytes, n, finish, pairs);
  }
#endif
  pass_pairs(taps.pairs, rows.pairs, n, finish, pairs);
}

IntegerLoops loops() {
  return {make_pairs, filter_rows, takes_bytes, pass_rows};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace convfilt::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convfilt::cpu {

namespace {

constexpr int kLowBits = 15;

std::int32_t high_part(std::int32_t weight) {
  if (weight >= -32767 && weight <= 32767) return 0;
  return (weight + (1 << (kLowBits - 1))) >> kLowBits;
}

std::int32_t low_part(std::int32_t weight) {
  return weight - high_part(weight) * (1 << kLowBits);
}

std::int32_t pair_of(std::int32_t first, std::int32_t second) {
  return std::int32_t((std::uint32_t(second) << 16) | (std::uint32_t(first) & 0xffff));
}

}  // namespace

IntegerTaps taps_on_row_pairs(const std::vector<std::int32_t>& weights, int width, int height,
                              int step, int rows, bool may_fold) {
  IntegerTaps taps;
  taps.rows = rows;
  taps.slots = (height + rows) / 2;
  const auto weight = [&](int i, int j) {
    return j < 0 || j >= height ? 0 : weights[std::size_t(j) * width + i];
  };
  const auto pairs_at = [&](int slot, int i, std::int32_t (*part)(std::int32_t)) {
    std::vector<std::int32_t> pairs;
    for (int r = 0; r < rows; ++r)
      pairs.push_back(pair_of(part(weight(i, 2 * slot - r)), part(weight(i, 2 * slot + 1 - r))));
    return pairs;
  };
  // Adds a place if some output row has a weight other than zero there. Zero weights would add
  // nothing to an integer sum.
  const auto add = [&](int slot, int i, const std::vector<std::int32_t>& pairs) {
    if (std::all_of(pairs.begin(), pairs.end(), [](std::int32_t p) { return p == 0; })) return;
    taps.places.push_back({slot, i * step});
    taps.weights.insert(taps.weights.end(), pairs.begin(), pairs.end());
  };
  for (int slot = 0; slot < taps.slots; ++slot)
    for (int i = 0; i < width; ++i) add(slot, i, pairs_at(slot, i, high_part));
  taps.high = taps.count();
  for (const bool folds : {true, false}) {
    for (int slot = 0; slot < taps.slots; ++slot)
      for (int i = 0; i < width; ++i) {
        const int mirror = width - 1 - i;
        const auto pairs = pairs_at(slot, i, low_part);
        const bool is_folded = may_fold && i != mirror && pairs == pairs_at(slot, mirror, low_part);
        if (is_folded != folds || (is_folded && i > mirror)) continue;
        add(slot, i, pairs);
        if (is_folded) add(slot, mirror, pairs);
      }
    if (folds) taps.folds = taps.count() - taps.high;
  }
  return taps;
}

RowTaps::RowTaps(const std::vector<std::int32_t>& weights, int distance)
    : step(distance), pairs(taps_on_row_pairs(weights, 1, int(weights.size()), 1, 1)) {
  // The pairs' taps are those of a column of weights on row pairs, where slot q becomes pixel 2q.
  for (TapPlace& place : pairs.places) place = {0, place.slot * 2 * step};
  pairs.slots = 1;

  constexpr int kLowest = -32768, kHighest = 127 * 256 + 127;  // of two signed bytes
  bool all_low = true;
  for (const std::int32_t weight : weights) {
    if (weight < kLowest || weight > kHighest) return;
    all_low = all_low && weight == std::int8_t(weight);
  }
  const std::size_t fours = (weights.size() + 3) / 4;
  low.resize(fours);
  if (!all_low) high.resize(fours);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto low_byte = std::int8_t(weights[i]);
    const int shift = int(i % 4) * 8;
    low[i / 4] |= std::int32_t(std::uint32_t(std::uint8_t(low_byte)) << shift);
    if (all_low) continue;
    const auto high_byte = std::uint8_t((weights[i] - low_byte) / 256);
    high[i / 4] |= std::int32_t(std::uint32_t(high_byte) << shift);
  }
}

HWY_EXPORT(loops);

IntegerLoops integer_loops() {
  return HWY_DYNAMIC_DISPATCH(loops)();
}

VectorFinish::VectorFinish(const IntegerFinish& finish)
    : offset(std::int32_t(finish.lowest * std::int64_t(finish.divisor) - finish.lowest_sum)),
      divisor(std::int32_t(finish.divisor)),
      lowest_sum(finish.lowest_sum),
      highest_sum(finish.highest_sum),
      half(std::int32_t(finish.half)),
      even(std::int32_t(finish.even)) {
  constexpr std::int32_t kSumLimit = 1 << 30;  // |sums| stay below it, see arithmetic.cpp
  // With an offset beyond these limits, sum + offset might need more than 32 bits, unless the sum
  // is saturated first.
  const bool fits = -kSumLimit < offset && offset < kSumLimit - half;
  shift =
      fits && std::has_single_bit(finish.divisor) ? int(std::bit_width(finish.divisor)) - 1 : -1;
}

}  // namespace convfilt::cpu
#endif
