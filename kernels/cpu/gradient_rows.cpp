#include "kernels/cpu/gradient_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/cpu/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gradient_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convfilt {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Responses have 16 bits, and their squares are summed as floats. Sums below 2^24 are exact, and
// larger ones saturate. The root of a whole number n lies at least 1 / (8 k) from k + 1/2, which is
// much more than a float's rounding for the k that do not saturate, so none is rounded to the wrong
// side.
using Lanes = hn::ScalableTag<float>;
constexpr Lanes df;
constexpr hn::Rebind<std::int32_t, Lanes> d32;
constexpr hn::Rebind<std::int16_t, Lanes> d16;
constexpr hn::Rebind<std::uint8_t, Lanes> d8;

using Responses = hn::Vec<hn::Rebind<std::int16_t, Lanes>>;

HWY_INLINE void store_length(Responses first, Responses second, std::uint8_t* out) {
  const auto x = hn::ConvertTo(df, hn::PromoteTo(d32, first));
  const auto y = hn::ConvertTo(df, hn::PromoteTo(d32, second));
  const auto length = hn::Sqrt(hn::MulAdd(x, x, hn::Mul(y, y)));
  hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(hn::Min(length, hn::Set(df, 255.0f)))), d8, out);
}

void gradient_row(const std::vector<GradientTap>& taps, const std::uint8_t* const* rows, int n,
                  std::uint8_t* out) {
  const int lanes = int(hn::Lanes(df));
  const auto block = [&](int x) {
    auto first = hn::Zero(d16), second = hn::Zero(d16);
    for (const GradientTap& tap : taps) {
      const auto sample = hn::PromoteTo(d16, hn::LoadU(d8, rows[tap.row] + x + tap.offset));
      first = hn::Add(first, hn::Mul(sample, hn::Set(d16, tap.first)));
      second = hn::Add(second, hn::Mul(sample, hn::Set(d16, tap.second)));
    }
    store_length(first, second, out + x);
  };
  int x = 0;
  for (; x + lanes <= n; x += lanes) block(x);
  if (x == n) return;
  if (n >= lanes) return block(n - lanes);  // some outputs are computed twice
  for (; x < n; ++x) {
    int first = 0, second = 0;
    for (const GradientTap& tap : taps) {
      const int sample = rows[tap.row][x + tap.offset];
      first += sample * tap.first;
      second += sample * tap.second;
    }
    const double length = std::sqrt(double(first) * first + double(second) * second);
    out[x] = std::uint8_t(std::nearbyint(std::min(length, 255.0)));
  }
}

void largest_row(const std::vector<std::vector<WholeTap>>& masks, const std::uint8_t* const* rows,
                 int n, std::uint8_t* out) {
  const auto block = [&](auto d, int x) HWY_ATTR {
    const hn::Rebind<std::uint8_t, decltype(d)> bytes;
    auto largest = hn::Set(d, -32768);
    for (const std::vector<WholeTap>& taps : masks) {
      auto sum = hn::Zero(d);
      for (const WholeTap& tap : taps)
        sum =
            hn::Add(sum, hn::Mul(hn::PromoteTo(d, hn::LoadU(bytes, rows[tap.row] + x + tap.offset)),
                                 hn::Set(d, tap.weight)));
      largest = hn::Max(largest, sum);
    }
    hn::StoreU(hn::DemoteTo(bytes, largest), bytes, out + x);
  };
  const hn::ScalableTag<std::int16_t> wide;
  const int lanes = int(hn::Lanes(wide));
  int x = 0;
  for (; x + lanes <= n; x += lanes) block(wide, x);
  for (; x < n; ++x) block(hn::CappedTag<std::int16_t, 1>(), x);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace convfilt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convfilt {

namespace {

/// Whether the weights are whole, and responses stay within 16 bits.
bool is_small(const Mask& mask) {
  double sum = 0;
  for (const double weight : mask.weights) {
    if (weight != std::floor(weight)) return false;
    sum += std::abs(weight);
  }
  return sum * 255 <= 32767;
}

bool have_one_size(const Mask& first, const Mask& second) {
  return first.width == second.width && first.height == second.height;
}

}  // namespace

std::vector<GradientTap> gradient_taps(const Mask& first, const Mask& second, int channels) {
  if (!have_one_size(first, second) || !is_small(first) || !is_small(second)) return {};
  std::vector<GradientTap> taps;
  for (int j = 0; j < first.height; ++j) {
    for (int i = 0; i < first.width; ++i) {
      const auto a = std::int16_t(first.weight(i, j)), b = std::int16_t(second.weight(i, j));
      if (a != 0 || b != 0) taps.push_back({j, i * channels, a, b});
    }
  }
  return taps;
}

std::vector<std::vector<WholeTap>> whole_taps(const std::vector<Mask>& masks, int channels) {
  std::vector<std::vector<WholeTap>> all;
  for (const Mask& mask : masks) {
    if (!have_one_size(mask, masks[0]) || !is_small(mask)) return {};
    std::vector<WholeTap>& taps = all.emplace_back();
    for (int j = 0; j < mask.height; ++j)
      for (int i = 0; i < mask.width; ++i)
        if (const auto weight = std::int16_t(mask.weight(i, j)); weight != 0)
          taps.push_back({j, i * channels, weight});
  }
  return all;
}

HWY_EXPORT(gradient_row);
HWY_EXPORT(largest_row);

void gradient_row(const std::vector<GradientTap>& taps, const std::uint8_t* const* rows, int n,
                  std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(gradient_row)(taps, rows, n, out);
}

void gradient_row(const std::vector<std::vector<WholeTap>>& taps, const std::uint8_t* const* rows,
                  int n, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(largest_row)(taps, rows, n, out);
}

}  // namespace convfilt
#endif
