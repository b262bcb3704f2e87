#include "tests/support/cases.hpp"

#include <sstream>
#include <string>
#include <utility>

#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {
namespace {

// Takes the values of an axis in turn where the axis is not worth a factor in the number of cases.
template <class Values>
auto cycled(const Values& values, std::size_t k) {
  return values[k % std::size(values)];
}

constexpr double kGhosts[] = {0, 200, 255,
                              0.5};  // border values; integer depths round 0.5 to even, to 0

Case make_case(int width, int height, int channels, Depth depth, Border border, const Mask& mask,
               std::size_t k) {
  Case c;
  c.problem = {width, height, channels, depth, border, cycled(kGhosts, k), mask};
  c.seed = k + 1;
  return c;
}

/// What kind of mask it is, of which size, and where it is anchored: the middle, or elsewhere.
struct MaskLevels {
  int kind, size, anchor;
};

class MaskNumbers {
 public:
  MaskLevels operator()(const Mask& mask) {
    const std::string kind = mask.name.substr(0, mask.name.find_first_of("0123456789@"));
    const int corner = mask.anchor_x == mask.width / 2 && mask.anchor_y == mask.height / 2
                           ? 0
                           : 1 + 2 * (mask.anchor_x > 0) + (mask.anchor_y > 0);
    return {kinds_(kind), sizes_({mask.width, mask.height}), corner};
  }

 private:
  Numbers<std::string> kinds_;
  Numbers<std::pair<int, int>> sizes_;
};

/// Chosen by pairs of these levels and of what all cases have: depth, border and channels.
template <class F>
std::vector<Case> chosen(std::vector<Case> cases, F levels_of) {
  return by_pairs(std::move(cases), [&](const Case& c) {
    Levels levels = levels_of(c);
    const Problem& p = c.problem;
    for (int level : {int(p.depth), int(p.border), p.channels}) levels.push_back(level);
    return levels;
  });
}

}  // namespace

bool is_sampled(const Case& c) {
  return (c.seed * 0x9e3779b97f4a7c15u >> 32) % 3 == 0;
}

std::string to_string(const Case& c) {
  std::ostringstream line;
  line << to_string(c.problem) << " (anchor " << c.problem.mask.anchor_x << ' '
       << c.problem.mask.anchor_y << ", divisor " << c.problem.mask.divisor << ", offset "
       << c.problem.mask.offset << "), " << name_of(c.fill) << " seed " << c.seed << ", gaps "
       << c.in_gap << " and " << c.out_gap << ", lead " << c.lead;
  return line.str();
}

std::vector<Case> tiny_cases() {
  std::vector<Case> cases;
  for (const Mask& mask : small_masks()) {
    for (int height = 1; height <= 5; ++height) {
      for (int width = 1; width <= 5; ++width) {
        for (Border border : kBorders) {
          for (Depth depth : kDepths) {
            const std::size_t k = cases.size();
            cases.push_back(
                make_case(width, height, k % 7 < 5 ? 1 : k % 7 - 3, depth, border, mask, k));
            cases.back().fill = k % 11 == 0 ? Fill::checkerboard : Fill::signed_noise;
            cases.back().out_gap = int(k % 2);
          }
        }
      }
    }
  }
  MaskNumbers mask;
  return chosen(std::move(cases), [&](const Case& c) {
    return Levels{mask(c.problem.mask).size, c.problem.width, c.problem.height, int(c.fill)};
  });
}

