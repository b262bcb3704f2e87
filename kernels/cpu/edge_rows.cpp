#include "kernels/cpu/edge_rows.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/edge_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convfilt {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Doubles = hn::ScalableTag<double>;
using Vector = hn::Vec<Floats>;
constexpr Floats df;
constexpr Doubles dd;
constexpr hn::CappedTag<double, 1> d_one;
constexpr hn::Rebind<std::int32_t, Floats> d32;
constexpr hn::Rebind<std::uint8_t, Floats> d8;

// Single precision is off by less than 2^-21 of an answer without offsets.
constexpr float kDoubt = 1.0f / (1 << 20);

HWY_INLINE int lanes() {
  return int(hn::Lanes(df));
}

void weigh_bytes(const std::uint8_t* pixels, const int (&weights)[3], int divisor, int n,
                 float* sums) {
  // Whole numbers below 2^24 are exact, and so is their quotient up to its one rounding.
  const auto weighted = [&](auto d, int x) HWY_ATTR {
    const hn::Rebind<std::uint8_t, decltype(d)> bytes;
    const hn::Rebind<std::int32_t, decltype(d)> whole;
    hn::Vec<decltype(bytes)> channel[3];
    hn::LoadInterleaved3(bytes, pixels + std::ptrdiff_t(x) * 3, channel[0], channel[1], channel[2]);
    auto sum = hn::Zero(d);
    for (int c = 0; c < 3; ++c)
      sum = hn::Add(sum, hn::Mul(hn::ConvertTo(d, hn::PromoteTo(whole, channel[c])),
                                 hn::Set(d, float(weights[c]))));
    hn::StoreU(hn::Div(sum, hn::Set(d, float(divisor))), d, sums + x);
  };
  int x = 0;
  for (; x + lanes() <= n; x += lanes()) weighted(df, x);
  for (; x < n; ++x) weighted(hn::CappedTag<float, 1>(), x);
}

void weigh_floats(const float* pixels, const std::array<double, 3>& weights, int n, float* sums) {
  const auto weighted = [&](auto d, int x) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> half;
    hn::Vec<decltype(half)> channel[3];
    hn::LoadInterleaved3(half, pixels + std::ptrdiff_t(x) * 3, channel[0], channel[1], channel[2]);
    const auto share = [&](int c) HWY_ATTR {
      return hn::Mul(hn::Set(d, weights[c]), hn::PromoteTo(d, channel[c]));
    };
    hn::StoreU(hn::DemoteTo(half, hn::Add(hn::Add(share(0), share(1)), share(2))), half, sums + x);
  };
  const int wide = int(hn::Lanes(dd));
  int x = 0;
  for (; x + wide <= n; x += wide) weighted(dd, x);
  for (; x < n; ++x) weighted(d_one, x);
}

// As std::max.
template <class V>
HWY_INLINE V larger(V a, V b) {
  return hn::IfThenElse(hn::Lt(a, b), b, a);
}

// Whether the largest response gives the largest answer.
bool are_alike(const ResponseRows& responses) {
  return std::ranges::all_of(responses, [&](const ResponseRow& each) {
    return each.divisor == responses[0].divisor && each.offset == responses[0].offset &&
           each.divisor > 0;
  });
}

struct Joined {
  Joined(Join join, const ResponseRows& responses)
      : how(join),
        all(responses),
        picks(responses.size() > 1 && (join == Join::compass || join == Join::max) &&
              are_alike(responses)) {}

