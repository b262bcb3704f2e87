/// Every strategy in the registry, on every device present, on every case.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/support/a_depth.hpp"
#include "tests/support/compare.hpp"

namespace convfilt::test {
namespace {

/// The cases of all depths, which are chosen once.
template <std::vector<Case> (*cases)()>
const std::vector<Case>& chosen() {
  static const std::vector<Case> all = cases();
  return all;
}

template <class D, std::vector<Case> (*cases)()>
void check_all() {
  for (const Case& c : chosen<cases>())
    if (c.problem.depth == D::value) check_case(c);
}

}  // namespace

TEST_CASE("the registry can be looked up and every strategy runs somewhere") {
  std::set<std::string_view> names;
  for (const Strategy* strategy : strategies()) {
    INFO(strategy->name);
    CHECK(names.insert(strategy->name).second);
    CHECK(find_strategy(strategy->name) == strategy);
    CHECK_FALSE(strategy->summary.empty());
    CHECK((strategy->runs_on(DeviceKind::cpu) || strategy->runs_on(DeviceKind::emulator) ||
           strategy->runs_on(DeviceKind::cuda)));
  }
  CHECK(find_strategy("no-such-strategy") == nullptr);
  CHECK_FALSE(runners().empty());
}

TEST_CASE("a strategy is not prepared for a device that it does not run on") {
  const Problem problem{4, 4, 1, Depth::u8, Border::replicate, 0, make_mask("one", 1, 1, {1})};
  for (const Strategy* strategy : strategies()) {
    for (DeviceKind kind : {DeviceKind::cpu, DeviceKind::emulator, DeviceKind::cuda}) {
      if (strategy->runs_on(kind)) continue;
      INFO(strategy->name << " on " << name_of(kind));
      CHECK_THROWS_AS(strategy->prepare(problem, kind), std::invalid_argument);
    }
  }
}

TEST_CASE_TEMPLATE("all pictures 1x1 to 5x5", D, OfU8, OfU16, OfF32) {
  check_all<D, tiny_cases>();
}

TEST_CASE_TEMPLATE("sizes around tile edges", D, OfU8, OfU16, OfF32) {
  check_all<D, tile_edge_cases>();
}

TEST_CASE_TEMPLATE("every kind of mask", D, OfU8, OfU16, OfF32) {
  check_all<D, mask_cases>();
}

TEST_CASE_TEMPLATE("masks cut into parts", D, OfU8, OfU16, OfF32) {
  check_all<D, large_mask_cases>();
}

TEST_CASE_TEMPLATE("large weights that cancel", D, OfU8, OfU16, OfF32) {
  check_all<D, cancelling_cases>();
}

TEST_CASE_TEMPLATE("gaps between rows, rows not aligned, channels", D, OfU8, OfU16, OfF32) {
  check_all<D, layout_cases>();
}

TEST_CASE_TEMPLATE("every mode", D, OfU8, OfU16, OfF32) {
  check_all<D, mode_cases>();
}

TEST_CASE_TEMPLATE("every kind of picture", D, OfU8, OfU16, OfF32) {
  check_all<D, fill_cases>();
}

}  // namespace convfilt::test
