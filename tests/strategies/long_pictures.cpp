/// Pictures beyond the limits of grids and textures, for whose grids compute-sanitizer takes
/// minutes; and blocks that fill a multiprocessor, which it cannot start. It leaves this file out.
#include <doctest/doctest.h>

#include <array>

#include "kernels/registry.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/device/few_blocks.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {

TEST_CASE("very tall and very wide pictures") {
  const Mask mask = make_mask("binomial", 3, 3, {1, 2, 1, 2, 4, 2, 1, 2, 1}, 16);
  const auto check = [&](int width, int height, Depth depth, Border border) {
    Case c;
    c.problem = {width, height, 1, depth, border, 0, mask};
    check_case(c);
  };
  check(1, 70000, Depth::u8, Border::wrap);        // beyond 65,535, CUDA's limit of a grid's rows
  check(140000, 1, Depth::f32, Border::constant);  // beyond a texture's columns
}

TEST_CASE("separable: packed rows under large square masks") {
  const Runner cpu{find_strategy("separable"), DeviceKind::cpu};
  for (const auto& [number, side, channels, depth] :
       combinations(std::array{47, 59}, std::array{1, 3}, std::array{Depth::f32, Depth::u16})) {
    const FewBlocks few(3);
    Random random(163 + number);
    const Problem p{611 / channels,
                    41,
                    channels,
                    depth,
                    kBorders[number % 5],
                    9,
                    real_rank_one_mask(random, side, side)};
    Picture in = Picture::of(p);
    in.fill(Fill::noise, 61);
    const Picture expected = run(cpu, p, in);
    for (const Runner& runner : runners_of("separable")) {
      INFO(to_string(runner) << ": " << to_string(p));
      CHECK(same_samples(run(runner, p, in, {.padded_pitch = false}), expected));
    }
  }
}

}  // namespace convfilt::test
