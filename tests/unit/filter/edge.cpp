/// Edges, through the registry of this build, against computations in double precision.
#include "src/filter/edge.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/filter/mapped.hpp"
#include "src/mask/file.hpp"
#include "tests/support/files/picture.hpp"
#include "tests/support/filtered.hpp"
#include "tests/support/images.hpp"

using namespace convfilt;
using namespace convfilt::image_tests;
using namespace convfilt::testing;

namespace {

/// The textbook's masks, from filters/.
std::vector<Mask> textbook(EdgeMethod method, EdgeDirection direction) {
  const std::string name(name_of(method));
  if (method == EdgeMethod::laplacian) return {load_mask("laplacian3")};
  std::vector<Mask> masks;
  if (direction != EdgeDirection::y) masks.push_back(load_mask(name + "_x"));
  if (direction != EdgeDirection::x) masks.push_back(load_mask(name + "_y"));
  return masks;
}

/// A picture of floats by a function of the middles of pixels.
Image drawn(int width, int height, const std::function<double(double x, double y)>& value) {
  Image image(width, height, 1, Depth::f32);
  for_samples(image, [&](int x, int y, int) { put(image, x, y, 0, value(x + 0.5, y + 0.5)); });
  return image;
}

/// A straight step of height 1 through the middle that gets brighter at `degrees`,
/// counter-clockwise from a row. A pixel at the rim has the share that is bright.
Image step_at(int side, double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  constexpr int kParts = 32;
  return drawn(side, side, [&](double x, double y) {
    int bright = 0;
    for (int j = 0; j < kParts; ++j)
      for (int i = 0; i < kParts; ++i) {
        const double u = x - 0.5 + (i + 0.5) / kParts - side / 2,
                     v = y - 0.5 + (j + 0.5) / kParts - side / 2;
        bright += u * std::cos(angle) - v * std::sin(angle) > 0;
      }
    return double(bright) / (kParts * kParts);
  });
}

/// The largest sample, far from the border.
double largest(const Image& image, int margin) {
  double most = 0;
  for (int y = margin; y < image.height() - margin; ++y)
    for (int x = margin; x < image.width() - margin; ++x)
      most = std::max(most, sample(image, x, y, 0));
  return most;
}

Image edges_of(const Image& in, const EdgeMasks& masks, EdgeOptions options = {},
               const ConvolverOptions& how = on_cpu()) {
  options.kind = kind_of(masks.method);
  options.direction = masks.direction;
  Convolver convolver(how);
  return filtered(in, *edge_filter(edge_masks(masks), options), convolver);
}

/// The least and most that slanted steps of height 1 get at sigma 1 and above, by the shape of the
/// masks: help says so. A mask of 2x2 or of eight directions is the least round.
std::pair<double, double> slanted_answers(EdgeMethod method) {
  if (method == EdgeMethod::roberts || method == EdgeMethod::kirsch) return {0.87, 1};
  if (method == EdgeMethod::robinson) return {0.95, 1.06};
  if (kind_of(method) == EdgeKind::curvature) return {0.94, 1.13};
  return {0.97, 1.04};
}

bool needs_gaussian(EdgeMethod method) {
  return method == EdgeMethod::log || method == EdgeMethod::dog;
}

/// The result of naive sums, in double precision.
std::vector<double> responses_at(const Image& in, const std::vector<Mask>& masks, int x, int y) {
  std::vector<double> responses;
  for (const Mask& mask : masks)
    responses.push_back(naive(in, mask, x, y, [&](int u, int v) { return sample(in, u, v, 0); }));
  return responses;
}

double answer_to(const std::vector<double>& responses, EdgeKind kind) {
  if (kind == EdgeKind::compass) return *std::ranges::max_element(responses);
  double squares = 0;
  for (const double response : responses) squares += response * response;
  return std::sqrt(squares);
}

}  // namespace

