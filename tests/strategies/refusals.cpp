/// What every strategy refuses, and takes, around each of its documented limits; and what is
/// claimed of 8-bit masks there. Nothing is filtered.
#include "tests/support/refusals.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "tests/support/contract.hpp"
#include "tests/support/masks/sample_masks.hpp"

namespace convfilt::test {
namespace {

/// A single weight.
Mask point(double weight, double divisor = 1, double offset = 0) {
  return make_mask("point", 1, 1, {weight}, divisor, offset);
}

Mask scaled(Mask mask, double by) {
  for (double& w : mask.weights) w *= by;
  return mask;
}

/// The mask with noise of that share of the |weights|, which gives it full rank.
Mask with_noise(Mask mask, Random& random, double share) {
  const double unit = 2 * share * absolute_gain(mask) * mask.divisor / double(mask.weights.size());
  for (double& w : mask.weights) w += random.real(-unit, unit);
  return mask;
}

/// A row and a column of ones that cross in a larger weight: its two products cancel.
Mask cross_mask(int side) {
  std::vector<double> weights(std::size_t(side) * side);
  const int middle = side / 2;
  for (int i = 0; i < side; ++i) {
    weights[std::size_t(middle) * side + i] = weights[std::size_t(i) * side + middle] =
        i == middle ? 2 : 1;
  }
  return make_mask("cross", side, side, weights, 2 * side - 1);
}

/// Masks on both sides of every limit.
std::vector<Mask> masks_at_limits() {
  Random random(91);
  std::vector<Mask> masks;
  for (const double weight :
       {3.9e6, 4.1e6, 4.3e6, 4000.0, 4200.0, 15.9, 16.1, 500.5, 520.5, 1.9, 2.1})
    masks.push_back(point(weight));
  masks.push_back(make_mask("float-weight", 2, 1, {1e39, 0.5}));
  masks.push_back(point(0.5, 1, 1e39));
  masks.push_back(point(3, 1e-39));
  // Shares that may be left out are 4e-5 in 8 bits, else 1.5e-7.
  for (const double share : {1e-8, 1e-6, 1e-5, 3e-4, 1e-3})
    for (const int terms : {1, 2, 3})
      masks.push_back(with_noise(real_low_rank_mask(random, 12, 11, terms), random, share));
  masks.push_back(cross_mask(41));
  for (const double gain : {0.5, 7.5, 300.0, 1e4}) {
    masks.push_back(scaled(gaussian_mask(9, 7, 2), gain));
    masks.push_back(scaled(sharpen_mask(9, 1, 1.5), gain));
  }
  for (const int side : {29, 30, 40, 41, 42, 129, 130}) {
    masks.push_back(box_mask(side, 1));
    masks.push_back(box_mask(1, side));
    masks.push_back(gaussian_mask(side, side, side / 6.0));
  }
  for (const int side : {60, 63, 66}) masks.push_back(sharpen_mask(side, 1, side / 6.0));
  for (const int side : {28, 33, 34}) masks.push_back(real_low_rank_mask(random, side, side, 3));
  for (const int side : {3, 4}) {
    masks.push_back(normalised_mask(random, side, 3));
    masks.push_back(normalised_mask(random, 3, side));
  }
  masks.push_back(normalised_mask(random, 128, 128));
  masks.push_back(normalised_mask(random, 129, 128));
  masks.push_back(diagonal_mask(4));
  masks.push_back(integer_mask(random, 3, 40, 9, 700, 3));
  masks.push_back(integer_rank_one_mask(random, 31, 1, 16, 400));
  masks.push_back(integer_rank_one_mask(random, 31, 1, 200, 4000));
  return masks;
}

std::vector<Mask> all_masks() {
  std::vector<Mask> masks;
  for (const auto& some : {small_masks(), varied_masks(), large_masks(), masks_at_limits()})
    masks.insert(masks.end(), some.begin(), some.end());
  return masks;
}

struct Tally {
  int takes = 0, refuses = 0, either = 0;
};

}  // namespace

TEST_CASE("every strategy refuses what lies beyond its limits, and nothing else") {
  std::map<std::string, Tally> tallies;
  std::map<std::string, int> limits;
  for (const Mask& mask : all_masks()) {
    for (const Depth depth : kDepths) {
      for (const auto& [width, mode] :
           {std::pair{300, Mode::same}, {300, Mode::full}, {300, Mode::valid}, {35, Mode::valid}}) {
        const Problem p{width, 280, 1, depth, Border::reflect, 0, mask, mode};
        for (const Runner& runner : runners()) {
          const Expected expected = expected_answer(p, runner);
          const std::string refusal = runner.strategy->refusal(p, runner.tuning);
          const std::string wrong = wrong_answer(p, runner, refusal);
          CHECK_MESSAGE(wrong.empty(), to_string(runner) << ", " << to_string(p) << ", gain "
                                                         << absolute_gain(mask) << ": " << wrong);
          Tally& tally = tallies[to_string(runner)];
          switch (expected.answer) {
            case Answer::takes: ++tally.takes; break;
            case Answer::either: ++tally.either; break;
            case Answer::refuses: ++tally.refuses, ++limits[expected.why]; break;
          }
        }
      }
    }
  }
  for (const Runner& runner : runners()) {
    const Tally& tally = tallies[to_string(runner)];
    INFO(to_string(runner) << ": takes " << tally.takes << ", refuses " << tally.refuses
                           << ", either " << tally.either);
    const bool steps_that_are_not =
        runner.tuning[Setting::steps] != 0 && runner.tuning[Setting::accumulate] == kAtomic;
    CHECK((tally.takes > 0) == !steps_that_are_not);
    CHECK(tally.refuses > 0);
    // Few answers are left open, but for the one strategy that searches.
    if (runner.strategy->name != "coarse")
      CHECK(tally.either * 20 < tally.takes + tally.refuses + tally.either);
  }
  // Every limit that support/refusals.cpp writes down is met; a new strategy may bring its own.
  CHECK(limits.size() >= 19);
}

TEST_CASE("8-bit masks claim no error where results are exact, and elsewhere what is documented") {
  int exact_once = 0, exact_twice = 0, others = 0;
  for (const Mask& mask : all_masks()) {
    INFO(mask.name << ' ' << mask.width << 'x' << mask.height);
    CHECK(wrong_claim(mask) == "");
    exact_once += exact_in_one_pass(mask);
    exact_twice += exact_in_two_passes(mask);
    others += !exact_in_one_pass(mask);
  }
  CHECK(exact_once > 20);
  CHECK(exact_twice > 10);
  CHECK(others > 20);
}

}  // namespace convfilt::test
