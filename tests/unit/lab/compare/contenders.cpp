/// Lists of strategies with settings, masks by name, noise.
#include "src/lab/compare/contenders.hpp"
#include "tests/support/files/picture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/registry.hpp"
#include "src/base/errors.hpp"
#include "src/base/numbers.hpp"

namespace convfilt::test {
namespace {

constexpr std::initializer_list<Setting> kNone, kOwn = {Setting::halo, Setting::tile};

/// Strategies like the registry's, but with settings that the test knows, or none.
const Strategy kPlain = [] {
  Strategy strategy = *find_strategy("basic");
  strategy.settings = kNone;
  return strategy;
}();
const Strategy kTuned = [] {
  Strategy strategy = kPlain;
  strategy.name = "tuned";
  strategy.settings = kOwn;
  return strategy;
}();

Machine machine() {
  static const Strategy* const strategies[] = {&kPlain, &kTuned};
  Machine machine = this_machine();
  machine.strategies = strategies;
  return machine;
}

std::string error_in(const std::string& list) {
  try {
    parse_contenders(list, machine());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_CASE("a list names strategies with settings, and reads as it is written") {
  const auto all = parse_contenders("tuned:halo=regions:tile=16,basic,auto,tuned,basic", machine());
  REQUIRE(all.size() == 4);  // basic comes once
  CHECK(all[0].strategy == &kTuned);
  CHECK(all[0].tuning[Setting::halo] == kRegions);
  CHECK(all[0].tuning[Setting::tile] == 16);
  CHECK(name_of(all[0]) == "tuned:halo=regions:tile=16");
  CHECK(name_of(all[1]) == "basic");
  CHECK(all[2].strategy == nullptr);
  CHECK(name_of(all[2]) == "auto");
  CHECK(all[3].tuning == Tuning{});
  CHECK(parse_contenders(name_of(all[0]), machine()).front() == all[0]);
  CHECK(all_contenders(machine()).size() == 2);
}

TEST_CASE("what is wrong in a list is said, with the nearest name or the range") {
  CHECK(contains(error_in("basci"), "unknown strategy 'basci'; did you mean 'basic'?"));
  CHECK(contains(error_in("tuned:tle=4"), "unknown setting of tuned 'tle'; did you mean 'tile'?"));
  CHECK(contains(error_in("tuned:halo=region"), "did you mean 'regions'?"));
  CHECK(contains(error_in("tuned:tile=1025"), "1 to 1024"));
  CHECK(contains(error_in("tuned:tile=x"), "1 to 1024"));
  CHECK(contains(error_in("tuned:tile"), "tile=VALUE"));
  CHECK(contains(error_in("basic:tile=4"), "'basic' has no settings; leave out ':tile=4'"));
  CHECK(contains(error_in("auto:tile=4"), "'auto' has no settings"));
  for (const char* list : {"", "basic,", ",basic", "basic,,tuned", ":tile=4"})
    CHECK(contains(error_in(list), "a name is missing"));
}

TEST_CASE("a mask is a size, or a file or filter") {
  const Mask mask = mask_named("9x4");
  CHECK(mask.width == 9);
  CHECK(mask.height == 4);
  CHECK(gain(mask) == doctest::Approx(1));
  // exp(-d^2 / (2 (9/6)^2)) at a distance of 1 from the middle column, beside the middle itself.
  CHECK(mask.weight(5, 1) / mask.weight(4, 1) == doctest::Approx(std::exp(-1 / 4.5)));
  CHECK(mask.weight(0, 0) == doctest::Approx(mask.weight(8, 3)));
  CHECK(mask_named("emboss3").name == "emboss3");
  CHECK(mask_named("1x1").weights == std::vector<double>{1});
  CHECK_THROWS_AS(mask_named("0x3"), UsageError);
  CHECK_THROWS_AS(mask_named("3x1026"), UsageError);
  CHECK_THROWS_AS(mask_named("99999999999999999999x3"), UsageError);
  CHECK_THROWS_AS(mask_named("no-such-filter"), UsageError);
}

TEST_CASE("sizes are two whole numbers") {
  CHECK(parse_sides("12x34")->width == 12);
  CHECK(parse_sides("12X34")->height == 34);
  for (const char* word : {"", "x", "12", "12x", "x34", "12x34x5", "-1x2", "1.5x2", " 1x2", "axb"})
    CHECK_FALSE(parse_sides(word));
}

TEST_CASE("noise covers the range, and is the same every time") {
  for (const Depth depth : kDepths) {
    const Image one = noise_picture(64, 32, 3, depth), other = noise_picture(64, 32, 3, depth);
    CHECK(testing::same(one, other));
    double least = 1e9, most = -1;
    std::set<double> values;
    for (int y = 0; y < 32; ++y) {
      for (int x = 0; x < 64 * 3; ++x) {
        const double level = testing::sample(one, x / 3, y, x % 3);
        least = std::min(least, level), most = std::max(most, level);
        values.insert(level);
      }
    }
    CHECK(least >= 0);
    CHECK(least < 0.01 * full_range(depth));
    CHECK(most <= full_range(depth));
    CHECK(most > 0.99 * full_range(depth));
    CHECK(values.size() > 200);
  }
}

}  // namespace convfilt::test