TEST_CASE("edges of each channel by the masks of textbooks: the naive double computation") {
  for (const EdgeMethod method :
       {EdgeMethod::sobel, EdgeMethod::scharr, EdgeMethod::prewitt, EdgeMethod::laplacian}) {
    for (const EdgeDirection direction :
         {EdgeDirection::both, EdgeDirection::x, EdgeDirection::y}) {
      if (method == EdgeMethod::laplacian && direction != EdgeDirection::both) continue;
      for (Depth depth : kDepths) {
        for (int channels : {1, 3, 4}) {
          CAPTURE(std::string(name_of(method)));
          CAPTURE(channels);
          const Image in = random_image(19, 11, channels, depth, 5);
          Convolver convolver(on_cpu());
          const Image out = find_edges(in, plain_masks(method, direction), convolver);
          for_samples(out, [&](int x, int y, int c) {
            if (c == 3) {
              CHECK(sample(out, x, y, c) == sample(in, x, y, c));
              return;
            }
            const auto alpha = [&](int u, int v) {
              return channels == 4 ? sample(in, u, v, 3) : 1;
            };
            double squares = 0;
            for (const Mask& mask : textbook(method, direction)) {
              const double response = naive(
                  in, mask, x, y, [&](int u, int v) { return sample(in, u, v, c) * alpha(u, v); });
              squares += response * response;
            }
            const double length = alpha(x, y) > 0 ? std::sqrt(squares) / alpha(x, y) : 0;
            // Sums are exact where samples are whole, and rounded where they are not.
            const bool exact = depth != Depth::f32 && channels < 4;
            const double tolerance = exact ? 0 : depth == Depth::f32 ? 1e-5 * (1 + length) : 1;
            CHECK(std::abs(sample(out, x, y, c) - saturated(length, depth)) <= tolerance);
          });
        }
      }
    }
  }
}

TEST_CASE(
    "an upright step of height h gets gain * h by every method and sigma, and a slanted one "
    "nearly") {
  for (const EdgeMethod method : kEdgeMethods) {
    for (const double sigma : {0.0, 0.4, 1.0, 2.0, 4.0}) {
      if (sigma == 0 && needs_gaussian(method)) continue;
      CAPTURE(std::string(name_of(method)));
      CAPTURE(sigma);
      const int margin = int(4 * 1.6 * sigma) + 3, side = 2 * margin + 12;
      for (const double gain : {1.5, 0.3})
        for (const double degrees : {0.0, 90.0, 180.0, 270.0}) {
          const Image edges = edges_of(step_at(side, degrees), {method, {}, sigma, gain});
          CHECK(std::abs(largest(edges, margin) - gain) < 1e-5 * gain);
        }
      double least = 2, most = 0;
      for (double degrees = 5; degrees < 90; degrees += 5) {
        const double answer =
            largest(edges_of(step_at(side, degrees), {method, {}, sigma, 1}), margin);
        least = std::min(least, answer);
        most = std::max(most, answer);
      }
      const auto [low, high] = slanted_answers(method);
      if (sigma >= 1) {
        CHECK(least > low);
        CHECK(most < high);
      }
    }
  }
}

TEST_CASE("weights of every method are those of Gaussian and derivative, one behind the other") {
  const Image in = random_image(40, 33, 1, Depth::f32, 3);
  for (const EdgeMethod method : kEdgeMethods) {
    if (needs_gaussian(method)) continue;
    const std::vector<Mask> plain = edge_masks({method, {}, 0, 1}),
                            both = edge_masks({method, {}, 1.3, 1});
    REQUIRE(plain.size() == both.size());
    // The test's own Gaussian.
    std::vector<double> line;
    double sum = 0;
    for (int i = -6; i <= 6; ++i) sum += line.emplace_back(std::exp(-i * i / (2 * 1.3 * 1.3)));
    Image blurred(40, 33, 1, Depth::f32);
    const auto inside = [](int i, int n) { return std::clamp(i, 0, n - 1); };
    std::vector<double> smooth(40 * 33);
    for_samples(in, [&](int x, int y, int) {
      for (int j = -6; j <= 6; ++j)
        for (int i = -6; i <= 6; ++i)
          smooth[std::size_t(y * 40 + x)] += line[std::size_t(j + 6)] * line[std::size_t(i + 6)] /
                                             (sum * sum) *
                                             sample(in, inside(x + i, 40), inside(y + j, 33), 0);
    });
    for (std::size_t k = 0; k < plain.size(); ++k) {
      double factor = 0;
      for (int y = 10; y < 23; ++y)
        for (int x = 10; x < 30; ++x) {
          double expected = 0;
          for (int j = 0; j < plain[k].height; ++j)
            for (int i = 0; i < plain[k].width; ++i)
              expected +=
                  plain[k].weight(i, j) *
                  smooth[std::size_t((y + j - plain[k].anchor_y) * 40 + x + i - plain[k].anchor_x)];
          const double got = responses_at(in, both, x, y)[k] * both[k].divisor;
          CHECK(got == doctest::Approx(expected).epsilon(1e-6));
          factor = got;
        }
      CHECK(factor != 0);
    }
  }
}