std::vector<Case> tile_edge_cases() {
  constexpr int kEdges[] = {15, 16, 17, 31, 32, 33, 63, 64, 65};
  std::vector<std::pair<int, int>> sizes;
  for (std::size_t k = 0; k < std::size(kEdges); ++k) {
    sizes.push_back({kEdges[k], cycled(kEdges, 4 * k + 1)});
    sizes.push_back({kEdges[k], 1});
    sizes.push_back({1, kEdges[k]});
    sizes.push_back({2, kEdges[k]});
  }
  Random random(4);
  const std::vector<Mask> masks = {integer_mask(random, 3, 3, 9, 20, 60), gaussian_mask(5, 5, 1),
                                   anchored(real_mask(random, 4, 6, 70), 0, 5),
                                   integer_rank_one_mask(random, 9, 7, 9, 900),
                                   normalised_mask(random, 15, 15)};
  std::vector<Case> cases;
  for (const Mask& mask : masks) {
    for (auto [width, height] : sizes) {
      for (Depth depth : kDepths) {
        const std::size_t k = cases.size();
        cases.push_back(make_case(width, height, 1, depth, cycled(kBorders, k), mask, k));
        cases.back().out_gap = int(k % 5);
      }
    }
  }
  // Every width up to the tile of a row pass and beyond, for the ends of vectors too.
  for (int width = 66; width <= 140; ++width) {
    for (Depth depth : kDepths) {
      const std::size_t k = cases.size();
      cases.push_back(make_case(width, 2, 1, depth, cycled(kBorders, k), cycled(masks, width), k));
    }
  }
  for (int height : {127, 128, 129, 257}) {
    const std::size_t k = cases.size();
    cases.push_back(
        make_case(3, height, 1, cycled(kDepths, k), cycled(kBorders, k), cycled(masks, k), k));
  }
  // A width is a number of whole vectors and a rest, and so is a height.
  MaskNumbers mask;
  const auto wholes = [](int side) { return side < 3 ? 0 : side < 66 ? 1 + side / 16 : 6; };
  return chosen(std::move(cases), [&](const Case& c) {
    const auto [width, height] = std::pair{c.problem.width, c.problem.height};
    return Levels{mask(c.problem.mask).size, wholes(width), wholes(height), width % 16,
                  height > 2 ? height % 16 : 16};
  });
}

std::vector<Case> mask_cases() {
  std::vector<Case> cases;
  for (const Mask& mask : varied_masks()) {
    for (Depth depth : kDepths) {
      std::size_t k = cases.size();
      const bool costly = mask.width * mask.height > 200;
      cases.push_back(make_case(costly ? 33 : 45, costly ? 18 : 35, costly ? 1 : 1 + int(k % 3),
                                depth, cycled(kBorders, k / 3), mask, k));
      cases.back().fill = Fill::signed_noise;
      for (Border border : kBorders) {
        k = cases.size();
        cases.push_back(make_case(6, 4, 1, depth, border, mask, k));
      }
    }
  }
  MaskNumbers mask;
  return chosen(std::move(cases), [&](const Case& c) {
    const auto [kind, size, anchor] = mask(c.problem.mask);
    return Levels{kind, size, anchor, c.problem.width > 6};
  });
}

std::vector<Case> large_mask_cases() {
  std::vector<Case> cases;
  for (const Mask& mask : large_masks()) {
    for (Depth depth : kDepths) {
      std::size_t k = cases.size();
      cases.push_back(make_case(37, 13, 1, depth, cycled(kBorders, k), mask, k));
      for (Border border : kBorders) {
        k = cases.size();
        cases.push_back(make_case(5, 7, 1, depth, border, mask, k));
      }
    }
  }
  Random random(5);
  for (Depth depth : kDepths) {
    const std::size_t k = cases.size();
    cases.push_back(make_case(40, 3, 1, depth, cycled(kBorders, k),
                              normalised_mask(random, kMaxMaskSide, 1), k));
    cases.push_back(
        make_case(3, 40, 1, depth, cycled(kBorders, k + 3),
                  anchored(integer_rank_one_mask(random, 1, kMaxMaskSide, 4, 5000), 0, 7), k));
  }
  // compute-sanitizer follows every read of shared memory, of which a block has 20 million under
  // 101x97 weights. Smaller masks are cut into parts just so.
  if (!full_size())
    std::erase_if(cases, [](const Case& c) { return c.problem.mask.weights.size() > 2500; });
  MaskNumbers mask;
  return chosen(std::move(cases), [&](const Case& c) {
    return Levels{mask(c.problem.mask).size, c.problem.width > 5};
  });
}

std::vector<Case> cancelling_cases() {
  std::vector<Case> cases;
  for (int side : {9, 31, 45}) {
    Mask mask = box_mask(side, side);
    for (double& weight : mask.weights) weight = -1;
    mask.weights[mask.weights.size() / 2] += side * side + 1;
    mask.divisor = 1;
    for (Depth depth : kDepths) {
      for (Fill fill : {Fill::large, Fill::noise}) {
        const std::size_t k = cases.size();
        cases.push_back(make_case(25, 17, 1, depth, cycled(kBorders, k), mask, k));
        cases.back().fill = fill;
      }
    }
  }
  return chosen(std::move(cases), [](const Case& c) {
    return Levels{c.problem.mask.width, int(c.fill)};
  });
}

