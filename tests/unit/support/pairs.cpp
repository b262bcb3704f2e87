/// The choice of cases by pairs, against every pair counted by hand.
#include <doctest/doctest.h>

#include <array>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/pairs.hpp"
#include "tests/support/picture.hpp"

namespace convfilt::test {
namespace {

/// (axis, level, axis, level)
using Pair = std::array<int, 4>;

std::set<Pair> pairs_of(const Levels& levels) {
  std::set<Pair> pairs;
  for (int a = 0; a < int(levels.size()); ++a)
    for (int b = 0; b < a; ++b)
      pairs.insert({a, levels[std::size_t(a)], b, levels[std::size_t(b)]});
  return pairs;
}

/// Checks that the choice has every pair that the cases have, and returns its size.
std::size_t check_cover(const std::vector<Levels>& cases) {
  std::set<Pair> all, chosen;
  for (const Levels& levels : cases) all.merge(pairs_of(levels));
  const std::vector<std::size_t> few = cover_pairs(cases);
  for (std::size_t k = 0; k < few.size(); ++k) {
    REQUIRE(few[k] < cases.size());
    if (k > 0) CHECK(few[k - 1] < few[k]);
    const std::set<Pair> its_pairs = pairs_of(cases[few[k]]);
    chosen.insert(its_pairs.begin(), its_pairs.end());
  }
  CHECK(chosen == all);
  CHECK(cover_pairs(cases) == few);
  return few.size();
}

std::vector<Levels> product(const std::vector<int>& sizes) {
  std::vector<Levels> cases(1);
  for (int size : sizes) {
    std::vector<Levels> longer;
    for (const Levels& levels : cases) {
      for (int level = 0; level < size; ++level) {
        longer.push_back(levels);
        longer.back().push_back(level);
      }
    }
    cases = std::move(longer);
  }
  return cases;
}

}  // namespace

// No fewer than the product of the two longest axes can do.
TEST_CASE("every pair is covered, by little more than the least number of cases") {
  for (const auto& [sizes, most] : {std::pair{std::vector{3, 5, 3, 4}, 22},
                                    {{2, 2, 2, 2, 2, 2}, 10},
                                    {{7, 5, 3, 2, 2}, 37},
                                    {{31, 2, 2}, 62},
                                    {{5, 5, 3, 4, 2, 2}, 30},
                                    {{4, 6}, 24},
                                    {{9}, 9}}) {
    const std::size_t few = check_cover(product(sizes));
    INFO(sizes.size() << " axes: " << few);
    CHECK(few <= std::size_t(most));
  }
  CHECK(cover_pairs({}).empty());
  CHECK(cover_pairs(product({9})).size() == 9);
  CHECK(check_cover({{3, 1, 4}}) == 1);
}

TEST_CASE("pairs that no case has are not asked for") {
  Random random(41);
  for (int round = 0; round < 20; ++round) {
    std::vector<Levels> cases;
    for (int k = 0; k < 150; ++k) {
      const int a = random.integer(0, 6), b = random.integer(0, 4), c = random.integer(0, 2);
      if ((a + b) % 3 != c) cases.push_back({a, b, c, random.integer(0, 3)});
    }
    CHECK(check_cover(cases) < cases.size());
  }
}

TEST_CASE("combinations: numbered in the order of loops, and left out where not wanted") {
  const std::array letters{std::string("a"), std::string("b")};
  const auto wanted = [](const std::string& letter, int digit) {
    return letter == "a" || digit > 1;
  };
  // Two axes have no pair twice, so all are chosen.
  const auto some = combinations_where(wanted, letters, numbers(1, 3));
  CHECK(some == decltype(some){{0, "a", 1}, {1, "a", 2}, {2, "a", 3}, {4, "b", 2}, {5, "b", 3}});
  CHECK(combinations(letters, numbers(1, 3)).size() == 6);
  CHECK(combinations(letters, numbers(1, 3), numbers(7, 8)).size() == (full_size() ? 12u : 6u));
  CHECK(numbers(3, 9, 3) == std::vector{3, 6, 9});
}

TEST_CASE("settings and strategies are axes of a runner, and each runner has its place") {
  std::set<Levels> seen;
  for (const Runner& runner : runners()) CHECK(seen.insert(levels_of(runner)).second);
}

}  // namespace convfilt::test
