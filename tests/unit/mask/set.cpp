/// Files with several masks, and masks that are turned.
#include "src/mask/set.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/mask/text.hpp"

using namespace convfilt;

namespace {

using Weights = std::vector<double>;

MaskSet parsed(const std::string& text) {
  return parse_masks(text, "t.txt");
}

}  // namespace

TEST_CASE("three hyphens, and ImageMagick's semicolons, stand between masks") {
  for (const std::string text :
       {"combine: length\n1 2 3\n---\nscale: 2\n4\n5 # low\n --- # and\nname: c\n6",
        "3x1: 1,2,3; 1x2: 4,5; 1x1: 6\ncombine: length", "3x1: 1,2,3;\n1x2: 4\n5;\n1x1:\n6;\n",
        "1 2 3\n---\n1x2: 4, 5; 1x1: 6"}) {
    CAPTURE(text);
    const MaskSet set = parsed(text);
    REQUIRE(set.masks.size() == 3);
    CHECK(set.masks[0].weights == Weights{1, 2, 3});
    CHECK(set.masks[1].weights == Weights{4, 5});
    CHECK(set.masks[1].height == 2);
    CHECK(set.masks[2].weights == Weights{6});
    CHECK(set.combine ==
          (text.find("combine") == std::string::npos ? Combine::max : Combine::length));
  }
  const MaskSet set = parsed("1 2 3\n---\nscale: 2\n4\n---\nname: c\n6");
  CHECK(set.masks[1].divisor == 1);  // 4 over 2, in lowest terms
  CHECK(set.masks[1].weights == Weights{2});
  CHECK(set.masks[2].name == "c");
  for (const Combine combine : kCombines)
    CHECK(parsed("1\n---\n2\ncombine: " + std::string(name_of(combine))).combine == combine);
}

TEST_CASE("turns by eighths are Kirsch's compass, counter-clockwise") {
  const MaskSet set = parsed("rotate: 8\n-3 -3 5\n-3 0 5\n-3 -3 5");
  const std::vector<Weights> kirsch{
      {-3, -3, 5, -3, 0, 5, -3, -3, 5}, {-3, 5, 5, -3, 0, 5, -3, -3, -3},
      {5, 5, 5, -3, 0, -3, -3, -3, -3}, {5, 5, -3, 5, 0, -3, -3, -3, -3},
      {5, -3, -3, 5, 0, -3, 5, -3, -3}, {-3, -3, -3, 5, 0, -3, 5, 5, -3},
      {-3, -3, -3, -3, 0, -3, 5, 5, 5}, {-3, -3, -3, -3, 0, 5, -3, 5, 5}};
  REQUIRE(set.masks.size() == 8);
  for (std::size_t k = 0; k < 8; ++k) CHECK(set.masks[k].weights == kirsch[k]);
  CHECK(parsed("3x3@: -3,-3,5,-3,0,5,-3,-3,5").masks.size() == 8);
}

TEST_CASE("two eighths of a turn are a quarter, whatever the side") {
  for (const int side : {1, 3, 5, 7}) {
    Weights weights(std::size_t(side) * side);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = double(i);
    const Mask mask = make_mask("m", side, side, weights);
    CHECK(turned_by_eighth(turned_by_eighth(mask)).weights == turned_by_quarter(mask).weights);
  }
}

TEST_CASE("a quarter of a turn takes the anchor along") {
  const MaskSet set = parsed("rotate: 4\nanchor: 0 1\n1 2 3\n4 5 6");
  REQUIRE(set.masks.size() == 4);
  const Mask& quarter = set.masks[1];
  CHECK(quarter.weights == Weights{3, 6, 2, 5, 1, 4});
  CHECK(quarter.weight(quarter.anchor_x, quarter.anchor_y) == 4);
  CHECK(set.masks[2].weights == flipped(set.masks[0]).weights);
  CHECK(set.masks[2].anchor_x == flipped(set.masks[0]).anchor_x);
  CHECK(parsed("3x2+0+1>: 1 2 3 4 5 6").masks[1].weights == quarter.weights);
  CHECK(parsed("3x2+0+1<: 1 2 3 4 5 6").masks.size() == 4);
}
