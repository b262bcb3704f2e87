/// A picture that is cut into bands gets the bytes that it gets as a whole.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/filter/mapped.hpp"
#include "src/mask/make.hpp"
#include "tests/support/files/picture.hpp"
#include "tests/support/filtered.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

Mask odd_mask(int width, int height, int anchor_x, int anchor_y) {
  std::vector<double> weights;
  for (int i = 0; i < width * height; ++i) weights.push_back((i * 7 + 3) % 11 - 2);
  Mask mask = make_mask("odd", width, height, std::move(weights), 16, 3);
  mask.anchor_x = anchor_x;
  mask.anchor_y = anchor_y;
  return mask;
}

const Mask kMasks[] = {
    odd_mask(1, 1, 0, 0), odd_mask(3, 3, 1, 1), odd_mask(4, 5, 3, 0),
    odd_mask(5, 2, 0, 1), odd_mask(1, 7, 0, 6), gaussian_mask(1.3),
};

/// Which rows of a picture with alpha are opaque.
constexpr int kAlphaKinds = 5;

/// A picture of these channels; with alpha there is one of each kind.
std::vector<Image> pictures(int width, int height, int channels, Depth depth) {
  std::vector<Image> all;
  for (int kind = 0; kind < (channels == 4 ? kAlphaKinds : 1); ++kind) {
    Image image = pattern(width, height, channels, depth);
    for (int y = 0; channels == 4 && y < height; ++y) {
      // All rows; none but by chance; the lower half; all but a few; all but for a pixel.
      const bool opaque[kAlphaKinds] = {true, false, y >= height / 2, y % 19 != 4, y != height / 3};
      for (int x = 0; opaque[kind] && x < width; ++x)
        set_sample(&image, x, y, 3, full_range(depth));
      for (int x = 1; kind == 4 && x < width; ++x) set_sample(&image, x, y, 3, full_range(depth));
    }
    all.push_back(std::move(image));
  }
  return all;
}

}  // namespace

TEST_CASE("bands of a picture get the bytes of the whole") {
  int compared = 0;
  for (const Depth depth : kDepths) {
    for (const auto& [width, height] : {std::pair{23, 41}, {1, 1}, {3, 2}, {64, 9}, {130, 67}}) {
      std::vector<Image> all;
      for (const int channels : {1, 3, 4})
        std::ranges::move(pictures(width, height, channels, depth), std::back_inserter(all));
      for (const Image& in : all) {
        for (const Mask& mask : kMasks) {
          for (const Border border : kBorders) {
            for (const Mode mode : kModes) {
              if (mode == Mode::full && border != Border::constant) continue;
              ConvolverOptions options;
              options.request.device = "cpu";
              options.border = border;
              options.border_value = depth == Depth::f32 ? 0.3 : 17;
              options.mode = mode;
              Convolver convolver(options);
              if (mode == Mode::valid && (width < mask.width || height < mask.height)) continue;
              const auto bands = begin(*mask_filter(mask), shape_of(in), convolver);
              REQUIRE(!bands->is_whole());
              const Image whole = convolve(convolver, in, mask);
              for (const int step : {mask.height, 2 * mask.height + 1, 16, 1000}) {
                if (step < mask.height) continue;
                CAPTURE(to_string(convolver.problem_of(shape_of(in), mask, 0)));
                CAPTURE(step);
                CHECK(same(filtered_in_bands(in, *bands, step), whole));
                ++compared;
              }
            }
          }
        }
      }
    }
  }
  CHECK(compared > 3000);
}

TEST_CASE("filters around filters give bands of any height the bytes of the whole") {
  std::mt19937 random(23);
  const auto between = [&](int low, int high) { return low + int(random() % (high - low + 1)); };
  int compared = 0, wrapped = 0;
  for (int round = 0; round < 1300; ++round) {
    const Depth depth = kDepths[round % 3];
    const int width = between(1, 40), height = between(1, 60);
    Mapping mapping;
    mapping.linear = random() % 2;
    mapping.luma = random() % 2;
    mapping.negative = Negative(between(0, 2));
    const int x = between(0, width - 1), y = between(0, height - 1);
    for (int count = between(0, 3); count > 1; --count)
      mapping.regions.push_back(
          {x, y, between(1, width - x), between(1, height - y), between(0, 1) == 0});
    const bool alpha_goes = !mapping.luma && mapping.negative == Negative::clamp;
    const std::vector<Image> all =
        pictures(width, height, alpha_goes ? 4 : 1 + 2 * between(0, 1), depth);
    const Image& in = all[random() % all.size()];
    const Mask& mask = kMasks[random() % std::size(kMasks)];
    const bool edge = random() % 3 == 0;
    if (edge && mapping.luma && !mapping.regions.empty() && in.channels() == 3) continue;
    const FilterPtr filter = mapped(edge ? channel_edges({mask}) : mask_filter(mask), mapping);
    if (!filter->keeps_lightness() && mapping.luma && !mapping.regions.empty() &&
        in.channels() == 3)
      continue;
    ConvolverOptions options;
    options.request.device = "cpu";
    options.border = kBorders[random() % std::size(kBorders)];
    options.border_value = depth == Depth::f32 ? 0.3 : 17;
    // The grammar lets --luma and --region go with Mode::same alone.
    if (!mapping.luma && mapping.regions.empty())
      options.mode = kModes[random() % std::size(kModes)];
    if (options.mode == Mode::full && options.border != Border::constant) continue;
    if (options.mode == Mode::valid && (width < mask.width || height < mask.height)) continue;
    Convolver convolver(options);
    const auto work = begin(*filter, shape_of(in), convolver);
    REQUIRE(!work->is_whole());
    CAPTURE(describe(*filter, options));
    CAPTURE(to_string(convolver.problem_of(shape_of(in), mask, 0)));
    const int least = work->wraps() ? 1 : mask.height;
    const Image bands = filtered_in_bands(in, *work, [&](int left) {
      const int rows = between(least, least + 9);
      return left - rows < least ? left : rows;
    });
    CHECK(same(bands, filtered_whole(in, *filter, convolver)));
    ++compared;
    wrapped += work->wraps();
  }
  CHECK(compared > 1000);
  CHECK(wrapped > 100);
}

