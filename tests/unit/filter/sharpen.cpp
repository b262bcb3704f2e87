/// Sharpening with a threshold or a limit of halos, against its definition in double precision.
#include "src/filter/sharpen.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "src/filter/mapped.hpp"
#include "src/mask/make.hpp"
#include "src/picture/transfer_curve.hpp"
#include "tests/support/files/picture.hpp"
#include "tests/support/filtered.hpp"
#include "tests/support/images.hpp"

using namespace convfilt;
using namespace convfilt::image_tests;
using namespace convfilt::testing;

namespace {

/// The definition: the sample, and `amount` times what of its distance from the blur goes beyond
/// the threshold; then held between the least and the most around it, and a share of these two's
/// distance. `blurred` is the blur's response.
double sharpened(const Image& in, const SharpenOptions& options, int x, int y, int c,
                 double blurred) {
  const double s = sample(in, x, y, c),
               threshold = options.threshold / 255 * full_range(in.depth());
  const double difference = s - blurred;
  double value = s;
  if (difference > threshold) value = s + options.amount * (difference - threshold);
  if (difference < -threshold) value = s + options.amount * (difference + threshold);
  if (!options.halo_limit) return value;
  double least = s, most = s;
  for (int v = y - options.reach; v <= y + options.reach; ++v)
    for (int u = x - options.reach; u <= x + options.reach; ++u) {
      if (u < 0 || v < 0 || u >= in.width() || v >= in.height()) continue;
      least = std::min(least, sample(in, u, v, c));
      most = std::max(most, sample(in, u, v, c));
    }
  const double share = *options.halo_limit / 100 * (most - least);
  return std::clamp(value, least - share, most + share);
}

const SharpenOptions kOptions[] = {
    {1, 0, 0.0, 1}, {1, 4, {}, 1},  {2.5, 30, {}, 1},  {10, 2, 10.0, 1},
    {10, 0, 25, 2}, {0, 3, 5.0, 1}, {1.5, 255, {}, 1}, {3, 12.5, 100.0, 5},
};

/// Not all pixels differ from their neighbours by much: noise of a few steps on large steps.
Image stepped_image(int width, int height, int channels, Depth depth, unsigned seed) {
  Image image = random_image(width, height, channels, depth, seed);
  for_samples(image, [&](int x, int y, int c) {
    const double unit = sample(image, x, y, c) / full_range(depth);
    const double value = 0.1 * unit + ((x / 5 + y / 4 + c) % 3) * 0.3;
    put(image, x, y, c, depth == Depth::f32 ? value : std::floor(value * full_range(depth)));
  });
  return image;
}

}  // namespace

