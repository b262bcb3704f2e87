/// Chains of filters, against sums in double precision and against the steps one by one.
#include "src/filter/chain.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "src/filter/edge.hpp"
#include "src/filter/mapped.hpp"
#include "src/filter/mask.hpp"
#include "src/mask/make.hpp"
#include "src/mask/shapes.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/files/picture.hpp"
#include "tests/support/filtered.hpp"
#include "tests/support/images.hpp"
#include "tests/support/profiles.hpp"

using namespace convfilt;
using namespace convfilt::image_tests;
using namespace convfilt::testing;

namespace {

/// Samples in double precision.
struct Samples {
  int width, height, channels;
  std::vector<double> values;

  double& at(int x, int y, int c) { return values[std::size_t((y * width + x) * channels + c)]; }
};

Samples samples_of(const Image& image) {
  Samples all{image.width(), image.height(), image.channels(), {}};
  for_samples(image, [&](int x, int y, int c) { all.values.push_back(sample(image, x, y, c)); });
  return all;
}

/// Where the border finds what lies outside; -1: nowhere.
int inside(int at, int size, Border border) {
  while (at < 0 || at >= size) {
    if (border == Border::constant) return -1;
    if (border == Border::replicate) return at < 0 ? 0 : size - 1;
    if (border == Border::wrap) {
      at += at < 0 ? size : -size;
      continue;
    }
    const int twice = border == Border::reflect ? 1 : 0;  // whether the outermost pixel comes twice
    if (size == 1) return 0;
    at = at < 0 ? -at - twice : 2 * size - 2 + twice - at;
  }
  return at;
}

Samples convolved(Samples& in, const Mask& mask, const ConvolverOptions& options) {
  const int more = options.mode == Mode::same ? 0 : options.mode == Mode::full ? 1 : -1;
  Samples out{
      in.width + more * (mask.width - 1), in.height + more * (mask.height - 1), in.channels, {}};
  const int left = more == 0 ? mask.anchor_x : more == 1 ? mask.width - 1 : 0;
  const int above = more == 0 ? mask.anchor_y : more == 1 ? mask.height - 1 : 0;
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x)
      for (int c = 0; c < out.channels; ++c) {
        double sum = 0;
        for (int j = 0; j < mask.height; ++j)
          for (int i = 0; i < mask.width; ++i) {
            const int u = inside(x + i - left, in.width, options.border);
            const int v = inside(y + j - above, in.height, options.border);
            sum += mask.weight(i, j) * (u < 0 || v < 0 ? options.border_value : in.at(u, v, c));
          }
        out.values.push_back(sum / mask.divisor + mask.offset);
      }
  return out;
}

Mask random_mask(std::mt19937& random) {
  const int width = 1 + int(random() % 5), height = 1 + int(random() % 5);
  std::vector<double> weights;
  for (int i = 0; i < width * height; ++i) weights.push_back(double(random() % 9) - 3);
  weights[0] += 0.5;
  Mask mask = make_mask("random", width, height, weights, double(width * height), 3);
  mask.anchor_x = int(random() % unsigned(width));
  mask.anchor_y = int(random() % unsigned(height));
  return mask;
}

/// All samples as floats, alpha from 0 to 1.
Image floats_of(const Image& image) {
  Image floats(image.width(), image.height(), image.channels(), Depth::f32);
  for_samples(image, [&](int x, int y, int c) {
    put(floats, x, y, c,
        float(sample(image, x, y, c)) / float(c == 3 ? full_range(image.depth()) : 1));
  });
  return floats;
}

/// Edges that are black and white in the units of a picture of that depth.
FilterPtr lines(Depth depth) {
  EdgeOptions options;
  options.thin = true;
  options.threshold = depth == Depth::u8 ? 40 * 255 : 40 * 65535;  // of a range of 1
  return edge_filter(plain_masks(EdgeMethod::sobel), options);
}

}  // namespace

