#include "kernels/contract/arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

namespace convfilt {
namespace {

constexpr double kSumLimit = 1 << 30;  // |sum| and |offset| + 256 * divisor stay below it
constexpr int kMaxShift = 22;          // 256 * 2^22 = kSumLimit
constexpr double kGoodError = 0.01;    // in 8-bit steps: half of what the contract allows
constexpr double kMax16 = 32767;       // weights of 16 bits suit vpmaddwd and int8 tensor cores

bool is_integer(double value) {
  return std::trunc(value) == value;
}

double max_abs(const std::vector<double>& values) {
  double largest = 0;
  for (double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

std::vector<double> real_weights(const Mask& mask) {
  std::vector<double> reals(mask.weights.size());
  for (std::size_t k = 0; k < reals.size(); ++k) reals[k] = mask.weights[k] / mask.divisor;
  return reals;
}

bool exact_in_integers(const Mask& mask) {
  if (!std::all_of(mask.weights.begin(), mask.weights.end(), is_integer)) return false;
  if (!is_integer(mask.divisor) || mask.divisor < 1 || mask.divisor > (1 << kMaxShift))
    return false;
  if (!is_integer(mask.offset * mask.divisor)) return false;
  return 255 * absolute_gain(mask) * mask.divisor < kSumLimit &&
         (std::abs(mask.offset) + 256) * mask.divisor < kSumLimit;
}

// An offset that no sum can bring back into range acts like the nearest one that almost can.
double effective_offset(const Mask& mask) {
  const double reach = 256 * (absolute_gain(mask) + 1);
  return std::clamp(mask.offset, -reach, reach);
}

// Whether every 8-bit sum and its end stay below kSumLimit in fixed point of that shift.
bool fits_u8(const Mask& mask, int shift) {
  const double one = std::ldexp(1.0, shift);
  // Rounding may add half a unit to every weight.
  return 255 * (absolute_gain(mask) * one + 0.5 * double(mask.weights.size())) < kSumLimit &&
         (std::abs(effective_offset(mask)) + 256) * one <= kSumLimit;
}

constexpr const char* kTooLargeForU8 =
    "the mask's weights are too large for 8-bit arithmetic (the sum of |weights| must stay below 4 "
    "million); give it a scale, or use --normalize";

template <class Out>
PreparedMask<Out> shaped_like(const Mask& mask) {
  PreparedMask<Out> prepared;
  prepared.width = mask.width;
  prepared.height = mask.height;
  prepared.anchor_x = mask.anchor_x;
  prepared.anchor_y = mask.anchor_y;
  return prepared;
}

PreparedMask<std::uint8_t> prepare_u8(const Mask& mask) {
  auto prepared = shaped_like<std::uint8_t>(mask);
  if (exact_in_integers(mask)) {
    prepared.weights.assign(mask.weights.begin(), mask.weights.end());
    prepared.finish = integer_finish(std::int32_t(mask.offset * mask.divisor),
                                     std::uint32_t(mask.divisor), 0, 255);
    return prepared;
  }
  if (!fits_u8(mask, 0)) throw std::invalid_argument(kTooLargeForU8);
  const auto reals = real_weights(mask);
  const double offset = effective_offset(mask);
  const auto fits = [&](int shift) { return fits_u8(mask, shift); };
  // Take the widest weights of 16 bits, which are the fastest to multiply, and wider ones only
  // where those are not accurate enough.
  int shift = kMaxShift;
  while (shift > 0 && max_abs(reals) * std::ldexp(1.0, shift) > kMax16) --shift;
  while (shift > 0 && !fits(shift)) --shift;
  FixedPoint fixed = fixed_point(reals, shift, 255);
  while (fixed.error > kGoodError && shift < kMaxShift && fits(shift + 1)) {
    fixed = fixed_point(reals, ++shift, 255);
  }
  const double scaled_offset = std::nearbyint(std::ldexp(offset, shift));
  prepared.error = fixed.error + std::abs(std::ldexp(scaled_offset, -shift) - offset);
  prepared.weights = std::move(fixed.weights);
  prepared.finish = integer_finish(std::int32_t(scaled_offset), 1u << shift, 0, 255);
  return prepared;
}

template <class Out>
PreparedMask<Out> prepare_float(const Mask& mask) {
  auto prepared = shaped_like<Out>(mask);
  // Integer weights keep sums exact up to 2^24; the divisor is then applied once, at the end.
  const bool integers = std::all_of(mask.weights.begin(), mask.weights.end(), is_integer) &&
                        max_abs(mask.weights) <= (1 << 24);
  const auto weights = integers ? mask.weights : real_weights(mask);
  prepared.weights.assign(weights.begin(), weights.end());
  prepared.finish = {integers ? float(1 / mask.divisor) : 1.0f, float(mask.offset)};
  return prepared;
}

}  // namespace

FixedPoint fixed_point(const std::vector<double>& reals, int shift, double sample_range) {
  const double one = std::ldexp(1.0, shift);
  FixedPoint fixed;
  fixed.weights.resize(reals.size());
  std::vector<double> excess(reals.size());  // fixed - real, in units of 2^-shift
  double sum = 0;
  std::int64_t fixed_sum = 0;
  for (std::size_t k = 0; k < reals.size(); ++k) {
    const double exact = reals[k] * one;
    fixed.weights[k] = std::int32_t(std::nearbyint(exact));
    excess[k] = fixed.weights[k] - exact;
    sum += exact;
    fixed_sum += fixed.weights[k];
  }
  // To keep the sum, weights move back by one unit, those first that rounding has moved furthest.
  std::int64_t surplus = fixed_sum - std::int64_t(std::nearbyint(sum));
  const int direction = surplus > 0 ? 1 : -1;
  std::vector<std::size_t> order(reals.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return direction * excess[a] > direction * excess[b];
  });
  for (std::size_t k = 0; surplus != 0 && k < order.size(); ++k, surplus -= direction) {
    fixed.weights[order[k]] -= direction;
    excess[order[k]] -= direction;
  }
  double above = 0, below = 0;
  for (double e : excess) (e > 0 ? above : below) += std::abs(e);
  fixed.error = sample_range * std::max(above, below) / one;
  return fixed;
}

IntegerFinish integer_finish(std::int32_t offset, std::uint32_t divisor, std::int32_t lowest,
                             std::int32_t highest) {
  IntegerFinish f;
  f.lowest_sum = std::int32_t(lowest * std::int64_t(divisor) - offset);
  f.highest_sum = std::int32_t(highest * std::int64_t(divisor) - offset);
  f.lowest = lowest;
  f.divisor = divisor;
  f.half = divisor / 2;
  const std::uint32_t log2 = std::bit_width(divisor) - 1;
  f.shift = 31 + log2;
  f.magic = std::uint32_t(((std::uint64_t(1) << f.shift) + divisor - 1) / divisor);
  f.even = divisor % 2 == 0;
  return f;
}

template <class Out>
std::vector<MaskPart<Out>> PreparedMask<Out>::parts(int max_width, int max_height) const {
  const int columns = (width + max_width - 1) / max_width;
  const int rows = (height + max_height - 1) / max_height;
  std::vector<MaskPart<Out>> cut;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      // Shares are nearly equal: 33 columns become 16 and 17 rather than 31 and 2.
      const int i0 = int(std::int64_t(width) * column / columns);
      const int i1 = int(std::int64_t(width) * (column + 1) / columns);
      const int j0 = int(std::int64_t(height) * row / rows);
      const int j1 = int(std::int64_t(height) * (row + 1) / rows);
      MaskPart<Out> part{};
      part.width = i1 - i0;
      part.height = j1 - j0;
      part.dx = i0 - anchor_x;
      part.dy = j0 - anchor_y;
      part.first = cut.empty();
      part.last = row == rows - 1 && column == columns - 1;
      part.finish = finish;
      for (int j = j0; j < j1; ++j) {
        for (int i = i0; i < i1; ++i) {
          part.weights[(j - j0) * part.width + (i - i0)] = weights[std::size_t(j) * width + i];
        }
      }
      cut.push_back(part);
    }
  }
  return cut;
}