std::vector<Case> layout_cases() {
  Random random(6);
  const std::vector<Mask> masks = {integer_mask(random, 3, 3, 9, 20, 60), gaussian_mask(5, 3, 1)};
  std::vector<Case> cases;
  for (int channels = 1; channels <= 5; ++channels) {
    for (Depth depth : kDepths) {
      for (Border border : kBorders) {
        const std::size_t k = cases.size();
        cases.push_back(make_case(35, 17, channels, depth, border, cycled(masks, k / 2), k));
        cases.back().in_gap = int(k % 4) * 3;
        cases.back().out_gap = int(k % 3) * 7;
        cases.back().lead = int(k % 2);
      }
    }
  }
  return chosen(std::move(cases), [](const Case& c) {
    return Levels{c.problem.mask.height, c.in_gap / 3, c.out_gap / 7, c.lead};
  });
}

std::vector<Case> fill_cases() {
  Random random(7);
  const std::vector<Mask> masks = {box_mask(4, 2), sharpen_mask(5, 1.5, 1),
                                   integer_mask(random, 5, 3, 30, 1, -20),
                                   real_rank_one_mask(random, 3, 5)};
  std::vector<Case> cases;
  for (Fill fill : kFills) {
    for (const Mask& mask : masks) {
      for (Depth depth : kDepths) {
        for (Border border : kBorders) {
          const std::size_t k = cases.size();
          cases.push_back(make_case(34, 18, 1, depth, border, mask, k));
          cases.back().fill = fill;
        }
      }
    }
  }
  MaskNumbers mask;
  return chosen(std::move(cases), [&](const Case& c) {
    return Levels{mask(c.problem.mask).size, int(c.fill)};
  });
}

std::vector<Case> mode_cases() {
  Random random(8);
  const std::vector<Mask> masks = {integer_mask(random, 3, 3, 9, 20, 60),
                                   gaussian_mask(5, 5, 1),
                                   gaussian_mask(9, 1, 2),
                                   gaussian_mask(1, 8, 2),
                                   anchored(real_mask(random, 4, 6, 70), 0, 5),
                                   normalised_mask(random, 33, 35)};
  std::vector<Case> cases;
  for (const Mask& mask : masks) {
    for (auto [width, height] : {std::pair{45, 37}, {33, 35}, {5, 4}, {1, 70}}) {
      for (Depth depth : kDepths) {
        for (Mode mode : kModes) {
          const std::size_t k = cases.size();
          const bool costly = mask.weights.size() > 1000;
          cases.push_back(make_case(width, height, 1 + int(k % 3 == 2 && !costly), depth,
                                    cycled(kBorders, k / 2), mask, k));
          cases.back().problem.mode = mode;
          cases.back().out_gap = int(k % 2);
        }
      }
    }
  }
  // These lines are cut into parts, whose unfinished sums have the result's size.
  for (const Mask& line : {integer_rank_one_mask(random, 1, kMaxMaskSide, 4, 5000),
                           integer_rank_one_mask(random, kMaxMaskSide, 1, 4, 5000)}) {
    const std::size_t k = cases.size();
    const bool upright = line.height > 1;
    cases.push_back(make_case(upright ? 2 : 17, upright ? 17 : 2, 1,
                              upright ? Depth::u16 : Depth::u8,  // tensor takes seconds if upright
                              Border::constant, line, k));
    cases.back().problem.mode = Mode::full;
  }
  MaskNumbers mask;
  return chosen(std::move(cases), [&](const Case& c) {
    return Levels{mask(c.problem.mask).size, c.problem.height, int(c.problem.mode)};
  });
}

std::vector<Case> cases_of_masks(const std::vector<Mask>& masks) {
  std::vector<Case> cases;
  std::size_t all = 0;
  for (std::size_t m = 0; m < masks.size(); ++m) {
    std::size_t k = 0;
    for (Depth depth : kDepths) {
      for (Border border : kBorders) {
        ++all;
        const std::size_t number = k++;
        // The shared cases have every border under every kind of mask, so these have every depth.
        if (!full_size() && (m + number) % std::size(kBorders) != std::size_t(depth)) continue;
        cases.push_back(make_case(33, 19, 1 + int(number % 3), depth, border, masks[m], number));
        cases.back().fill = number % 4 == 3 ? Fill::checkerboard : Fill::noise;
      }
    }
  }
  count_chosen(cases.size(), all);
  return cases;
}

}  // namespace convfilt::test