  template <class D>
  HWY_INLINE hn::Vec<D> answer(D, const ResponseRow& response,
                               hn::Vec<hn::Rebind<float, D>> r) const {
    return hn::Add(hn::Div(hn::PromoteTo(D(), r), hn::Set(D(), response.divisor)),
                   hn::Set(D(), response.offset));
  }

  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, int x) const {
    const hn::Rebind<float, D> half;
    const auto load = [&](std::size_t k) HWY_ATTR { return hn::LoadU(half, all[k].row + x); };
    auto first = load(0);
    for (std::size_t k = 1; picks && k < all.size(); ++k) first = larger(first, load(k));
    auto joined = answer(d, all[0], first);
    if (how == Join::length) joined = hn::Abs(joined);
    if (how == Join::compass) joined = larger(joined, hn::Zero(d));
    for (std::size_t k = 1; !picks && k < all.size(); ++k) {
      const auto one = answer(d, all[k], load(k));
      switch (how) {
        case Join::length:
          joined = hn::Sqrt(hn::Add(hn::Mul(joined, joined), hn::Mul(one, one)));
          break;
        case Join::compass:
        case Join::max: joined = larger(joined, one); break;
        case Join::sum: joined = hn::Add(joined, one); break;
        case Join::first_strongest:
          joined = hn::IfThenElse(hn::Lt(hn::Abs(joined), hn::Abs(one)), one, joined);
          break;
      }
    }
    return joined;
  }

  // Whether single precision tells most of an answer, as it does of few responses.
  bool has_estimate() const {
    return all.size() <= 8 &&
           (how == Join::length || (how == Join::compass && (picks || all.size() == 1))) &&
           std::ranges::all_of(all, [](const ResponseRow& each) { return each.offset == 0; });
  }

  HWY_INLINE Vector estimate(int x) const {
    const auto load = [&](std::size_t k) HWY_ATTR {
      return hn::Mul(hn::LoadU(df, all[k].row + x), hn::Set(df, float(1 / all[k].divisor)));
    };
    Vector joined = load(0);
    if (how == Join::compass) {
      for (std::size_t k = 1; k < all.size(); ++k) joined = larger(joined, load(k));
      return larger(joined, hn::Zero(df));
    }
    if (all.size() == 1) return hn::Abs(joined);
    joined = hn::Mul(joined, joined);
    for (std::size_t k = 1; k < all.size(); ++k) {
      const Vector one = load(k);
      joined = hn::Add(joined, hn::Mul(one, one));
    }
    return hn::Sqrt(joined);
  }

  const Join how;
  const ResponseRows& all;
  const bool picks;  ///< the largest response
};

void answer_row(Join join, const ResponseRows& responses, int n, double* answers) {
  const Joined joined(join, responses);
  const int wide = int(hn::Lanes(dd));
  int x = 0;
  for (; x + wide <= n; x += wide) hn::StoreU(joined.at(dd, x), dd, answers + x);
  for (; x < n; ++x) hn::StoreU(joined.at(d_one, x), d_one, answers + x);
}

void answer_row_from(float least, Join join, const ResponseRows& responses, int n, float* answers) {
  const Joined joined(join, responses);
  const bool has_estimate = joined.has_estimate();
  const int wide = int(hn::Lanes(dd));
  const auto exact = [&](auto d, int x) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> half;
    hn::StoreU(hn::DemoteTo(half, joined.at(d, x)), half, answers + x);
  };
  const Vector below = hn::Set(df, least - least * kDoubt * 2);
  int x = 0;
  for (; x + lanes() <= n; x += lanes()) {
    if (has_estimate) {
      const Vector estimate = joined.estimate(x);
      if (hn::AllTrue(df, hn::Lt(estimate, below))) {
        hn::StoreU(estimate, df, answers + x);
        continue;
      }
    }
    for (int i = 0; i < lanes(); i += wide) exact(dd, x + i);
  }
  for (; x < n; ++x) exact(d_one, x);
}

