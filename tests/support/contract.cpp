#include "tests/support/contract.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/coarse/mask.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/separable.hpp"
#include "kernels/separable_tensor/mask.hpp"

namespace convfilt::test {
namespace {

constexpr double kHalfUlp = 5.9604644775390625e-8;  // of a float near 1: 2^-24

// Operations that may each round once, in the order of arithmetic.hpp, bound the error of float
// sums: the rows of a part are chains, a column of rows is added up, one more ends it.
double float_sum_error(const Mask& mask, double largest) {
  const int parts = (mask.width + kMaxPartSide - 1) / kMaxPartSide;
  const int roundings = std::min(mask.width, kMaxPartSide) + mask.height * parts + 3;
  return roundings * kHalfUlp * absolute_gain(mask) * largest;
}

double direct_error(const Problem& p, double largest) {
  const Mask& mask = p.mask;
  const double amplification = std::max(1.0, absolute_gain(mask));
  const double end =
      kHalfUlp * (std::abs(mask.offset) + 65536);  // offset and final value as floats
  const bool up_to_15 = mask.width <= 15 && mask.height <= 15;
  const bool up_to_31 = mask.width <= 31 && mask.height <= 31;
  switch (p.depth) {
    case Depth::u8: {
      const double error = prepare_mask<std::uint8_t>(mask).error;
      const bool normalised = std::abs(gain(mask) - 1) < 1e-6;
      // A sharpening mask's sum of |weights| takes bits from the fixed point, so its part grows
      // alike.
      return 0.5 + (normalised && up_to_15 ? std::min(error, 0.02 * amplification) : error);
    }
    case Depth::u16: {
      const double error = float_sum_error(mask, largest);
      return 0.5 + end + (up_to_31 ? std::min(error, 0.05 * amplification) : error);
    }
    case Depth::f32: break;
  }
  return 1e-6 * absolute_gain(mask) * largest + 2 * kHalfUlp * std::abs(mask.offset);
}

double magnitudes(const auto& line) {
  double sum = 0;
  for (const float w : line.weights) sum += std::abs(w);
  return sum;
}

double separable_error(const Problem& p, double largest) {
  const Mask& mask = p.mask;
  switch (p.depth) {
    case Depth::u8: return 0.5 + prepare_separable<std::uint8_t>(mask).error;
    case Depth::u16: {
      // Every term's row passes and all that its column pass carries on round.
      const auto terms = prepare_separable<std::uint16_t>(mask).terms;
      const double chain = mask.width + double(terms.size()) * mask.height + 4;
      double error = rank_tolerance(p.depth) * absolute_gain(mask) * largest +
                     kHalfUlp * (std::abs(mask.offset) + 65536);
      for (const auto& term : terms) {
        error += chain * kHalfUlp * magnitudes(term.row) * magnitudes(term.column) *
                 term.column.finish.scale * largest;
      }
      return std::min(0.5 + error, std::max(1.0, absolute_gain(mask)));
    }
    case Depth::f32: break;
  }
  return 1e-5 * absolute_gain(mask) * largest + 2 * kHalfUlp * std::abs(mask.offset);
}

double transform_error(const Problem& p, double largest) {
  if (p.depth != Depth::f32) return 1;
  return 1e-5 * absolute_gain(p.mask) * largest + 2 * kHalfUlp * std::abs(p.mask.offset);
}

}  // namespace

double allowed_error(const Problem& problem, Family family, double largest) {
  switch (family) {
    case Family::direct: return direct_error(problem, largest);
    case Family::separable: return separable_error(problem, largest);
    case Family::reordered: return direct_error(problem, largest);  // sums meet in double
    case Family::transform: break;
  }
  return transform_error(problem, largest);
}

std::string expected_refusal(const Problem& problem, const Runner& runner) {
  if (const std::string reason = mode_refuses(problem); !reason.empty()) return reason;
  if (runner.strategy->name == "winograd" && (problem.mask.width > 3 || problem.mask.height > 3)) {
    return "Winograd's tiles are made for 3x3";
  }
  if (runner.strategy->name == "im2col" && problem.mask.width * problem.mask.height > 128 * 128) {
    return "so many single-precision sums lose the bound";
  }
  if (runner.strategy->name == "tensor" && problem.depth != Depth::u8) {
    return "tensor cores multiply bytes";
  }
  if (runner.strategy->name == "separable-tensor") {
    if (problem.depth != Depth::u8) return "tensor cores multiply bytes";
    if (const std::string reason = separable_refuses(problem); !reason.empty()) return reason;
    const int terms = int(prepare_separable<std::uint8_t>(problem.mask).terms.size());
    const int slices =
        separable_tensor::slices_of(problem.mask.width, problem.mask.height, -problem.lead_x());
    if (slices > separable_tensor::most_slices(1, terms)) {
      return "a lane's registers hold no more slices of rows";
    }
  }
  if (runner.strategy->name == "coarse") return coarse::refuses(problem);
  switch (runner.family()) {
    case Family::separable: return separable_refuses(problem);
    case Family::transform: return transform_refuses(problem);
    default: return arithmetic_refuses(problem);
  }
}

}  // namespace convfilt::test
