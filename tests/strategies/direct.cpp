/// What strategy direct does that the shared cases do not reach: strips that lie inside the
/// picture, every small mask, wide anchors, rows that are not aligned, and its own ends of sums.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/contract/float_samples.hpp"
#include "kernels/registry.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/device/few_blocks.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {
namespace {

/// Runs the problem with direct on all its devices and compares the bytes with the CPU's. In the
/// emulator few blocks run at a time, so that strips have rows between their first and last ones.
void check_bytes(const Problem& p, Fill fill, const PlanOptions& options = {}) {
  const Strategy *direct = find_strategy("direct"), *cpu = find_strategy("cpu");
  REQUIRE((direct && cpu));
  INFO(to_string(p) << ", anchor " << p.mask.anchor_x << ' ' << p.mask.anchor_y << ", "
                    << name_of(fill) << (options.padded_pitch ? "" : ", pitch not padded"));
  REQUIRE(direct->refusal(p) == "");
  Picture in = Picture::of(p);
  in.fill(fill, 91);
  const FewBlocks few(4);
  const Picture expected = run({cpu, DeviceKind::cpu}, p, in);
  for (const Runner& runner : runners_of("direct")) {
    const Picture out = run(runner, p, in, options);
    const Place at = first_difference(out, expected);
    CHECK_MESSAGE(same_samples(out, expected),
                  "first difference at " << at.x << ' ' << at.y << " channel " << at.c);
  }
}

constexpr Depth kFloatDepths[] = {Depth::f32, Depth::u16};  // whose sums are floats

}  // namespace

// The pictures are wide and high enough for strips and tiles in the middle, with a rest on every
// side.
TEST_CASE("direct gives the CPU's bytes: masks of 1 to 9 columns and rows") {
  for (const auto& [number, w, h, depth, channels] :
       combinations(numbers(1, 9), numbers(1, 9), kDepths, numbers(1, 4))) {
    Random random(92 + number);
    const Border border = channels == 1 ? Border::reflect : Border::wrap;
    check_bytes({530 / channels, 71, channels, depth, border, 0, real_mask(random, w, h, 3)},
                Fill::noise);
  }
}

TEST_CASE("direct gives the CPU's bytes: larger masks, anchors, modes, pitches") {
  constexpr std::pair<int, int> kSides[] = {{3, 3},   {5, 5},   {7, 7},   {9, 9},
                                            {11, 11}, {13, 13}, {15, 15}, {17, 17},
                                            {31, 31}, {30, 2},  {33, 5}};
  // A mode, an anchor, or how a picture of a width lies on the device.
  for (const auto& [number, sides, depth, channels, way] :
       combinations(kSides, kFloatDepths, std::array{1, 3}, numbers(0, 11))) {
    const auto [w, h] = sides;
    Random random(93 + number);
    Problem p{
        601 / channels, 75, channels, depth, Border::constant, 0.5, real_mask(random, w, h, 0.25)};
    PlanOptions options;
    Fill fill = Fill::signed_noise;
    if (way < 3) {
      p.mode = kModes[way];
    } else {
      p.border = Border::reflect101;
      p.mask = anchored(p.mask, way < 6 ? std::array{0, 1, w - 1}[way - 3u] : w - 1, h - 1);
    }
    if (way >= 6) {
      fill = Fill::noise;
      p.width = std::array{601, 602, 608}[way % 3u] / channels;
      if (way < 9)
        options.padded_pitch = false;
      else
        options.memory_limit = 300000;  // in pieces
    }
    check_bytes(p, fill, options);
  }
}

TEST_CASE("direct gives the CPU's bytes: pictures smaller than the mask, every border") {
  constexpr std::pair<int, int> kSizes[] = {{1, 1}, {2, 3}, {7, 1}, {1, 40}, {13, 5}};
  for (const auto& [number, side, size, border, depth, channels] :
       combinations(numbers(3, 21, 2), kSizes, kBorders, kFloatDepths, std::array{1, 3})) {
    Random random(94 + number);
    check_bytes(
        {size.first, size.second, channels, depth, border, 0.25, real_mask(random, side, side)},
        Fill::noise);
  }
}

TEST_CASE("direct gives the CPU's bytes: NaN, infinities, zeros of both signs, large samples") {
  for (const auto& [number, side, fill, offset, depth] :
       combinations(std::array{3, 5, 9, 15, 4},
                    std::array{Fill::not_finite, Fill::large, Fill::constant, Fill::impulses},
                    std::array{0.0, -0.0, 70000.0}, kFloatDepths)) {
    Random random(95 + number);
    Mask mask = real_mask(random, side, side);
    for (double& weight : mask.weights) weight = -std::abs(weight);
    mask.offset = offset;
    check_bytes({600, 70, 1, depth, Border::constant, 0, mask}, fill);
  }
}

TEST_CASE("samples to floats and back as everywhere") {
  Random random(96);
  for (int n = 0; n <= 65535; ++n) CHECK(sum_of(std::uint16_t(n)) == float(n));
  std::vector<float> sums = {0.0f,     -0.0f,    0.5f,     1.5f,      2.5f, -0.5f,
                             65534.5f, 65535.0f, 65535.5f, 65536.0f,  1e9f, -1e9f,
                             3e38f,    -3e38f,   INFINITY, -INFINITY, NAN,  1e-40f};
  while (sums.size() < 4000) sums.push_back(float(random.real(-70000, 140000)));
  for (int n = 0; n < 4000; ++n) sums.push_back(float(random.integer(-4, 131080)) / 2);
  for (const FloatFinish f : {FloatFinish{}, FloatFinish{0.37f, 12.5f}, FloatFinish{-2, 7}}) {
    for (std::size_t first = 0; first + 8 <= sums.size(); first += 8) {
      float some[8];
      for (int k = 0; k < 8; ++k) some[k] = sums[first + k];
      const Bytes16 integers = finished<std::uint16_t>(f, some);
      const float(&few)[4] = reinterpret_cast<const float(&)[4]>(some);
      const Bytes16 floats = finished<float>(f, few);
      for (int k = 0; k < 8; ++k) {
        INFO("sum " << some[k] << " * " << f.scale << " + " << f.offset);
        std::uint16_t integer;
        finish(f, some[k], integer);
        CHECK(sample_of<std::uint16_t>(integers, k) == integer);
        if (k >= 4) continue;
        float number;
        finish(f, some[k], number);
        CHECK(floats.words[k] == std::bit_cast<std::uint32_t>(number));
      }
    }
  }
}

}  // namespace convfilt::test
