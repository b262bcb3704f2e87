/// The responses to several masks, combined, against sums in double precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "src/filter/edge.hpp"
#include "src/mask/file.hpp"
#include "tests/support/files/picture.hpp"
#include "tests/support/filtered.hpp"
#include "tests/support/images.hpp"

using namespace convfilt;
using namespace convfilt::image_tests;
using namespace convfilt::testing;

namespace {

/// Masks of several sizes and anchors, with divisors and offsets.
std::vector<Mask> several_masks() {
  std::vector<Mask> masks{make_mask("a", 3, 3, {1, 2, 1, 0, 0, 0, -1, -2, -1}, 2),
                          make_mask("b", 5, 1, {-1, 0, 3, 0, -1}, 4, 7),
                          make_mask("c", 2, 4, {1, -1, 2, -2, 2, -2, 1, -1})};
  masks[2].anchor_x = 0;
  masks[2].anchor_y = 3;
  return masks;
}

double combined(const std::vector<double>& responses, Combine combine) {
  double sum = 0, squares = 0, most = responses[0], strongest = responses[0];
  for (const double one : responses) {
    sum += one;
    squares += one * one;
    most = std::max(most, one);
    if (std::abs(one) > std::abs(strongest)) strongest = one;
  }
  return combine == Combine::sum      ? sum
         : combine == Combine::max    ? most
         : combine == Combine::length ? std::sqrt(squares)
                                      : strongest;
}

}  // namespace

TEST_CASE("responses are combined as sums in double precision are, in bands and as a whole") {
  const std::vector<Mask> masks = several_masks();
  for (const Combine how : kCombines)
    for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32})
      for (const int channels : {1, 3}) {
        CAPTURE(name_of(how));
        CAPTURE(int(depth));
        CAPTURE(channels);
        const Image in = random_image(31, 40, channels, depth, 5);
        const double range = full_range(depth);
        Convolver convolver(on_cpu());
        const FilterPtr filter = combined_filter({masks, how});
        const auto work = begin(*filter, shape_of(in), convolver);
        REQUIRE_FALSE(work->is_whole());
        const Image out = filtered(in, *filter, convolver);
        CHECK(same(out, filtered_in_bands(in, *work, 7)));
        double farthest = 0;
        for_samples(out, [&](int x, int y, int c) {
          std::vector<double> responses;
          for (const Mask& mask : masks)
            responses.push_back(
                naive(in, mask, x, y, [&](int u, int v) { return sample(in, u, v, c); }) +
                mask.offset);
          double want = combined(responses, how);
          if (depth != Depth::f32) want = std::clamp(want, 0.0, range);
          farthest = std::max(farthest, std::abs(sample(out, x, y, c) - want));
        });
        // Half a step of the rounding, and the sums' error in f32: some 2^-20 of the range.
        CHECK(farthest <= (depth == Depth::f32 ? 0 : 0.5) + range * 1e-5);
      }
}

TEST_CASE("two masks by length are the edges of each channel") {
  const Image in = random_image(50, 41, 3, Depth::u8, 9);
  const std::vector<Mask> masks{load_mask("sobel_x"), load_mask("sobel_y")};
  Convolver convolver(on_cpu());
  CHECK(same(filtered(in, *combined_filter({masks, Combine::length}), convolver),
             find_edges(in, masks, convolver)));
}

TEST_CASE("alpha stays, and transparent pixels do not shine into others") {
  Image in = random_image(20, 20, 4, Depth::u8, 2);
  Image black = random_image(20, 20, 4, Depth::u8, 2);
  for_samples(in, [&](int x, int y, int c) {
    if (c == 3) put(in, x, y, c, x < 10 ? 255 : 0);
    if (c == 3) put(black, x, y, c, x < 10 ? 255 : 0);
    if (c < 3 && x >= 10) put(black, x, y, c, 0);
  });
  Convolver convolver(on_cpu());
  const FilterPtr filter = combined_filter({several_masks(), Combine::max});
  const Image out = filtered(in, *filter, convolver);
  CHECK(same(out, filtered(black, *filter, convolver)));
  for_samples(out, [&](int x, int y, int c) {
    if (c == 3) CHECK(sample(out, x, y, c) == sample(in, x, y, c));
  });
}

TEST_CASE("filters whose masks or ways to combine differ have different texts") {
  std::vector<std::string> texts;
  const std::vector<Mask> masks = several_masks();
  for (const Combine how : kCombines)
    for (const std::vector<Mask>& set : {masks, {masks[1], masks[0], masks[2]}, {masks[0]}})
      texts.push_back(combined_filter({set, how})->text());
  std::ranges::sort(texts);
  CHECK(std::ranges::adjacent_find(texts) == texts.end());
}

TEST_CASE("masks that together reach too far are refused") {
  Mask left = make_mask("left", 1025, 1, std::vector<double>(1025, 1)), right = left;
  left.anchor_x = 1024;
  right.anchor_x = 0;
  CHECK_THROWS_AS(combined_filter({{left, right}, Combine::sum}), UsageError);
}
