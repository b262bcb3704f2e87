/// The family that `auto` takes, decided by the problem alone.
#include <doctest/doctest.h>

#include <cmath>

#include "kernels/contract/separable.hpp"
#include "kernels/registry.hpp"
#include "src/auto/family.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/picture.hpp"

using namespace convfilt;
using namespace convfilt::test;

TEST_CASE("auto's family keeps what is promised for masks up to 15x15") {
  Problem p{100, 100, 3, Depth::u8, Border::replicate, 0, {}};
  Random random(77);
  int separable = 0;
  for (int n = 0; n < 300; ++n) {
    const int w = random.integer(4, 15), h = random.integer(4, 15);
    std::vector<double> row, column, weights;
    const bool integers = n % 2 == 0;
    for (int i = 0; i < w; ++i)
      row.push_back(integers ? random.integer(1, 9) : random.real(-0.2, 1));
    for (int j = 0; j < h; ++j)
      column.push_back(integers ? random.integer(1, 9) : random.real(-0.2, 1));
    double sum = 0;
    for (double c : column)
      for (double r : row) sum += r * c;
    if (sum < 0.1) continue;
    for (double c : column)
      for (double r : row) weights.push_back(integers ? r * c : r * c / sum);
    p.mask = make_mask("rank 1", w, h, weights, integers ? sum : 1);
    if (family_for(p) == Family::direct) continue;
    ++separable;
    const double error = prepare_separable<std::uint8_t>(p.mask).error;
    CHECK(error <= (prepare_mask<std::uint8_t>(p.mask).error == 0 ? 0 : 0.02));
  }
  CHECK(separable > 100);

  // This mask is exact between the passes, so that two of them give the direct bytes.
  std::vector<double> binomials;
  for (int a : {1, 7, 21, 35, 35, 21, 7, 1})
    for (int b : {1, 7, 21, 35, 35, 21, 7, 1}) binomials.push_back(a * b);
  p.mask = make_mask("binomial", 8, 8, binomials, 128 * 128);
  CHECK(family_for(p) == Family::separable);
  CHECK(prepare_separable<std::uint8_t>(p.mask).error == 0);
}

TEST_CASE("auto's family takes two passes where they are fewer multiply-adds by far") {
  Random random(79);
  const auto family = [&](Depth depth, int side) {
    return family_for(
        {100, 100, 1, depth, Border::replicate, 0, real_low_rank_mask(random, side, side, 1)});
  };
  for (const Depth depth : {Depth::u16, Depth::f32}) {
    CHECK(family(depth, 3) == Family::direct);
    CHECK(family(depth, 4) == Family::separable);
  }
  CHECK(family(Depth::u8, 5) == Family::direct);
  CHECK(family(Depth::u8, 17) == Family::separable);
  for (auto [width, height] : {std::pair{4, 127}, {63, 3}}) {
    const Mask mask = real_low_rank_mask(random, width, height, 1);
    CHECK(family_for({100, 100, 1, Depth::u8, Border::replicate, 0, mask}) == Family::separable);
  }
}

TEST_CASE("auto's family takes sums of terms where they are fewer multiply-adds by far") {
  Random random(78);
  const auto family = [&](Depth depth, int side, int terms) {
    return family_for(
        {100, 100, 1, depth, Border::replicate, 0, real_low_rank_mask(random, side, side, terms)});
  };
  for (const Depth depth : {Depth::u16, Depth::f32}) {
    CHECK(family(depth, 12, 2) == Family::direct);
    CHECK(family(depth, 13, 2) == Family::separable);
    CHECK(family(depth, 19, 3) == Family::direct);
    CHECK(family(depth, 20, 3) == Family::separable);
  }
  CHECK(family(Depth::u8, 19, 2) == Family::direct);
  CHECK(family(Depth::u8, 20, 2) == Family::separable);
  CHECK(family(Depth::u8, 29, 3) == Family::direct);
  CHECK(family(Depth::u8, 30, 3) == Family::separable);
  CHECK(family(Depth::u8, 33, 3) == Family::separable);
  CHECK(family(Depth::u8, 35, 3) == Family::direct);
  CHECK(family(Depth::u8, 101, 2) == Family::separable);
  CHECK(family(Depth::f32, 40, 4) == Family::direct);
  // In a large picture, transforms are the other choice.
  const auto of_large = [&](Depth depth, int side, double contrast = 1) {
    return family_for({512, 512, 1, depth, Border::replicate, 0,
                       real_low_rank_mask(random, side, side, 2), Mode::same, contrast});
  };
  for (const Depth depth : kDepths) {
    CHECK(of_large(depth, 65) == Family::separable);
    CHECK(of_large(depth, 67) == Family::transform);
  }
  // Floats whose contrast is not known, or too large, are not transformed.
  CHECK(of_large(Depth::f32, 67, 8) == Family::transform);
  for (const double contrast : {0.0, 16.0, HUGE_VAL})
    CHECK(of_large(Depth::f32, 67, contrast) == Family::separable);
}

