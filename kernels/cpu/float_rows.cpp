#include "kernels/cpu/float_rows.hpp"

#include <bit>
#include <cstring>
#include <tuple>

#include "kernels/cpu/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/float_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convfilt::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<float>;
using Vector = hn::Vec<Lanes>;

constexpr Lanes df;

// The number of chains side by side in a row of output. Two rows of 4 make 8 chains, which hide the
// latency of the multiply-add. Machines with 16 registers have room for 6 chains and their sums.
constexpr int kVectors = HWY_TARGET == HWY_AVX2 ? 3 : 4;
constexpr int kRowVectors = 8;  // chains of the row pass, which computes one row at a time

HWY_INLINE int lanes() {
  return int(hn::Lanes(df));
}

#if !HWY_NATIVE_FMA
// std::fma takes tens of nanoseconds on a machine without the instruction. In double precision the
// product is exact. If the sum is then rounded to odd, rounding it again to a float gives the same
// as rounding the exact sum (Boldo and Melquiond 2008, "Emulation of FMA and correctly rounded
// sums").
HWY_INLINE float fused_in_double(float weight, float sample, float addend) {
  const double product = double(weight) * double(sample), c = double(addend);
  const double sum = product + c;
  const double from_c = sum - product;
  const double lost = (product - (sum - from_c)) + (c - from_c);  // exact, or NaN at an infinity
  std::int64_t bits = std::bit_cast<std::int64_t>(sum);
  const bool outwards = (lost > 0) == (sum > 0);
  const std::int64_t step = outwards ? 1 : -1;
  bits += (lost > 0 || lost < 0) && !(bits & 1) ? step : 0;
  return float(std::bit_cast<double>(bits));
}
#endif

// Gives weight * sample + sum with one rounding, in every lane, on every machine.
HWY_INLINE Vector fused(Vector weight, Vector sample, Vector sum) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(weight, sample, sum);
#else
  constexpr int kLanes = HWY_MAX_BYTES / sizeof(float);
  HWY_ALIGN float w[kLanes], s[kLanes], a[kLanes];
  hn::Store(weight, df, w);
  hn::Store(sample, df, s);
  hn::Store(sum, df, a);
  for (int i = 0; i < lanes(); ++i) a[i] = fused_in_double(w[i], s[i], a[i]);
  return hn::Load(df, a);
#endif
}

HWY_INLINE Vector scaled(const FloatFinish& f, Vector sum) {
  return fused(sum, hn::Set(df, f.scale), hn::Set(df, f.offset));
}

HWY_INLINE void store(const FloatFinish& f, Vector sum, float* out) {
  const Vector value = scaled(f, sum);
  hn::StoreU(hn::IfThenElse(hn::Eq(value, value), value, hn::Set(df, __builtin_nanf(""))), df, out);
}

HWY_INLINE void store(const FloatFinish& f, Vector sum, std::uint16_t* out) {
  const Vector value = scaled(f, sum);
  const Vector positive = hn::IfThenElseZero(hn::Gt(value, hn::Zero(df)), value);  // NaN becomes 0
  const Vector clamped = hn::Min(positive, hn::Set(df, 65535.0f));
  const hn::Rebind<std::uint16_t, Lanes> d16;
  hn::StoreU(hn::DemoteTo(d16, hn::NearestInt(clamped)), d16, out);
}

// Calls block(width, x, rows) for blocks of kWide vectors, then for single vectors. The last one
// goes through a buffer, since the samples beyond n belong to another tile.
template <int kWide, class T, class Block>
HWY_INLINE void in_blocks(int n, T* const* out, Block&& block) {
  int x = 0;
  for (; x + kWide * lanes() <= n; x += kWide * lanes()) {
    T* const rows[2] = {out[0] + x, out[1] ? out[1] + x : nullptr};
    block(std::integral_constant<int, kWide>{}, x, rows);
  }
  for (; x + lanes() <= n; x += lanes()) {
    T* const rows[2] = {out[0] + x, out[1] ? out[1] + x : nullptr};
    block(std::integral_constant<int, 1>{}, x, rows);
  }
  if (x == n) return;
  T ends[2][HWY_MAX_BYTES / sizeof(float)];
  T* const rows[2] = {ends[0], out[1] ? ends[1] : nullptr};
  block(std::integral_constant<int, 1>{}, x, rows);
  for (int r = 0; r < 2; ++r) {
    if (out[r]) std::memcpy(out[r] + x, ends[r], std::size_t(n - x) * sizeof(T));
  }
}