template struct PreparedMask<std::uint8_t>;
template struct PreparedMask<std::int16_t>;
template struct PreparedMask<std::uint16_t>;
template struct PreparedMask<float>;

template <class T>
PreparedMask<T> prepare_mask(const Mask& mask) {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return prepare_u8(mask);
  else
    return prepare_float<T>(mask);
}
template PreparedMask<std::uint8_t> prepare_mask(const Mask&);
template PreparedMask<std::uint16_t> prepare_mask(const Mask&);
template PreparedMask<float> prepare_mask(const Mask&);

std::string arithmetic_refuses(const Problem& problem) {
  if (problem.depth != Depth::u8) {
    const auto mask = prepare_float<float>(problem.mask);
    const bool finite = std::all_of(mask.weights.begin(), mask.weights.end(),
                                    [](float w) { return std::isfinite(w); });
    if (finite && std::isfinite(mask.finish.scale) && std::isfinite(mask.finish.offset)) return "";
    return "the mask's weights, scale or offset leave the range of single precision (about 1e38); "
           "give it a scale, or use --normalize";
  }
  return exact_in_integers(problem.mask) || fits_u8(problem.mask, 0) ? "" : kTooLargeForU8;
}

std::string transform_refuses(const Problem& problem, const Tuning&) {
  // A float holds 24 bits. Below this limit the last bit of a sum is 1/16 of a step, of which
  // transforms may lose a few.
  constexpr double kLargestSum = 1 << 20;
  Problem as_floats = problem;
  as_floats.depth = Depth::f32;
  if (std::string reason = arithmetic_refuses(as_floats); !reason.empty()) return reason;
  // Fourier transforms of 30 kinds of masks and pictures erred by up to 6e-7 of the largest sample,
  // and the family's bound is 1e-5 of the largest under the mask.
  constexpr double kMostContrast = 8;
  if (problem.depth == Depth::f32 && problem.contrast > kMostContrast)
    return "a transform would spread the picture's largest sample, which is NaN, infinite or more "
           "than " +
           std::to_string(int(kMostContrast)) +
           " times the largest under the mask elsewhere; use --strategy=auto, direct or cpu";
  const double largest = absolute_gain(problem.mask) * full_range(problem.depth);
  if (problem.depth == Depth::f32 || largest + std::abs(problem.mask.offset) <= kLargestSum)
    return "";
  return "the mask's weights are so large that single precision loses whole steps of " +
         std::string(name_of(problem.depth)) +
         " samples; give it a scale, use --normalize, or a strategy of the direct family";
}

template <class T>
T ghost_sample(const Problem& problem) {
  if constexpr (std::is_same_v<T, float>)
    return float(problem.border_value);
  else
    return T(std::nearbyint(std::clamp(problem.border_value, 0.0, double(T(-1)))));
}
template std::uint8_t ghost_sample(const Problem&);
template std::uint16_t ghost_sample(const Problem&);
template float ghost_sample(const Problem&);

}  // namespace convfilt