TEST_CASE("a chain of masks is what sums in double precision are, in bands and as a whole") {
  std::mt19937 random(41);
  for (const Border border : kBorders)
    for (const Mode mode : kModes)
      for (const int channels : {1, 3})
        for (const int steps : {2, 3, 5}) {
          if (mode == Mode::full && border != Border::constant) continue;
          CAPTURE(name_of(border));
          CAPTURE(name_of(mode));
          CAPTURE(channels);
          CAPTURE(steps);
          ConvolverOptions options = on_cpu(border, mode == Mode::full ? 0 : 200);
          options.mode = mode;
          Convolver convolver(options);
          const Image in = random_image(37, 60, channels, Depth::u8, unsigned(random()));
          std::vector<FilterPtr> filters;
          Samples want = samples_of(in);
          int height = 1, across = 0, down = 0;
          for (int step = 0; step < steps; ++step) {
            const Mask mask = random_mask(random);
            filters.push_back(mask_filter(mask));
            want = convolved(want, mask, options);
            height += mask.height - 1;
            if (mode == Mode::same) continue;
            across += mask.anchor_x - (mode == Mode::full ? mask.width - 1 : 0);
            down += mask.anchor_y - (mode == Mode::full ? mask.height - 1 : 0);
          }
          const FilterPtr filter = chain(filters);
          const auto work = begin(*filter, shape_of(in), convolver);
          const Image out = filtered_whole(in, *filter, convolver);
          REQUIRE(out.width() == want.width);
          REQUIRE(out.height() == want.height);
          CHECK(work->offset_x == across);
          CHECK(work->offset_y == down);
          CHECK(work->is_whole() == (border == Border::wrap && height > 1));
          if (!work->is_whole()) {
            CHECK(same(out, filtered_in_bands(in, *work, height)));
            CHECK(same(out, filtered_in_bands(in, *work, height + 3)));
          }
          if (mode == Mode::same && border != Border::wrap) {
            for (const int y : {0, 1, 58, 59}) {
              Mapping one;  // row: fewer than the border mirrors
              one.regions = {{0, y, 37, 1}};
              const Image row = filtered(in, *mapped(filter, one), convolver);
              for (int x = 0; x < 37 * channels; ++x)
                CHECK(sample(row, x / channels, y, x % channels) ==
                      sample(out, x / channels, y, x % channels));
            }
          }
          double farthest = 0;
          for_samples(out, [&](int x, int y, int c) {
            farthest = std::max(farthest, std::abs(sample(out, x, y, c) -
                                                   std::clamp(want.at(x, y, c), 0.0, 255.0)));
          });
          CHECK(farthest <= 0.5 + 255e-5);
        }
}

TEST_CASE("a chain is its steps one by one, with floats between") {
  for (const Depth depth : {Depth::u8, Depth::u16})
    for (const int channels : {1, 3, 4})
      for (const Border border : {Border::replicate, Border::constant}) {
        CAPTURE(int(depth));
        CAPTURE(channels);
        CAPTURE(name_of(border));
        Convolver convolver(on_cpu(border, border == Border::constant ? 9 : 0));
        const Image in = random_image(41, 50, channels, depth, 7);
        const FilterPtr blur = mask_filter(gaussian_mask(1.3));
        const std::vector<std::vector<FilterPtr>> chains = {
            {blur, mask_filter(sharpen_mask(1, 2))},
            {mask_filter(box_mask(3)), channel_edges(plain_masks(EdgeMethod::scharr)), blur},
            {blur, edge_filter(plain_masks(EdgeMethod::sobel), {}), blur},
            {blur, edge_filter(plain_masks(EdgeMethod::kirsch), {EdgeKind::compass}), blur},
        };
        for (const std::vector<FilterPtr>& steps : chains) {
          const FilterPtr all = chain(steps);
          CAPTURE(all->text());
          Image want = floats_of(in);
          for (const FilterPtr& step : steps) want = filtered_whole(want, *step, convolver);
          const Image out = filtered(in, *all, convolver);
          REQUIRE(out.channels() == want.channels());
          bool equal = true;
          for_samples(out, [&](int x, int y, int c) {
            const double full = c == 3 ? full_range(depth) : 1;
            equal = equal && sample(out, x, y, c) == saturated(sample(want, x, y, c) * full, depth);
          });
          CHECK(equal);
        }
      }
}

TEST_CASE("thresholds of a step are in the units of the picture") {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    CAPTURE(int(depth));
    const Image in = random_image(41, 50, 1, depth, 7);
    Convolver convolver(on_cpu());
    const Mask blur = gaussian_mask(1);
    EdgeOptions edges;
    edges.thin = true;
    edges.threshold = 40;
    const FilterPtr find = edge_filter(plain_masks(EdgeMethod::sobel), edges);
    const Image out = filtered(in, *chain({mask_filter(blur), find}), convolver);
    const Image want = filtered_whole(filtered_whole(floats_of(in), *mask_filter(blur), convolver),
                                      *lines(depth), convolver);
    CHECK(begin(*chain({mask_filter(blur), find}), shape_of(in), convolver)->two_levels);
    CHECK_FALSE(begin(*chain({find, mask_filter(blur)}), shape_of(in), convolver)->two_levels);
    int white = 0;
    for_samples(out, [&](int x, int y, int c) {
      const bool is_white = sample(out, x, y, c) == full_range(depth);
      CHECK((is_white || sample(out, x, y, c) == 0));
      CHECK(is_white == (sample(want, x, y, c) > 0));
      white += is_white;
    });
    CHECK(white > 20);
    CHECK(white < 41 * 50 / 2);
  }
}