TEST_CASE("edges of luma: grey, by all methods, in double precision") {
  for (const EdgeMethod method : kEdgeMethods) {
    const EdgeMasks how{method, {}, 0.8, 1.5};
    const std::vector<Mask> masks = edge_masks(how);
    for (const Depth depth : kDepths) {
      CAPTURE(std::string(name_of(method)));
      const Image in = random_image(23, 17, 3, depth, 9), out = edges_of(in, how);
      REQUIRE(out.channels() == 1);
      const Image luma = drawn(23, 17, [&](double x, double y) {
        const auto colour = [&](int c) { return sample(in, int(x), int(y), c); };
        return 0.299 * colour(2) + 0.587 * colour(1) + 0.114 * colour(0);
      });
      for_samples(out, [&](int x, int y, int) {
        const double expected = answer_to(responses_at(luma, masks, x, y), kind_of(method));
        const double error = 2e-6 * full_range(depth);
        CHECK(sample(out, x, y, 0) >= saturated(expected - error, depth));
        CHECK(sample(out, x, y, 0) <= saturated(expected + error, depth));
      });
    }
  }
}

TEST_CASE("grey edges keep alpha, and opaque pictures with alpha get the edges of those without") {
  for (const Depth depth : kDepths) {
    Image in = random_image(31, 22, 4, depth, 2), plain(31, 22, 3, depth);
    for_samples(in, [&](int x, int y, int c) {
      if (c == 3 && y < 11) put(in, x, y, c, full_range(depth));
      if (c < 3) put(plain, x, y, c, sample(in, x, y, c));
    });
    const Image out = edges_of(in, {}), expected = edges_of(plain, {});
    REQUIRE(out.channels() == 4);
    for_samples(out, [&](int x, int y, int c) {
      if (c == 3) CHECK(sample(out, x, y, c) == sample(in, x, y, c));
      if (c < 3 && y < 11 - 5) CHECK(sample(out, x, y, c) == sample(expected, x, y, 0));
      if (c < 3) CHECK(sample(out, x, y, c) == sample(out, x, y, 0));
    });
  }
}

TEST_CASE("luma of edges of luma is the same") {
  Mapping mapping;
  mapping.luma = true;
  const FilterPtr edges = edge_filter(edge_masks({}), {});
  CHECK(mapped(edges, mapping) == edges);
  CHECK(mapped(channel_edges(edge_masks({})), mapping)->text() ==
        "luma of " + channel_edges(edge_masks({}))->text());
}

TEST_CASE("grey edges in a region stand beside the colours") {
  const Image in = random_image(31, 22, 3, Depth::u8, 2), edges = edges_of(in, {});
  Mapping mapping;
  mapping.regions = {{4, 5, 20, 9}};
  Convolver convolver(on_cpu());
  const Image out = filtered(in, *mapped(edge_filter(edge_masks({}), {}), mapping), convolver);
  for_samples(out, [&](int x, int y, int c) {
    const bool inside = x >= 4 && x < 24 && y >= 5 && y < 14;
    CHECK(sample(out, x, y, c) == (inside ? sample(edges, x, y, 0) : sample(in, x, y, c)));
  });
}