template <int kWide>
HWY_INLINE void clear(Vector (&sum)[2][kWide]) {
  CONVFILT_UNROLL_ALL
  for (int v = 0; v < kWide; ++v) sum[0][v] = sum[1][v] = hn::Zero(df);
}

template <int kWide, class T>
HWY_INLINE void store_rows(const FloatFinish& finish, const Vector (&sum)[2][kWide],
                           T* const* out) {
  CONVFILT_UNROLL_ALL
  for (int r = 0; r < 2; ++r) {
    if (!out[r]) continue;
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kWide; ++v) store(finish, sum[r][v], out[r] + v * lanes());
  }
}

// Adds one chain to the upper row's sums if kUpper, and one to the lower row's if kLower.
template <bool kUpper, bool kLower, int kWide>
HWY_INLINE void add_chain(const FloatTaps& taps, const Chain& chain, const float* const* sources,
                          int x, Vector (&sum)[2][kWide]) {
  Vector part[2][kWide];
  clear(part);
  for (int t = chain.begin; t < chain.end; ++t) {
    const Vector upper = hn::Set(df, taps.weights[2 * std::size_t(t)]);
    const Vector lower = hn::Set(df, taps.weights[2 * std::size_t(t) + 1]);
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kWide; ++v) {
      const Vector sample = hn::LoadU(df, sources[t] + x + v * lanes());
      if constexpr (kUpper) part[0][v] = fused(upper, sample, part[0][v]);
      if constexpr (kLower) part[1][v] = fused(lower, sample, part[1][v]);
    }
  }
  CONVFILT_UNROLL_ALL
  for (int v = 0; v < kWide; ++v) {
    if constexpr (kUpper) sum[0][v] = hn::Add(sum[0][v], part[0][v]);
    if constexpr (kLower) sum[1][v] = hn::Add(sum[1][v], part[1][v]);
  }
}

template <class T>
void filter_rows(const FloatTaps& taps, const float* const* sources, int n,
                 const FloatFinish& finish, T* const* out) {
  in_blocks<kVectors>(n, out, [&](auto wide, int x, T* const* rows) HWY_ATTR {
    constexpr int kWide = decltype(wide)::value;
    Vector sum[2][kWide];
    clear(sum);
    for (const Chain& chain : taps.chains) {
      if (chain.upper && chain.lower) {
        add_chain<true, true>(taps, chain, sources, x, sum);
      } else if (chain.upper) {
        add_chain<true, false>(taps, chain, sources, x, sum);
      } else {
        add_chain<false, true>(taps, chain, sources, x, sum);
      }
    }
    store_rows(finish, sum, rows);
  });
}

void widen(const std::uint16_t* samples, int n, float* out) {
  const hn::Rebind<std::uint16_t, Lanes> d16;
  const hn::Rebind<std::int32_t, Lanes> d32;
  for (int x = 0; x < n; x += lanes()) {
    hn::StoreU(hn::ConvertTo(df, hn::PromoteTo(d32, hn::LoadU(d16, samples + x))), df, out + x);
  }
}

void pass_row(const std::vector<float>& weights, const float* row, int step, int n,
              const FloatFinish& finish, float* out) {
  for (int x = 0; x < n; x += kRowVectors * lanes()) {
    Vector sum[kRowVectors];
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kRowVectors; ++v) sum[v] = hn::Zero(df);
    const float* source = row + x;
    for (const float weight : weights) {
      const Vector w = hn::Set(df, weight);
      CONVFILT_UNROLL_ALL
      for (int v = 0; v < kRowVectors; ++v) {
        sum[v] = fused(w, hn::LoadU(df, source + v * lanes()), sum[v]);
      }
      source += step;
    }
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kRowVectors; ++v) store(finish, sum[v], out + x + v * lanes());
  }
}

