/// Translucent pictures in bands, held to the rule itself: rows of the result whose rows under the
/// mask are all opaque have the bytes of the picture without alpha, the others what double
/// precision says. Which rows those are is worked out here, cell by cell.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "src/filter/mapped.hpp"
#include "src/mask/make.hpp"
#include "tests/support/files/picture.hpp"
#include "tests/support/filtered.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

using Random = std::mt19937;

int between(Random& random, int low, int high) {
  return low + int(random() % unsigned(high - low + 1));
}

/// The cell that stands for cell i of n by repeated steps, -1 for the border value.
int cell(Border border, int i, int n) {
  if (i >= 0 && i < n) return i;
  if (border == Border::constant) return -1;
  if (border == Border::replicate || n == 1) return i < 0 ? 0 : n - 1;
  const int seam = border == Border::reflect ? 1 : 0;
  while (i < 0 || i >= n) i = i < 0 ? -i - seam : 2 * (n - 1) - i + seam;
  return i;
}

/// A picture whose rows are opaque in stretches of random length, and elsewhere have one pixel to
/// all pixels that are not.
Image translucent(Random& random, int width, int height, Depth depth) {
  Image image = pattern(width, height, 4, depth);
  const double full = full_range(depth);
  bool opaque = random() % 2;
  for (int y = 0, left = 0; y < height; ++y, --left) {
    if (left == 0) {
      opaque = !opaque;
      left = between(random, 1, 1 + height / 3);
    }
    const int clear = between(random, 0, width - 1);
    const bool one = random() % 2;
    for (int x = 0; x < width; ++x) {
      const bool dimmed = !opaque && (x == clear || !one);
      const double least = depth == Depth::f32 ? 0.5 : std::floor(full / 2);
      set_sample(&image, x, y, 3, dimmed ? std::min(sample(image, x, y, 3), least) : full);
    }
  }
  return image;
}

Image colours_of(const Image& in) {
  Image out(in.width(), in.height(), 3, in.depth());
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x)
      for (int c = 0; c < 3; ++c) set_sample(&out, x, y, c, sample(in, x, y, c));
  return out;
}

/// Through the filter in bands of random heights, none below the mask's.
Image in_random_bands(Random& random, const Work& work, const Image& in) {
  const int least = work.window.height;
  return filtered_in_bands(in, work, [&](int left) {
    const int rows = between(random, least, 3 * least + 5);
    return left - rows < least ? left : rows;
  });
}

bool same_row(const Image& a, const Image& b, int y, int channels) {
  for (int x = 0; x < a.width(); ++x)
    for (int c = 0; c < channels; ++c)
      if (sample(a, x, y, c) != sample(b, x, y, c)) return false;
  return true;
}

/// A mask whose weights differ, with an anchor anywhere and a gain of 1 or of another number.
Mask random_mask(Random& random, int width, int height, bool of_gain_1) {
  std::vector<double> weights;
  double sum = 0;
  for (int i = 0; i < width * height; ++i) {
    weights.push_back(between(random, 1, 97));
    sum += weights.back();
  }
  Mask mask = make_mask("random", width, height, std::move(weights), of_gain_1 ? sum : 1.7 * sum,
                        of_gain_1 ? 0 : 2);
  mask.anchor_x = between(random, 0, width - 1);
  mask.anchor_y = between(random, 0, height - 1);
  return mask;
}

/// A sample of a row that is not opaque, from the definition: colours are weighted by alpha.
double expected(const Image& in, const Mask& mask, const ConvolverOptions& options, int x, int y,
                int channel) {
  const double full = full_range(in.depth());
  double colour = 0, alpha = 0, gain = 0;
  for (int j = 0; j < mask.height; ++j) {
    for (int i = 0; i < mask.width; ++i) {
      const int from_x = cell(options.border, x + i - mask.anchor_x, in.width());
      const int from_y = cell(options.border, y + j - mask.anchor_y, in.height());
      const bool ghost = from_x < 0 || from_y < 0;
      const double weight = mask.weights[std::size_t(j * mask.width + i)] / mask.divisor;
      const double a = ghost ? full : sample(in, from_x, from_y, 3);
      colour += weight * a * (ghost ? options.border_value : sample(in, from_x, from_y, channel));
      alpha += weight * a;
      gain += weight;
    }
  }
  if (std::abs(gain - 1) > 1e-6) alpha = sample(in, x, y, 3);
  const double value = channel == 3 ? alpha : alpha > 0 ? colour / alpha + mask.offset : 0;
  return in.depth() == Depth::f32 ? value : std::clamp(value, 0.0, full);
}

}  // namespace

