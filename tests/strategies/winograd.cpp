/// winograd: its precision where it is least, and what it refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/picture.hpp"

namespace convfilt::test {
namespace {

/// A mask whose sum of |weights| is 16 * scale, and whose signs alternate, which no tile smooths
/// away.
Mask alternating_mask(double scale) {
  Mask mask = make_mask("alternating", 3, 3, {1, -2, 1, -2, 4, -2, 1, -2, 1});
  for (double& weight : mask.weights) weight *= scale;
  return mask;
}

std::string refusal(const Mask& mask, Depth depth, int tile) {
  const Strategy* strategy = find_strategy("winograd");
  REQUIRE(strategy);
  Tuning tuning;
  tuning[Setting::tile] = tile;
  return strategy->refusal({64, 48, 1, depth, Border::replicate, 0, mask}, tuning);
}

double largest_error(const Runner& runner, const Problem& p, Fill fill) {
  Picture in = Picture::of(p);
  in.fill(fill, 71);
  const std::vector<double> truth = convolve(p, in);
  const Picture out = run(runner, p, in);
  double largest = 0;
  std::size_t k = 0;
  for (int y = 0; y < p.height; ++y) {
    for (int x = 0; x < p.width; ++x, ++k) {
      const double real =
          p.depth == Depth::f32 ? truth[k] : std::clamp(truth[k], 0.0, full_range(p.depth));
      largest = std::max(largest, std::abs(out.get(x, y, 0) - real));
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("winograd keeps its bound with the largest weights that it takes") {
  for (const Runner& runner : runners()) {
    if (runner.strategy->name != "winograd") continue;
    for (Depth depth : kDepths) {
      // Sums may reach 2^20 with tiles of 2 and 2^17 with tiles of 4. Half the range is added, so
      // that small sums of both signs are not saturated.
      const double limit = runner.tuning[Setting::tile] == 4 ? 1 << 17 : (1 << 20) - (1 << 16);
      const double range = full_range(depth);
      Mask mask = alternating_mask(depth == Depth::f32 ? 1 : limit / range / 16);
      mask.offset = depth == Depth::f32 ? 0 : range / 2;
      const Problem p{203, 57, 1, depth, Border::reflect101, 0, mask};
      REQUIRE(runner.strategy->refusal(p, runner.tuning) == "");
      for (Fill fill : {Fill::noise, Fill::checkerboard}) {
        INFO(to_string(runner) << ", " << to_string(p));
        CHECK(largest_error(runner, p, fill) <= allowed_error(p, Family::transform, range));
      }
    }
  }
}

TEST_CASE("winograd's refusals say what to do") {
  const Mask box = make_mask("box", 3, 3, std::vector<double>(9, 1), 9);
  CHECK(refusal(box, Depth::u16, 0) == "");
  CHECK(refusal(box, Depth::u16, 2) == "");
  CHECK(refusal(box, Depth::u16, 4) == "");
  CHECK(refusal(box, Depth::u16, 3) == "--tile must be 2 or 4");
  CHECK(refusal(make_mask("row", 4, 1, {1, 1, 1, 1}), Depth::u8, 0).ends_with("use fft"));
  CHECK(refusal(alternating_mask(0.2), Depth::u16, 4).ends_with("use --tile=2"));
  CHECK(refusal(alternating_mask(0.2), Depth::u16, 2) == "");
  CHECK(refusal(alternating_mask(2), Depth::u16, 2) != "");
}

}  // namespace convfilt::test