// Carries on the chains in `sum` down the column of one term.
template <int kWide>
HWY_INLINE void add_column(const std::vector<float>& weights, const float* const* rows, int x,
                           Vector (&sum)[2][kWide]) {
  const int height = int(weights.size());
  CONVFILT_UNROLL_ALL
  for (int v = 0; v < kWide; ++v) {
    sum[0][v] = fused(hn::Set(df, weights[0]), hn::LoadU(df, rows[0] + x + v * lanes()), sum[0][v]);
  }
  for (int j = 1; j < height; ++j) {
    const Vector upper = hn::Set(df, weights[std::size_t(j)]);
    const Vector lower = hn::Set(df, weights[std::size_t(j) - 1]);
    CONVFILT_UNROLL_ALL
    for (int v = 0; v < kWide; ++v) {
      const Vector sample = hn::LoadU(df, rows[j] + x + v * lanes());
      sum[0][v] = fused(upper, sample, sum[0][v]);
      sum[1][v] = fused(lower, sample, sum[1][v]);
    }
  }
  const Vector last = hn::Set(df, weights[std::size_t(height) - 1]);
  CONVFILT_UNROLL_ALL
  for (int v = 0; v < kWide; ++v) {
    sum[1][v] = fused(last, hn::LoadU(df, rows[height] + x + v * lanes()), sum[1][v]);
  }
}

template <class T>
void pass_columns(const Columns& columns, const float* const* rows, int n,
                  const FloatFinish& finish, T* const* out) {
  in_blocks<kVectors>(n, out, [&](auto wide, int x, T* const* out_rows) HWY_ATTR {
    Vector sum[2][decltype(wide)::value];
    clear(sum);
    const float* const* own = rows;
    for (const std::vector<float>& column : columns) {
      add_column(column, own, x, sum);
      own += column.size() + 1;
    }
    store_rows(finish, sum, out_rows);
  });
}

void widen_row(const std::uint8_t* samples, int n, float* out) {
  const hn::Rebind<std::uint8_t, Lanes> d8;
  const hn::Rebind<std::int32_t, Lanes> d32;
  int x = 0;
  for (; x + lanes() <= n; x += lanes())
    hn::StoreU(hn::ConvertTo(df, hn::PromoteTo(d32, hn::LoadU(d8, samples + x))), df, out + x);
  for (; x < n; ++x) out[x] = samples[x];
}

void respond_at(const PointMasks& masks, const float* const* rows, int x, float* responses) {
  for (int k = 0; k < masks.count; k += lanes()) {
    Vector sum = hn::Zero(df);
    const float* weights = masks.weights.data() + k;
    for (int j = 0; j < masks.height; ++j) {
      Vector chain = hn::Zero(df);
      for (int i = 0; i < masks.width; ++i, weights += PointMasks::kMost)
        chain = fused(hn::LoadU(df, weights), hn::Set(df, rows[j][x + i]), chain);
      sum = hn::Add(sum, chain);
    }
    hn::StoreU(sum, df, responses + k);
  }
}

std::tuple<FloatLoops<std::uint16_t>, FloatLoops<float>> loops() {
  return {{widen, filter_rows, pass_row, pass_columns},
          {nullptr, filter_rows, pass_row, pass_columns}};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace convfilt::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convfilt::cpu {

template <class T>
FloatTaps float_taps(const PreparedMask<T>& mask, int step) {
  FloatTaps taps;
  taps.slots = mask.height + 1;
  for (const MaskPart<T>& part : mask.parts()) {
    const int first_slot = part.dy + mask.anchor_y, first_pixel = part.dx + mask.anchor_x;
    for (int row = 0; row <= part.height; ++row) {
      const bool upper = row<part.height, lower = row> 0;
      const int begin = int(taps.places.size());
      for (int i = 0; i < part.width; ++i) {
        taps.places.push_back({first_slot + row, (first_pixel + i) * step});
        taps.weights.push_back(upper ? part.weight(i, row) : 0);
        taps.weights.push_back(lower ? part.weight(i, row - 1) : 0);
      }
      taps.chains.push_back({begin, int(taps.places.size()), upper, lower});
    }
  }
  return taps;
}

template FloatTaps float_taps(const PreparedMask<std::uint16_t>&, int);
template FloatTaps float_taps(const PreparedMask<float>&, int);

HWY_EXPORT(loops);
HWY_EXPORT(respond_at);
HWY_EXPORT(widen_row);

void widen_row(const std::uint8_t* samples, int n, float* out) {
  HWY_DYNAMIC_DISPATCH(widen_row)(samples, n, out);
}

void respond_at(const PointMasks& masks, const float* const* rows, int x, float* responses) {
  HWY_DYNAMIC_DISPATCH(respond_at)(masks, rows, x, responses);
}

template <class T>
FloatLoops<T> float_loops() {
  return std::get<FloatLoops<T>>(HWY_DYNAMIC_DISPATCH(loops)());
}
template FloatLoops<std::uint16_t> float_loops();
template FloatLoops<float> float_loops();

}  // namespace convfilt::cpu
#endif
