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
      : begin(hn::Set(d32, f.offset + f.half - f.even)),
        even(hn::Set(d32, f.even)),
        shift(f.shift) {}

  HWY_INLINE Vector operator()(Vector sum) const {
    // Less than half is in the sum already, so ties go down. One more takes them up, where the
    // quotient is odd, and nothing else. Shifts round down, so negative numbers round in the same
    // way.
    const Vector odd = hn::And(hn::ShiftRightSame(sum, shift), even);
    return hn::ShiftRightSame(hn::Add(sum, odd), shift);
  }

  Vector begin, even;
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

// Whether pass_rows leaves samples in the order that packing restores: of four vectors, the first
// has the first four of every 16 samples, the second the next four, and so on.
constexpr bool kRowsInBlocks = HWY_TARGET != HWY_AVX3_DL;

// Saturates and stores vectors side by side, which may be in blocks.
template <bool kInBlocks, int kWide>
HWY_INLINE void store_bytes(const Vector (&values)[kWide], std::uint8_t* out) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  if constexpr (kWide == 4) {
    const __m512i packed = _mm512_packus_epi16(_mm512_packs_epi32(values[0].raw, values[1].raw),
                                               _mm512_packs_epi32(values[2].raw, values[3].raw));
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_storeu_si512(out, kInBlocks ? packed : _mm512_permutexvar_epi32(order, packed));
    return;
  }
#elif HWY_TARGET == HWY_AVX2
  if constexpr (kWide == 4) {
    const __m256i packed = _mm256_packus_epi16(_mm256_packs_epi32(values[0].raw, values[1].raw),
                                               _mm256_packs_epi32(values[2].raw, values[3].raw));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                        kInBlocks ? packed : _mm256_permutevar8x32_epi32(packed, order));
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

template <bool kOnRowSums, int kRows, int kWide, class Finish>
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
  if constexpr (!kOnRowSums) add_taps<true>(taps, taps.high, single, sources, x, sum);
  add_taps<false>(taps, single, taps.count(), sources, x, sum);
  CONVFILT_UNROLL_ALL
  for (int r = 0; r < kRows; ++r) {
    if (!out[r]) continue;
    Vector ended[kWide];
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kWide; ++v) ended[v] = finish(sum[r][v]);
    store_bytes<kOnRowSums && kRowsInBlocks>(ended, out[r] + out_x);
  }
}

template <bool kOnRowSums, int kRows, class Finish>
HWY_INLINE void filter_rows_of(const IntegerTaps& taps, const std::int32_t* const* sources, int n,
                               const Finish& finish, std::uint8_t* const* out) {
  int x = 0;
  constexpr int kWide = kVectorsOf<kRows>, kLast = kOnRowSums && kRowsInBlocks ? kWide : 1;
  for (; x + kWide * lanes() <= n; x += kWide * lanes())
    filter_block<kOnRowSums, kRows, kWide>(taps, sources, x, finish, out, x);
  for (; x + kLast * lanes() <= n; x += kLast * lanes())
    filter_block<kOnRowSums, kRows, kLast>(taps, sources, x, finish, out, x);
  if (x == n) return;
  // The samples beyond n belong to another tile, so the last vectors go through a buffer.
  std::uint8_t ends[kRows][kLast * HWY_MAX_BYTES / 4];
  std::uint8_t* end_rows[kRows];
  for (int r = 0; r < kRows; ++r) end_rows[r] = out[r] ? ends[r] : nullptr;
  filter_block<kOnRowSums, kRows, kLast>(taps, sources, x, finish, end_rows, 0);
  for (int r = 0; r < kRows; ++r) {
    if (out[r]) std::memcpy(out[r] + x, ends[r], std::size_t(n - x));
  }
}

template <bool kOnRowSums, int kRows>
HWY_INLINE void filter_rows_by(const IntegerTaps& taps, const std::int32_t* const* sources, int n,
                               const VectorFinish& finish, std::uint8_t* const* out) {
  if (finish.shift >= 0) {
    filter_rows_of<kOnRowSums, kRows>(taps, sources, n, ShiftFinish(finish), out);
  } else {
    filter_rows_of<kOnRowSums, kRows>(taps, sources, n, DivideFinish(finish), out);
  }
}