TEST_CASE("sharpening with a threshold or a halo limit: the naive double computation") {
  int compared = 0, changed = 0;
  for (const SharpenOptions& options : kOptions) {
    for (const Depth depth : kDepths) {
      for (const int channels : {1, 3}) {
        CAPTURE(options.amount);
        CAPTURE(options.threshold);
        CAPTURE(channels);
        const Mask blur = gaussian_mask(options.reach == 5 ? 4.5 : 1);
        const Image in = stepped_image(31, 23, channels, depth, 3);
        Convolver convolver(on_cpu());
        const Image out = filtered(in, *sharpen_filter(blur, options), convolver);
        for_samples(in, [&](int x, int y, int c) {
          const double blurred =
              naive(in, blur, x, y, [&](int u, int v) { return sample(in, u, v, c); });
          const double value = sharpened(in, options, x, y, c, blurred);
          // The blur is a sum in f32: its error is far below 1e-6 of the range.
          const double error = options.amount * 1e-6 * full_range(depth);
          CHECK(sample(out, x, y, c) >= saturated(value - error, depth));
          CHECK(sample(out, x, y, c) <= saturated(value + error, depth));
          ++compared;
          changed += sample(out, x, y, c) != sample(in, x, y, c);
        });
      }
    }
  }
  CHECK(compared > 50'000);
  CHECK(changed > 20'000);
}

TEST_CASE("a difference at the threshold changes nothing, and one beyond it is not a jump") {
  // A line through a grey: its distance from the mean of a box of 3x3 is two thirds of its height.
  const Mask mean = box_mask(3);
  Convolver convolver(on_cpu());
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    const double step = full_range(depth) / 255;
    for (const double height : {3.0, 29.0, 30.0, 31.0, 60.0}) {
      Image in(9, 9, 1, depth);
      for_samples(
          in, [&](int x, int y, int) { put(in, x, y, 0, step * (100 + (x == 4 ? height : 0))); });
      const Image out = filtered(in, *sharpen_filter(mean, {3, 20, {}, 1}), convolver);
      const double beyond = std::max(height * 2 / 3 - 20, 0.0);
      CHECK(sample(out, 4, 4, 0) == std::nearbyint(step * (100 + height + 3 * beyond)));
      // Beside the line the mean is a third of its height above.
      CHECK(sample(out, 3, 4, 0) ==
            std::nearbyint(step * (100 - 3 * std::max(height / 3 - 20, 0.0))));
    }
  }
}

TEST_CASE("without a threshold, sharpening is the mask's but for roundings") {
  Convolver convolver(on_cpu());
  for (const Depth depth : kDepths) {
    const Image in = random_image(64, 40, 3, depth, 8);
    const Image by_mask = filtered(in, *mask_filter(sharpen_mask(1.5, 1.2)), convolver);
    const Image out =
        filtered(in, *sharpen_filter(gaussian_mask(1.2), {1.5, 1e-9, {}, 2}), convolver);
    for_samples(in, [&](int x, int y, int c) {
      CHECK(std::abs(sample(out, x, y, c) - sample(by_mask, x, y, c)) <=
            (depth == Depth::f32 ? 1e-5 : 1));
    });
  }
}

TEST_CASE("a halo limit of 0 keeps every result between its neighbours, and a constant as it is") {
  Convolver convolver(on_cpu());
  const Image in = random_image(40, 30, 3, Depth::u8, 5);
  const Image out = filtered(in, *sharpen_filter(gaussian_mask(1), {10, 0, 0.0, 1}), convolver);
  for_samples(in, [&](int x, int y, int c) {
    double least = 255, most = 0;
    for (int v = std::max(0, y - 1); v <= std::min(29, y + 1); ++v)
      for (int u = std::max(0, x - 1); u <= std::min(39, x + 1); ++u) {
        least = std::min(least, sample(in, u, v, c));
        most = std::max(most, sample(in, u, v, c));
      }
    CHECK(sample(out, x, y, c) >= least);
    CHECK(sample(out, x, y, c) <= most);
  });
}

TEST_CASE(
    "alpha and transparent pixels stay, and opaque rows get the bytes they get without alpha") {
  for (const Border border : {Border::replicate, Border::constant}) {
    for (int k = 0; k < 6; ++k) {
      const Depth depth = kDepths[k / 2];
      const SharpenOptions options{2, 5, k % 2 ? std::optional(20.0) : std::nullopt, 1};
      const Mask blur = gaussian_mask(0.7);
      const FilterPtr filter = sharpen_filter(blur, options);
      Image in = stepped_image(24, 40, 4, depth, 9), colours(24, 40, 3, depth);
      for_samples(in, [&](int x, int y, int c) {
        if (c == 3 && y < 20) put(in, x, y, c, full_range(depth));
        if (c == 3 && y >= 20 && x < 4) put(in, x, y, c, 0);
      });
      for_samples(colours,
                  [&](int x, int y, int c) { put(colours, x, y, c, sample(in, x, y, c)); });
      Convolver convolver(on_cpu(border));
      const Image out = filtered(in, *filter, convolver);
      const Image without = filtered(colours, *filter, convolver);
      for_samples(in, [&](int x, int y, int c) {
        if (c == 3 || sample(in, x, y, 3) == 0) {
          CHECK(sample(out, x, y, c) == sample(in, x, y, c));
        } else if (y < 20 - blur.height / 2) {
          CHECK(sample(out, x, y, c) == sample(without, x, y, c));
        } else if (border == Border::replicate) {
          const auto alpha = [&](int u, int v) { return sample(in, u, v, 3); };
          const double blurred =
              naive(in, blur, x, y,
                    [&](int u, int v) { return sample(in, u, v, c) * alpha(u, v); }) /
              naive(in, blur, x, y, alpha);
          const double value = sharpened(in, options, x, y, c, blurred);
          const double error = 1e-5 * full_range(depth);
          CHECK(sample(out, x, y, c) >= saturated(value - error, depth));
          CHECK(sample(out, x, y, c) <= saturated(value + error, depth));
        }
      });
    }
  }
}

TEST_CASE("sharpening in bands, on any threads, and inside other filters has the whole's bytes") {
  std::mt19937 random(11);
  int compared = 0;
  for (int round = 0; round < 400; ++round) {
    const auto between = [&](int low, int high) { return low + int(random() % (high - low + 1)); };
    const SharpenOptions& options = kOptions[random() % std::size(kOptions)];
    const Mask blur = gaussian_mask(options.reach == 5 ? 4.5 : 0.8);
    ConvolverOptions how = on_cpu(kBorders[random() % std::size(kBorders)]);
    how.request.threads = between(1, 3);
    const Depth depth = kDepths[round % 3];
    Mapping mapping;
    mapping.linear = random() % 3 == 0;
    mapping.luma = random() % 3 == 0;
    if (!mapping.luma && random() % 3 == 0) how.mode = Mode::valid;
    const Image in =
        stepped_image(between(40, 60), between(40, 80),
                      mapping.luma ? 3 : std::vector{1, 3, 4}[random() % 3], depth, round);
    const FilterPtr filter = mapped(sharpen_filter(blur, options), mapping);
    Convolver convolver(how);
    const auto work = begin(*filter, shape_of(in), convolver);
    REQUIRE(!work->is_whole());
    CAPTURE(describe(*filter, how));
    const int least = blur.height;
    const Image bands = filtered_in_bands(in, *work, [&](int left) {
      const int rows = between(least, least + 9);
      return left - rows < least ? left : rows;
    });
    CHECK(same(bands, filtered_whole(in, *filter, convolver)));
    ++compared;
  }
  CHECK(compared == 400);
}

TEST_CASE("every strategy of a family gives sharpening the same bytes, on the emulator, too") {
  const Image in = stepped_image(37, 29, 3, Depth::u8, 4);
  const FilterPtr filter = sharpen_filter(gaussian_mask(0.8), {4, 3, 10.0, 1});
  const auto by = [&](const char* strategy, const char* device) {
    ConvolverOptions options;
    options.request.strategy = strategy;
    options.request.device = device;
    Convolver convolver(options);
    return filtered(in, *filter, convolver);
  };
  const Image wanted = by("cpu", "cpu");
  for (const char* strategy : {"basic", "tiled-in", "direct"})
    CHECK(same(by(strategy, "emulator"), wanted));
  CHECK(same(by("separable", "emulator"), by("separable", "cpu")));
}

TEST_CASE("the valid part of a sharpened picture is the middle of the whole") {
  const Mask blur = gaussian_mask(1);
  const FilterPtr filter = sharpen_filter(blur, {2, 3, 10.0, 1});
  const Image in = stepped_image(30, 26, 3, Depth::u8, 2);
  ConvolverOptions valid = on_cpu();
  valid.mode = Mode::valid;
  Convolver one(on_cpu()), other(valid);
  const Image all = filtered(in, *filter, one), part = filtered(in, *filter, other);
  REQUIRE(part.width() == 30 - blur.width + 1);
  REQUIRE(part.height() == 26 - blur.height + 1);
  for_samples(part, [&](int x, int y, int c) {
    CHECK(sample(part, x, y, c) == sample(all, x + blur.anchor_x, y + blur.anchor_y, c));
  });
  valid.mode = Mode::full;
  valid.border = Border::constant;
  Convolver full(valid);
  CHECK_THROWS_WITH_AS(filtered(in, *filter, full), doctest::Contains("leave out --mode=full"),
                       UsageError);
}

TEST_CASE("a threshold means the same at every depth, and in light") {
  // 8-bit samples and the same in 16 bits are sharpened alike.
  Convolver convolver(on_cpu());
  const Image small = stepped_image(30, 30, 1, Depth::u8, 6);
  Image large(30, 30, 1, Depth::u16), real(30, 30, 1, Depth::f32);
  for_samples(small, [&](int x, int y, int c) {
    put(large, x, y, c, sample(small, x, y, c) * 257);
    put(real, x, y, c, sample(small, x, y, c) / 255);
  });
  const FilterPtr filter = sharpen_filter(gaussian_mask(1), {1.5, 8, {}, 1});
  const Image a = filtered(small, *filter, convolver), b = filtered(large, *filter, convolver),
              f = filtered(real, *filter, convolver);
  for_samples(a, [&](int x, int y, int c) {
    CHECK(std::abs(sample(b, x, y, c) / 257 - sample(a, x, y, c)) <= 0.502);
    CHECK(std::abs(std::clamp(sample(f, x, y, c), 0.0, 1.0) * 255 - sample(a, x, y, c)) <= 0.501);
  });
  // In light it is the same part of the range, as if the picture were one of light.
  Mapping linear;
  linear.linear = true;
  const TransferCurve curve({}, Depth::u8, 1, nullptr);
  Image light(30, 30, 1, Depth::f32), wanted(30, 30, 1, Depth::u8);
  for (int y = 0; y < 30; ++y)
    curve.to_linear(small.view().row(y), 30, 1, row_of<float>(light.view(), y));
  const Image sharp = filtered(light, *filter, convolver);
  for (int y = 0; y < 30; ++y)
    curve.from_linear(row_of<float>(sharp.view(), y), 30, 1, wanted.view().row(y));
  CHECK(same(filtered(small, *mapped(filter, linear), convolver), wanted));
  CHECK(!same(wanted, small));
}

TEST_CASE("the text of sharpening has all that decides a byte") {
  const Mask blur = gaussian_mask(1);
  std::vector<std::string> texts;
  for (const SharpenOptions& options : {SharpenOptions{1, 2, {}, 1},
                                        {1.5, 2, {}, 1},
                                        {1, 3, {}, 1},
                                        {1, 2, 0.0, 1},
                                        {1, 2, 5.0, 1},
                                        {1, 2, 5.0, 2}})
    texts.push_back(sharpen_filter(blur, options)->text());
  texts.push_back(sharpen_filter(gaussian_mask(1.1), {1, 2, {}, 1})->text());
  std::ranges::sort(texts);
  CHECK(std::ranges::adjacent_find(texts) == texts.end());
}
