#include "separable.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "dispatch.hpp"
#include "fixed_point.hpp"

namespace convfilt {
namespace {

double sum_of_magnitudes(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += std::abs(v);
  return sum;
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The value in the middle of what a pass over samples 0..255 can give, made even so that rounding
// half to even is not disturbed.
std::int32_t even_middle(const std::vector<std::int32_t>& weights, double unit) {
  double low = 0, high = 0;
  for (std::int32_t w : weights) (w < 0 ? low : high) += 255.0 * w;
  return 2 * std::int32_t(std::nearbyint((low + high) / 2 * unit / 2));
}

std::int64_t magnitude(const std::vector<std::int32_t>& weights) {
  std::int64_t sum = 0;
  for (std::int32_t w : weights) sum += std::abs(std::int64_t(w));
  return sum;
}

template <class Out>
PreparedMask<Out> line(const Mask& mask, bool along_row, std::vector<SumOf<Out>> weights) {
  PreparedMask<Out> prepared;
  prepared.width = along_row ? mask.width : 1;
  prepared.height = along_row ? 1 : mask.height;
  prepared.anchor_x = along_row ? mask.anchor_x : 0;
  prepared.anchor_y = along_row ? 0 : mask.anchor_y;
  prepared.weights = std::move(weights);
  return prepared;
}

constexpr double kLimit = 1 << 30;  // as in arithmetic.cpp: |sums| stay below
constexpr double kInt32 = 2147483647;
constexpr int kMidLow = -32768, kMidHigh = 32767;
constexpr double kMaxError = 0.5;  // and 0.5 by the last rounding: within one step of the oracle
constexpr int kMaxMidShift = 14;   // the row pass's divisor that IntegerFinish divides by exactly

SeparableMask<std::uint8_t> assemble(const Mask& mask, std::vector<std::int32_t> row,
                                     std::vector<std::int32_t> column, int mid_shift, double offset,
                                     double divisor, double error) {
  const std::int32_t bias = even_middle(row, std::ldexp(1.0, -mid_shift));
  const std::int64_t column_sum = std::accumulate(column.begin(), column.end(), std::int64_t(0));
  SeparableMask<std::uint8_t> s;
  s.row = line<std::int16_t>(mask, true, std::move(row));
  s.row.finish = integer_finish(-(bias << mid_shift), 1u << mid_shift, kMidLow, kMidHigh);
  s.row.finish.even = 0;  // ties go up: one operation less a sample, and no more error
  s.column = line<std::uint8_t>(mask, false, std::move(column));
  s.column.finish = integer_finish(std::int32_t(offset + double(bias * column_sum)),
                                   std::uint32_t(divisor), 0, 255);
  s.error = error;
  return s;
}

std::optional<SeparableMask<std::uint8_t>> exact_u8(const Mask& mask, const Factors& f) {
  const double offset = mask.offset * mask.divisor;
  if (!f.integers || std::trunc(offset) != offset || std::trunc(mask.divisor) != mask.divisor ||
      mask.divisor > (1 << 22)) {
    return std::nullopt;
  }
  const double span = 255 * sum_of_magnitudes(f.row);
  if (span > kMidHigh - kMidLow - 2)
    return std::nullopt;  // 2: the bias is even, not the very middle
  const double reach = 32768 * sum_of_magnitudes(f.column);
  const double bias = std::abs(255 * sum_of(f.row) / 2) + 2;
  if (reach >= kLimit ||
      std::abs(offset) + bias * std::abs(sum_of(f.column)) + 256 * mask.divisor >= kLimit) {
    return std::nullopt;
  }
  return assemble(mask, {f.row.begin(), f.row.end()}, {f.column.begin(), f.column.end()}, 0, offset,
                  mask.divisor, 0);
}

// Largest shift that leaves `values` 16-bit weights, at most `cap`.
int shift_to_16_bits(const std::vector<double>& values, int cap) {
  double largest = 0;
  for (double v : values) largest = std::max(largest, std::abs(v));
  int shift = cap;
  while (shift > 0 && largest * std::ldexp(1.0, shift) > 32767) --shift;
  return shift;
}

// What the product of the factors may differ by from the mask, in steps of samples 0..255. The
// factors are of a whole divisor: row[i] * column[j] stands for weight(i, j) / mask.divisor.
double product_error(const Mask& mask, const Factors& f) {
  double above = 0, below = 0;
  for (int j = 0; j < mask.height; ++j) {
    for (int i = 0; i < mask.width; ++i) {
      const double excess = f.row[i] * f.column[j] - mask.weight(i, j) / mask.divisor;
      (excess > 0 ? above : below) += std::abs(excess);
    }
  }
  return 255 * std::max(above, below);
}

// Splits the bits between the fraction that lies between the passes and the column weights, so that
// the proven error is least.
std::optional<SeparableMask<std::uint8_t>> fixed_u8(const Mask& mask, Factors f) {
  const double unit = sum_of_magnitudes(f.row);
  for (double& r : f.row) r /= unit;
  for (double& c : f.column) c *= unit / f.divisor;
  const double column_gain = sum_of_magnitudes(f.column);
  const double reach = 256 * (column_gain + 1);
  const double offset = std::clamp(mask.offset, -reach, reach);
  const double unfactored = product_error(mask, f);

  std::optional<SeparableMask<std::uint8_t>> best;
  for (int fraction = 8; fraction >= 0; --fraction) {
    const int row_shift =
        std::max(fraction, shift_to_16_bits(f.row, std::min(22, fraction + kMaxMidShift)));
    const FixedPoint row = fixed_point(f.row, row_shift, 255);
    const double mid_one = std::ldexp(1.0, fraction);
    if (255.0 * double(magnitude(row.weights)) * std::ldexp(1.0, fraction - row_shift) >
        kMidHigh - kMidLow - 2) {
      continue;
    }
    const auto fits = [&](int shift) {
      const double one = std::ldexp(1.0, shift);
      // What lies between spans 255 steps around its bias, and rounding adds at most half to a
      // weight.
      return 128 * mid_one * (column_gain * one + double(f.column.size())) < kLimit &&
             (std::abs(offset) + 256 + 128 * std::abs(sum_of(f.column))) * one * mid_one < kInt32;
    };
    int shift = shift_to_16_bits(f.column, 22 - fraction);
    while (shift > 0 && !fits(shift)) --shift;
    if (!fits(shift)) continue;
    const FixedPoint column = fixed_point(f.column, shift, 255);
    const double divisor = std::ldexp(1.0, shift + fraction);
    const double scaled_offset = std::nearbyint(offset * divisor);
    // The row pass and the rounding between err before the column weights are applied, as they are.
    const double fixed_gain = std::ldexp(double(magnitude(column.weights)), -shift);
    const double error = (row.error + 0.5 / mid_one) * fixed_gain + column.error + unfactored +
                         std::abs(scaled_offset / divisor - offset);
    if (best && best->error <= error) continue;
    best = assemble(mask, row.weights, column.weights, row_shift - fraction, scaled_offset, divisor,
                    error);
  }
  return best;
}

template <class T>
SeparableMask<T> prepare_float(const Mask& mask, const Factors& f) {
  const bool exact =
      f.integers &&
      std::all_of(f.row.begin(), f.row.end(), [](double w) { return std::abs(w) <= (1 << 24); }) &&
      std::all_of(f.column.begin(), f.column.end(),
                  [](double w) { return std::abs(w) <= (1 << 24); });
  std::vector<float> column;
  for (double c : f.column) column.push_back(float(exact ? c : c / f.divisor));
  SeparableMask<T> s;
  s.row = line<float>(mask, true, {f.row.begin(), f.row.end()});
  s.column = line<T>(mask, false, std::move(column));
  s.column.finish = {exact ? float(1 / f.divisor) : 1.0f, float(mask.offset)};
  return s;
}

constexpr const char* kHigherRank =
    "the mask is not the product of a row and a column (its rank is not 1); use a direct strategy, "
    "such as basic or cpu";
constexpr const char* kAllZero =
    "the mask's weights are all 0, so it has no row and column; use a direct strategy";
constexpr const char* kTooLarge =
    "the mask's weights are too large for two 8-bit passes; give it a scale, or use a direct "
    "strategy";

Depth depth_of(std::uint8_t) {
  return Depth::u8;
}
Depth depth_of(std::uint16_t) {
  return Depth::u16;
}
Depth depth_of(float) {
  return Depth::f32;
}

}  // namespace

template <class T>
MidOf<T> SeparableMask<T>::mid_ghost(T ghost) const {
  SumOf<MidOf<T>> sum = 0;
  for (const auto weight : row.weights) sum = multiply_add(weight, SumOf<MidOf<T>>(ghost), sum);
  MidOf<T> mid;
  finish(row.finish, sum, mid);
  return mid;
}

template <class T>
SeparableMask<T> prepare_separable(const Mask& mask) {
  if (absolute_gain(mask) == 0) throw std::invalid_argument(kAllZero);
  const auto factors = factorise(mask, rank_tolerance(depth_of(T{})));
  if (!factors) throw std::invalid_argument(kHigherRank);
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    if (auto exact = exact_u8(mask, *factors)) return *exact;
    if (auto fixed = fixed_u8(mask, *factors); fixed && fixed->error <= kMaxError) return *fixed;
    throw std::invalid_argument(kTooLarge);
  } else {
    return prepare_float<T>(mask, *factors);
  }
}

template struct SeparableMask<std::uint8_t>;
template struct SeparableMask<std::uint16_t>;
template struct SeparableMask<float>;
template SeparableMask<std::uint8_t> prepare_separable(const Mask&);
template SeparableMask<std::uint16_t> prepare_separable(const Mask&);
template SeparableMask<float> prepare_separable(const Mask&);

std::string separable_refuses(const Problem& problem) {
  if (std::string reason = arithmetic_refuses(problem); !reason.empty()) return reason;
  try {
    with_depth(problem.depth, [&](auto depth) {
      prepare_separable<typename decltype(depth)::type>(problem.mask);
    });
  } catch (const std::invalid_argument& refusal) {
    return refusal.what();
  }
  return "";
}

}  // namespace convfilt