void filter_rows(const IntegerTaps& taps, const std::int32_t* const* sources, int n,
                 const VectorFinish& finish, std::uint8_t* const* out) {
  if (taps.on_row_sums) {
    filter_rows_by<true, 2>(taps, sources, n, finish, out);
  } else if (taps.rows == 4) {
    filter_rows_by<false, 4>(taps, sources, n, finish, out);
  } else {
    filter_rows_by<false, 2>(taps, sources, n, finish, out);
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

// Gives vectors whose lanes hold kPixels bytes, `step` samples apart, each in 4 / kPixels bytes.
// Vector k is number k % kVectors, from x on, of row k / kVectors.
template <int kPixels>
struct PixelLanes {
  static constexpr int kBytes = 4 / kPixels;

  explicit PixelLanes(int distance) : step(distance) {
#if HWY_TARGET != HWY_SCALAR
    alignas(64) std::uint8_t bytes[64];
    for (int i = 0; i < 64; ++i) {
      const int lane = kRowsInBlocks ? i % 16 / 4 : i / 4;
      bytes[i] = i % kBytes > 0 ? 0x80 : std::uint8_t(lane + i % 4 / kBytes * step);
    }
    order = hn::Load(d8, bytes);
#endif
  }

  HWY_INLINE Vector operator()(const std::uint8_t* const (&rows)[2], int k, int x) const {
#if HWY_TARGET == HWY_SCALAR
    const std::uint8_t* const from = rows[k / kVectors] + x + k % kVectors;
    std::uint32_t lane = 0;
    for (int i = 0; i < kPixels; ++i) lane |= std::uint32_t(from[i * step]) << (8 * kBytes * i);
    return hn::Set(d32, std::int32_t(lane));
#elif HWY_TARGET == HWY_AVX3_DL
    const __m256i near = _mm256_loadu_si256(
        reinterpret_cast<const __m256i*>(rows[k / kVectors] + x + k % kVectors * lanes()));
    return Vector{_mm512_maskz_permutexvar_epi8(kPixels == 4 ? ~0ull : ~0ull / 3, order.raw,
                                                _mm512_castsi256_si512(near))};
#else
    const auto near = hn::LoadU(d8, rows[k / kVectors] + x + k % kVectors * 4);
    return hn::BitCast(d32, hn::TableLookupBytesOr0(near, order));
#endif
  }

  int step;
#if HWY_TARGET != HWY_SCALAR
  using Bytes = hn::Repartition<std::uint8_t, Lanes>;
  static constexpr Bytes d8{};
  hn::Vec<Bytes> order;
#endif
};

HWY_INLINE void add_row_taps(const IntegerTaps& taps, int begin, int end,
                             const PixelLanes<2>& pairs, const std::uint8_t* const (&rows)[2],
                             int x, Vector (&sum)[2][kVectors]) {
  for (int t = begin; t < end; ++t) {
    const Vector weight = hn::Set(d32, taps.weights[std::size_t(t)]);
    const int at = x + taps.places[std::size_t(t)].offset;
    CONVFILT_UNROLL_ALL
    for (int k = 0; k < 2 * kVectors; ++k) {
      Vector& here = sum[k / kVectors][k % kVectors];
      here = add_products(pairs(rows, k, at), weight, here);
    }
  }
}

// Ends the sums of two rows. They need no saturation: int16 holds what a row can give.
HWY_INLINE void store_pairs(const Vector (&sum)[2][kVectors], int shift, std::int32_t* pairs) {
  CONVFILT_UNROLL_ALL
  for (int v = 0; v < kVectors; ++v) {
    const Vector even = hn::ShiftRightSame(sum[0][v], shift);
    const Vector odd = hn::ShiftLeftSame(sum[1][v], 16 - shift);
#if HWY_TARGET == HWY_SCALAR
    hn::StoreU(hn::Or(hn::And(even, hn::Set(d32, 0xffff)), hn::And(odd, hn::Set(d32, ~0xffff))),
               d32, pairs + v * lanes());
#else
    const hn::Repartition<std::int16_t, Lanes> d16;
    hn::StoreU(hn::BitCast(d32, hn::OddEven(hn::BitCast(d16, odd), hn::BitCast(d16, even))), d32,
               pairs + v * lanes());
#endif
  }
}

void pass_pairs(const RowTaps& taps, const std::uint8_t* const (&rows)[2], int n,
                const VectorFinish& finish, std::int32_t* pairs) {
  const PixelLanes<2> pixels(taps.step);
  const Vector begin = hn::Set(d32, finish.offset + finish.half);
  const int high = taps.pairs.high;
  for (int x = 0; x < n; x += kVectors * lanes()) {
    Vector sum[2][kVectors];
    if (HWY_LIKELY(high == 0)) {
      set_all(begin, sum);
    } else {
      set_all(hn::Zero(d32), sum);
      add_row_taps(taps.pairs, 0, high, pixels, rows, x, sum);
      shift_left_15_and_add(begin, sum);
    }
    add_row_taps(taps.pairs, high, taps.pairs.count(), pixels, rows, x, sum);
    store_pairs(sum, finish.shift, pairs + x);
  }
}

#if HWY_TARGET == HWY_AVX3_DL
HWY_INLINE Vector add_byte_products(Vector bytes, std::int32_t weights, Vector sum) {
  const Vector all = hn::Set(d32, weights);
  asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(bytes.raw), "v"(all.raw));
  return sum;
}

void pass_fours(const RowTaps& taps, const std::uint8_t* const (&rows)[2], int n,
                const VectorFinish& finish, std::int32_t* pairs) {
  const PixelLanes<4> pixels(taps.step);
  const Vector begin = hn::Set(d32, finish.offset + finish.half);
  const int fours = int(taps.fours.size());
  for (int x = 0; x < n; x += kVectors * lanes()) {
    Vector low[2][kVectors], high[2][kVectors];
    set_all(begin, low);
    if (taps.highs > 0) {
      set_all(hn::Zero(d32), high);
      for (int q = 0; q < taps.highs; ++q) {
        const RowTaps::Four& four = taps.fours[std::size_t(q)];
        CONVFILT_UNROLL_ALL
        for (int k = 0; k < 2 * kVectors; ++k) {
          const Vector bytes = pixels(rows, k, x + four.offset);
          Vector& low_here = low[k / kVectors][k % kVectors];
          Vector& high_here = high[k / kVectors][k % kVectors];
          low_here = add_byte_products(bytes, four.low, low_here);
          high_here = add_byte_products(bytes, four.high, high_here);
        }
      }
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < 2 * kVectors; ++k) {
        Vector& here = low[k / kVectors][k % kVectors];
        here = hn::Add(here, hn::ShiftLeft<8>(high[k / kVectors][k % kVectors]));
      }
    }
    for (int q = taps.highs; q < fours; ++q) {
      const RowTaps::Four& four = taps.fours[std::size_t(q)];
      CONVFILT_UNROLL_ALL
      for (int k = 0; k < 2 * kVectors; ++k) {
        Vector& here = low[k / kVectors][k % kVectors];
        here = add_byte_products(pixels(rows, k, x + four.offset), four.low, here);
      }
    }
    store_pairs(low, finish.shift, pairs + x);
  }
}
#endif

