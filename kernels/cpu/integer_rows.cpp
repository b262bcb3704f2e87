#include "kernels/cpu/integer_rows.hpp"

#include <bit>
#include <cstring>

#include "kernels/cpu/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/integer_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/integer_vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace convfilt::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors side by side: enough independent sums to hide the latency, all in registers, of which the
// older instruction sets have 16.
constexpr bool kManyRegisters =
    HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON;
constexpr int kVectors = 4;
template <int kRows>
constexpr int kVectorsOf = kManyRegisters ? kVectors : 8 / kRows;

template <int kRows, int kWide>
HWY_INLINE void set_zero(Vector (&sum)[kRows][kWide]) {
  CONVFILT_UNROLL_ALL
  for (int k = 0; k < kRows * kWide; ++k) sum[k / kWide][k % kWide] = hn::Zero(d32);
}

template <int kRows, int kWide>
HWY_INLINE void shift_left_15(Vector (&sum)[kRows][kWide]) {
  CONVFILT_UNROLL_ALL
  for (int k = 0; k < kRows * kWide; ++k) {
    sum[k / kWide][k % kWide] = hn::ShiftLeft<15>(sum[k / kWide][k % kWide]);
  }
}

template <int kRows, int kWide>
HWY_INLINE void add_taps(const IntegerTaps& taps, int begin, int end,
                         const std::int32_t* const* sources, int x, Vector (&sum)[kRows][kWide]) {
  const std::int32_t* weights = taps.weights.data() + std::ptrdiff_t(begin) * kRows;
  for (int t = begin; t < end; ++t, weights += kRows) {
    const std::int32_t* source = sources[t] + x;
    Vector pairs[kWide];
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kWide; ++v) pairs[v] = hn::LoadU(d32, source + v * lanes());
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
  set_zero(sum);
  if (HWY_UNLIKELY(taps.high > 0)) {
    add_taps(taps, 0, taps.high, sources, x, sum);
    shift_left_15(sum);
  }
  add_taps(taps, taps.high, taps.count(), sources, x, sum);
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
  // What lies beyond n belongs to another tile.
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
                             const std::int32_t* const* even, const std::int32_t* const* odd, int x,
                             Vector (&sum)[2][kVectors]) {
  for (int t = begin; t < end; ++t) {
    const Vector weight = hn::Set(d32, taps.weights[std::size_t(t)]);
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kVectors; ++v) {
      const int at = x + v * lanes();
      sum[0][v] = add_products(hn::LoadU(d32, even[t] + at), weight, sum[0][v]);
      sum[1][v] = add_products(hn::LoadU(d32, odd[t] + at), weight, sum[1][v]);
    }
  }
}

void pass_rows(const IntegerTaps& taps, const std::int32_t* const* even,
               const std::int32_t* const* odd, int n, const VectorFinish& finish,
               std::int32_t* pairs) {
  const ShiftFinish shifted(finish);
  const Vector lowest = hn::Set(d32, -32768), highest = hn::Set(d32, 32767);
  for (int x = 0; x < n; x += kVectors * lanes()) {
    Vector sum[2][kVectors];
    set_zero(sum);
    if (HWY_UNLIKELY(taps.high > 0)) {
      add_row_taps(taps, 0, taps.high, even, odd, x, sum);
      shift_left_15(sum);
    }
    add_row_taps(taps, taps.high, taps.count(), even, odd, x, sum);
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kVectors; ++v) {
      const Vector first = hn::Min(hn::Max(shifted(sum[0][v]), lowest), highest);
      const Vector second = hn::Min(hn::Max(shifted(sum[1][v]), lowest), highest);
      const Vector low = hn::And(first, hn::Set(d32, 0xffff));
      hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(second)), d32, pairs + x + v * lanes());
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace convfilt::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convfilt::cpu {

HWY_EXPORT(make_pairs);
HWY_EXPORT(filter_rows);
HWY_EXPORT(pass_rows);

VectorFinish::VectorFinish(const IntegerFinish& finish)
    : offset(std::int32_t(finish.lowest * std::int64_t(finish.divisor) - finish.lowest_sum)),
      divisor(std::int32_t(finish.divisor)),
      lowest_sum(finish.lowest_sum),
      highest_sum(finish.highest_sum),
      half(std::int32_t(finish.half)),
      even(std::int32_t(finish.even)) {
  constexpr std::int32_t kSumLimit = 1 << 30;  // |sums| stay below, see arithmetic.hpp
  // Beyond, sum + offset might need more than 32 bits, unless the sum is saturated before.
  const bool fits = -kSumLimit < offset && offset < kSumLimit - half;
  shift =
      fits && std::has_single_bit(finish.divisor) ? int(std::bit_width(finish.divisor)) - 1 : -1;
}

void make_pairs(const std::uint8_t* first, const std::uint8_t* second, int n, std::int32_t* pairs) {
  HWY_DYNAMIC_DISPATCH(make_pairs)(first, second, n, pairs);
}

void filter_rows(const IntegerTaps& taps, const std::int32_t* const* sources, int n,
                 const VectorFinish& finish, std::uint8_t* const* out) {
  HWY_DYNAMIC_DISPATCH(filter_rows)(taps, sources, n, finish, out);
}

void pass_rows(const IntegerTaps& taps, const std::int32_t* const* even,
               const std::int32_t* const* odd, int n, const VectorFinish& finish,
               std::int32_t* pairs) {
  HWY_DYNAMIC_DISPATCH(pass_rows)(taps, even, odd, n, finish, pairs);
}

}  // namespace convfilt::cpu
#endif
