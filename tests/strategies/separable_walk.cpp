/// What strategy separable's walk in registers must get right beside the shared cases: every side
/// that it knows, edges on all sides of a strip, blocks of several rows, weights that its 16-bit
/// samples cannot take, and its own ends of sums.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/registry.hpp"
#include "kernels/separable/walk/mask.hpp"
#include "tests/support/a_depth.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/device/few_blocks.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {
namespace {

using namespace separable::walk;

constexpr Depth kWalked[] = {Depth::f32, Depth::u16};
constexpr int kChannels[] = {1, 3};

/// Puts the problem to separable on all its devices, which must give the CPU's bytes.
void check_bytes(const Problem& p, const Picture& in, PlanOptions options = {}) {
  const Strategy* separable = find_strategy("separable");
  REQUIRE(separable);
  REQUIRE(separable->refusal(p) == "");
  INFO(to_string(p) << ", anchor " << p.mask.anchor_x << ' ' << p.mask.anchor_y);
  const Picture expected = run({separable, DeviceKind::cpu}, p, in);
  for (const Runner& runner : runners_of("separable")) {
    INFO(to_string(runner));
    Timing timing;
    const Picture out = run(runner, p, in, options, &timing);
    if (options.memory_limit > 0) CHECK(timing.bands > 1);
    const Place at = first_difference(out, expected);
    CHECK_MESSAGE(same_samples(out, expected),
                  "first difference at " << at.x << ' ' << at.y << " channel " << at.c);
  }
}

void check_bytes(const Problem& p, Fill fill = Fill::signed_noise, PlanOptions options = {}) {
  REQUIRE((p.out_width() >= 1 && p.out_height() >= 1));
  Picture in = Picture::of(p);
  in.fill(fill, 61);
  check_bytes(p, in, options);
}

SeparableMask<std::uint16_t> lines_of(std::vector<float> row, std::vector<float> column) {
  SeparableMask<std::uint16_t> mask;
  auto& term = mask.terms.emplace_back();
  term.row.width = int(row.size());
  term.column.height = int(column.size());
  term.row.weights = std::move(row);
  term.column.weights = std::move(column);
  return mask;
}

}  // namespace

// The pictures are wide enough for a strip of four warps, and for a part of another one.
TEST_CASE("separable's walk: every side, one and three channels") {
  for (const auto& [number, side, depth, channels] :
       combinations(numbers(3, kMostSide + 2, 2), kWalked, kChannels)) {
    Random random(61 + number);
    const FewBlocks few(side % 4 == 1 ? 1 << 30 : 3);
    const int width = (depth == Depth::f32 ? 1200 : 2300) / channels + random.integer(0, 9);
    check_bytes({width, 35, channels, depth, kBorders[std::size_t(side / 2 % 5)], 0.5,
                 real_rank_one_mask(random, side, side)});
  }
}

TEST_CASE("separable's walk: narrow and low pictures, every border and mode") {
  constexpr std::pair<int, int> kSizes[] = {{1, 1},  {2, 3},   {7, 1},   {1, 40},
                                            {13, 5}, {130, 9}, {261, 20}};
  for (const auto& [number, size, border, mode, depth, channels, side] : combinations_where(
           [](auto size, Border border, Mode mode, Depth depth, int channels, int side) {
             return (mode != Mode::valid || side <= std::min(size.first, size.second)) &&
                    (side / 4 + int(border) + int(depth) + channels) % 3 == 0;  // enough of them
           },
           kSizes, kBorders, kModes, kWalked, kChannels, std::array{3, 7, 15, 23, 41, 63})) {
    Random random(62 + number);
    const FewBlocks few(2);
    check_bytes({size.first, size.second, channels, depth, border, 77,
                 real_rank_one_mask(random, side, side), mode});
  }
}

TEST_CASE("separable's walk: anchors, pitches, windows, NaN and infinity") {
  for (const auto& [number, length, channels, place, way, depth] : combinations(
           std::array{3, 5, 9, 17, 27, 47, 59}, kChannels, numbers(0, 3), numbers(0, 3), kWalked)) {
    // Packed rows are for separable.cu. From 33 taps on, its block takes 16 warps with all their
    // registers and 205 to 219 KB of shared memory, which leaves compute-sanitizer's synccheck too
    // little to start it. long_pictures.cpp, which no sanitizer runs, has those.
    const int side = way == 2 ? std::min(length, 31) : length;
    const int anchor = std::array{0, 1, side / 2, side - 1}[std::size_t(place)];
    const FewBlocks few(3);
    Random random(63 + number);
    const Problem p{611 / channels,
                    41,
                    channels,
                    depth,
                    kBorders[number % 5],
                    9,
                    anchored(real_rank_one_mask(random, side, side), anchor, side - 1 - anchor)};
    switch (way) {
      case 0: check_bytes(p, Fill::not_finite); break;
      case 1: check_bytes(p, Fill::large); break;
      case 2: check_bytes(p, Fill::noise, {.padded_pitch = false}); break;
      case 3: check_bytes(p, Fill::noise, {.memory_limit = 60000});
    }
  }
}

