#include "gpu_cost.hpp"

#include <iterator>
#include <span>
#include <string_view>

#include "devices.hpp"
#include "separable.hpp"

namespace convfilt {
namespace {

/// Of a mask with so many multiply-adds a sample.
struct Point {
  double taps, copies;
};

/// One strategy at one depth, for grey pictures or for those in colour.
struct Curve {
  std::string_view strategy;
  Depth depth;
  bool colour;
  std::span<const Point> points;        ///< by rising taps
  std::optional<bool> warpgroups = {};  ///< for devices that have them, or for all others alone
};

constexpr double taps_of(int side) {
  return double(side) * side;
}
constexpr double line_taps_of(int side) {
  return 2.0 * side;
}

// clang-format off
#define SQUARES(a, b, c, d, e, f) \
  {{taps_of(3), a}, {taps_of(5), b}, {taps_of(7), c}, {taps_of(9), d}, {taps_of(15), e}, {taps_of(31), f}}
#define LINES(a, b, c, d, e, f) \
  {{line_taps_of(5), a}, {line_taps_of(9), b}, {line_taps_of(15), c}, {line_taps_of(31), d}, {line_taps_of(63), e}, {line_taps_of(127), f}}

constexpr Point kTensor[] = SQUARES(1.45, 1.64, 1.83, 2.01, 2.72, 9.52);
constexpr Point kTensorColour[] = SQUARES(1.29, 1.50, 2.61, 3.12, 5.03, 12.5);
constexpr Point kTensorStrips[] = SQUARES(1.60, 1.97, 2.69, 3.03, 5.90, 15.7);
constexpr Point kTensorStripsColour[] = SQUARES(1.38, 2.70, 3.78, 4.55, 8.44, 18.9);
constexpr Point kDirectU8[] = SQUARES(7.63, 9.30, 11.6, 16.1, 32.9, 121);
constexpr Point kDirectU8Colour[] = SQUARES(14.3, 14.4, 14.7, 17.4, 34.6, 128);
constexpr Point kUnrolledU8[] = SQUARES(5.40, 8.29, 14.4, 18.9, 105, 406);
constexpr Point kUnrolledU8Colour[] = SQUARES(7.96, 11.1, 17.5, 22.3, 113, 434);
constexpr Point kDirectU16[] = SQUARES(1.33, 2.00, 2.96, 4.24, 11.6, 43.4);
constexpr Point kDirectU16Colour[] = SQUARES(1.24, 2.34, 3.24, 5.07, 13.5, 48.2);
constexpr Point kDirectF32[] = SQUARES(1.17, 1.32, 1.67, 2.30, 5.47, 22.2);
constexpr Point kDirectF32Colour[] = SQUARES(1.14, 1.35, 1.79, 2.30, 5.65, 24.0);
constexpr Point kSeparableTensor[] = LINES(2.63, 2.64, 2.64, 2.98, 4.93, 6.70);
constexpr Point kSeparableTensorColour[] = LINES(2.82, 2.82, 2.82, 3.33, 4.83, 19.0);
constexpr Point kSeparableU8[] = LINES(10.5, 10.8, 11.9, 15.8, 27.8, 56.4);
constexpr Point kSeparableU8Colour[] = LINES(8.07, 13.0, 14.3, 16.0, 28.1, 61.5);
constexpr Point kSeparableU16[] = LINES(3.13, 3.52, 3.95, 5.36, 9.29, 19.8);
constexpr Point kSeparableU16Colour[] = LINES(3.81, 4.14, 4.56, 6.02, 9.56, 29.9);
constexpr Point kSeparableF32[] = LINES(1.42, 1.49, 1.59, 2.12, 3.62, 7.66);
constexpr Point kSeparableF32Colour[] = LINES(1.38, 1.45, 1.52, 2.09, 4.25, 10.8);

#undef SQUARES
#undef LINES

constexpr Curve kCurves[] = {
    {"tensor", Depth::u8, false, kTensor, true},
    {"tensor", Depth::u8, true, kTensorColour, true},
    {"tensor", Depth::u8, false, kTensorStrips, false},
    {"tensor", Depth::u8, true, kTensorStripsColour, false},
    {"direct", Depth::u8, false, kDirectU8},
    {"direct", Depth::u8, true, kDirectU8Colour},
    {"unrolled", Depth::u8, false, kUnrolledU8},
    {"unrolled", Depth::u8, true, kUnrolledU8Colour},
    {"direct", Depth::u16, false, kDirectU16},
    {"direct", Depth::u16, true, kDirectU16Colour},
    {"direct", Depth::f32, false, kDirectF32},
    {"direct", Depth::f32, true, kDirectF32Colour},
    {"separable-tensor", Depth::u8, false, kSeparableTensor},
    {"separable-tensor", Depth::u8, true, kSeparableTensorColour},
    {"separable", Depth::u8, false, kSeparableU8},
    {"separable", Depth::u8, true, kSeparableU8Colour},
    {"separable", Depth::u16, false, kSeparableU16},
    {"separable", Depth::u16, true, kSeparableU16Colour},
    {"separable", Depth::f32, false, kSeparableF32},
    {"separable", Depth::f32, true, kSeparableF32Colour},
};
// clang-format on

double at(std::span<const Point> points, double taps) {
  if (taps <= points.front().taps) return points.front().copies;
  for (std::size_t k = 1; k < points.size(); ++k) {
    const Point &low = points[k - 1], &high = points[k];
    if (taps > high.taps) continue;
    const double share = (taps - low.taps) / (high.taps - low.taps);
    return low.copies + share * (high.copies - low.copies);
  }
  return points.back().copies * taps / points.back().taps;
}

}  // namespace

std::optional<double> copies_of(const Strategy& strategy, const Problem& problem, int major) {
  const Mask& mask = problem.mask;
  const double taps = strategy.family == Family::separable ? separable_taps(problem)
                                                           : double(mask.width) * mask.height;
  for (const Curve& curve : kCurves) {
    if (curve.warpgroups && *curve.warpgroups != (major == kWarpgroupMajor)) continue;
    if (curve.strategy == strategy.name && curve.depth == problem.depth &&
        curve.colour == (problem.channels > 1)) {
      return at(curve.points, taps);
    }
  }
  return {};
}

bool runs_on_capability(const Strategy& strategy, int major) {
  const bool tensor_cores = strategy.name == "tensor" || strategy.name == "separable-tensor";
  return !tensor_cores || major >= kTensorCoreMajor;
}

}  // namespace convfilt
