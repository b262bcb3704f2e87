/// Every strategy in the registry, on every device present, on every case.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "compare.hpp"

namespace convfilt::test {
namespace {

void check_all(const std::vector<Case>& cases) {
  for (const Case& c : cases) check_case(c);
}

std::vector<Case> with_depth(std::vector<Case> cases, Depth depth) {
  std::erase_if(cases, [depth](const Case& c) { return c.problem.depth != depth; });
  return cases;
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

// In three, which tests/gpu.sh runs side by side.
TEST_CASE("all pictures 1x1 to 5x5, u8") {
  check_all(with_depth(tiny_cases(), Depth::u8));
}

TEST_CASE("all pictures 1x1 to 5x5, u16") {
  check_all(with_depth(tiny_cases(), Depth::u16));
}

TEST_CASE("all pictures 1x1 to 5x5, f32") {
  check_all(with_depth(tiny_cases(), Depth::f32));
}

TEST_CASE("sizes around tile edges") {
  check_all(tile_edge_cases());
}

TEST_CASE("every kind of mask") {
  check_all(mask_cases());
}

TEST_CASE("masks cut into parts") {
  check_all(large_mask_cases());
}

TEST_CASE("large weights that cancel") {
  check_all(cancelling_cases());
}

TEST_CASE("gaps between rows, rows not aligned, channels") {
  check_all(layout_cases());
}

TEST_CASE("every mode") {
  check_all(mode_cases());
}

TEST_CASE("every kind of picture") {
  check_all(fill_cases());
}

}  // namespace convfilt::test
