/// What strategy separable's one kernel must get right beside the shared cases: every length of a
/// mask, channels, edges, blocks of several steps, and devices with less shared memory. Its walk in
/// registers has a file of its own.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/backend/emulator/shared_words.hpp"
#include "kernels/registry.hpp"
#include "tests/support/a_depth.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/device/few_blocks.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {
namespace {

/// Puts the problem to all runners of separable and two-pass: they must give the CPU's bytes.
void check_bytes(const Problem& p, Fill fill = Fill::signed_noise, PlanOptions options = {}) {
  REQUIRE((p.out_width() >= 1 && p.out_height() >= 1));
  const Strategy* separable = find_strategy("separable");
  REQUIRE(separable);
  REQUIRE(separable->refusal(p) == "");
  INFO(to_string(p) << ", anchor " << p.mask.anchor_x << ' ' << p.mask.anchor_y);
  Picture in = Picture::of(p);
  in.fill(fill, 91);
  const Picture expected = run({separable, DeviceKind::cpu}, p, in);
  for (const char* strategy : {"separable", "two-pass"}) {
    for (const Runner& runner : runners_of(strategy)) {
      INFO(to_string(runner));
      const Picture out = run(runner, p, in, options);
      const Place at = first_difference(out, expected);
      CHECK_MESSAGE(same_samples(out, expected), "first difference at " << at.x << ' ' << at.y);
    }
  }
}

/// An emulated device that copies rows on its own, or does not.
class RowCopies {
 public:
  explicit RowCopies(bool has) { emulator::has_row_copies = has; }
  ~RowCopies() { emulator::has_row_copies = true; }
};

/// An emulated device with this much shared memory for a block.
class LittleMemory {
 public:
  explicit LittleMemory(int bytes) { emulator::shared_limits = {bytes, bytes + 1024}; }
  ~LittleMemory() { emulator::shared_limits = before_; }

 private:
  const emulator::SharedLimits before_ = emulator::shared_limits;
};

template <class Values>
auto cycled(const Values& values, int k) {
  return values[std::size_t(k) % std::size(values)];
}

}  // namespace

TEST_CASE("separable: every length of a mask") {
  std::vector<int> lengths = numbers(1, 40);
  for (const int taps : {63, 64}) lengths.push_back(taps);
  for (const int taps : numbers(126, 137)) lengths.push_back(taps);
  for (const auto& [number, taps, upright, terms, depth] : combinations_where(
           [](int taps, bool upright, int terms, Depth depth) {
             return full_size() || (taps + upright + terms + int(depth)) % 3 == 0;
           },
           lengths, std::array{false, true}, numbers(1, 3), kDepths)) {
    const int turn = int(number);
    Random random(92 + number);
    const FewBlocks few(turn % 3 == 0 ? 1 << 30 : 3);
    const RowCopies copies(turn % 4 != 1);
    const int other = random.integer(1, 12);
    const Mask mask = upright ? real_low_rank_mask(random, other, taps, terms)
                              : real_low_rank_mask(random, taps, other, terms);
    const Mask turned =
        anchored(mask, random.integer(0, mask.width - 1), random.integer(0, mask.height - 1));
    check_bytes({150, upright ? 90 : 40, 1 + turn % 2 * (turn % 5), depth, cycled(kBorders, turn),
                 0.5, turn % 4 ? mask : turned});
  }
}

TEST_CASE("separable: channels side by side, and five of them as planes") {
  for (const auto& [number, channels, taps, border, depth] :
       combinations(numbers(1, 5), std::array{1, 2, 3, 4, 7, 21, 40}, kBorders, kDepths)) {
    const int k = int(number);
    Random random(93 + number);
    const FewBlocks few(k % 2 ? 1 << 30 : 4);
    const RowCopies copies(k % 3 != 0);
    check_bytes({69, 25, channels, depth, border, 200,
                 real_low_rank_mask(random, taps, random.integer(1, 5), 1 + k % 4 % 3)});
  }
}

TEST_CASE("separable: pictures smaller than the mask") {
  constexpr std::pair<int, int> kSizes[] = {{1, 1}, {2, 3}, {7, 1}, {1, 9}, {5, 4}, {17, 6}};
  for (const auto& [number, size, border, depth, mode, channels] :
       combinations(kSizes, kBorders, kDepths, std::array{Mode::same, Mode::full}, numbers(1, 3))) {
    const int k = int(number);
    Random random(94 + number);
    check_bytes({size.first, size.second, channels, depth, border, 77,
                 real_low_rank_mask(random, 1 + k % 37, 1 + k % 19, 1 + k % 3), mode});
  }
}

/// Calls check with problems of one depth, of each mode, with one channel and three.
template <class Check>
void check_modes(Depth wanted, Check check) {
  Random random(95);
  int k = 0;
  for (const Mode mode : kModes) {
    for (const Depth depth : kDepths) {
      for (const int channels : {1, 3}) {
        const Mask mask = real_low_rank_mask(random, 13 + k % 5, 11 + k % 4, 1 + k % 2);
        const Problem p{163, 61, channels, depth, cycled(kBorders, ++k), 9, mask, mode};
        if (depth != wanted) continue;
        const FewBlocks few(2);
        const RowCopies copies(k % 2 == 0);
        check(p);
      }
    }
  }
}

TEST_CASE_TEMPLATE("separable: modes, packed rows, NaN and infinity", D, OfU8, OfU16, OfF32) {
  check_modes(D::value, [](const Problem& p) {
    check_bytes(p, Fill::not_finite);
    check_bytes(p, Fill::large);
    check_bytes(p, Fill::noise, {.padded_pitch = false});
  });
}

TEST_CASE_TEMPLATE("separable: windows, in every mode", D, OfU8, OfU16, OfF32) {
  check_modes(D::value,
              [](const Problem& p) { check_bytes(p, Fill::noise, {.memory_limit = 40000}); });
}

TEST_CASE("separable: less shared memory, down to what holds no rows at all") {
  for (const auto& [number, kilobytes, taps, depth] :
       combinations(std::array{227, 99, 64, 24, 8}, std::array{3, 15, 33, 65}, kDepths)) {
    Random random(96 + number);
    const LittleMemory little(kilobytes * 1024);
    const FewBlocks few(3);
    check_bytes({300, 70, 1, depth, Border::reflect, 0,
                 real_low_rank_mask(random, taps, taps, 1 + taps % 4 % 3)});
  }
}

TEST_CASE("separable: an offset of -0 keeps its sign") {
  Mask mask = box_mask(3, 3);
  mask.offset = -0.0;
  check_bytes({40, 20, 1, Depth::f32, Border::constant, 0, mask}, Fill::signed_noise);
}

}  // namespace convfilt::test