// The memory limit asks for bands here, and for pieces of bands where these would be too low for
// the mask.
TEST_CASE_TEMPLATE("separable's walk: bands, and pieces of bands", D, OfU16, OfF32) {
  constexpr std::pair<int, int> kSizes[] = {{611, 181}, {3500, 50}};
  for (const auto& [number, side, channels, size] :
       combinations_where([](int side, int, auto) { return full_size() || side < 20; },
                          std::array{3, 5, 9, 17, 27, 47, 59}, kChannels, kSizes)) {
    const FewBlocks few(3);
    Random random(67 + number);
    check_bytes({size.first / channels, size.second, channels, D::value, kBorders[number % 5], 9,
                 anchored(real_rank_one_mask(random, side, side), 1, side - 2)},
                Fill::noise, {.memory_limit = 1 << 18});
  }
}

// A kernel may take masks of several sides. Taps that a shorter mask does not have must be left
// out: a weight of 0 would do as well, were it not for an infinity, which times 0 is NaN. The
// picture has a single one, since among several every output would be NaN.
TEST_CASE("separable's walk: an infinity beside masks of fewer taps than their kernel") {
  for (const auto& [number, side, channels] : combinations(numbers(27, kMostSide, 2), kChannels)) {
    Random random(66 + number);
    const Problem p{120 / channels,
                    side + 20,
                    channels,
                    Depth::f32,
                    Border::reflect101,
                    0,
                    real_rank_one_mask(random, side, side)};
    Picture in = Picture::of(p);
    in.fill(Fill::signed_noise, 61);
    in.set(p.width / 2, p.height / 2, 0, std::numeric_limits<double>::infinity());
    check_bytes(p, in);
  }
}

TEST_CASE("separable's walk: integers with a divisor, offsets, and offsets of -0") {
  Random random(64);
  for (const double offset : {0.0, -0.0, -300.5, 70000.0}) {
    for (const Depth depth : kWalked) {
      Mask mask = integer_rank_one_mask(random, 5, 5, 9, 7);
      mask.offset = offset;
      check_bytes({300, 40, 1, depth, Border::constant, 0, mask});
    }
  }
}

TEST_CASE("a square mask of 16 bits is the mask times 2^149, or none") {
  const auto mask = square_mask(lines_of({0.5f, -3, 0.25f}, {1, 1e-3f, 4}));
  REQUIRE(mask);
  for (int i = 0; i < 3; ++i) {
    const float rows[] = {0.5f, -3, 0.25f}, columns[] = {1, 1e-3f, 4};
    CHECK(std::ldexp(double(mask->row[i]), -149) * double(mask->column[i]) ==
          double(rows[i]) * double(columns[i]));
    CHECK(std::trunc(mask->row[i]) == mask->row[i]);
  }
  CHECK(square_mask(lines_of({1, 0x1p-100f, 1}, {1, 1, 1})));
  CHECK_FALSE(square_mask(lines_of({1, 0x1p-140f, 1}, {1, 1, 1})));
  CHECK_FALSE(square_mask(lines_of({1, 1, 1}, {1, 0x1p120f, 1})));
  CHECK_FALSE(square_mask(lines_of({1, 1, 1, 1}, {1, 1, 1, 1})));
  CHECK_FALSE(square_mask(lines_of({1, 1, 1}, {1, 1, 1, 1, 1})));
  CHECK_FALSE(square_mask(lines_of({1}, {1})));
}

TEST_CASE("samples as denormal floats, and their ends, are as everywhere") {
  for (std::uint32_t n = 0; n <= 65535; n += 5) {
    float first, second;
    denormal_samples(n << 16 | (65535 - n), first, second);
    CHECK(first == std::ldexp(float(65535 - n), -149));
    CHECK(second == std::ldexp(float(n), -149));
  }
  Random random(65);
  for (const FloatFinish f : {FloatFinish{}, FloatFinish{0.37f, 12.5f}, FloatFinish{-2, 7}}) {
    const FloatFinish scaled{std::ldexp(f.scale, -16), std::ldexp(f.offset, -16)};
    std::vector<float> sums = {0.0f,     -0.0f,    0.5f,     1.5f,      2.5f, -0.5f,
                               65534.5f, 65535.0f, 65535.5f, 65536.0f,  1e9f, -1e9f,
                               3e38f,    -3e38f,   INFINITY, -INFINITY, NAN,  1e-40f};
    for (int n = 0; n < 4000; ++n) sums.push_back(float(random.integer(-4, 131080)) / 2);
    for (int n = 0; n < 4000; ++n) sums.push_back(float(random.real(-70000, 140000)));
    for (const float sum : sums) {
      INFO("sum " << sum << " * " << f.scale << " + " << f.offset);
      std::uint16_t expected;
      finish(f, sum, expected);
      CHECK(std::uint16_t(denormal_end(scaled, sum)) == expected);
    }
  }
}

}  // namespace convfilt::test
