/// Pictures beyond the limits of grids and textures. compute-sanitizer takes minutes for a grid of
/// so many rows, so these have a file that it leaves out.
#include <doctest/doctest.h>

#include "tests/support/compare.hpp"

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

}  // namespace convfilt::test
