/// What strategy direct does that the shared cases do not reach: strips that lie inside the
/// picture, every small mask, wide anchors, rows that are not aligned, and its own ends of sums.
#include <doctest/doctest.h>

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
#include "tests/support/sample_masks.hpp"

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
  Random random(92);
  for (int h = 1; h <= 9; ++h) {
    for (int w = 1; w <= 9; ++w) {
      if (!full_size() && (w + 2 * h) % 7 != 0) continue;
      const Mask mask = real_mask(random, w, h, 3);
      for (const Depth depth : kDepths) {
        const int channels = w == h && depth != Depth::u8 ? 3 : 1 + (w + h) % 4;
        check_bytes({530, 71, 1, depth, Border::reflect, 0, mask}, Fill::noise);
        check_bytes({530 / channels, 71, channels, depth, Border::wrap, 0, mask}, Fill::noise);
      }
    }
  }
}

TEST_CASE("direct gives the CPU's bytes: larger masks, anchors, modes, pitches") {
  Random random(93);
  for (auto [w, h] : {std::pair{3, 3},
                      {5, 5},
                      {7, 7},
                      {9, 9},
                      {11, 11},
                      {13, 13},
                      {15, 15},
                      {17, 17},
                      {31, 31},
                      {30, 2},
                      {33, 5}}) {
    if (!full_size() && w > 9) continue;
    const Mask mask = real_mask(random, w, h, 0.25);
    for (const Depth depth : kFloatDepths) {
      for (const int channels : {1, 3}) {
        Problem p{601 / channels, 75, channels, depth, Border::constant, 0.5, mask};
        for (const Mode mode : kModes) {
          p.mode = mode;
          check_bytes(p, Fill::signed_noise);
        }
        p.mode = Mode::same;
        p.border = Border::reflect101;
        for (const int anchor_x : {0, 1, w - 1}) {
          p.mask = anchored(mask, anchor_x, h - 1);
          check_bytes(p, Fill::signed_noise);
        }
        PlanOptions unpadded;
        unpadded.padded_pitch = false;
        for (const int width : {601, 602, 608}) {
          p.width = width / channels;
          check_bytes(p, Fill::noise, unpadded);
          check_bytes(p, Fill::noise, {.memory_limit = 300000});  // in pieces
        }
      }
    }
  }
}

TEST_CASE("direct gives the CPU's bytes: pictures smaller than the mask, every border") {
  Random random(94);
  for (const int side : {3, 5, 7, 9, 11, 13, 15, 17, 19, 21}) {
    const Mask mask = real_mask(random, side, side);
    for (auto [width, height] : {std::pair{1, 1}, {2, 3}, {7, 1}, {1, 40}, {13, 5}}) {
      for (const Border border : kBorders) {
        for (const Depth depth : kFloatDepths) {
          for (const int channels : {1, 3}) {
            check_bytes({width, height, channels, depth, border, 0.25, mask}, Fill::noise);
          }
        }
      }
    }
  }
}

TEST_CASE("direct gives the CPU's bytes: NaN, infinities, zeros of both signs, large samples") {
  Random random(95);
  for (const int side : {3, 5, 9, 15, 4}) {
    Mask mask = real_mask(random, side, side);
    for (double& weight : mask.weights) weight = -std::abs(weight);
    for (const Fill fill : {Fill::not_finite, Fill::large, Fill::constant, Fill::impulses}) {
      for (const double offset : {0.0, -0.0, 70000.0}) {
        mask.offset = offset;
        for (const Depth depth : kFloatDepths) {
          check_bytes({600, 70, 1, depth, Border::constant, 0, mask}, fill);
        }
      }
    }
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
