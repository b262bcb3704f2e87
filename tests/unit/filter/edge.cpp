/// Edges, through the registry of this build.
#include "src/filter/edge.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "tests/support/filtered.hpp"
#include "tests/support/images.hpp"

using namespace convfilt;
using namespace convfilt::image_tests;
using namespace convfilt::testing;

TEST_CASE("edges: the naive double computation") {
  for (const EdgeMethod& method : kEdgeMethods) {
    for (const char* direction : {"both", "x", "y"}) {
      if (method.second.empty() && std::string(direction) != "both") continue;
      for (Depth depth : kDepths) {
        for (int channels : {1, 3, 4}) {
          CAPTURE(method.name);
          CAPTURE(direction);
          CAPTURE(channels);
          const Image in = random_image(19, 11, channels, depth, 5);
          const std::vector<Mask> masks = edge_masks({std::string(method.name), direction, {}});
          Convolver convolver(on_cpu());
          const Image out = find_edges(in, masks, convolver);
          for_samples(out, [&](int x, int y, int c) {
            if (c == 3) {
              CHECK(sample(out, x, y, c) == sample(in, x, y, c));
              return;
            }
            const auto alpha = [&](int u, int v) {
              return channels == 4 ? sample(in, u, v, 3) : 1;
            };
            double squares = 0;
            for (const Mask& mask : masks) {
              const double response = naive(
                  in, mask, x, y, [&](int u, int v) { return sample(in, u, v, c) * alpha(u, v); });
              squares += response * response;
            }
            const double length = alpha(x, y) > 0 ? std::sqrt(squares) / alpha(x, y) : 0;
            // Sums are exact where samples and weights are whole, and rounded where they are not.
            const bool exact = depth != Depth::f32 && channels < 4 && method.name != "log";
            const double tolerance = exact ? 0 : depth == Depth::f32 ? 1e-5 * (1 + length) : 1;
            CHECK(std::abs(sample(out, x, y, c) - saturated(length, depth)) <= tolerance);
          });
        }
      }
    }
  }
}

TEST_CASE("edges by transforms that two masks share, in two pictures of one shape") {
  for (const char* strategy : {"overlap-add", "in-parts"}) {
    for (int channels : {1, 3, 4}) {
      ConvolverOptions options = on_cpu(), other = on_cpu();
      options.request.strategy = strategy;
      other.request.strategy = "cpu";
      Convolver by_transforms(options), directly(other);
      const std::vector<Mask> masks = edge_masks({"sobel", "both", {}});
      begin(*edge_filter(masks), {83, 41, channels, Depth::u8}, by_transforms)->needs(41);
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
  CHECK_THROWS_AS(edge_masks({"sobel", "both", 2.0}), UsageError);
  CHECK_THROWS_AS(edge_masks({"log", "x", {}}), UsageError);
  CHECK_THROWS_AS(edge_masks({"laplacian", "y", {}}), UsageError);
  CHECK_THROWS_AS(edge_masks({"sobel", "z", {}}), UsageError);
  CHECK_THROWS_WITH(edge_masks({"sobbel", "both", {}}), doctest::Contains("did you mean 'sobel'?"));
  CHECK(edge_masks({"sobel", "both", {}}).size() == 2);
  CHECK(edge_masks({"scharr", "y", {}}).size() == 1);
}