TEST_CASE("a threshold makes white of answers from it on, and black of the others") {
  for (const Depth depth : kDepths) {
    const Image in = random_image(40, 30, 1, depth, 7);
    const double full = full_range(depth), at = 80.0 / 255 * full;
    EdgeOptions options;
    options.threshold = 80;
    const Image out = edges_of(in, {}, options);
    int white = 0, black = 0;
    for_samples(out, [&](int x, int y, int) {
      const double answer = answer_to(responses_at(in, edge_masks({}), x, y), EdgeKind::gradient);
      if (std::abs(answer - at) < 2e-6 * full) return;
      CHECK(sample(out, x, y, 0) == (answer > at ? full : 0));
      ++(answer > at ? white : black);
    });
    CHECK(white > 100);
    CHECK(black > 100);
  }
  // Exactly at the threshold, without rounding: Sobel of a step of 10 is 40.
  Image step(8, 3, 1, Depth::u8);
  for_samples(step, [&](int x, int y, int) { put(step, x, y, 0, x < 4 ? 10 : 20); });
  for (const auto& [threshold, expected] : {std::pair{40.0, 255}, {40.01, 0}}) {
    EdgeOptions options;
    options.threshold = threshold;
    CHECK(sample(edges_of(step, {EdgeMethod::sobel, {}, 0, 4}, options), 4, 1, 0) == expected);
  }
}

TEST_CASE("the angle is where it gets brighter, counter-clockwise from a row") {
  for (const EdgeMethod method : kEdgeMethods) {
    const EdgeKind kind = kind_of(method);
    if (kind == EdgeKind::curvature) continue;
    for (int degrees = 0; degrees < 360; degrees += 9) {
      if (kind == EdgeKind::compass && degrees % 45 != 0) continue;
      CAPTURE(std::string(name_of(method)));
      CAPTURE(degrees);
      const double angle = degrees * std::numbers::pi / 180;
      const Image ramp = drawn(30, 30, [&](double x, double y) {
        return 0.5 + 0.02 * ((x - 15) * std::cos(angle) - (y - 15) * std::sin(angle));
      });
      const double got = sample(edges_of(ramp, {method, EdgeDirection::angle}), 15, 15, 0) * 360;
      const double off = std::abs(got - degrees);
      CHECK(std::min(off, 360 - off) < 0.01);
    }
  }
  // There is none where there is no edge.
  const Image grey = drawn(20, 20, [](double, double) { return 0.3; });
  CHECK(largest(edges_of(grey, {EdgeMethod::scharr, EdgeDirection::angle}), 0) == 0);
}

namespace {

/// Blue, green and red of a colour, by the formula of textbooks; the hue is in degrees.
std::array<double, 3> bgr_of(double hue, double saturation, double value) {
  const double chroma = value * saturation;
  const double second = chroma * (1 - std::abs(std::fmod(hue / 60, 2) - 1));
  const std::array<std::array<double, 3>, 6> sectors = {{{chroma, second, 0},
                                                         {second, chroma, 0},
                                                         {0, chroma, second},
                                                         {0, second, chroma},
                                                         {second, 0, chroma},
                                                         {chroma, 0, second}}};
  const auto& [red, green, blue] = sectors[std::size_t(hue / 60) % 6];
  const double grey = value - chroma;
  return {blue + grey, green + grey, red + grey};
}

/// The direction in which responses across and down get brighter, in degrees.
double degrees_of(double across, double down) {
  const double degrees = std::atan2(-down, across) * 180 / std::numbers::pi;
  return degrees < 0 ? degrees + 360 : degrees;
}

}  // namespace

