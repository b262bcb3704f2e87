#include "src/compare/promise.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/separable.hpp"

namespace convfilt {
namespace {

constexpr double kRounding = 0.5;  // of a step, to the nearest integer
constexpr double kStep = 1;
constexpr double kPromised16 = 0.05;  // of a 16-bit step, before rounding, at a gain of 1
constexpr int kPromisedSide16 = 31, kPromisedSideFloat = 101;

/// In units of 1e-6 of sum of |weights| times largest |sample|.
constexpr double kPromisedFloat = 1, kPromisedFloatOther = 10;

constexpr double kHalfUlp = 0x1p-24;  // of a float near 1

/// The truth itself, in double precision, is this far off at most, in steps.
constexpr double kTruthError = 1e-6;

bool fits(const Mask& mask, int side) {
  return mask.width <= side && mask.height <= side;
}

/// Weights that cancel lose more bits.
double amplification(const Mask& mask) {
  return std::max(1.0, absolute_gain(mask));
}

/// What the last float operations on a 16-bit sample lose, in steps.
double end_error16(const Mask& mask) {
  return kHalfUlp * (std::abs(mask.offset) + full_range(Depth::u16) + 1);
}

bool all_finite(PictureView<const std::byte> in) {
  for (int y = 0; y < in.height; ++y) {
    const float* row = reinterpret_cast<const float*>(in.row(y));
    if (!std::all_of(row, row + std::ptrdiff_t(in.width) * in.channels,
                     [](float sample) { return std::isfinite(sample); }))
      return false;
  }
  return true;
}

std::optional<double> direct_error(const Problem& problem) {
  const Mask& mask = problem.mask;
  switch (problem.depth) {
    case Depth::u8: return kRounding + prepare_mask<std::uint8_t>(mask).error + kTruthError;
    case Depth::u16:
      if (!fits(mask, kPromisedSide16)) return {};
      return kRounding + kPromised16 * amplification(mask) + end_error16(mask);
    case Depth::f32: break;
  }
  if (!fits(mask, kPromisedSideFloat) || mask.offset != 0) return {};
  return kPromisedFloat;
}

std::optional<double> float_error(const Problem& problem, PictureView<const std::byte> in) {
  if (problem.mask.offset != 0 || !all_finite(in)) return {};
  return kPromisedFloatOther;
}

std::optional<double> separable_error(const Problem& problem, PictureView<const std::byte> in) {
  switch (problem.depth) {
    case Depth::u8:
      return kRounding + prepare_separable<std::uint8_t>(problem.mask).error + kTruthError;
    case Depth::u16: return kStep * amplification(problem.mask);
    case Depth::f32: break;
  }
  return float_error(problem, in);
}

}  // namespace

std::optional<double> promised_error(const Problem& problem, PictureView<const std::byte> in,
                                     Family family) {
  switch (family) {
    case Family::direct: return direct_error(problem);
    case Family::reordered: return direct_error(problem);
    case Family::separable: return separable_error(problem, in);
    case Family::transform: break;
  }
  return problem.depth == Depth::f32 ? float_error(problem, in) : std::optional(kStep);
}

}  // namespace convfilt
