/// Strategy separable-tensor: what it refuses, and its bytes against the CPU's where pictures are
/// larger and masks longer than in the shared cases.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/backend/emulator/shared_words.hpp"
#include "kernels/contract/bytes.hpp"
#include "kernels/registry.hpp"
#include "kernels/separable_tensor/mask.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/device/with_warpgroups.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {
namespace {

using namespace separable_tensor;

/// A mask of rank 1 whose row and column have weights of that size, so that results lie mostly in
/// 0..255.
Mask mask_of_rank_1(Random& random, int width, int height, int largest, bool shifts) {
  std::vector<double> row, column, weights;
  for (int i = 0; i < width; ++i) row.push_back(random.integer(-largest / 4, largest));
  for (int j = 0; j < height; ++j) column.push_back(random.integer(-largest / 4, largest));
  row[std::size_t(width) / 2] = column[std::size_t(height) / 2] = largest;
  double sum = 0;
  for (double c : column) {
    for (double r : row) {
      weights.push_back(r * c);
      sum += r * c;
    }
  }
  double divisor = std::max(1.0, std::ceil(sum));
  if (shifts) divisor = std::exp2(std::ceil(std::log2(divisor)));
  return make_mask("rank 1", width, height, std::move(weights), divisor, 10);
}

/// Checks that every runner of the strategy gives the CPU's bytes, and the emulator with
/// warpgroups, too.
void check_bytes(const Problem& p, const PlanOptions& options = {}) {
  const Strategy *strategy = find_strategy("separable-tensor"), *cpu = find_strategy("separable");
  REQUIRE((strategy && cpu));
  INFO(to_string(p) << ", anchor " << p.mask.anchor_x << ' ' << p.mask.anchor_y << ", divisor "
                    << p.mask.divisor);
  REQUIRE(strategy->refusal(p) == "");
  Picture in = Picture::of(p);
  in.fill(Fill::noise, 92);
  const Picture expected = run({cpu, DeviceKind::cpu}, p, in);
  for (const Runner& runner : runners_of("separable-tensor")) {
    const auto check = [&](const char* how) {
      const Picture out = run(runner, p, in, options);
      const Place at = first_difference(out, expected);
      CHECK_MESSAGE(same_samples(out, expected), to_string(runner)
                                                     << how << ": first difference at " << at.x
                                                     << ' ' << at.y << " channel " << at.c);
    };
    check("");
    if (runner.device != DeviceKind::emulator) continue;
    const WithWarpgroups with;
    check(", by warpgroups");
  }
}

}  // namespace

TEST_CASE("bytes of two words by a selector") {
  CHECK(pick_bytes(0x33221100, 0x77665544, 0x3210) == 0x33221100);
  CHECK(pick_bytes(0x33221100, 0x77665544, 0x7654) == 0x77665544);
  CHECK(pick_bytes(0x33221100, 0x77665544, 0x5140) == 0x55114400);
}

TEST_CASE("how sums of columns are ended; a full row pass is found out") {
  for (const int side : {3, 5, 9, 15, 31, 63, 127}) {
    const auto gaussian = prepare_separable<std::uint8_t>(gaussian_mask(side, side, side / 4.0));
    CHECK(kernel_mask(gaussian).ends.column_end == ColumnEnd::shift);
    const auto box = prepare_separable<std::uint8_t>(box_mask(side, side));
    CHECK(kernel_mask(box).ends.column_end == ColumnEnd::odd);
  }
  CHECK(kernel_mask(prepare_separable<std::uint8_t>(box_mask(6, 6))).ends.column_end ==
        ColumnEnd::any);
  auto mask = prepare_separable<std::uint8_t>(sharpen_mask(5, 0.1, 1));
  CHECK(kernel_mask(mask).terms == 2);
  CHECK(kernel_mask(mask).ends.column_end == ColumnEnd::shift);
  CHECK(rows_fit(mask));
  mask.terms.back().column.finish = integer_finish(2140000000, 1 << 16, 0, 255);
  CHECK(kernel_mask(mask).ends.column_end == ColumnEnd::any);  // 32 bits would not hold the sums
  mask.terms.front().row.weights[2] *= 1000;
  CHECK_FALSE(rows_fit(mask));
}

TEST_CASE("separable-tensor refuses other depths and longer masks, with the remedy") {
  const Strategy* strategy = find_strategy("separable-tensor");
  REQUIRE(strategy);
  Problem p{64, 48, 1, Depth::u8, Border::replicate, 0, box_mask(3, 3)};
  CHECK(strategy->refusal(p) == "");
  for (const Depth depth : {Depth::u16, Depth::f32}) {
    p.depth = depth;
    CHECK(strategy->refusal(p) ==
          "tensor cores multiply bytes, and the samples here are " + std::string(name_of(depth)) +
              (depth == Depth::f32 ? ", as those of edges and of pictures with alpha are" : "") +
              "; use --strategy=separable, or " +
              (depth == Depth::f32 ? "apply a mask to a picture of 8 bits without alpha"
                                   : "a picture of 8 bits"));
  }
  p.depth = Depth::u8;
  for (auto [width, height] : {std::pair{127, 127}, {1, 129}}) {
    p.mask = gaussian_mask(width, height, 20);
    CHECK(strategy->refusal(p) == "");
  }
  for (auto [width, height] : {std::pair{131, 1}, {1, 130}}) {
    p.mask = gaussian_mask(width, height, 20);
    CHECK(strategy->refusal(p).ends_with("use --strategy=separable"));
  }
  Random random(95);
  for (auto [terms, longest] : {std::pair{2, 65}, {3, 33}}) {
    p.mask = real_low_rank_mask(random, longest, longest, terms);
    CHECK(strategy->refusal(p) == "");
    p.mask = real_low_rank_mask(random, longest, longest + 2, terms);
    CHECK(strategy->refusal(p).ends_with("use --strategy=separable"));
  }
}