TEST_CASE("translucent pictures in bands keep to the rule of opaque rows") {
  Random random(19);
  int pictures = 0, opaque_rows = 0, other_rows = 0, told_apart = 0;
  for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
    for (const Border border :
         {Border::replicate, Border::constant, Border::reflect, Border::reflect101}) {
      for (int round = 0; round < 24; ++round) {
        // Bands of wide pictures become floats in several parts. Some masks are taller than the
        // picture.
        const int width = round % 12 == 1 ? 4200 : between(random, 1, 40);
        const int height = between(random, 1, 90);
        const int mask_height = between(random, 1, round % 4 == 0 ? 2 * height + 3 : 9);
        if (mask_height > 63) continue;
        const Mask mask = random_mask(random, between(random, 1, 7), mask_height, round % 2 == 0);
        ConvolverOptions options;
        options.request.device = "cpu";
        options.border = border;
        options.border_value = depth == Depth::f32 ? 0.3 : 17;
        const Image in = translucent(random, width, height, depth);
        CAPTURE(to_string(Convolver(options).problem_of(shape_of(in), mask, options.border_value)));
        CAPTURE(mask.anchor_x);
        CAPTURE(mask.anchor_y);

        Convolver convolver(options);
        const auto bands = begin(*mask_filter(mask), shape_of(in), convolver);
        REQUIRE(!bands->is_whole());
        const Image out = in_random_bands(random, *bands, in);
        CHECK(same(out, convolve(convolver, in, mask)));

        const Image plain = convolve(convolver, colours_of(in), mask);
        const double full = full_range(depth), step = depth == Depth::f32 ? 1e-4 : 1.0;
        for (int y = 0; y < height; ++y) {
          bool opaque = true;
          for (int j = 0; j < mask.height; ++j) {
            const int row = cell(border, y + j - mask.anchor_y, height);
            for (int x = 0; row >= 0 && x < width; ++x)
              opaque = opaque && sample(in, x, row, 3) == full;
          }
          ++(opaque ? opaque_rows : other_rows);
          if (opaque) {
            CAPTURE(y);
            CHECK(same_row(out, plain, y, 3));
          }
          for (int x = 0; x < width; x += 1 + width / 64) {
            if (opaque && sample(out, x, y, 3) != full) FAIL_CHECK("not opaque");
            for (int c = 0; !opaque && c < 4; ++c) {
              if (std::abs(sample(out, x, y, c) - expected(in, mask, options, x, y, c)) <= step)
                continue;
              CAPTURE(x);
              CAPTURE(y);
              CAPTURE(c);
              CHECK(sample(out, x, y, c) == doctest::Approx(expected(in, mask, options, x, y, c)));
            }
          }
          told_apart += !opaque && !same_row(out, plain, y, 3);
        }
        ++pictures;
      }
    }
  }
  // The pictures have rows of both kinds, and rows that are not opaque look otherwise.
  CHECK(pictures > 200);
  CHECK(opaque_rows > 1000);
  CHECK(other_rows > 1000);
  CHECK(told_apart > other_rows / 2);
}

TEST_CASE("edges of translucent pictures in bands keep to the rule of opaque rows") {
  Random random(91);
  for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
    for (const Border border :
         {Border::replicate, Border::constant, Border::reflect, Border::reflect101}) {
      for (int round = 0; round < 12; ++round) {
        const int width = between(random, 1, 40), height = between(random, 1, 60);
        ConvolverOptions options;
        options.request.device = "cpu";
        options.border = border;
        options.border_value = depth == Depth::f32 ? 0.3 : 17;
        Convolver convolver(options);
        const Image in = translucent(random, width, height, depth);
        const std::vector<Mask> masks = plain_masks(kEdgeMethods[round % 3]);
        const auto bands = begin(*channel_edges(masks), shape_of(in), convolver);
        REQUIRE(!bands->is_whole());
        const Image out = in_random_bands(random, *bands, in);
        CHECK(same(out, find_edges(in, masks, convolver)));
        const Image plain = find_edges(colours_of(in), masks, convolver);
        for (int y = 0; y < height; ++y) {
          bool opaque = true;
          for (int j = 0; j < masks[0].height; ++j) {
            const int row = cell(border, y + j - masks[0].anchor_y, height);
            for (int x = 0; row >= 0 && x < width; ++x)
              opaque = opaque && sample(in, x, row, 3) == full_range(depth);
          }
          CAPTURE(y);
          if (opaque) CHECK(same_row(out, plain, y, 3));
          for (int x = 0; x < width; ++x) CHECK(sample(out, x, y, 3) == sample(in, x, y, 3));
        }
      }
    }
  }
}

TEST_CASE(
    "the report names the strategy of opaque rows, unless the border wraps and there are none") {
  ConvolverOptions options;
  options.request.device = "cpu";
  for (const auto& [border, opaque_rows] :
       {std::pair{Border::wrap, 0}, {Border::wrap, 20}, {Border::replicate, 0}}) {
    options.border = border;
    Image in = pattern(30, 40, 4, Depth::u8);
    for (int y = 0; y < in.height(); ++y)
      for (int x = 0; x < in.width(); ++x) set_sample(&in, x, y, 3, y < opaque_rows ? 255 : 100);
    for (const bool linear : {false, true}) {
      for (const bool region : {false, true}) {
        CAPTURE(linear);
        CAPTURE(region);
        Mapping mapping;
        mapping.linear = linear;
        if (region) mapping.regions = {{0, 0, 30, 40}};
        Convolver convolver(options);
        const auto work =
            begin(*mapped(mask_filter(box_mask(4)), mapping), shape_of(in), convolver);
        filtered_in_bands(in, *work, 16);
        work->finish();
        // In linear light opaque rows are floats, too.
        const bool is_direct = (opaque_rows > 0 || border != Border::wrap) && !linear;
        CHECK(convolver.report().choice.strategy->name == (is_direct ? "cpu" : "separable"));
      }
    }
  }
}