TEST_CASE("edges in bands have the bytes of edges in whole pictures") {
  for (const Depth depth : kDepths) {
    std::vector<Image> all;
    for (const int channels : {1, 3, 4})
      std::ranges::move(pictures(61, 47, channels, depth), std::back_inserter(all));
    for (const Image& in : all) {
      for (const EdgeMethod method : kEdgeMethods) {
        if (kind_of(method) == EdgeKind::compass) continue;
        for (const Border border : {Border::replicate, Border::constant, Border::reflect101}) {
          ConvolverOptions options;
          options.request.device = "cpu";
          options.border = border;
          Convolver convolver(options);
          const std::vector<Mask> masks = plain_masks(method);
          const auto bands = begin(*channel_edges(masks), shape_of(in), convolver);
          REQUIRE(!bands->is_whole());
          const Image whole = find_edges(in, masks, convolver);
          CAPTURE(std::string(name_of(method)));
          CAPTURE(int(depth));
          for (const int step : {masks[0].height, 16, 1000})
            CHECK(same(filtered_in_bands(in, *bands, step), whole));
        }
      }
    }
  }
}

TEST_CASE("every pair of whole responses gets the length that double precision gives") {
  // Sobel's responses to 8 bits reach 1020; steps between rows and columns give all pairs there are
  // on the way.
  Image in(512, 512, 1, Depth::u8);
  for (int y = 0; y < 512; ++y)
    for (int x = 0; x < 512; ++x) set_sample(&in, x, y, 0, (x * y + x * 37 + y * 91) % 256);
  ConvolverOptions options;
  options.request.device = "cpu";
  Convolver convolver(options);
  for (const EdgeMethod method : {EdgeMethod::sobel, EdgeMethod::scharr, EdgeMethod::prewitt}) {
    const std::vector<Mask> masks = plain_masks(method);
    const auto bands = begin(*channel_edges(masks), shape_of(in), convolver);
    REQUIRE(!bands->is_whole());
    CHECK(same(filtered_in_bands(in, *bands, 64), find_edges(in, masks, convolver)));
  }
}

TEST_CASE("masks whose responses go beyond 16 bits give the same edges in bands") {
  // 257 * 255 is 65,535, which 16 bits would take for -1.
  const std::vector<Mask> masks = {make_mask("steep", 3, 1, {0, 0, 257}),
                                   make_mask("flat", 3, 1, {-1, 0, 1})};
  ConvolverOptions options;
  options.request.device = "cpu";
  Convolver convolver(options);
  Image in(64, 3, 1, Depth::u8);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 64; ++x) set_sample(&in, x, y, 0, 255);
  const auto bands = begin(*channel_edges(masks), shape_of(in), convolver);
  REQUIRE(!bands->is_whole());
  const Image edges = filtered_in_bands(in, *bands, 1000);
  CHECK(sample(edges, 30, 1, 0) == 255);
  CHECK(same(edges, find_edges(in, masks, convolver)));
}

TEST_CASE("masks of edges that reach differently far, or are three, are refused") {
  const Mask across = make_mask("across", 3, 1, {-1, 0, 1}),
             down = make_mask("down", 1, 3, {-1, 0, 1});
  CHECK_THROWS_AS(channel_edges({across, down}), UsageError);
  CHECK_THROWS_AS(channel_edges({across, across, across}), UsageError);
}

TEST_CASE("what must be whole says why") {
  const auto why = [](ConvolverOptions options, int channels, const Mask& mask) {
    Convolver convolver(options);
    return begin(*mask_filter(mask), {300, 300, channels, Depth::u8}, convolver)->why_whole;
  };
  ConvolverOptions options;
  options.request.device = "cpu";
  CHECK(why(options, 4, gaussian_mask(60)) == "strategy coarse transforms whole pictures");
  CHECK(why(options, 1, gaussian_mask(60)) == "strategy coarse transforms whole pictures");
  options.request.device = "emulator";
  CHECK(why(options, 1, gaussian_mask(1)) == "the emulator filters whole pictures");
}
