#include "kernels/contract/separable.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <variant>

#include "kernels/contract/dispatch.hpp"
#include "kernels/contract/mask_memo.hpp"

namespace convfilt {
namespace {

// The value in the middle of what a pass over samples 0..255 can give. It is made even, so that it
// does not disturb rounding half to even.
std::int32_t even_middle(const std::vector<std::int32_t>& weights, double unit) {
  double low = 0, high = 0;
  for (std::int32_t w : weights) (w < 0 ? low : high) += 255.0 * w;
  return 2 * std::int32_t(std::nearbyint((low + high) / 2 * unit / 2));
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

constexpr double kLimit = 1 << 30;  // |sums| stay below it, as in arithmetic.cpp
constexpr double kInt32 = 2147483647;
constexpr int kRowResultLow = -32768, kRowResultHigh = 32767;
constexpr double kMaxError = 0.5;    // the last rounding adds 0.5, which makes one step
constexpr int kMaxResultShift = 14;  // IntegerFinish divides exactly by 2^14 between the passes

// The weights of a term in fixed point, and the number of bits by which its row pass is shifted.
struct FixedTerm {
  std::vector<std::int32_t> row, column;
  int result_shift;
};

SeparableMask<std::uint8_t> assemble(const Mask& mask, std::vector<FixedTerm> terms, double offset,
                                     double divisor, double error) {
  SeparableMask<std::uint8_t> s;
  s.error = error;
  for (FixedTerm& t : terms) {
    const std::int32_t bias = even_middle(t.row, std::ldexp(1.0, -t.result_shift));
    const std::int64_t column_sum = std::accumulate(t.column.begin(), t.column.end(), 0LL);
    offset += double(bias * column_sum);
    auto& term = s.terms.emplace_back();
    term.row = line<std::int16_t>(mask, true, std::move(t.row));
    term.row.finish = integer_finish(-(bias << t.result_shift), 1u << t.result_shift, kRowResultLow,
                                     kRowResultHigh);
    term.row.finish.even = 0;  // ties go up, which saves an operation and adds no error
    term.column = line<std::uint8_t>(mask, false, std::move(t.column));
  }
  for (auto& term : s.terms) {
    term.column.finish = integer_finish(std::int32_t(offset), std::uint32_t(divisor), 0, 255);
  }
  return s;
}

std::optional<SeparableMask<std::uint8_t>> exact_u8(const Mask& mask,
                                                    const std::vector<Factors>& terms) {
  const double offset = mask.offset * mask.divisor;
  if (std::trunc(offset) != offset || std::trunc(mask.divisor) != mask.divisor ||
      mask.divisor > (1 << 22)) {
    return std::nullopt;
  }
  double reach = 0, start = std::abs(offset);
  std::vector<FixedTerm> fixed;
  for (const Factors& f : terms) {
    const double span = 255 * magnitude(f.row);
    if (!f.integers || span > kRowResultHigh - kRowResultLow - 2)
      return std::nullopt;  // the 2 is for the bias, which is even, not the exact middle
    reach += 32768 * magnitude(f.column);
    start += (std::abs(255 * total_of(f.row) / 2) + 2) * std::abs(total_of(f.column));
    if (reach >= kLimit || start >= kLimit) return std::nullopt;
    fixed.push_back({{f.row.begin(), f.row.end()}, {f.column.begin(), f.column.end()}, 0});
  }
  if (start + 256 * mask.divisor >= kLimit) return std::nullopt;
  return assemble(mask, std::move(fixed), offset, mask.divisor, 0);
}

// The largest shift, at most `cap`, that leaves `values` weights of 16 bits.
int shift_to_16_bits(const std::vector<double>& values, int cap) {
  double largest = 0;
  for (double v : values) largest = std::max(largest, std::abs(v));
  int shift = cap;
  while (shift > 0 && largest * std::ldexp(1.0, shift) > 32767) --shift;
  return shift;
}

struct Fixed {
  FixedTerm term;
  double error;  // that row pass, rounding between the passes, and column weights make together
};

// Puts a term into fixed point. Behind the point there are `fraction` bits between the passes and
// `shift` bits in the column weights. The result is empty where these do not fit 16 bits.
std::optional<Fixed> fix(const Factors& f, int fraction, int shift) {
  const int row_shift =
      std::max(fraction, shift_to_16_bits(f.row, std::min(22, fraction + kMaxResultShift)));
  FixedPoint row = fixed_point(f.row, row_shift, 255);
  const double span = 255.0 * magnitude(row.weights);
  if (shift < 0 || shift > shift_to_16_bits(f.column, shift) ||
      span * std::ldexp(1.0, fraction - row_shift) > kRowResultHigh - kRowResultLow - 2) {
    return std::nullopt;
  }
  FixedPoint column = fixed_point(f.column, shift, 255);
  // The column weights, as they are rounded, multiply the errors of the row pass and of the
  // rounding between the passes.
  const double gain = std::ldexp(magnitude(column.weights), -shift);
  const double error = (row.error + std::ldexp(0.5, -fraction)) * gain + column.error;
  return Fixed{{std::move(row.weights), std::move(column.weights), row_shift - fraction}, error};
}

constexpr int kMostFraction = 8;

// The split of `bits` between fraction and shift whose proven error is least.
std::optional<Fixed> best_split(const Factors& f, int bits) {
  std::optional<Fixed> best;
  for (int fraction = kMostFraction; fraction >= 0; --fraction) {
    auto fixed = fix(f, fraction, bits - fraction);
    if (fixed && (!best || fixed->error < best->error)) best = std::move(fixed);
  }
  return best;
}

// Splits the bits between the fraction of what lies between the passes and the column weights, so
// that the proven error is least. Fraction and shift have the same sum in all terms.
std::optional<SeparableMask<std::uint8_t>> fixed_u8(const Mask& mask, std::vector<Factors> terms) {
  double gain = 0, sum = 0;  // sums of the columns' |weights|, and of their |sums|
  for (Factors& f : terms) {
    const double unit = magnitude(f.row);
    for (double& r : f.row) r /= unit;
    for (double& c : f.column) c *= unit / f.divisor;
    f.divisor = 1;
    gain += magnitude(f.column);
    sum += std::abs(total_of(f.column));
  }
  const double reach = 256 * (gain + 1);
  const double offset = std::clamp(mask.offset, -reach, reach);
  const double unfactored = 255 * excess_of(mask, terms);

  std::optional<SeparableMask<std::uint8_t>> best;
  for (int fraction = kMostFraction; fraction >= 0; --fraction) {
    const auto fits = [&](int shift) {
      const double one = std::ldexp(1.0, fraction + shift);
      // Values between the passes span 255 steps around their bias, and rounding adds at most half
      // a unit to a weight.
      const double weights = mask.height * (std::ldexp(1.0, fraction) +
                                            std::ldexp(double(terms.size() - 1), kMostFraction));
      return 128 * (gain * one + weights) < kLimit &&
             (std::abs(offset) + 256 + 128 * sum) * one < kInt32;
    };
    int shift = shift_to_16_bits(terms.front().column, 22 - fraction);
    while (shift > 0 && !fits(shift)) --shift;
    if (!fits(shift)) continue;
    const double divisor = std::ldexp(1.0, shift + fraction);
    const double scaled_offset = std::nearbyint(offset * divisor);
    double error = 0;
    std::vector<FixedTerm> fixed;
    for (const Factors& f : terms) {
      auto found = &f == terms.data() ? fix(f, fraction, shift) : best_split(f, fraction + shift);
      if (!found) break;
      error += found->error;
      fixed.push_back(std::move(found->term));
    }
    error += unfactored + std::abs(scaled_offset / divisor - offset);
    if (fixed.size() < terms.size() || (best && best->error <= error)) continue;
    best = assemble(mask, std::move(fixed), scaled_offset, divisor, error);
  }
  return best;
}

bool all_below(const std::vector<double>& weights, double limit) {
  return std::all_of(weights.begin(), weights.end(),
                     [&](double w) { return std::abs(w) <= limit; });
}

template <class T>
SeparableMask<T> prepare_float(const Mask& mask, const std::vector<Factors>& terms) {
  const bool exact = std::all_of(terms.begin(), terms.end(), [](const Factors& f) {
    return f.integers && all_below(f.row, 1 << 24) && all_below(f.column, 1 << 24);
  });
  SeparableMask<T> s;
  for (const Factors& f : terms) {
    std::vector<float> column;
    for (double c : f.column) column.push_back(float(exact ? c : c / f.divisor));
    auto& term = s.terms.emplace_back();
    term.row = line<float>(mask, true, {f.row.begin(), f.row.end()});
    term.column = line<T>(mask, false, std::move(column));
    term.column.finish = {exact ? float(1 / f.divisor) : 1.0f, float(mask.offset)};
  }
  return s;
}

constexpr const char* kHigherRank =
    "the mask is no sum of at most 3 products of a row and a column (its rank is above 3); use a "
    "direct strategy, such as basic or cpu";
constexpr const char* kCancel =
    "the products of a row and a column that add up to the mask cancel each other, which loses "
    "digits; use a direct strategy, such as basic or cpu";
constexpr const char* kAllZero =
    "the mask's weights are all 0, so it has no row and column; use a direct strategy";
constexpr const char* kTooLarge =
    "the mask's weights are too large for two 8-bit passes; give it a scale, or use a direct "
    "strategy";

std::vector<Factors> terms_of(const Mask& mask, Depth depth) {
  // The tolerance is relative to the gain, but 8-bit results are whole steps, however small the
  // gain is.
  const double share = depth == Depth::u8 ? std::min(1.0, absolute_gain(mask)) : 1;
  return terms_of(mask, kMostTerms, rank_tolerance(depth) / share);
}

}  // namespace

template <class T>
RowResultOf<T> SeparableTerm<T>::ghost_row_result(T ghost) const {
  SumOf<RowResultOf<T>> sum = 0;
  for (const auto weight : row.weights)
    sum = multiply_add(weight, SumOf<RowResultOf<T>>(ghost), sum);
  RowResultOf<T> result;
  finish(row.finish, sum, result);
  return result;
}

namespace {

template <class T>
SeparableMask<T> prepare(const Mask& mask) {
  if (absolute_gain(mask) == 0) throw std::invalid_argument(kAllZero);
  const auto terms = terms_of(mask, kDepthOf<T>);
  if (terms.empty()) throw std::invalid_argument(kHigherRank);
  if (terms.size() > 1 && cancel(mask, terms)) throw std::invalid_argument(kCancel);
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    if (auto exact = exact_u8(mask, terms)) return *exact;
    if (auto fixed = fixed_u8(mask, terms); fixed && fixed->error <= kMaxError) return *fixed;
    throw std::invalid_argument(kTooLarge);
  } else {
    return prepare_float<T>(mask, terms);
  }
}

/// A prepared mask, or why there is none.
template <class T>
using Outcome = std::variant<SeparableMask<T>, std::string>;

template <class T>
std::shared_ptr<const Outcome<T>> outcome_of(const Mask& mask) {
  static auto& memo = *new MaskMemo<std::monostate, Outcome<T>>;
  return memo.find(mask, {}, [&]() -> Outcome<T> {
    try {
      return prepare<T>(mask);
    } catch (const std::invalid_argument& refusal) {
      return refusal.what();
    }
  });
}

}  // namespace

template <class T>
SeparableMask<T> prepare_separable(const Mask& mask) {
  const auto outcome = outcome_of<T>(mask);
  if (const auto* refusal = std::get_if<std::string>(outcome.get()))
    throw std::invalid_argument(*refusal);
  return std::get<SeparableMask<T>>(*outcome);
}

template struct SeparableTerm<std::uint8_t>;
template struct SeparableTerm<std::uint16_t>;
template struct SeparableTerm<float>;
template SeparableMask<std::uint8_t> prepare_separable(const Mask&);
template SeparableMask<std::uint16_t> prepare_separable(const Mask&);
template SeparableMask<float> prepare_separable(const Mask&);

std::string separable_refuses(const Problem& problem, const Tuning&) {
  if (std::string reason = arithmetic_refuses(problem); !reason.empty()) return reason;
  return with_depth(problem.depth, [&]<class T>(TypeTag<T>) -> std::string {
    const auto outcome = outcome_of<T>(problem.mask);
    const auto* refusal = std::get_if<std::string>(outcome.get());
    return refusal ? *refusal : "";
  });
}

int separable_taps(const Problem& problem) {
  const Mask& mask = problem.mask;
  const auto terms = terms_of(mask, problem.depth);
  return int(terms.size()) * (mask.width + mask.height);
}

}  // namespace convfilt