TEST_CASE("hues are the colours of directions by the formula, as bright as the edges") {
  int bright = 0, dark = 0;
  for (const EdgeMethod method : {EdgeMethod::sobel, EdgeMethod::scharr, EdgeMethod::kirsch}) {
    for (const Depth depth : kDepths) {
      for (const int channels : {1, 3, 4}) {
        for (const bool has_threshold : {false, true}) {
          CAPTURE(std::string(name_of(method)));
          CAPTURE(std::string(name_of(depth)));
          CAPTURE(channels);
          const Image in = random_image(23, 17, channels, depth, 8);
          const EdgeMasks how{method, EdgeDirection::hue, 0.8, 1.5};
          EdgeOptions options;
          if (has_threshold) options.threshold = 60;
          const double full = full_range(depth);
          const Image out = edges_of(in, how, options);
          REQUIRE(out.channels() == std::max(3, channels));
          const auto alpha = [&](int x, int y) {
            return channels == 4 ? sample(in, x, y, 3) / full : 1;
          };
          const auto luma = [&](int x, int y) {
            if (channels == 1) return sample(in, x, y, 0);
            return alpha(x, y) * (0.114 * sample(in, x, y, 0) + 0.587 * sample(in, x, y, 1) +
                                  0.299 * sample(in, x, y, 2));
          };
          const std::vector<Mask> masks = edge_masks(how);
          for (int y = 0; y < out.height(); ++y) {
            for (int x = 0; x < out.width(); ++x) {
              std::vector<double> responses;
              for (const Mask& mask : masks) responses.push_back(naive(in, mask, x, y, luma));
              const auto strongest = std::ranges::max_element(responses);
              const double degrees = masks.size() == 8
                                         ? 45.0 * double(strongest - responses.begin())
                                         : degrees_of(responses[0], responses[1]);
              double value =
                  alpha(x, y) > 0 ? answer_to(responses, kind_of(method)) / alpha(x, y) : 0;
              if (has_threshold) value = value >= 60 / 255.0 * full ? full : 0;
              const auto expected = bgr_of(degrees, 1, std::min(value, full));
              bright += value >= full;
              dark += value < full;
              for (int c = 0; c < 3; ++c)
                CHECK(std::abs(sample(out, x, y, c) - saturated(expected[std::size_t(c)], depth)) <=
                      (depth == Depth::f32 ? 2e-5 : 1));
              if (channels == 4) CHECK(sample(out, x, y, 3) == sample(in, x, y, 3));
            }
          }
        }
      }
    }
  }
  CHECK(bright > 1000);
  CHECK(dark > 1000);
}

TEST_CASE("hues of the directions that help names") {
  const std::pair<int, std::array<int, 3>> named[] = {
      {0, {255, 0, 0}}, {90, {128, 255, 0}}, {180, {0, 255, 255}}, {270, {128, 0, 255}}};
  for (const auto& [degrees, rgb] : named) {
    CAPTURE(degrees);
    const int across = degrees == 0     ? 1
                       : degrees == 180 ? -1
                                        : 0,
              down = degrees == 270  ? 1
                     : degrees == 90 ? -1
                                     : 0;
    Image ramp(20, 20, 1, Depth::u8);
    for_samples(ramp, [&](int x, int y, int) {
      put(ramp, x, y, 0, 120 + 5 * (across * (x - 10) + down * (y - 10)));
    });
    const Image out = edges_of(ramp, {EdgeMethod::sobel, EdgeDirection::hue, 0, 100});
    for (int c = 0; c < 3; ++c) CHECK(sample(out, 10, 10, 2 - c) == rgb[std::size_t(c)]);
  }
}

TEST_CASE("thin edges are the answers that the rule keeps") {
  int kept = 0, dropped = 0;
  for (const EdgeMethod method : kEdgeMethods) {
    const EdgeKind kind = kind_of(method);
    if (kind == EdgeKind::curvature) continue;
    for (const double sigma : {0.0, 1.0}) {
      CAPTURE(std::string(name_of(method)));
      const Image in = random_image(47, 39, 1, Depth::f32, 4);
      const EdgeMasks how{method, {}, sigma, 1.5};
      EdgeOptions options;
      options.thin = true;
      const Image all = edges_of(in, how), thin = edges_of(in, how, options);
      const auto at = [&](int x, int y) {
        return x < 0 || y < 0 || x >= 47 || y >= 39 ? 0 : sample(all, x, y, 0);
      };
      for_samples(all, [&](int x, int y, int) {
        const std::vector<double> r = responses_at(in, edge_masks(how), x, y);
        const auto best = std::ranges::max_element(r);
        const double turn = kind == EdgeKind::compass
                                ? double(best - r.begin())
                                : std::atan2(-r[1], r[0]) / std::numbers::pi * 4;
        // Which neighbour is across may be in doubt between two eighths, or two masks.
        if (std::abs(turn - std::floor(turn) - 0.5) < 1e-3) return;
        if (kind == EdgeKind::compass &&
            std::ranges::count_if(r, [&](double other) { return other > *best - 1e-4; }) > 1)
          return;
        const int eighth = (int(std::lround(turn)) + 8) % 4;  // 0: across, 1: up to the right
        const int dx = eighth == 2 ? 0 : 1, dy = eighth == 0 ? 0 : eighth == 1 ? -1 : 1;
        const bool stays = at(x, y) > at(x - dx, y - dy) && at(x, y) >= at(x + dx, y + dy);
        CHECK(sample(thin, x, y, 0) == (stays ? at(x, y) : 0));
        ++(stays ? kept : dropped);
      });
    }
  }
  CHECK(kept > 3000);
  CHECK(dropped > 6000);
}