void answer_bytes_row(Join join, const ResponseRows& responses, const double* threshold, int n,
                      std::uint8_t* samples) {
  const Joined joined(join, responses);
  const bool has_estimate = joined.has_estimate();
  const int wide = int(hn::Lanes(dd));
  const auto exact = [&](auto d, int x) HWY_ATTR {
    const hn::Rebind<std::int32_t, decltype(d)> whole;
    const hn::Rebind<std::uint8_t, decltype(d)> bytes;
    const auto most = hn::Set(d, 255);
    auto answer = joined.at(d, x);
    if (threshold) {
      answer = hn::IfThenElseZero(hn::Ge(answer, hn::Set(d, *threshold)), most);
    } else {
      const auto no_fraction = hn::Set(d, 6755399441055744.0);  // 1.5 * 2^52
      answer = larger(hn::Zero(d), hn::Min(answer, most));
      answer = hn::Sub(hn::Add(answer, no_fraction), no_fraction);
    }
    hn::StoreU(hn::DemoteTo(bytes, hn::DemoteTo(whole, answer)), bytes, samples + x);
  };
  const Vector most = hn::Set(df, 255), half = hn::Set(df, 0.5f);
  const Vector limit = hn::Set(df, threshold ? float(*threshold) : 0);
  const float cap = 256 + (threshold ? float(*threshold) : 0);  // of what need not be told apart
  const Vector doubt = hn::Set(df, cap * kDoubt);
  int x = 0;
  for (; x + lanes() <= n; x += lanes()) {
    if (has_estimate) {
      const Vector answer = hn::Min(joined.estimate(x), hn::Set(df, cap));
      const Vector distance =
          threshold ? hn::Sub(answer, limit) : hn::Sub(hn::Sub(answer, hn::Floor(answer)), half);
      if (hn::AllFalse(df, hn::Lt(hn::Abs(distance), doubt))) {
        const Vector sample =
            threshold ? hn::IfThenElseZero(hn::Ge(answer, limit), most) : hn::Min(answer, most);
        hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(sample)), d8, samples + x);
        continue;
      }
    }
    for (int i = 0; i < lanes(); i += wide) exact(dd, x + i);
  }
  for (; x < n; ++x) exact(d_one, x);
}

void nearly_largest_row(const NearlyLargest& masks, const float* const (&rows)[3],
                        const double* threshold, int n, float* largest, std::vector<int>& unsure) {
  const Vector half = hn::Set(df, 0.5f), doubt = hn::Set(df, masks.doubt);
  const Vector limit = hn::Set(df, threshold ? float(*threshold) : 0);
  const Vector most = hn::Set(df, 256 + (threshold ? float(*threshold) : 0));
  unsure.push_back(0);
  int x = 1;
  for (; x + lanes() < n; x += lanes()) {
    Vector samples[9];
    for (int i = 0; i < 9; ++i) samples[i] = hn::LoadU(df, rows[i / 3] + x + i % 3 - 1);
    Vector best = hn::Set(df, -HUGE_VALF);
    for (std::size_t k = 0; k < masks.weights.size(); k += 9) {
      Vector sum = hn::Zero(df);
      for (std::size_t i = 0; i < 9; ++i)
        sum = hn::MulAdd(hn::Set(df, masks.weights[k + i]), samples[i], sum);
      best = hn::Max(best, sum);
    }
    hn::StoreU(best, df, largest + x);
    const Vector answer = hn::Clamp(hn::Mul(best, hn::Set(df, masks.scale)), hn::Zero(df), most);
    const Vector distance =
        threshold ? hn::Sub(answer, limit) : hn::Sub(hn::Sub(answer, hn::Floor(answer)), half);
    const auto in_doubt = hn::Le(hn::Abs(distance), doubt);
    if (hn::AllFalse(df, in_doubt)) continue;
    float is_unsure[HWY_MAX_BYTES / sizeof(float)];
    hn::StoreU(hn::IfThenElseZero(in_doubt, hn::Set(df, 1)), df, is_unsure);
    for (int i = 0; i < lanes(); ++i)
      if (is_unsure[i] != 0) unsure.push_back(x + i);
  }
  for (; x < n; ++x) unsure.push_back(x);
}