TEST_CASE("canny takes the whole picture, and at the end of a chain in bands at first") {
  EdgeOptions canny;
  canny.thin = true;
  canny.low = 10;
  canny.threshold = 30;
  const FilterPtr blur = mask_filter(gaussian_mask(1));
  for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32})
    for (const int channels : {1, 3, 4})
      for (const bool color : {false, true}) {
        CAPTURE(int(depth));
        CAPTURE(channels);
        canny.color = color;
        const FilterPtr edges = edge_filter(plain_masks(EdgeMethod::sobel), canny);
        const FilterPtr all = chain({blur, edges});
        Convolver convolver(on_cpu());
        const Image in = random_image(41, 50, channels, depth, 7);
        const auto work = begin(*all, shape_of(in), convolver);
        REQUIRE(work->is_whole());
        REQUIRE(work->in_bands());
        CHECK(work->out.channels == (channels == 3 && !color ? 1 : channels));
        const Image want = filtered_whole(in, *all, convolver);
        Image out = filtered_in_bands(in, *work->in_bands(), 17);
        CHECK_FALSE(same(out, want));  // marks
        work->complete(out.view());
        CHECK(same(out, want));
        // What bands cannot do, floats of the whole picture do.
        Convolver wrapping(on_cpu(Border::wrap));
        CHECK_FALSE(begin(*all, shape_of(in), wrapping)->in_bands());
        const auto first = begin(*chain({edges, blur}), shape_of(in), convolver);
        CHECK(first->is_whole());
        CHECK_FALSE(first->in_bands());
        CHECK_FALSE(begin(*chain({edges, edges}), shape_of(in), convolver)->in_bands());
      }
}

TEST_CASE("transforms of one step's picture are not taken for another's") {
  ConvolverOptions options = on_cpu();
  options.request.strategy = "overlap-add";
  Convolver convolver(options), other(options);
  // Masks of one size, so that transforms would do for both, and results that may be transformed.
  const std::vector<Mask> masks{box_mask(3), make_mask("ramp", 3, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9})};
  const std::vector<FilterPtr> steps{channel_edges(masks), mask_filter(box_mask(3))};
  Image in = random_image(64, 64, 1, Depth::u8, 1);
  for_samples(in,
              [&](int x, int y, int c) { put(in, x, y, c, 128 + int(sample(in, x, y, c)) / 2); });
  const Image all = filtered(floats_of(in), *chain(steps), convolver);
  CHECK(same(all, filtered(filtered(floats_of(in), *steps[0], convolver), *steps[1], other)));
}

TEST_CASE("transforms of one plane are not taken for another's, in any filter or chain") {
  const std::vector<Mask> masks{box_mask(3), make_mask("ramp", 3, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9})};
  const FilterPtr blur = mask_filter(gaussian_mask(1.4)), box = mask_filter(box_mask(3));
  EdgeOptions color;
  color.color = true;
  const std::vector<FilterPtr> filters = {blur,
                                          chain({blur, box}),
                                          channel_edges(masks),
                                          edge_filter(masks, color),
                                          chain({channel_edges(masks), box}),
                                          chain({edge_filter(masks, color), blur, box}),
                                          chain({blur, edge_filter(masks, {}), box}),
                                          combined_filter({masks, Combine::sum}),
                                          chain({combined_filter({masks, Combine::max}), blur})};
  enum class Alpha { none, soft, partly };
  for (const std::string strategy : {"overlap-add", "in-parts", "overlap-save", "fft"})
    for (const Alpha alpha : {Alpha::none, Alpha::soft, Alpha::partly}) {
      ConvolverOptions options = on_cpu();
      Convolver direct(options);
      options.request.strategy = strategy;
      Convolver convolver(options);  // of all filters, as of the files of a folder
      for (std::size_t k = 0; k < filters.size(); ++k) {
        CAPTURE(strategy);
        CAPTURE(int(alpha));
        CAPTURE(filters[k]->text());
        // Planes of one shape that differ in their contrast, so that each may have a plan of its
        // own.
        Image in = random_image(60, 64, alpha == Alpha::none ? 3 : 4, Depth::f32, unsigned(k));
        for_samples(in, [&](int x, int y, int c) {
          constexpr double kSpreads[] = {0.1, 0.5, 0.75, 0.3};
          const bool opaque = c == 3 && alpha == Alpha::partly && y < 20;
          put(in, x, y, c, opaque ? 1 : 0.95 - kSpreads[c] * (sample(in, x, y, c) + x / 20.0) / 4);
        });
        const Image got = filtered_whole(in, *filters[k], convolver);
        const Image want = filtered_whole(in, *filters[k], direct);
        double furthest = 0;
        for_samples(want, [&](int x, int y, int c) {
          furthest = std::max(furthest, std::abs(sample(got, x, y, c) - sample(want, x, y, c)) /
                                            std::max(1.0, std::abs(sample(want, x, y, c))));
        });
        CHECK(furthest < 1e-4);
      }
    }
}