TEST_CASE("auto's family is transform from 27x27 on, in 8 bits beyond 63x63") {
  const auto family = [](Depth depth, int w, int h, int side = 256, Mode mode = Mode::same) {
    Problem p{side, side, 3, depth, Border::reflect, 0, {}, mode};
    Random random(5);
    std::vector<double> weights;
    for (int k = 0; k < w * h; ++k) weights.push_back(random.integer(1, 99));
    p.mask = make_mask("noise", w, h, weights, 5e4);
    p.contrast = HUGE_VAL;
    if (depth == Depth::f32) CHECK(family_for(p) == Family::direct);
    p.contrast = 1;
    return family_for(p);
  };
  for (const Depth depth : {Depth::u16, Depth::f32}) {
    CHECK(family(depth, 27, 27) == Family::transform);
    CHECK(family(depth, 28, 26) == Family::direct);
    CHECK(family(depth, 365, 2) == Family::transform);
    CHECK(family(depth, 1, 1025) == Family::direct);  // a line
  }
  CHECK(family(Depth::u8, 63, 63) == Family::direct);
  CHECK(family(Depth::u8, 64, 63) == Family::transform);
  // Whether a picture is large depends on how many outputs it has.
  CHECK(family(Depth::f32, 31, 31, 255) == Family::direct);
  CHECK(family(Depth::f32, 31, 31, 256, Mode::valid) == Family::direct);
  CHECK(family(Depth::f32, 31, 31, 286, Mode::valid) == Family::transform);

  // What a transform refuses is done tap by tap.
  Problem far{512, 512, 1, Depth::u16, Border::replicate, 0, {}};
  std::vector<double> weights(41 * 41);
  // The large weights lie on the diagonal, so that no sum of three terms does it either.
  for (int k = 0; k < 4; ++k) weights[std::size_t(k) * 42 * 10] = k % 2 ? -3e6 : 3e6;
  weights[1] = 1;
  far.mask = make_mask("cancels", 41, 41, weights);
  REQUIRE(!find_strategy("overlap-save")->refusal(far).empty());
  CHECK(family_for(far) == Family::direct);
}

TEST_CASE("masks of rank 1 are separable, but transform where they are long and smooth") {
  const auto family = [](Depth depth, const Mask& mask, int side = 256) {
    Problem p{side, side, 1, depth, Border::reflect, 0, mask};
    if (depth == Depth::f32) CHECK(family_for(p) == Family::separable);
    p.contrast = 1;
    return family_for(p);
  };
  for (const Depth depth : {Depth::u16, Depth::f32}) {
    CHECK(family(depth, gaussian_mask(101, 99, 17)) == Family::transform);
    CHECK(family(depth, gaussian_mask(101, 97, 17)) == Family::separable);
    CHECK(family(depth, gaussian_mask(101, 99, 17), 255) == Family::separable);
  }
  CHECK(family(Depth::u8, gaussian_mask(127, 128, 21)) == Family::transform);
  CHECK(family(Depth::u8, gaussian_mask(127, 127, 21)) == Family::separable);
  // A box is smooth enough for 8 bits only.
  CHECK(family(Depth::u8, box_mask(301, 301)) == Family::transform);
  for (const Depth depth : {Depth::u16, Depth::f32})
    CHECK(family(depth, box_mask(301, 301)) == Family::separable);
}
