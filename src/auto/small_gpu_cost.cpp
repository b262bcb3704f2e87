#include "src/auto/small_gpu_cost.hpp"

#include <string_view>

#include "src/auto/cost_curve.hpp"

namespace convfilt {
namespace {

// The sides of masks.
constexpr int kSmallSides[] = {3, 5, 7, 9, 15};
constexpr int kSides[] = {3, 5, 7, 9, 15, 23, 25, 31, 47, 63};
constexpr int kLargeSides[] = {31, 47, 63, 101, 257};
constexpr int kTaps[] = {5, 9, 15, 31, 47, 63, 101};
// That of 65 taps is what separable's other kernel took at 63.
constexpr int kWalkedTaps[] = {5, 9, 15, 31, 47, 55, 63, 65, 101};
constexpr int kLongTaps[] = {101, 257};

// Grey at 2048x2048, where strips of warpgroups fit: smaller pictures take no longer.
constexpr auto kTensorGroupsU8 = squares({3, 9, 31}, {10.1, 11.7, 26.5});
constexpr auto kTensorGroupsU8Colour = squares(kSmallSides, {9.18, 9.34, 10.3, 11.4, 13.6});
constexpr auto kTensorU8 = squares(kSides, {14, 15.9, 17.2, 19.3, 29, 33.8, 36.1, 45.8, 140, 304});
constexpr auto kDirectU8 =
    squares(kSides, {20.2, 21.5, 23.7, 26.2, 35.4, 53.9, 58.8, 76.4, 208, 408});
constexpr auto kTiledInU8 = squares(kSmallSides, {8.29, 10.9, 14.3, 18, 38.6});
constexpr auto kTiledOutU8 =
    squares(kSides, {9.02, 10.3, 11.8, 13.5, 22.4, 38.4, 43.4, 61.9, 146, 276});
constexpr auto kUnrolledU8 =
    squares(kSides, {11.7, 20.7, 34.1, 54.1, 140, 311, 361, 551, 1210, 2320});
constexpr auto kSeparableTensorU8 = lines(kTaps, {10.8, 10.7, 10.8, 10.7, 12.4, 12.6, 18.2});
constexpr auto kSeparableU8 = lines(kTaps, {20.7, 29.4, 30.1, 24.9, 58.6, 36.4, 127});
constexpr auto kOverlapSaveU8 = squares(kLargeSides, {31.6, 34, 36.9, 39.5, 40.7});
constexpr auto kFftU8 = squares(kLargeSides, {29.6, 36.2, 34.8, 34.6, 43});
constexpr auto kCoarseU8 = lines(kLongTaps, {68.5, 69.9});
constexpr auto kTensorU8Colour =
    squares(kSides, {9.18, 9.34, 10.3, 11.4, 13.6, 101, 107, 137, 421, 918});
constexpr auto kDirectU8Colour =
    squares(kSides, {23.3, 24.7, 27.4, 30.6, 42.9, 69.9, 78.6, 106, 288, 572});
constexpr auto kUnrolledU8Colour =
    squares(kSides, {34.2, 60, 100, 161, 420, 931, 1080, 1650, 3620, 7000});
constexpr auto kSeparableTensorU8Colour = lines(kTaps, {11.3, 11.2, 11.6, 12.7, 15.1, 15.2, 22.8});
constexpr auto kSeparableU8Colour = lines(kTaps, {22.3, 31.8, 32.7, 49.5, 70.1, 57.5, 189});
constexpr auto kOverlapSaveU8Colour = squares(kLargeSides, {51.5, 65.8, 68, 81.3, 76.5});
constexpr auto kFftU8Colour = squares(kLargeSides, {50.9, 56.3, 65.6, 63.8, 88.7});
constexpr auto kCoarseU8Colour = lines(kLongTaps, {87.7, 109});
constexpr auto kDirectU16 =
    squares(kSides, {9.6, 12.2, 12.6, 14.9, 26.2, 46.1, 50.4, 64.8, 183, 373});
constexpr auto kTiledInU16 = squares(kSmallSides, {8.35, 11.3, 15, 19.7, 45.4});
constexpr auto kTiledOutU16 =
    squares(kSides, {9.28, 10.9, 12.5, 14.6, 25, 46.7, 52.5, 75, 182, 349});
constexpr auto kSeparableU16 =
    lines(kWalkedTaps, {8.54, 9.7, 14.3, 24.4, 29.2, 34.7, 41.5, 26.1, 99.3});
constexpr auto kTwoPassU16 = lines(kTaps, {15.6, 16.6, 18.3, 22.9, 27.9, 32.6, 47.1});
constexpr auto kOverlapSaveU16 = squares(kLargeSides, {32, 34, 37, 38, 39.6});
constexpr auto kFftU16 = squares(kLargeSides, {30.3, 37, 34.8, 33.6, 42.3});
constexpr auto kCoarseU16 = lines(kLongTaps, {73.3, 79.8});
constexpr auto kDirectU16Colour =
    squares(kSides, {11.1, 14.3, 15, 22.7, 37.8, 60.6, 66.5, 84.6, 243, 495});
constexpr auto kSeparableU16Colour =
    lines(kWalkedTaps, {12, 12.7, 16.4, 22.4, 33.3, 40.2, 49.2, 54.6, 159});
constexpr auto kOverlapSaveU16Colour = squares(kLargeSides, {52.9, 65.4, 69.2, 81.1, 79.9});
constexpr auto kFftU16Colour = squares(kLargeSides, {52.6, 56.4, 66.2, 62.8, 89.5});
constexpr auto kCoarseU16Colour = lines(kLongTaps, {94, 138});
constexpr auto kDirectF32 =
    squares(kSides, {9.34, 10.7, 13.6, 13.3, 20.4, 46, 50.3, 64.4, 183, 373});
constexpr auto kTiledInF32 = squares(kSmallSides, {8.22, 11.3, 14.3, 19.2, 45});
constexpr auto kTiledOutF32 =
    squares(kSides, {8.83, 10.3, 11.6, 13.7, 22.2, 38.8, 43.6, 62.1, 149, 284});
constexpr auto kSeparableF32 =
    lines(kWalkedTaps, {8.83, 10.1, 14.9, 22.9, 40.8, 33.9, 40.9, 42.4, 53.2});
constexpr auto kTwoPassF32 = lines(kTaps, {16, 16.8, 18.5, 22.5, 27.6, 31.7, 45.8});
constexpr auto kOverlapSaveF32 = squares(kLargeSides, {31.7, 34.8, 37.1, 38.1, 39.7});
constexpr auto kFftF32 = squares(kLargeSides, {29.8, 38, 35, 33.7, 41.9});
constexpr auto kCoarseF32 = lines(kLongTaps, {79.4, 77});
constexpr auto kDirectF32Colour =
    squares(kSides, {10.2, 11.9, 16.7, 16.8, 28.8, 62.3, 68.5, 86.9, 242, 489});
constexpr auto kSeparableF32Colour =
    lines(kWalkedTaps, {9.12, 12.4, 18.6, 21.7, 32, 38.1, 46.5, 55.4, 146});
constexpr auto kOverlapSaveF32Colour = squares(kLargeSides, {53.7, 69.2, 71.7, 86.4, 80.7});
constexpr auto kFftF32Colour = squares(kLargeSides, {53, 59.8, 66, 64.8, 91.7});
constexpr auto kCoarseF32Colour = lines(kLongTaps, {104, 188});

constexpr CostCurve kCurves[] = {
    {"tensor", Depth::u8, false, kTensorGroupsU8, true},
    {"tensor", Depth::u8, false, kTensorU8, false},
    {"direct", Depth::u8, false, kDirectU8},
    {"tiled-in", Depth::u8, false, kTiledInU8},
    {"tiled-out", Depth::u8, false, kTiledOutU8},
    {"unrolled", Depth::u8, false, kUnrolledU8},
    {"separable-tensor", Depth::u8, false, kSeparableTensorU8},
    {"separable", Depth::u8, false, kSeparableU8},
    {"overlap-save", Depth::u8, false, kOverlapSaveU8},
    {"fft", Depth::u8, false, kFftU8},
    {"coarse", Depth::u8, false, kCoarseU8},
    {"tensor", Depth::u8, true, kTensorGroupsU8Colour, true},
    {"tensor", Depth::u8, true, kTensorU8Colour, false},
    {"direct", Depth::u8, true, kDirectU8Colour},
    {"unrolled", Depth::u8, true, kUnrolledU8Colour},
    {"separable-tensor", Depth::u8, true, kSeparableTensorU8Colour},
    {"separable", Depth::u8, true, kSeparableU8Colour},
    {"overlap-save", Depth::u8, true, kOverlapSaveU8Colour},
    {"fft", Depth::u8, true, kFftU8Colour},
    {"coarse", Depth::u8, true, kCoarseU8Colour},
    {"direct", Depth::u16, false, kDirectU16},
    {"tiled-in", Depth::u16, false, kTiledInU16},
    {"tiled-out", Depth::u16, false, kTiledOutU16},
    {"separable", Depth::u16, false, kSeparableU16},
    {"two-pass", Depth::u16, false, kTwoPassU16},
    {"overlap-save", Depth::u16, false, kOverlapSaveU16},
    {"fft", Depth::u16, false, kFftU16},
    {"coarse", Depth::u16, false, kCoarseU16},
    {"direct", Depth::u16, true, kDirectU16Colour},
    {"separable", Depth::u16, true, kSeparableU16Colour},
    {"overlap-save", Depth::u16, true, kOverlapSaveU16Colour},
    {"fft", Depth::u16, true, kFftU16Colour},
    {"coarse", Depth::u16, true, kCoarseU16Colour},
    {"direct", Depth::f32, false, kDirectF32},
    {"tiled-in", Depth::f32, false, kTiledInF32},
    {"tiled-out", Depth::f32, false, kTiledOutF32},
    {"separable", Depth::f32, false, kSeparableF32},
    {"two-pass", Depth::f32, false, kTwoPassF32},
    {"overlap-save", Depth::f32, false, kOverlapSaveF32},
    {"fft", Depth::f32, false, kFftF32},
    {"coarse", Depth::f32, false, kCoarseF32},
    {"direct", Depth::f32, true, kDirectF32Colour},
    {"separable", Depth::f32, true, kSeparableF32Colour},
    {"overlap-save", Depth::f32, true, kOverlapSaveF32Colour},
    {"fft", Depth::f32, true, kFftF32Colour},
    {"coarse", Depth::f32, true, kCoarseF32Colour},
};

}  // namespace

std::optional<double> small_picture_us(const Strategy& strategy, Depth depth, bool colour,
                                       bool warpgroups, double taps) {
  return cost_at(kCurves, strategy.name, depth, colour, warpgroups, taps);
}

}  // namespace convfilt