void thin_row(const ThinRows& rows, float least, int n, float* thin, std::vector<int>& unsure) {
  const Vector lowest = hn::Set(df, least), zero = hn::Zero(df);
  const Vector across_scale = hn::Set(df, float(1 / rows.across.divisor));
  const Vector down_scale = hn::Set(df, float(1 / rows.down.divisor));
  const Vector tangent = hn::Set(df, 0.41421356f);  // of 22.5 degrees
  int x = 1;
  for (; x + lanes() < n; x += lanes()) {
    const Vector answer = hn::LoadU(df, rows.row + x);
    const auto is_candidate = hn::And(hn::Ge(answer, lowest), hn::Gt(answer, zero));
    if (hn::AllFalse(df, is_candidate)) {
      hn::StoreU(zero, df, thin + x);
      continue;
    }
    const Vector a = hn::Mul(hn::LoadU(df, rows.across.row + x), across_scale);
    const Vector d = hn::Mul(hn::LoadU(df, rows.down.row + x), down_scale);
    const Vector size_a = hn::Abs(a), size_d = hn::Abs(d);
    const Vector past_row = hn::Sub(size_d, hn::Mul(tangent, size_a));
    const Vector past_column = hn::Sub(size_a, hn::Mul(tangent, size_d));
    const auto is_row = hn::Le(past_row, zero), is_column = hn::Lt(past_column, zero);
    const auto is_falling = hn::Xor(hn::Lt(a, zero), hn::Lt(d, zero));
    const auto neighbour = [&](const float* upper, const float* lower, int by) HWY_ATTR {
      const Vector diagonal =
          hn::IfThenElse(is_falling, hn::LoadU(df, lower + x + by), hn::LoadU(df, upper + x + by));
      const Vector upright = hn::IfThenElse(is_column, hn::LoadU(df, upper + x), diagonal);
      return hn::IfThenElse(is_row, hn::LoadU(df, rows.row + x + by), upright);
    };
    const Vector before = neighbour(rows.above, rows.below, -1);
    const Vector behind = neighbour(rows.below, rows.above, 1);
    const auto stays =
        hn::And(is_candidate, hn::And(hn::Gt(answer, before), hn::Ge(answer, behind)));
    hn::StoreU(hn::IfThenElseZero(stays, answer), df, thin + x);

    const Vector doubt = hn::Add(hn::Mul(hn::Add(size_a, size_d), hn::Set(df, kDoubt)),
                                 hn::Set(df, 1e-30f));  // products may lose bits near 0
    const auto in_doubt = hn::And(is_candidate, hn::Or(hn::Le(hn::Abs(past_row), doubt),
                                                       hn::Le(hn::Abs(past_column), doubt)));
    if (hn::AllFalse(df, in_doubt)) continue;
    float is_unsure[HWY_MAX_BYTES / sizeof(float)];
    hn::StoreU(hn::IfThenElseZero(in_doubt, hn::Set(df, 1)), df, is_unsure);
    for (int i = 0; i < lanes(); ++i)
      if (is_unsure[i] != 0) unsure.push_back(x + i);
  }
  unsure.push_back(0);
  for (; x < n; ++x) unsure.push_back(x);
}

void mark_row(const float* answers, float low, float high, std::uint8_t low_mark,
              std::uint8_t high_mark, int n, std::uint8_t* marks) {
  int x = 0;
  const Vector lower = hn::Set(df, low), upper = hn::Set(df, high);
  const Vector weak = hn::Set(df, low_mark), strong = hn::Set(df, high_mark);
  for (; x + lanes() <= n; x += lanes()) {
    const Vector answer = hn::LoadU(df, answers + x);
    const Vector mark = hn::IfThenElse(hn::Ge(answer, upper), strong,
                                       hn::IfThenElseZero(hn::Ge(answer, lower), weak));
    hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(d32, mark)), d8, marks + x);
  }
  for (; x < n; ++x) marks[x] = answers[x] >= high ? high_mark : answers[x] >= low ? low_mark : 0;
}

// Responses to masks of whole weights have 16 bits, and their squares are summed as floats. Sums
// below 2^24 are exact, and larger ones saturate. The root of a whole number n lies at least
// 1 / (8 k) from k + 1/2, which is much more than a float's rounding for the k that do not
// saturate, so none is rounded to the wrong side.
constexpr hn::ScalableTag<std::int16_t> d_wide;

