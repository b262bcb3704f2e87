#include "gpu_cost.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "cost_curve.hpp"
#include "devices.hpp"
#include "fast/group_grid.hpp"
#include "separable.hpp"
#include "small_gpu_cost.hpp"

namespace convfilt {
namespace {

// Where the curves were measured, and what a copy there moves, read and written, on an H200.
constexpr double kLargePixels = 8192.0 * 8192, kCopiedBytesPerMicrosecond = 4.1e6;

// clang-format off
#define SQUARES(a, b, c, d, e, f) \
  {{taps_of(3), a}, {taps_of(5), b}, {taps_of(7), c}, {taps_of(9), d}, {taps_of(15), e}, {taps_of(31), f}}
#define LARGER_SQUARES(a, b, c, d, e, f, g, h, i) \
  {{taps_of(3), a}, {taps_of(5), b}, {taps_of(7), c}, {taps_of(9), d}, {taps_of(15), e}, {taps_of(31), f}, {taps_of(33), g}, {taps_of(47), h}, {taps_of(63), i}}
#define LINES(a, b, c, d, e, f) \
  {{line_taps_of(5), a}, {line_taps_of(9), b}, {line_taps_of(15), c}, {line_taps_of(31), d}, {line_taps_of(63), e}, {line_taps_of(127), f}}

// To 63 taps lines are added up in registers; from 49 on lanes share mids, in colour and in 16 bits from fewer. That of 65 is
// the other kernel's of 63.
#define WALKED_LINES(a, b, c, d, e, f, g, h, i, j) \
  {{line_taps_of(5), a}, {line_taps_of(9), b}, {line_taps_of(15), c}, {line_taps_of(31), d}, {line_taps_of(33), e}, {line_taps_of(47), f}, {line_taps_of(49), g}, {line_taps_of(63), h}, {line_taps_of(65), i}, {line_taps_of(127), j}}

constexpr CostPoint kTensor[] = LARGER_SQUARES(1.33, 1.53, 1.68, 1.87, 2.58, 7.29, 7.34, 15.8, 27.7);
constexpr CostPoint kTensorColour[] = LARGER_SQUARES(1.19, 1.38, 2.05, 2.12, 2.87, 8.53, 10.4, 19.7, 31.4);
constexpr CostPoint kTensorStrips[] = SQUARES(1.60, 1.97, 2.69, 3.03, 5.90, 15.7);
constexpr CostPoint kTensorStripsColour[] = SQUARES(1.38, 2.70, 3.78, 4.55, 8.44, 18.9);
constexpr CostPoint kDirectU8[] = SQUARES(7.63, 9.30, 11.6, 16.1, 32.9, 121);
constexpr CostPoint kDirectU8Colour[] = SQUARES(14.3, 14.4, 14.7, 17.4, 34.6, 128);
constexpr CostPoint kUnrolledU8[] = SQUARES(5.40, 8.29, 14.4, 18.9, 105, 406);
constexpr CostPoint kUnrolledU8Colour[] = SQUARES(7.96, 11.1, 17.5, 22.3, 113, 434);
constexpr CostPoint kDirectU16[] = SQUARES(1.24, 1.86, 2.54, 4.35, 10.5, 43.4);
constexpr CostPoint kDirectU16Colour[] = SQUARES(1.19, 1.84, 2.82, 5.34, 11.0, 48.2);
constexpr CostPoint kDirectF32[] = SQUARES(1.22, 1.22, 1.39, 1.93, 4.75, 22.2);
constexpr CostPoint kDirectF32Colour[] = SQUARES(1.19, 1.21, 1.50, 2.16, 4.81, 24.0);
constexpr CostPoint kSeparableTensor[] = LINES(2.08, 2.08, 2.09, 2.10, 2.55, 4.24);
constexpr CostPoint kSeparableTensorColour[] = LINES(2.06, 2.07, 2.30, 2.49, 4.06, 11.3);
constexpr CostPoint kSeparableTensorWarps[] = LINES(2.63, 2.64, 2.64, 2.98, 4.93, 6.70);
constexpr CostPoint kSeparableTensorWarpsColour[] = LINES(2.82, 2.82, 2.82, 3.33, 4.83, 19.0);
constexpr CostPoint kSeparableU8[] = LINES(10.5, 10.8, 11.9, 15.8, 27.8, 56.4);
constexpr CostPoint kSeparableU8Colour[] = LINES(8.07, 13.0, 14.3, 16.0, 28.1, 61.5);
constexpr CostPoint kSeparableU16[] = WALKED_LINES(1.22, 1.27, 1.51, 3.11, 3.29, 4.39, 4.84, 5.62, 9.94, 21.7);
constexpr CostPoint kSeparableU16Colour[] = WALKED_LINES(1.17, 1.18, 1.59, 3.19, 3.73, 4.52, 5.10, 6.04, 9.59, 29.7);
constexpr CostPoint kSeparableF32[] = WALKED_LINES(1.14, 1.14, 1.17, 1.48, 1.60, 2.30, 2.59, 3.01, 3.77, 8.07);
constexpr CostPoint kSeparableF32Colour[] = WALKED_LINES(1.09, 1.09, 1.11, 1.61, 1.82, 2.23, 2.52, 2.94, 4.26, 10.9);

#define LARGE_SQUARES(a, b, c, d) \
  {{taps_of(31), a}, {taps_of(63), b}, {taps_of(127), c}, {taps_of(257), d}}

constexpr CostPoint kBlocksU8[] = LARGE_SQUARES(43.6, 48.2, 58.5, 67.3);
constexpr CostPoint kBlocksU8Colour[] = {{taps_of(63), 53.5}, {taps_of(127), 64.8}, {taps_of(257), 75.2}};
constexpr CostPoint kBlocksU16[] = LARGE_SQUARES(25.6, 28.5, 30.9, 36.0);
constexpr CostPoint kBlocksU16Colour[] = LARGE_SQUARES(26.1, 28.7, 34.5, 39.3);
constexpr CostPoint kBlocksF32[] = LARGE_SQUARES(13.6, 15.2, 16.8, 20.8);
constexpr CostPoint kBlocksF32Colour[] = LARGE_SQUARES(16.1, 18.0, 21.2, 25.8);
constexpr CostPoint kWholeU8[] = {{taps_of(63), 69.8}};
constexpr CostPoint kWholeU8Colour[] = {{taps_of(63), 77.3}};
constexpr CostPoint kWholeU16[] = {{taps_of(63), 36.8}};
constexpr CostPoint kWholeU16Colour[] = {{taps_of(63), 39.7}};
constexpr CostPoint kWholeF32[] = {{taps_of(63), 19.3}};
constexpr CostPoint kWholeF32Colour[] = {{taps_of(63), 22.3}};

#define LONG_LINES(a, b, c) {{line_taps_of(101), a}, {line_taps_of(257), b}, {line_taps_of(1025), c}}

constexpr CostPoint kCoarseU8[] = LONG_LINES(8.89, 7.68, 8.79);
constexpr CostPoint kCoarseU8Colour[] = LONG_LINES(10.0, 6.95, 7.26);
constexpr CostPoint kCoarseU16[] = LONG_LINES(10.4, 6.77, 6.55);
constexpr CostPoint kCoarseU16Colour[] = LONG_LINES(9.59, 6.66, 6.09);
constexpr CostPoint kCoarseF32[] = LONG_LINES(8.06, 4.72, 5.76);
constexpr CostPoint kCoarseF32Colour[] = LONG_LINES(7.91, 5.26, 5.83);

#undef LONG_LINES
#undef LARGE_SQUARES
#undef LARGER_SQUARES
#undef SQUARES
#undef WALKED_LINES
#undef LINES

constexpr CostCurve kCurves[] = {
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
    {"separable-tensor", Depth::u8, false, kSeparableTensor, true},
    {"separable-tensor", Depth::u8, true, kSeparableTensorColour, true},
    {"separable-tensor", Depth::u8, false, kSeparableTensorWarps, false},
    {"separable-tensor", Depth::u8, true, kSeparableTensorWarpsColour, false},
    {"separable", Depth::u8, false, kSeparableU8},
    {"separable", Depth::u8, true, kSeparableU8Colour},
    {"separable", Depth::u16, false, kSeparableU16},
    {"separable", Depth::u16, true, kSeparableU16Colour},
    {"separable", Depth::f32, false, kSeparableF32},
    {"separable", Depth::f32, true, kSeparableF32Colour},
    {"overlap-save", Depth::u8, false, kBlocksU8},
    {"overlap-save", Depth::u8, true, kBlocksU8Colour},
    {"overlap-save", Depth::u16, false, kBlocksU16},
    {"overlap-save", Depth::u16, true, kBlocksU16Colour},
    {"overlap-save", Depth::f32, false, kBlocksF32},
    {"overlap-save", Depth::f32, true, kBlocksF32Colour},
    {"fft", Depth::u8, false, kWholeU8},
    {"fft", Depth::u8, true, kWholeU8Colour},
    {"fft", Depth::u16, false, kWholeU16},
    {"fft", Depth::u16, true, kWholeU16Colour},
    {"fft", Depth::f32, false, kWholeF32},
    {"fft", Depth::f32, true, kWholeF32Colour},
    {"coarse", Depth::u8, false, kCoarseU8},
    {"coarse", Depth::u8, true, kCoarseU8Colour},
    {"coarse", Depth::u16, false, kCoarseU16},
    {"coarse", Depth::u16, true, kCoarseU16Colour},
    {"coarse", Depth::f32, false, kCoarseF32},
    {"coarse", Depth::f32, true, kCoarseF32Colour},
};
// clang-format on

/// Multiply-adds of a sample by that strategy, by which curves go.
double taps_of(const Strategy& strategy, const Problem& problem) {
  const double width = problem.mask.width, height = problem.mask.height;
  if (strategy.family == Family::separable) return separable_taps(problem);
  return strategy.name == "coarse" ? width + height : width * height;
}

/// tensor leaves pictures that strips of warpgroups do not fit to its other kernels.
bool has_warpgroups(const Strategy& strategy, const Problem& problem, int major) {
  return major == kWarpgroupMajor && (strategy.name != "tensor" || strips_fit(problem.out_width()));
}

}  // namespace

std::optional<double> copies_of(const Strategy& strategy, const Problem& problem, int major) {
  const bool warpgroups = has_warpgroups(strategy, problem, major);
  return cost_at(kCurves, strategy.name, problem.depth, problem.channels > 1, warpgroups,
                 taps_of(strategy, problem));
}

std::optional<double> microseconds_of(const Strategy& strategy, const Problem& problem, int major) {
  const auto small =
      small_picture_us(strategy, problem.depth, problem.channels > 1,
                       has_warpgroups(strategy, problem, major), taps_of(strategy, problem));
  if (!small) return {};
  const auto copies = copies_of(strategy, problem, major);
  const double pixels = std::max(double(problem.out_width()) * problem.out_height(), kSmallPixels);
  if (!copies) return *small * pixels / kSmallPixels;
  const double bytes = 2.0 * size_of(problem.depth) * problem.channels;
  const double large = *copies * bytes * kLargePixels / kCopiedBytesPerMicrosecond;
  return *small + (large - *small) * (pixels - kSmallPixels) / (kLargePixels - kSmallPixels);
}

bool runs_on_capability(const Strategy& strategy, int major) {
  const bool tensor_cores = strategy.name == "tensor" || strategy.name == "separable-tensor";
  return !tensor_cores || major >= kTensorCoreMajor;
}

}  // namespace convfilt
