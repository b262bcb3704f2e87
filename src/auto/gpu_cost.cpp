#include "src/auto/gpu_cost.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "kernels/backend/devices.hpp"
#include "kernels/contract/separable.hpp"
#include "kernels/tensor/warpgroup/grid.hpp"
#include "src/auto/cost_curve.hpp"
#include "src/auto/small_gpu_cost.hpp"

namespace convfilt {
namespace {

// Where the curves were measured, and what a copy there moves, read and written, on an H200.
constexpr double kLargePixels = 8192.0 * 8192, kCopiedBytesPerMicrosecond = 4.1e6;

// The sides of masks.
constexpr int kSides[] = {3, 5, 7, 9, 15, 31};
constexpr int kGroupSides[] = {3, 5, 7, 9, 15, 31, 33, 47, 63};
constexpr int kTaps[] = {5, 9, 15, 31, 63, 127};
// To 63 taps lines are added up in registers; from 49 on lanes share mids, in colour and in 16 bits
// from fewer. That of 65 is the other kernel's of 63.
constexpr int kWalkedTaps[] = {5, 9, 15, 31, 33, 47, 49, 63, 65, 101, 127};
constexpr int kLargeSides[] = {31, 63, 127, 257};
constexpr int kLongTaps[] = {101, 257, 1025};

constexpr auto kTensor =
    squares(kGroupSides, {1.33, 1.53, 1.68, 1.87, 2.58, 7.29, 7.34, 15.8, 27.7});
constexpr auto kTensorColour =
    squares(kGroupSides, {1.19, 1.38, 2.05, 2.12, 2.87, 8.53, 10.4, 19.7, 31.4});
constexpr auto kTensorStrips = squares(kSides, {1.60, 1.97, 2.69, 3.03, 5.90, 15.7});
constexpr auto kTensorStripsColour = squares(kSides, {1.38, 2.70, 3.78, 4.55, 8.44, 18.9});
constexpr auto kDirectU8 = squares(kSides, {7.63, 9.30, 11.6, 16.1, 32.9, 121});
constexpr auto kDirectU8Colour = squares(kSides, {14.3, 14.4, 14.7, 17.4, 34.6, 128});
constexpr auto kUnrolledU8 = squares(kSides, {5.40, 8.29, 14.4, 18.9, 105, 406});
constexpr auto kUnrolledU8Colour = squares(kSides, {7.96, 11.1, 17.5, 22.3, 113, 434});
constexpr auto kDirectU16 = squares(kSides, {1.24, 1.86, 2.54, 4.35, 10.5, 43.4});
constexpr auto kDirectU16Colour = squares(kSides, {1.19, 1.84, 2.82, 5.34, 11.0, 48.2});
constexpr auto kDirectF32 = squares(kSides, {1.22, 1.22, 1.39, 1.93, 4.75, 22.2});
constexpr auto kDirectF32Colour = squares(kSides, {1.19, 1.21, 1.50, 2.16, 4.81, 24.0});
constexpr auto kSeparableTensor = lines(kTaps, {2.08, 2.08, 2.09, 2.10, 2.55, 4.24});
constexpr auto kSeparableTensorColour = lines(kTaps, {2.06, 2.07, 2.30, 2.49, 4.06, 11.3});
constexpr auto kSeparableTensorWarps = lines(kTaps, {2.63, 2.64, 2.64, 2.98, 4.93, 6.70});
constexpr auto kSeparableTensorWarpsColour = lines(kTaps, {2.82, 2.82, 2.82, 3.33, 4.83, 19.0});
constexpr auto kSeparableU8 = lines(kTaps, {10.5, 10.8, 11.9, 15.8, 27.8, 56.4});
constexpr auto kSeparableU8Colour = lines(kTaps, {8.07, 13.0, 14.3, 16.0, 28.1, 61.5});
constexpr auto kSeparableU16 =
    lines(kWalkedTaps, {1.22, 1.27, 1.51, 3.11, 3.29, 4.39, 4.84, 5.62, 9.94, 19.1, 21.7});
constexpr auto kSeparableU16Colour =
    lines(kWalkedTaps, {1.17, 1.18, 1.59, 3.19, 3.73, 4.52, 5.10, 6.04, 9.59, 20.6, 29.7});
constexpr auto kSeparableF32 =
    lines(kWalkedTaps, {1.14, 1.14, 1.17, 1.48, 1.60, 2.30, 2.59, 3.01, 3.77, 8.04, 8.07});
constexpr auto kSeparableF32Colour =
    lines(kWalkedTaps, {1.09, 1.09, 1.11, 1.61, 1.82, 2.23, 2.52, 2.94, 4.26, 9.27, 10.9});

constexpr auto kBlocksU8 = squares(kLargeSides, {43.6, 48.2, 58.5, 67.3});
constexpr auto kBlocksU8Colour = squares({63, 127, 257}, {53.5, 64.8, 75.2});
constexpr auto kBlocksU16 = squares(kLargeSides, {25.6, 28.5, 30.9, 36.0});
constexpr auto kBlocksU16Colour = squares(kLargeSides, {26.1, 28.7, 34.5, 39.3});
constexpr auto kBlocksF32 = squares(kLargeSides, {13.6, 15.2, 16.8, 20.8});
constexpr auto kBlocksF32Colour = squares(kLargeSides, {16.1, 18.0, 21.2, 25.8});
constexpr auto kWholeU8 = squares({63}, {69.8});
constexpr auto kWholeU8Colour = squares({63}, {77.3});
constexpr auto kWholeU16 = squares({63}, {36.8});
constexpr auto kWholeU16Colour = squares({63}, {39.7});
constexpr auto kWholeF32 = squares({63}, {19.3});
constexpr auto kWholeF32Colour = squares({63}, {22.3});

constexpr auto kCoarseU8 = lines(kLongTaps, {8.89, 7.68, 8.79});
constexpr auto kCoarseU8Colour = lines(kLongTaps, {10.0, 6.95, 7.26});
constexpr auto kCoarseU16 = lines(kLongTaps, {10.4, 6.77, 6.55});
constexpr auto kCoarseU16Colour = lines(kLongTaps, {9.59, 6.66, 6.09});
constexpr auto kCoarseF32 = lines(kLongTaps, {8.06, 4.72, 5.76});
constexpr auto kCoarseF32Colour = lines(kLongTaps, {7.91, 5.26, 5.83});

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

/// Multiply-adds of a sample by that strategy, by which curves go.
double taps_of(const Strategy& strategy, const Problem& problem) {
  const double width = problem.mask.width, height = problem.mask.height;
  if (strategy.family == Family::separable) return separable_taps(problem);
  return strategy.name == "coarse" ? width + height : width * height;
}

/// tensor leaves pictures that strips of warpgroups do not fit to its other kernels.
bool has_warpgroups(const Strategy& strategy, const Problem& problem, int major) {
  return major == kWarpgroupMajor &&
         (strategy.name != "tensor" || tensor::warpgroup::strips_fit(problem.out_width()));
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

}  // namespace convfilt
