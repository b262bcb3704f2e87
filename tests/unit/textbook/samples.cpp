/// samples/kernels, run by the emulator: four kernels are right, and three are wrong, each in its
/// own way.
#define CONVFILT_EMULATE
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "kernels/backend/launch.hpp"

#define __constant__ static
namespace convfilt::emulator {
namespace {

// Each file has macros of its own.
namespace basic {
#include "samples/kernels/basic.cu"
#undef RADIUS
}  // namespace basic
namespace tiled_in {
#include "samples/kernels/tiled_in.cu"
#undef RADIUS
#undef TILE_WIDTH
#undef IN_WIDTH
}  // namespace tiled_in
namespace tiled_out {
#include "samples/kernels/tiled_out.cu"
#undef RADIUS
#undef TILE_WIDTH
#undef IN_WIDTH
}  // namespace tiled_out
namespace cached {
#include "samples/kernels/cached.cu"
#undef RADIUS
#undef TILE_WIDTH
}  // namespace cached
namespace missing_barrier {
#include "samples/kernels/missing_barrier.cu"
#undef RADIUS
#undef TILE_WIDTH
#undef IN_WIDTH
}  // namespace missing_barrier
namespace halo_off_by_one {
#include "samples/kernels/halo_off_by_one.cu"
#undef RADIUS
#undef TILE_WIDTH
#undef IN_WIDTH
}  // namespace halo_off_by_one
namespace reads_outside {
#include "samples/kernels/reads_outside.cu"
#undef RADIUS
}  // namespace reads_outside

constexpr int kSide = 5, kRadius = 2, kTile = 16;
using Weights = float (&)[kSide][kSide];
using Kernel = void (*)(float*, float*, int, int);

float weight(int i, int j) {
  return float(i + 7 * j - 11);
}
float sample(int x, int y) {
  return float((x * 5 + y * 3) % 17);
}

/// How many outputs of such a picture are wrong. Memory before and behind the picture holds NaN.
int wrong_outputs(Kernel kernel, Weights weights, int block, int width, int height) {
  for (int j = 0; j < kSide; ++j)
    for (int i = 0; i < kSide; ++i) weights[j][i] = weight(i, j);
  const std::size_t beyond = std::size_t(kSide) * width;
  std::vector<float> in(std::size_t(width) * height + 2 * beyond,
                        std::numeric_limits<float>::quiet_NaN());
  std::vector<float> out(std::size_t(width) * height, -1);
  float* const first = in.data() + beyond;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) first[y * width + x] = sample(x, y);
  Counts counts;
  run_grid(dim3(ceil_div(width, kTile), ceil_div(height, kTile)), dim3(block, block), 1, counts,
           [&] { kernel(first, out.data(), width, height); });
  int wrong = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float sum = 0;  // small integers, so that every order of additions is exact
      for (int j = 0; j < kSide; ++j) {
        for (int i = 0; i < kSide; ++i) {
          const int in_x = x + i - kRadius, in_y = y + j - kRadius;
          if (in_x >= 0 && in_x < width && in_y >= 0 && in_y < height)
            sum += weight(i, j) * sample(in_x, in_y);
        }
      }
      wrong += !(out[std::size_t(y) * width + x] == sum);
    }
  }
  return wrong;
}

constexpr int kShapes[][2] = {{1, 1}, {7, 5}, {15, 17}, {16, 16}, {17, 15}, {50, 33}};

}  // namespace

TEST_CASE("samples/kernels: four that are right") {
  for (const auto& [width, height] : kShapes) {
    INFO(width << 'x' << height);
    CHECK(wrong_outputs(basic::basic, basic::F, 16, width, height) == 0);
    CHECK(wrong_outputs(tiled_in::tiled_in, tiled_in::F, 20, width, height) == 0);
    CHECK(wrong_outputs(tiled_out::tiled_out, tiled_out::F, 16, width, height) == 0);
    CHECK(wrong_outputs(cached::cached, cached::F, 16, width, height) == 0);
  }
}

TEST_CASE("samples/kernels: three that are wrong") {
  CHECK(wrong_outputs(missing_barrier::missing_barrier, missing_barrier::F, 20, 50, 33) > 0);
  CHECK(wrong_outputs(halo_off_by_one::halo_off_by_one, halo_off_by_one::F, 16, 50, 33) > 0);
  // It is wrong in the last rows alone.
  CHECK(wrong_outputs(reads_outside::reads_outside, reads_outside::F, 16, 50, 33) == kRadius * 50);
}

}  // namespace convfilt::emulator