void pass_rows(const RowTaps& taps, const std::uint8_t* const (&rows)[2], int n,
               const VectorFinish& finish, std::int32_t* pairs) {
#if HWY_TARGET == HWY_AVX3_DL
  if (!taps.fours.empty()) return pass_fours(taps, rows, n, finish, pairs);
#endif
  pass_pairs(taps, rows, n, finish, pairs);
}

IntegerLoops loops() {
  return {make_pairs, filter_rows, pass_rows};
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

  // The first four may have fewer taps, where that leaves more of those with small weights alone.
  const int count = int(weights.size());
  std::size_t least = 0;
  for (int begin = -3; begin <= 0; ++begin) {
    std::vector<Four> fours;
    std::ptrdiff_t highs = 0;
    for (int first = begin; first < count; first += 4) {
      Four four{std::max(first, 0) * step, 0, 0};
      for (int i = std::max(first, 0); i < std::min(first + 4, count); ++i) {
        const auto low = std::int8_t(weights[std::size_t(i)]);
        const std::int32_t high = (weights[std::size_t(i)] - low) / 256;
        if (high != std::int8_t(high)) return;
        const int shift = (i - std::max(first, 0)) * 8;
        four.low |= std::int32_t(std::uint32_t(std::uint8_t(low)) << shift);
        four.high |= std::int32_t(std::uint32_t(std::uint8_t(high)) << shift);
      }
      highs += four.high != 0;
      fours.push_back(four);
    }
    const std::size_t products = fours.size() + std::size_t(highs);
    if (begin > -3 && products >= least) continue;
    least = products;
    std::stable_partition(fours.begin(), fours.end(), [](const Four& f) { return f.high != 0; });
    this->fours = std::move(fours);
    this->highs = int(highs);
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