TEST_CASE("of two equal answers across a step one stays, in every row") {
  for (const EdgeMethod method : kEdgeMethods) {
    if (needs_gaussian(method)) continue;
    for (const double degrees : {0.0, 90.0, 180.0, 270.0}) {
      CAPTURE(std::string(name_of(method)));
      CAPTURE(degrees);
      Image in(24, 24, 1, Depth::u8);
      const Image step = step_at(24, degrees);
      for_samples(in, [&](int x, int y, int) { put(in, x, y, 0, sample(step, x, y, 0) * 100); });
      EdgeOptions options;
      options.thin = true;
      EdgeMasks how{method, {}, 0, 1.5};
      how.by_crossings = kind_of(method) == EdgeKind::curvature;
      const Image thin = edges_of(in, how, options);
      // At the border a compass may look for its neighbour outside.
      for (int i = 1; i < 23; ++i) {
        int found = 0;
        for (int j = 0; j < 24; ++j) {
          const double value =
              degrees == 0 || degrees == 180 ? sample(thin, j, i, 0) : sample(thin, i, j, 0);
          found += value > 0;
          CHECK((value == 0 || value == 150));
        }
        CHECK(found == 1);
      }
    }
  }
}

TEST_CASE("zero crossings lie at a step, and are as bright as it is high") {
  for (const EdgeMethod method : {EdgeMethod::laplacian, EdgeMethod::log, EdgeMethod::dog}) {
    for (const double sigma : {0.7, 1.0, 2.5}) {
      CAPTURE(std::string(name_of(method)));
      CAPTURE(sigma);
      EdgeOptions options;
      options.thin = true;
      const Image thin = edges_of(step_at(48, 0), {method, {}, sigma, 0.8, true}, options);
      for (int y = 0; y < 48; ++y)
        for (int x = 0; x < 48; ++x) {
          const double value = sample(thin, x, y, 0);
          if (x == 23 || x == 24) continue;
          CHECK(value < 0.01);  // the Gaussian ends somewhere
        }
      for (int y = 12; y < 36; ++y)
        CHECK(sample(thin, 23, y, 0) + sample(thin, 24, y, 0) ==
              doctest::Approx(0.8).epsilon(1e-4));
    }
  }
}

TEST_CASE("a low threshold keeps what touches an edge, through the whole picture") {
  // Rings that fade to the left.
  Image in(210, 160, 1, Depth::u8);
  for_samples(in, [&](int x, int y, int) {
    const double bright = std::sin(std::hypot(x - 105, y - 80) / 4) > 0 ? 0.5 : -0.5;
    put(in, x, y, 0, std::round(128 + bright * x));
  });
  const EdgeMasks how{EdgeMethod::canny};
  EdgeOptions thin, canny;
  thin.thin = canny.thin = true;
  canny.threshold = 200;
  canny.low = 60;
  Image floats(210, 160, 1, Depth::f32);
  for_samples(in, [&](int x, int y, int c) { put(floats, x, y, c, sample(in, x, y, c) / 255); });
  const Image out = edges_of(in, how, canny);
  // Marks spread by steps until none is new.
  const Image answers = edges_of(floats, how, thin);
  std::vector<int> marks(210 * 160);
  for_samples(answers, [&](int x, int y, int) {
    marks[std::size_t(y * 210 + x)] = sample(answers, x, y, 0) * 255 >= 200;
  });
  for (bool more = true; more;) {
    more = false;
    for (int y = 0; y < 160; ++y)
      for (int x = 0; x < 210; ++x) {
        int& mark = marks[std::size_t(y * 210 + x)];
        if (mark || sample(answers, x, y, 0) * 255 < 60) continue;
        for (int v = std::max(0, y - 1); v <= std::min(159, y + 1); ++v)
          for (int u = std::max(0, x - 1); u <= std::min(209, x + 1); ++u)
            if (marks[std::size_t(v * 210 + u)]) mark = 1;
        more = more || mark;
      }
  }
  int white = 0, different = 0, weak = 0;
  for_samples(out, [&](int x, int y, int) {
    white += sample(out, x, y, 0) == 255;
    different += sample(out, x, y, 0) != 255 * marks[std::size_t(y * 210 + x)];
    weak += sample(out, x, y, 0) == 255 && sample(answers, x, y, 0) * 255 < 199;
  });
  CHECK(white > 300);
  CHECK(weak > 50);
  CHECK(different <= white / 500);  // samples of floats are rounded
  for (const int threads : {1, 2, 7}) {
    ConvolverOptions options = on_cpu();
    options.request.threads = threads;
    CHECK(same(edges_of(in, how, canny, options), out));
  }
}

