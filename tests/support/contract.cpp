#include "tests/support/contract.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/separable.hpp"
#include "tests/support/masks/mask_facts.hpp"

namespace convfilt::test {
namespace {

constexpr double kHalfUlp = 5.9604644775390625e-8;  // of a float near 1: 2^-24
constexpr int kPartSide = 31;                       // larger masks are cut
constexpr int kMostBits = 22;                       // 256 steps of 2^22 are kSumLimit
constexpr double kGoodError = 0.01;                 // of a step: bits are added until it is met
constexpr double kMost16 = 32767;

bool is_integer(double value) {
  return std::floor(value) == value;
}

double sum_of(const std::vector<double>& values) {
  long double sum = 0;
  for (const double v : values) sum += v;
  return double(sum);
}

double sum_of_magnitudes(const std::vector<double>& values) {
  long double sum = 0;
  for (const double v : values) sum += std::abs(v);
  return double(sum);
}

bool up_to(int side, const Mask& mask) {
  return mask.width <= side && mask.height <= side;
}

/// Whether the end of a sum is a division of integers.
bool integer_end(const Mask& mask) {
  return is_integer(mask.divisor) && mask.divisor >= 1 && is_integer(mask.offset * mask.divisor);
}

/// Whether weights of so many bits behind the point leave all sums below kSumLimit. Rounding may
/// add half a unit to each weight; an offset that saturates everything counts as the smallest that
/// does.
bool bits_fit(const Mask& mask, int bits) {
  const double one = std::ldexp(1.0, bits), sum = magnitude_of(mask);
  const double offset = std::min(std::abs(mask.offset), 256 * (sum + 1));
  return 255 * (sum * one + 0.5 * double(mask.weights.size())) < kSumLimit &&
         (offset + 256) * one <= kSumLimit;
}

/// What fixed-point weights may lose of 255 steps, with as many bits as are needed and fit. Their
/// sum is kept, so n weights are too large by at most n / 4 units in all, and by half a unit where
/// the sum itself is rounded.
double fixed_point_error(const Mask& mask) {
  double largest = 0;
  for (const double w : mask.weights) largest = std::max(largest, std::abs(w) / mask.divisor);
  int most = kMostBits;
  while (most > 0 && !bits_fit(mask, most)) --most;
  int few = most;  // 16 bits are enough for many
  while (few > 0 && std::ldexp(largest, few) > kMost16) --few;
  const double units = 255 * (double(mask.weights.size()) / 4 + 0.5);
  return std::max(kGoodError, std::ldexp(units, -most)) + std::ldexp(0.5, -few);
}

/// The error of one pass before the last rounding.
double one_pass_error_u8(const Mask& mask) {
  if (exact_in_one_pass(mask)) return 0;
  const double error = fixed_point_error(mask), sum = magnitude_of(mask);
  const bool normalised = std::abs(sum_of(mask.weights) / mask.divisor - 1) < 1e-6;
  // A sharpening mask's sum of |weights| takes bits from the fixed point, so its error grows alike.
  return normalised && up_to(15, mask) ? std::min(error, 0.02 * std::max(1.0, sum)) : error;
}

double two_pass_error_u8(const Mask& mask) {
  return exact_in_two_passes(mask) ? 0 : 0.5;
}

// The error of float sums is bounded by the operations of arithmetic.hpp that may each round once.
// A row of a part is a chain, the rows of all parts are added up, and a few more operations end the
// sum.
double float_sum_error(const Mask& mask, double largest) {
  const int parts = (mask.width + kPartSide - 1) / kPartSide;
  const int roundings = std::min(mask.width, kPartSide) + mask.height * parts + 3;
  return roundings * kHalfUlp * magnitude_of(mask) * largest;
}

/// The offset and the final value as floats.
double float_end_error(const Mask& mask) {
  return kHalfUlp * (std::abs(mask.offset) + 65536);
}

double relative_error(double share, const Mask& mask, double largest) {
  return share * magnitude_of(mask) * largest + 2 * kHalfUlp * std::abs(mask.offset);
}

double direct_error(const Problem& p, double largest) {
  const Mask& mask = p.mask;
  switch (p.depth) {
    case Depth::u8: return 0.5 + std::min(one_pass_error_u8(mask), claims_of(mask).one_pass);
    case Depth::u16: {
      const double error = float_sum_error(mask, largest);
      const double documented = 0.05 * std::max(1.0, magnitude_of(mask));
      return 0.5 + float_end_error(mask) +
             (up_to(kPartSide, mask) ? std::min(error, documented) : error);
    }
    case Depth::f32: break;
  }
  return relative_error(1e-6, mask, largest);
}

/// Every term's row pass rounds, and so does its column pass with all that it carries on. Terms
/// that cancel by more than half are refused, so all together have at most twice the mask's
/// |weights|.
double two_pass_error_u16(const Mask& mask, double largest) {
  constexpr int kMostTerms = 3;
  constexpr double kMostCancelled = 2;
  const double chain = mask.width + kMostTerms * mask.height + 4;
  const double sum = magnitude_of(mask);
  const double error = rank_share(Depth::u16) * sum * largest + float_end_error(mask) +
                       chain * kHalfUlp * kMostCancelled * sum * largest;
  return std::min(0.5 + error, std::max(1.0, sum));
}

double separable_error(const Problem& p, double largest) {
  const Mask& mask = p.mask;
  switch (p.depth) {
    case Depth::u8:
      return 0.5 + std::min(two_pass_error_u8(mask), claims_of(mask).two_passes.value_or(1));
    case Depth::u16: return two_pass_error_u16(mask, largest);
    case Depth::f32: break;
  }
  return relative_error(1e-5, mask, largest);
}

double transform_error(const Problem& p, double largest) {
  return p.depth == Depth::f32 ? relative_error(1e-5, p.mask, largest) : 1;
}

/// The mask's rows or its columns, whichever are fewer, if they are no more than three and none is
/// a sum of the others: each is a product with a column or a row that has a single 1.
std::vector<IntegerLines> few_lines(const Mask& mask) {
  const int lines = std::min(mask.width, mask.height);
  if (lines > 3 || !integer_weights(mask)) return {};
  const Products products = products_through(mask, largest_weight(mask));
  // What is left before the last product is far above what may be left out.
  if (int(products.left.size()) <= lines || products.left[std::size_t(lines) - 1] < 1e-3) return {};
  const bool rows = mask.height <= mask.width;
  std::vector<IntegerLines> all;
  for (int k = 0; k < lines; ++k) {
    IntegerLines& line = all.emplace_back();
    for (int i = 0; i < mask.width; ++i) line.row.push_back(rows ? mask.weight(i, k) : i == k);
    for (int j = 0; j < mask.height; ++j) line.column.push_back(rows ? j == k : mask.weight(k, j));
  }
  return all;
}

}  // namespace

double rank_share(Depth depth) {
  return depth == Depth::u8 ? 4e-5 : 1.5e-7;
}

bool exact_in_one_pass(const Mask& mask) {
  return integer_weights(mask) && integer_end(mask) &&
         255 * sum_of_magnitudes(mask.weights) < kSumLimit &&
         (std::abs(mask.offset) + 256) * mask.divisor < kSumLimit;
}

bool exact_in_two_passes(const Mask& mask) {
  if (!integer_end(mask) || mask.divisor > (1 << kMostBits)) return false;
  std::vector<IntegerLines> terms{integer_lines(mask)};
  if (terms.front().row.empty()) terms = few_lines(mask);
  if (terms.empty()) return false;
  double columns = 0, ends = std::abs(mask.offset * mask.divisor) + 256 * mask.divisor;
  for (const auto& [row, column] : terms) {
    // The plane between the passes has 16 bits around an even bias.
    if (255 * sum_of_magnitudes(row) > 65535 - 2) return false;
    columns += 32768 * sum_of_magnitudes(column);
    ends += (std::abs(255 * sum_of(row) / 2) + 2) * std::abs(sum_of(column));
  }
  return columns < kSumLimit && ends < kSumLimit;
}

bool must_be_exact(const Problem& problem, Family family) {
  if (problem.depth != Depth::u8) return false;
  switch (family) {
    case Family::direct:
    case Family::reordered: return exact_in_one_pass(problem.mask);
    case Family::separable: return exact_in_two_passes(problem.mask);
    case Family::transform: break;
  }
  return false;
}

double allowed_error(const Problem& problem, Family family, double largest) {
  switch (family) {
    case Family::direct: return direct_error(problem, largest);
    case Family::separable: return separable_error(problem, largest);
    case Family::reordered: return direct_error(problem, largest);  // sums meet in double
    case Family::transform: break;
  }
  return transform_error(problem, largest);
}

Claims claims_of(const Mask& mask) {
  Claims claims{prepare_mask<std::uint8_t>(mask).error, std::nullopt};
  if (separable_refuses({1, 1, 1, Depth::u8, Border::replicate, 0, mask}).empty())
    claims.two_passes = prepare_separable<std::uint8_t>(mask).error;
  return claims;
}

std::string wrong_claim(const Mask& mask) {
  if (!arithmetic_refuses({1, 1, 1, Depth::u8, Border::replicate, 0, mask}).empty()) return "";
  const Claims claims = claims_of(mask);
  const auto wrong = [](const char* passes, double claimed, double documented) {
    return claimed <= documented
               ? std::string()
               : std::string(passes) + " claims an error of " + std::to_string(claimed) +
                     " steps, where " + std::to_string(documented) + " is the most";
  };
  const std::string one = wrong("one pass", claims.one_pass, one_pass_error_u8(mask));
  if (!one.empty() || !claims.two_passes) return one;
  return wrong("two passes", *claims.two_passes, two_pass_error_u8(mask));
}

}  // namespace convfilt::test
