/// The tool's own truth, held against the tests' oracle, with which it shares no code.
#include "src/lab/compare/oracle.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/picture.hpp"

namespace convfilt::test {
namespace {

std::vector<Problem> problems() {
  Random random(7);
  std::vector<Problem> all;
  for (const Depth depth : kDepths) {
    for (const Border border : kBorders) {
      for (const Mode mode : kModes) {
        if (mode == Mode::full && border != Border::constant) continue;
        Problem problem{13, 11, border == Border::wrap ? 3 : 1, depth, border, 0, {}};
        problem.mode = mode;
        if (mode != Mode::full && border == Border::constant) problem.border_value = 0.25;
        for (const Mask& mask : {anchored(real_mask(random, 5, 4, 2), 4, 0),
                                 integer_mask(random, 7, 9, 9, 3), identity_mask(1)}) {
          problem.mask = mask;
          all.push_back(problem);
        }
      }
    }
  }
  return all;
}

/// Room for what another order of the sums loses.
double tolerance(const Problem& problem) {
  return 1e-12 * absolute_gain(problem.mask) * full_range(problem.depth);
}

}  // namespace

TEST_CASE("the truth is the oracle's, everywhere") {
  for (const Problem& problem : problems()) {
    CAPTURE(to_string(problem));
    Picture in = Picture::of(problem, 2, 3);
    in.fill(Fill::noise, 3);
    const auto places = places_to_check(problem).places;
    const auto truth = true_results(problem, in.view(), places, 2);
    const auto oracle = convolve(problem, in);
    REQUIRE(truth.size() == oracle.size());
    double off = 0;
    for (std::size_t k = 0; k < truth.size(); ++k)
      off = std::max(off, std::abs(truth[k] - oracle[k]));
    CHECK(off <= tolerance(problem));
  }
}

TEST_CASE("where not all is checked, the corners, the edges and places of the middle are") {
  Random random(1);
  const Problem problem{400, 300, 1, Depth::u8, Border::reflect, 0, real_mask(random, 31, 15)};
  CHECK(places_to_check(problem).places.size() == 400 * 300);
  CHECK(places_to_check(problem).rows == 300);
  const PlacesToCheck some = places_to_check(problem, 1e6);
  const auto& places = some.places;
  CHECK(some.rows == 64);
  const auto has = [&](auto holds) { return std::any_of(places.begin(), places.end(), holds); };
  for (const int x : {0, 1, 398, 399})
    for (const int y : {0, 1, 298, 299})
      CHECK(has([&](convfilt::OutputPixel p) { return p.x == x && p.y == y; }));
  CHECK(has([](convfilt::OutputPixel p) { return p.x == 0 && p.y > 30 && p.y < 270; }));
  CHECK(has([](convfilt::OutputPixel p) { return p.y == 299 && p.x > 30 && p.x < 370; }));
  CHECK(
      has([](convfilt::OutputPixel p) { return p.x > 30 && p.x < 370 && p.y > 30 && p.y < 270; }));
  CHECK(std::all_of(places.begin(), places.end(), [](convfilt::OutputPixel p) {
    return p.x >= 0 && p.x < 400 && p.y >= 0 && p.y < 300;
  }));

  Picture in = Picture::of(problem);
  in.fill(Fill::noise, 5);
  const auto truth = true_results(problem, in.view(), places, 0);
  const auto oracle = convolve(problem, in);
  double off = 0;
  for (std::size_t k = 0; k < places.size(); ++k)
    off = std::max(off, std::abs(truth[k] - oracle[std::size_t(places[k].y) * 400 + places[k].x]));
  CHECK(off <= tolerance(problem));
}

TEST_CASE("where not all is checked, whole rows are: the first, the last, and more that differ") {
  Random random(1);
  Problem problem{5000, 4000, 3, Depth::u8, Border::reflect, 0, real_mask(random, 31, 15)};
  const PlacesToCheck check = places_to_check(problem);
  // 2e8 multiply-adds are 28 rows of 5000 * 3 * 31 * 15.
  CHECK(check.rows == 28);
  std::vector<int> in_row(4000);
  std::vector<std::vector<bool>> seen(4000);
  for (const convfilt::OutputPixel p : check.places) {
    auto& row = seen[std::size_t(p.y)];
    row.resize(5000);
    if (!row[std::size_t(p.x)]) ++in_row[std::size_t(p.y)];
    row[std::size_t(p.x)] = true;
  }
  CHECK(std::count(in_row.begin(), in_row.end(), 5000) == 28);
  CHECK(in_row.front() == 5000);
  CHECK(in_row.back() == 5000);

  problem.width = 100'000'000;  // a row would take too long
  problem.height = 2;
  CHECK(places_to_check(problem).rows == 0);
}

TEST_CASE("distances are in steps from the saturated truth, or in units; no number is far") {
  Problem problem{2, 1, 1, Depth::u8, Border::replicate, 0, identity_mask(1)};
  const std::vector<convfilt::OutputPixel> places = {{0, 0}, {1, 0}};
  Picture out = Picture::of(problem);
  out.set(0, 0, 0, 255);
  out.set(1, 0, 0, 10);
  const Distance off = distance_from({300.0, 10.25}, problem, out.view(), places, 1);
  CHECK(off.largest == 0.25);
  CHECK(off.samples == 2);

  problem.depth = Depth::f32;
  Picture floats = Picture::of(problem);
  floats.set(0, 0, 0, 2);
  floats.set(1, 0, 0, -4);
  // In millionths: Approx takes numbers as small as these for the same.
  const auto unit = [&] { return 1e6 * unit_of(problem, floats.view()); };
  CHECK(unit() == doctest::Approx(4));
  problem.border = Border::constant;
  problem.border_value = -8;
  CHECK(unit() == doctest::Approx(8));
  problem.mask = box_mask(3, 3);  // of gain 1, as nine weights
  problem.mask.divisor = 3;
  CHECK(unit() == doctest::Approx(24));
  problem = {2, 1, 1, Depth::f32, Border::replicate, 0, identity_mask(1)};
  CHECK(distance_from({2.0, -4.5}, problem, floats.view(), places, 0.5).largest == 1);
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  CHECK(distance_from({2.0, nan}, problem, floats.view(), places, 1).largest == infinity);
  floats.set(1, 0, 0, nan);
  CHECK(distance_from({2.0, nan}, problem, floats.view(), places, 1).largest == 0);
  CHECK(distance_from({2.0, 1.0}, problem, floats.view(), places, 1).largest == infinity);
  floats.set(1, 0, 0, infinity);
  CHECK(distance_from({2.0, 1e300}, problem, floats.view(), places, 1).largest == 0);
}

}  // namespace convfilt::test