TEST_CASE("separable-tensor gives the CPU's bytes: lengths of sides, digits, ends, anchors") {
  // These lie on both sides of every change in the number of slices.
  for (const auto& [number, width, largest, shifts, place] :
       combinations(std::array{1, 2, 14, 17, 18, 31, 33, 34, 63, 65, 66, 127},
                    std::array{2, 9, 30000}, std::array{true, false}, numbers(0, 3))) {
    const int anchor =
        std::array{width / 2, 0, (width - 1) / 4 * 2 + 1, width - 1}[std::size_t(place)];
    const int height = largest == 9 ? (width + 1) / 2 : width;
    Random random(93 + number);
    Mask mask = mask_of_rank_1(random, width, height, largest, shifts);
    mask.anchor_x = std::min(anchor, width - 1);
    mask.anchor_y = anchor * (height - 1) / std::max(1, width - 1);
    const Problem p{141, 51, 1, Depth::u8, Border::reflect101, 0, mask};
    if (!find_strategy("separable-tensor")->refusal(p).empty()) {
      CHECK(width == 127);  // as long as the anchor leaves room
      continue;
    }
    check_bytes(p);
  }
}

TEST_CASE("separable-tensor gives the CPU's bytes: channels, borders, modes, sizes, pitches") {
  const Mask masks[] = {gaussian_mask(31, 9, 4), gaussian_mask(5, 63, 9), box_mask(7, 7),
                        gaussian_mask(70, 3, 20)};
  for (const auto& [number, mask, channels, border, mode] :
       combinations(masks, numbers(1, 4), kBorders, kModes)) {
    const int k = int(number);
    const auto [width, height] = k % 3 ? std::pair{150 + k % 29, 83} : std::pair{97, 71 + k};
    const Problem p{width, height, channels, Depth::u8, border, 201, mask, mode};
    PlanOptions options;
    options.padded_pitch = k % 4 != 1;
    if (k % 5 == 2) options.memory_limit = 60000;
    check_bytes(p, options);
  }
}

TEST_CASE("separable-tensor gives the CPU's bytes: sums of terms") {
  constexpr std::array<int, 3> kMasks[] = {{5, 4, 2},   {18, 17, 2}, {33, 31, 2}, {34, 9, 2},
                                           {49, 65, 2}, {7, 5, 3},   {20, 33, 3}, {33, 3, 3}};
  for (const auto& [number, sizes, channels, border, mode] :
       combinations(kMasks, std::array{1, 3}, kBorders, kModes)) {
    const auto [width, height, terms] = sizes;
    const int k = int(number);
    Random random(96 + number);
    Mask mask = real_low_rank_mask(random, width, height, terms);
    mask.offset = k % 4 % 3 * 60;
    if (k % 2) mask = anchored(mask, width - 1, k % height);
    check_bytes({137 + k % 80, 66, channels, Depth::u8, border, 90, mask, mode});
  }
}

TEST_CASE("separable-tensor gives the CPU's bytes: in pieces of a size that warpgroups take") {
  for (const Mode mode : {Mode::same, Mode::full}) {
    PlanOptions options;
    options.memory_limit = 270000;
    const Border border = mode == Mode::full ? Border::constant : Border::wrap;
    check_bytes({400, 500, 1, Depth::u8, border, 9, gaussian_mask(31, 9, 4), mode}, options);
  }
}

TEST_CASE("separable-tensor gives the CPU's bytes: pictures smaller than the mask") {
  constexpr std::pair<int, int> kSizes[] = {{1, 1}, {2, 40}, {40, 2}, {16, 16}, {3, 5}};
  for (const auto& [number, border, size, channels] :
       combinations(kBorders, kSizes, std::array{1, 3})) {
    const auto [width, height] = size;
    check_bytes({width, height, channels, Depth::u8, border, 9, gaussian_mask(63, 33, 9)});
  }
}

TEST_CASE("separable-tensor gives the CPU's bytes however few blocks run at a time") {
  for (const int blocks : {1, 3, 8}) {
    emulator::most_blocks = blocks;
    for (const int channels : {1, 3}) {
      check_bytes({203, 150, channels, Depth::u8, Border::wrap, 0, gaussian_mask(31, 31, 5)});
    }
  }
  emulator::most_blocks = 1 << 30;
}

}  // namespace convfilt::test