TEST_CASE("masks of one plane share its transforms, and no more") {
  if (test::emulator_missing()) return;
  // Blocks of threads that read a filter's pictures.
  const auto blocks = [](const FilterPtr& filter, const Image& in) {
    ConvolverOptions options;
    options.request.device = "emulator";
    options.request.strategy = "overlap-add";
    Convolver convolver(options);
    filtered_whole(in, *filter, convolver);
    return convolver.report().counts.blocks;
  };
  const Mask box = box_mask(3), ramp = make_mask("ramp", 3, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  Image colours = random_image(40, 40, 3, Depth::f32, 1), grey(40, 40, 1, Depth::f32);
  for_samples(colours, [&](int x, int y, int c) {
    put(colours, x, y, c, 0.75 + sample(colours, x, y, c) / 4);
  });
  for_samples(grey, [&](int x, int y, int c) { put(grey, x, y, c, sample(colours, x, y, c)); });
  EdgeOptions color;
  color.color = true;
  const auto one = blocks(mask_filter(box), grey);
  CHECK(one > 0);
  CHECK(blocks(edge_filter({box, ramp}, {}), grey) == one);
  CHECK(blocks(edge_filter({box, ramp, flipped(ramp)}, {EdgeKind::compass}), grey) == one);
  CHECK(blocks(edge_filter({box, ramp}, color), colours) == 3 * one);
  CHECK(blocks(chain({edge_filter({box, ramp}, {}), mask_filter(box)}), grey) == 2 * one);
}

TEST_CASE("a GPU takes a chain whose steps pay there only together") {
  const auto never_run = [](const Problem&, const PlanOptions&) -> std::unique_ptr<Plan> {
    return nullptr;
  };
  static const Strategy separable{
      .name = "separable",
      .summary = "",
      .family = Family::separable,
      .refuses = [](const Problem&, const Tuning&) { return std::string(); },
      .prepare_cpu = never_run,
      .prepare_cuda = never_run,
      .spatial_family = Family::separable};
  static const Strategy* const all[] = {&separable};
  static const CudaDevices one{{{0, "invented", 9, 0, 100, 1}}, ""};
  const Machine machine{all,
                        8,
                        true,
                        []() -> const CudaDevices& { return one; },
                        [] { return std::string(); },
                        test::shipped_profiles};
  ConvolverOptions options;
  options.request.pictures = 1000;
  Convolver convolver(options, machine);
  const FilterPtr box =
      mask_filter(make_mask("box", 41, 41, std::vector<double>(std::size_t(41) * 41, 1), 41 * 41));
  const auto device = [&](const Filter& filter, const Shape& in) {
    begin(filter, in, convolver);
    return convolver.report().choice.device;
  };
  const FilterPtr twice = chain({box, box});
  for (int i = 0; i < 2; ++i) {
    CHECK(device(*twice, {1600, 1200, 3}) == DeviceKind::cuda);
    CHECK(convolver.report().choice.why.find("all masks together") != std::string::npos);
    // Floats go there and back for each step, as do the samples of one step alone.
    CHECK(device(*twice, {1600, 1200, 3, Depth::f32}) == DeviceKind::cpu);
    CHECK(device(*twice, {1600, 1200, 4}) == DeviceKind::cpu);
    CHECK(device(*box, {1600, 1200, 3}) == DeviceKind::cpu);
  }
}

TEST_CASE("a chain of one step is that step, and of none there is no chain") {
  const FilterPtr blur = mask_filter(gaussian_mask(1));
  CHECK(chain({blur}) == blur);
  CHECK(chain({blur, blur})->text() != chain({blur})->text());
  CHECK(chain({blur, blur})->keeps_lightness());
  CHECK_FALSE(chain({blur, edge_filter(plain_masks(EdgeMethod::sobel), {})})->keeps_lightness());
  CHECK(chain({blur, blur})->masks().size() == 2);
}