TEST_CASE("a compass has the same bytes by way of its factors") {
  const Image in = pattern(300, 120, 3, Depth::u8);
  for (const EdgeMethod method : {EdgeMethod::kirsch, EdgeMethod::robinson})
    for (const double sigma : {0.6, 1.0, 3.0})
      for (const bool is_black_and_white : {false, true})
        for (const bool is_another : {false, true}) {  // factors that are slightly off
          CAPTURE(sigma);
          EdgeMasks masks{method, {}, sigma};
          EdgeOptions look{EdgeKind::compass};
          if (is_black_and_white) look.threshold = 30;
          const FilterPtr plain = edge_filter(edge_masks(masks), look);
          look.factors = factors_of(masks);
          if (is_another) look.factors->sharp[3].weights[2] += 0.01;
          const FilterPtr fast = edge_filter(edge_masks(masks), look);
          CHECK(fast->text() == plain->text());
          Convolver convolver(on_cpu());
          const auto work = begin(*plain, shape_of(in), convolver);
          const auto other = begin(*fast, shape_of(in), convolver);
          CHECK(same(filtered_in_bands(in, *work, 120), filtered_in_bands(in, *other, 40)));
        }
}

TEST_CASE("all that edges can be has the same bytes in bands of any height") {
  std::mt19937 random(31);
  const auto below = [&](int n) { return int(random() % unsigned(n)); };
  int thin = 0, compared = 0, black_and_white = 0;
  for (int round = 0; round < 500; ++round) {
    EdgeMasks masks{kEdgeMethods[below(int(std::size(kEdgeMethods)))], {}, 0.3 * (1 + below(5)), 2};
    const EdgeKind kind = kind_of(masks.method);
    if (kind != EdgeKind::curvature && below(3) == 0)
      masks.direction = below(2) ? EdgeDirection::angle : EdgeDirection::hue;
    if (kind == EdgeKind::gradient && below(3) == 0)
      masks.direction = below(2) ? EdgeDirection::x : EdgeDirection::y;
    EdgeOptions look;
    look.kind = kind;
    look.direction = masks.direction;
    look.color = masks.direction != EdgeDirection::hue && below(2) == 0;
    look.thin = below(3) > 0;
    if (below(3) == 0) look.threshold = below(100);
    if (kind == EdgeKind::compass) look.factors = factors_of(masks);
    const Depth depth = kDepths[round % 3];
    const Image in = pattern(1 + below(50), 1 + below(60),
                             round % 2   ? 3
                             : round % 4 ? 4
                                         : 1,
                             depth);
    ConvolverOptions options = on_cpu(kBorders[below(5)], depth == Depth::f32 ? 0.4 : 30);
    const FilterPtr filter = edge_filter(edge_masks(masks), look);
    CAPTURE(describe(*filter, options));
    CAPTURE(in.height());
    Convolver convolver(options);
    const auto work = begin(*filter, shape_of(in), convolver);
    REQUIRE(!work->is_whole());
    const int least = work->wraps() ? 1 : work->window.height;
    const Image bands = filtered_in_bands(in, *work, [&](int left) {
      const int rows = least + below(9);
      return left - rows < least ? left : rows;
    });
    CHECK(same(bands, filtered_whole(in, *filter, convolver)));
    CHECK(work->two_levels ==
          (look.threshold && !shows_angles(look.direction) && bands.channels() == 1));
    int grey = 0;
    for_samples(bands, [&](int x, int y, int c) {
      const double level = sample(bands, x, y, c);
      grey += level != 0 && level != full_range(depth);
    });
    if (work->two_levels) CHECK(grey == 0);
    black_and_white += work->two_levels;
    ++compared;
    thin += look.thin;
  }
  CHECK(compared == 500);
  CHECK(thin > 200);
  CHECK(black_and_white > 50);
}

