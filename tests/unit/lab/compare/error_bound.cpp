/// What families promise, as `compare` holds results against it.
#include "src/lab/compare/oracle.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/separable.hpp"
#include "src/lab/compare/contenders.hpp"
#include "src/lab/compare/measure.hpp"
#include "tests/support/contract.hpp"
#include "tests/support/masks/sample_masks.hpp"

namespace convfilt::test {
namespace {

double promised(const Problem& problem, Family family) {
  const Image in = noise_picture(problem.width, problem.height, problem.channels, problem.depth);
  return error_bound(problem, in.view(), family).value();
}

Problem problem_of(Depth depth, const Mask& mask) {
  return {16, 16, 1, depth, Border::replicate, 0, mask};
}

}  // namespace

TEST_CASE("promises are those of kernels/README.md") {
  const Mask exact = box_mask(3, 3), blur = gaussian_mask(9, 9, 2);
  CHECK(promised(problem_of(Depth::u8, exact), Family::direct) == doctest::Approx(0.5));
  CHECK(promised(problem_of(Depth::u8, blur), Family::direct) > 0.5);
  CHECK(promised(problem_of(Depth::u8, blur), Family::direct) <= 0.52);
  CHECK(promised(problem_of(Depth::u8, blur), Family::separable) <= 1);
  CHECK(promised(problem_of(Depth::u16, blur), Family::direct) ==
        doctest::Approx(0.55).epsilon(0.01));
  CHECK(promised(problem_of(Depth::u16, blur), Family::separable) == doctest::Approx(1));
  CHECK(promised(problem_of(Depth::f32, blur), Family::direct) == 1);
  CHECK(promised(problem_of(Depth::f32, blur), Family::separable) == 10);
  for (const Depth depth : {Depth::u8, Depth::u16})
    CHECK(promised(problem_of(depth, blur), Family::transform) == 1);
}

TEST_CASE("no result that keeps the tests' contract is called wrong") {
  for (const Mask& mask : varied_masks()) {
    for (const Depth depth : {Depth::u8, Depth::u16}) {
      const Problem problem = problem_of(depth, mask);
      CAPTURE(to_string(problem));
      if (!arithmetic_refuses(problem).empty()) continue;
      for (const Family family : {Family::direct, Family::separable, Family::transform}) {
        if (family == Family::separable && !separable_refuses(problem).empty()) continue;
        // Sums of weights differ in their last bits.
        CHECK(promised(problem, family) >=
              allowed_error(problem, family, full_range(depth)) * (1 - 1e-12));
      }
    }
  }
}

TEST_CASE("nothing is promised where nothing can be") {
  const Image in = noise_picture(64, 64, 1, Depth::f32);
  const auto none = [&](Depth depth, const Mask& mask, Family family) {
    return !error_bound(problem_of(depth, mask), in.view(), family).has_value();
  };
  CHECK(none(Depth::u16, box_mask(33, 1), Family::direct));
  CHECK(none(Depth::f32, box_mask(1, 103), Family::direct));
  Image holes = noise_picture(16, 16, 1, Depth::f32);
  reinterpret_cast<float*>(holes.view().row(3))[4] = std::numeric_limits<float>::infinity();
  const Problem problem = problem_of(Depth::f32, box_mask(3, 3));
  CHECK_FALSE(error_bound(problem, holes.view(), Family::transform).has_value());
  CHECK(error_bound(problem, holes.view(), Family::direct).has_value());
}

TEST_CASE("a promise is broken by the distance, or by other bytes in the direct family") {
  Row row;
  CHECK(broken_bound(row, "steps").empty());  // refused, say
  row.accuracy = Accuracy{0.5, 9, 9, 3, 0.52, 0.0, 0, {}};
  CHECK(broken_bound(row, "steps").empty());
  row.accuracy->largest = 0.53;
  CHECK(broken_bound(row, "steps") ==
        "0.530 steps from the real-valued result, where 0.520 are promised");
  row.accuracy->largest = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(broken_bound(row, "steps").empty());
  row.accuracy->largest = 0.5;
  row.accuracy->differing = 0.25;
  const char* other = "25.0 % of its samples are not what its family gives on the CPU";
  CHECK(broken_bound(row, "steps") == other);
  row.family = Family::separable;
  CHECK(broken_bound(row, "steps").empty());
  row.accuracy->differing_from_family = 0.25;
  CHECK(broken_bound(row, "steps") == other);
  row.accuracy->differing_from_family = 0;
  row.accuracy->bound.reset();
  row.accuracy->largest = 1e9;
  CHECK(broken_bound(row, "steps").empty());
}

}  // namespace convfilt::test
