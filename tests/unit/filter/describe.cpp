/// A filter's text: filters with one text give one picture the same bytes, over generated filters
/// of which many differ in one parameter.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
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

/// All that makes a filter.
struct Recipe {
  bool edge = false;
  EdgeOptions look;  ///< of an edge
  Mask mask;
  Mapping mapping;
  ConvolverOptions options;
};

Recipe random_recipe(std::mt19937& random) {
  const auto below = [&](int n) { return int(random() % unsigned(n)); };
  Recipe recipe;
  recipe.edge = below(3) == 0;
  recipe.look.kind = below(2) ? EdgeKind::gradient : EdgeKind::curvature;
  recipe.look.color = below(2) == 0;
  recipe.look.thin = below(2) == 0;
  if (below(2) == 0) recipe.look.threshold = below(40);
  if (recipe.look.threshold && below(2) == 0) recipe.look.low = *recipe.look.threshold / 2;
  const int width = 1 + below(4), height = 1 + below(4);
  std::vector<double> weights;
  for (int i = 0; i < width * height; ++i) weights.push_back(below(7) - 2 + (below(4) ? 0 : 0.25));
  recipe.mask = make_mask("m" + std::to_string(below(1000)), width, height, std::move(weights),
                          below(2) ? 4 : 3, below(3) ? 0 : 40);
  recipe.mask.anchor_x = below(width);
  recipe.mask.anchor_y = below(height);
  recipe.mapping.linear = below(4) == 0;
  recipe.mapping.luma = below(4) == 0;
  recipe.mapping.negative = Negative(below(3));
  if (below(4) == 0) recipe.mapping.regions = {{below(5), below(5), 7, 9, below(2) == 0}};
  recipe.options.request.device = "cpu";
  recipe.options.border = kBorders[below(5)];
  if (recipe.options.border == Border::constant) recipe.options.border_value = below(256);
  return recipe;
}

/// The recipe with one parameter changed, or with one that decides no byte.
Recipe altered(Recipe recipe, std::mt19937& random, bool& is_other) {
  is_other = true;
  switch (random() % 20) {
    case 0: recipe.edge = !recipe.edge; break;
    case 1: recipe.mask.weights[random() % recipe.mask.weights.size()] += 1; break;
    case 2: recipe.mask.divisor += 1; break;
    case 3: recipe.mask.offset += 7; break;
    case 4: recipe.mask.anchor_x = (recipe.mask.anchor_x + 1) % recipe.mask.width; break;
    case 5: recipe.mask.anchor_y = (recipe.mask.anchor_y + 1) % recipe.mask.height; break;
    case 6: recipe.mapping.linear = !recipe.mapping.linear; break;
    case 7: recipe.mapping.luma = !recipe.mapping.luma; break;
    case 8:
      recipe.mapping.negative = Negative((int(recipe.mapping.negative) + 1 + random() % 2) % 3);
      break;
    case 9: recipe.mapping.regions.push_back({int(random() % 6), 3, 5, 6}); break;
    case 10: recipe.options.border = kBorders[random() % 5]; break;
    case 11:
      recipe.options.border = Border::constant;
      recipe.options.border_value = double(random() % 256);
      break;
    case 12: {
      // The same weights in another shape.
      std::swap(recipe.mask.width, recipe.mask.height);
      recipe.mask.anchor_x = recipe.mask.anchor_y = 0;
      break;
    }
    case 13: recipe.look.color = !recipe.look.color; break;
    case 14: recipe.look.thin = !recipe.look.thin; break;
    case 15: recipe.look.threshold = recipe.look.threshold.value_or(0) + 0.5; break;
    case 16:
      recipe.look.threshold = recipe.look.threshold.value_or(9);
      recipe.look.low = std::min(recipe.look.low.value_or(-1) + 1, *recipe.look.threshold);
      break;
    case 17: recipe.look.direction = EdgeDirection(random() % 4); break;
    case 18:
      recipe.look.kind =
          recipe.look.kind == EdgeKind::gradient ? EdgeKind::curvature : EdgeKind::gradient;
      break;
    default:
      recipe.mask.name += "x";
      recipe.options.request.threads = 1 + int(random() % 3);
      recipe.options.padded_pitch = !recipe.options.padded_pitch;
      is_other = false;
  }
  return recipe;
}

FilterPtr made(const Recipe& recipe) {
  return mapped(recipe.edge ? edge_filter({recipe.mask}, recipe.look) : mask_filter(recipe.mask),
                recipe.mapping);
}

/// The result's bytes and shape in hexadecimal, or why there is none.
std::string result_of(const Recipe& recipe, const Image& in) {
  Convolver convolver(recipe.options);
  try {
    const Image out = filtered(in, *made(recipe), convolver);
    std::string text = std::to_string(out.width()) + " " + std::to_string(out.channels()) + ":";
    for (int y = 0; y < out.height(); ++y)
      text.append(reinterpret_cast<const char*>(out.view().row(y)), out.row_bytes());
    return text;
  } catch (const UsageError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("filters with one text give a picture the same bytes") {
  std::mt19937 random(7);
  const Image in = pattern(19, 17, 3, Depth::u8);
  std::map<std::string, std::string> results;  // by text
  int pairs = 0, free_pairs = 0, other_bytes = 0;
  const auto add = [&](const Recipe& recipe) {
    const std::string text = describe(*made(recipe), recipe.options);
    CAPTURE(text);
    const std::string result = result_of(recipe, in);
    const auto [found, is_new] = results.try_emplace(text, result);
    CHECK(found->second == result);
    return std::pair{text, result};
  };
  for (int round = 0; round < 1500; ++round) {
    const Recipe recipe = random_recipe(random);
    bool is_other = false;
    const auto [text, result] = add(recipe);
    const auto [next_text, next_result] = add(altered(recipe, random, is_other));
    ++pairs;
    if (!is_other) {
      CHECK(text == next_text);
      ++free_pairs;
    }
    if (result != next_result) {
      ++other_bytes;
      CHECK(text != next_text);
    }
  }
  CHECK(pairs == 1500);
  CHECK(free_pairs > 50);
  CHECK(other_bytes > 700);
}

TEST_CASE("a text is one line, however large the mask") {
  Convolver convolver{ConvolverOptions{}};
  const std::string text = describe(*mask_filter(gaussian_mask(40)), {});
  CHECK(text.size() < 250);
  CHECK(text.find('\n') == text.npos);
  CHECK(describe(*mask_filter(make_mask("any", 3, 1, {-1, 0, 0.5}, 2, 3)), {}) ==
        "mask 3x1 at 1,0, divisor 2, offset 3, weights -1 0 0.5, border replicate, mode same, "
        "strategy auto");
}

TEST_CASE("strategies, their settings and modes are in the text, and devices where they decide") {
  const FilterPtr filter = mask_filter(box_mask(3));
  ConvolverOptions options;
  const std::string plain = describe(*filter, options);
  options.request.device = "emulator";
  CHECK(describe(*filter, options) == plain);
  CHECK(describe(*mask_filter(gaussian_mask(60)), options).find(" on emulator") !=
        std::string::npos);
  options.mode = Mode::valid;
  CHECK(describe(*filter, options) != plain);
  options.mode = Mode::same;
  options.request.strategy = "tiled-in";
  const std::string named = describe(*filter, options);
  CHECK(named != plain);
  options.request.tuning[Setting::tile] = 32;
  CHECK(describe(*filter, options) != named);
}