TEST_CASE(
    "edges are black and white by canny, and not where a filter around them has more levels") {
  EdgeOptions canny{EdgeKind::gradient, {}, false, true, 60, 20};
  const FilterPtr filter = edge_filter(edge_masks({EdgeMethod::canny}), canny);
  const auto is_known = [&](const Mapping& mapping, int channels) {
    Convolver convolver(on_cpu());
    return begin(*mapped(filter, mapping), {50, 40, channels, Depth::u8}, convolver)->two_levels;
  };
  CHECK(is_known({}, 1));
  CHECK(is_known({}, 3));
  CHECK(!is_known({}, 4));
  Mapping mapping;
  mapping.luma = true;
  CHECK(is_known(mapping, 3));
  mapping.regions = {Region{1, 1, 5, 5}};
  CHECK(!is_known(mapping, 1));
  for (const Depth depth : kDepths) {
    Mapping deep;
    deep.depth = depth;
    CHECK(!is_known(deep, 1));
  }
  for (int how = 0; how < 3; ++how) {
    Mapping outer;
    outer.linear = how == 0;
    if (how == 1) outer.negative = Negative::absolute;
    if (how == 2) outer.negative = Negative::centred;
    CHECK(!is_known(outer, 1));
  }
}

TEST_CASE("edges by transforms that two masks share, in two pictures of one shape") {
  for (const char* strategy : {"overlap-add", "in-parts"}) {
    for (int channels : {1, 3, 4}) {
      ConvolverOptions options = on_cpu(), other = on_cpu();
      options.request.strategy = strategy;
      other.request.strategy = "cpu";
      Convolver by_transforms(options), directly(other);
      const std::vector<Mask> masks = plain_masks(EdgeMethod::sobel);
      begin(*channel_edges(masks), {83, 41, channels, Depth::u8}, by_transforms)->needs(41);
      for (unsigned seed : {6u, 7u}) {
        const Image in = random_image(83, 41, channels, Depth::u8, int(seed));
        const Image a = find_edges(in, masks, by_transforms), b = find_edges(in, masks, directly);
        for_samples(a, [&](int x, int y, int c) {
          CHECK(std::abs(sample(a, x, y, c) - sample(b, x, y, c)) <= 1);
        });
      }
    }
  }
}

TEST_CASE("edge options that contradict each other") {
  CHECK_THROWS_AS(edge_masks({EdgeMethod::log, EdgeDirection::x}), UsageError);
  CHECK_THROWS_AS(edge_masks({EdgeMethod::laplacian, EdgeDirection::y}), UsageError);
  CHECK_THROWS_AS(edge_masks({EdgeMethod::dog, EdgeDirection::angle}), UsageError);
  CHECK_THROWS_AS(edge_masks({EdgeMethod::log, EdgeDirection::hue}), UsageError);
  CHECK_THROWS_AS(edge_masks({EdgeMethod::kirsch, EdgeDirection::x}), UsageError);
  CHECK_THROWS_AS(edge_masks({EdgeMethod::log, {}, 0}), UsageError);
  CHECK_THROWS_AS(edge_masks({EdgeMethod::dog, {}, 0}), UsageError);
  EdgeOptions options;
  options.color = true;
  options.direction = EdgeDirection::hue;
  CHECK_THROWS_AS(edge_filter(edge_masks({}), options), UsageError);
  options = {};
  options.low = 5;
  CHECK_THROWS_AS(edge_filter(edge_masks({}), options), UsageError);
  options.threshold = 4;
  CHECK_THROWS_AS(edge_filter(edge_masks({}), options), UsageError);
  CHECK(edge_masks({}).size() == 2);
  CHECK(edge_masks({EdgeMethod::robinson, EdgeDirection::angle}).size() == 8);
  CHECK(edge_masks({EdgeMethod::scharr, EdgeDirection::y}).size() == 1);
  CHECK(edge_masks({EdgeMethod::dog, {}, kMaxEdgeSigma}).front().width == kMaxMaskSide);
}