// The mask's responses from x on.
template <class D>
HWY_INLINE hn::Vec<D> responses_of(D d16, const std::vector<WholeTap>& mask,
                                   const std::uint8_t* const* rows, int x) {
  const hn::Rebind<std::uint8_t, D> bytes;
  auto sum = hn::Zero(d16);
  for (const WholeTap& tap : mask)
    sum = hn::Add(sum, hn::Mul(hn::PromoteTo(d16, hn::LoadU(bytes, rows[tap.row] + x + tap.offset)),
                               hn::Set(d16, tap.weight)));
  return sum;
}

void length_row(const WholeTaps& masks, const std::uint8_t* const* rows, int n, std::uint8_t* out) {
  const auto block = [&](auto sums, auto d, int x) HWY_ATTR {
    const hn::Rebind<std::int16_t, decltype(d)> d16;
    const hn::Rebind<std::int32_t, decltype(d)> whole;
    const hn::Rebind<std::uint8_t, decltype(d)> bytes;
    std::int16_t first[HWY_MAX_BYTES / 2], second[HWY_MAX_BYTES / 2];
    hn::StoreU(responses_of(sums, masks[0], rows, x), sums, first);
    hn::StoreU(responses_of(sums, masks[1], rows, x), sums, second);
    for (int i = 0; i < int(hn::Lanes(sums)); i += int(hn::Lanes(d))) {
      const auto a = hn::ConvertTo(d, hn::PromoteTo(whole, hn::LoadU(d16, first + i)));
      const auto b = hn::ConvertTo(d, hn::PromoteTo(whole, hn::LoadU(d16, second + i)));
      const auto length = hn::Sqrt(hn::MulAdd(a, a, hn::Mul(b, b)));
      hn::StoreU(hn::DemoteTo(bytes, hn::NearestInt(hn::Min(length, hn::Set(d, 255)))), bytes,
                 out + x + i);
    }
  };
  int x = 0;
  const int many = int(hn::Lanes(d_wide));
  for (; x + many <= n; x += many) block(d_wide, df, x);
  if (x < n && n >= many) return block(d_wide, df, n - many);  // some outputs are computed twice
  for (; x < n; ++x) block(hn::CappedTag<std::int16_t, 1>(), hn::CappedTag<float, 1>(), x);
}

void largest_row(const WholeTaps& masks, const std::uint8_t* const* rows, int n,
                 std::uint8_t* out) {
  const auto block = [&](auto d, int x) HWY_ATTR {
    const hn::Rebind<std::uint8_t, decltype(d)> bytes;
    auto largest = hn::Set(d, -32768);
    for (const std::vector<WholeTap>& mask : masks)
      largest = hn::Max(largest, responses_of(d, mask, rows, x));
    hn::StoreU(hn::DemoteTo(bytes, largest), bytes, out + x);
  };
  const int many = int(hn::Lanes(d_wide));
  int x = 0;
  for (; x + many <= n; x += many) block(d_wide, x);
  for (; x < n; ++x) block(hn::CappedTag<std::int16_t, 1>(), x);
}

EdgeLoops loops() {
  return {weigh_bytes,        weigh_floats, answer_row, answer_row_from, answer_bytes_row,
          nearly_largest_row, thin_row,     mark_row,   length_row,      largest_row};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace convfilt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convfilt {

HWY_EXPORT(loops);

EdgeLoops edge_loops() {
  return HWY_DYNAMIC_DISPATCH(loops)();
}

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

}  // namespace

WholeTaps whole_taps(const std::vector<Mask>& masks, int channels) {
  WholeTaps all;
  for (const Mask& mask : masks) {
    if (mask.width != masks[0].width || mask.height != masks[0].height || !is_small(mask))
      return {};
    std::vector<WholeTap>& taps = all.emplace_back();
    for (int j = 0; j < mask.height; ++j)
      for (int i = 0; i < mask.width; ++i)
        if (const auto weight = std::int16_t(mask.weight(i, j)); weight != 0)
          taps.push_back({j, i * channels, weight});
  }
  return all;
}

}  // namespace convfilt
#endif
