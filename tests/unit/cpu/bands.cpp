/// Plans of the CPU make bands of a result from the rows that these need, and from no others.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "kernels/contract/border.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/cpu/plans.hpp"
#include "tests/support/files/picture.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

/// A band of `whole` through the plan, from a copy of the rows under its masks and no others. Empty
/// where these are no neighbours, since the border wraps.
Image band_of(BandPlan& plan, const Problem& problem, const Image& in, int y, int rows) {
  int first = problem.height, last = -1;
  for (int i = 0; i < rows + problem.mask.height - 1; ++i) {
    const int source = border_index(problem.border, y - problem.lead_y() + i, problem.height);
    if (source < 0) continue;
    first = std::min(first, source);
    last = std::max(last, source);
  }
  Image some(in.width(), last - first + 1, in.channels(), in.depth());
  for (int row = first; row <= last; ++row)
    std::memcpy(some.view().row(row - first), in.view().row(row), in.row_bytes());
  Image out(problem.out_width(), rows, in.channels(), in.depth());
  plan.push(BandView<const std::byte>(std::as_const(some).view(), first),
            BandView<std::byte>(out.view(), y));
  return out;
}

bool same_rows(const Image& band, const Image& whole, int y) {
  for (int row = 0; row < band.height(); ++row)
    if (std::memcmp(band.view().row(row), whole.view().row(y + row), band.row_bytes()) != 0)
      return false;
  return true;
}

}  // namespace

TEST_CASE("bands of a direct or separable plan have the bytes of the whole") {
  std::mt19937 random(3);
  const auto between = [&](int low, int high) { return low + int(random() % (high - low + 1)); };
  int compared = 0;
  for (const auto prepare : {prepare_direct_bands, prepare_separable_bands}) {
    for (const Depth depth : kDepths) {
      for (const Border border : kBorders) {
        for (int round = 0; round < 40; ++round) {
          Problem problem;
          problem.width = round % 8 == 0 ? 1500 : between(1, 40);
          problem.height = between(1, 40);
          problem.channels = round % 3 == 0 ? 1 : 3;
          problem.depth = depth;
          problem.border = border;
          problem.border_value = depth == Depth::f32 ? 0.3 : 17;
          problem.mode = border == Border::constant && round % 4 == 1 ? Mode::full : Mode::same;
          const int width = between(1, 5), height = between(1, 9);
          std::vector<double> weights;
          for (int j = 0; j < height; ++j)
            for (int i = 0; i < width; ++i) weights.push_back((i + 1) * (j % 3 + 1));
          problem.mask = make_mask("product", width, height, std::move(weights), 50);
          problem.mask.anchor_x = between(0, width - 1);
          problem.mask.anchor_y = between(0, height - 1);
          CAPTURE(to_string(problem));
          const Image in = pattern(problem.width, problem.height, problem.channels, depth);
          Image whole(problem.out_width(), problem.out_height(), problem.channels, depth);
          PlanOptions how;
          how.threads = 1 + round % 2;
          prepare(problem, how, {})->run(in.view(), whole.view());
          const auto plan = prepare(problem, how, {});
          for (int y = 0; y < whole.height();) {
            const int rows = std::min(between(1, 7), whole.height() - y);
            CHECK(same_rows(band_of(*plan, problem, in, y, rows), whole, y));
            y += rows;
            ++compared;
          }
        }
      }
    }
  }
  CHECK(compared > 3000);
}

TEST_CASE("ghost cells of a border value have their own alpha where it is asked for") {
  Problem problem;
  problem.width = problem.height = 1;
  problem.channels = 4;
  problem.depth = Depth::f32;
  problem.border = Border::constant;
  problem.border_value = 2;
  problem.mask = make_mask("box", 3, 3, std::vector<double>(9, 1));
  Image in(1, 1, 4, Depth::f32), out = Image::like(in);
  for (int c = 0; c < 4; ++c) set_sample(&in, 0, 0, c, c);
  for (const auto prepare : {prepare_direct_bands, prepare_separable_bands}) {
    prepare(problem, {}, 10)->run(in.view(), out.view());
    for (int c = 0; c < 4; ++c) CHECK(sample(out, 0, 0, c) == c + 8 * (c == 3 ? 10 : 2));
    prepare(problem, {}, {})->run(in.view(), out.view());
    for (int c = 0; c < 4; ++c) CHECK(sample(out, 0, 0, c) == c + 8 * 2);
  }
}
