/// Plans of several masks over one picture transform its blocks once, and give the bytes that they
/// give alone.
#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

#include "kernels/registry.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {
namespace {

int different(const Problem& p, const Picture& a, const Picture& b) {
  int found = 0;
  for (int y = 0; y < p.out_height(); ++y)
    for (int x = 0; x < p.out_width(); ++x)
      for (int c = 0; c < p.channels; ++c) found += a.get(x, y, c) != b.get(x, y, c);
  return found;
}

/// Filters a picture with the masks one after the other, alone and by shared transforms.
void check_shared(const Runner& runner, Problem p, const std::vector<Mask>& masks,
                  SharedTransforms& transforms, const PlanOptions& options, unsigned seed) {
  Picture in = Picture::of(p);
  in.fill(Fill::noise, seed);
  transforms.next_picture();
  PlanOptions alone = options;
  alone.transforms.reset();
  for (const Mask& mask : masks) {
    p.mask = mask;
    INFO(to_string(runner) << ", " << to_string(p));
    CHECK(different(p, run(runner, p, in, options), run(runner, p, in, alone)) == 0);
  }
}

}  // namespace

TEST_CASE("masks over one picture share its transforms, and results have the same bytes") {
  std::vector<Runner> sharing;
  for (const Runner& runner : runners()) {
    const bool shares =
        runner.strategy->name == "overlap-add" || runner.strategy->name == "in-parts";
    if (shares && runner.tuning == Tuning{}) sharing.push_back(runner);
  }
  constexpr std::pair<int, int> kSizes[] = {{0, 0}, {0, 12}, {4, 12}};
  for (const auto& [number, each, size, depth] : combinations_where(
           [](const Runner&each, auto size, Depth) {
             return size.first == 0 || each.strategy->has(Setting::part);
           },
           sharing, kSizes, kDepths)) {
    Random random(81 + number);
    Runner runner = each;
    runner.tuning[Setting::block] = size.second;
    runner.tuning[Setting::part] = size.first;
    const std::vector<Mask> masks = {normalised_mask(random, 9, 7), real_mask(random, 9, 7),
                                     normalised_mask(random, 9, 7)};
    const Problem p{61, 47, 3, depth, Border::reflect, 0, masks[0]};
    PlanOptions options;
    options.tuning = runner.tuning;
    options.transforms = std::make_shared<SharedTransforms>();
    for (int picture = 1; picture <= 2; ++picture) {
      check_shared(runner, p, masks, *options.transforms, options, unsigned(80 + picture));
      CHECK(options.transforms->made == 3 * picture);
      CHECK(options.transforms->found == 2 * 3 * picture);
    }
    // The next pictures are cut otherwise, or are seen under other ghost cells.
    Problem other = p;
    other.border = Border::wrap;
    check_shared(runner, other, masks, *options.transforms, options, 83);
    other.width = 60;
    check_shared(runner, other, masks, *options.transforms, options, 84);
    CHECK(options.transforms->made == 3 * 4);
  }
}

TEST_CASE("masks that cut a picture otherwise, and windows, find no transforms") {
  Random random(85);
  for (const Runner& runner : runners()) {
    if (runner.strategy->name != std::string_view("in-parts") || runner.tuning != Tuning{})
      continue;
    PlanOptions options;
    options.transforms = std::make_shared<SharedTransforms>();
    const Problem p{200, 150, 1, Depth::f32, Border::reflect101, 0, normalised_mask(random, 5, 5)};
    const std::vector<Mask> masks = {p.mask, anchored(p.mask, 0, 0), normalised_mask(random, 5, 11),
                                     normalised_mask(random, 130, 9)};
    check_shared(runner, p, masks, *options.transforms, options, 86);
    CHECK(options.transforms->found == 0);
    // The same picture under other ghost cells.
    Picture in = Picture::of(p);
    in.fill(Fill::noise, 88);
    options.transforms->next_picture();
    PlanOptions alone;
    for (const Border border : {Border::constant, Border::wrap, Border::constant}) {
      Problem other = p;
      other.border = border;
      other.border_value = options.transforms->made % 2;
      CHECK(different(p, run(runner, other, in, options), run(runner, other, in, alone)) == 0);
    }
    CHECK(options.transforms->found == 0);
    if (runner.device == DeviceKind::cpu) continue;
    options.memory_limit = 2000000;
    const std::vector<Mask> alike = {normalised_mask(random, 7, 5), normalised_mask(random, 7, 5)};
    check_shared(runner, p, alike, *options.transforms, options, 87);
  }
}

}  // namespace convfilt::test
