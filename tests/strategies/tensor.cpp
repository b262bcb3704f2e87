/// Strategy tensor: the emulator's matrix products against plain ones, what is refused, and its
/// bytes against the CPU's.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/backend/emulator/shared_words.hpp"
#include "kernels/registry.hpp"
#include "kernels/tensor/layout.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"

namespace convfilt::test {
namespace {

using namespace tensor;

constexpr int kMaxTestChannels = 4;
constexpr int kDigits[] = {100, 30000, 3000000};  // largest weights of one digit, two, three
constexpr int kRows = 16, kColumns = 8;           // of a product's result

template <int k>
struct Matrices {
  std::array<std::array<std::uint8_t, k>, kRows> a;
  std::array<std::array<std::uint8_t, kColumns>, k> b;
  std::array<std::array<std::int32_t, kColumns>, kRows> c;
};

template <int k>
Matrices<k> random_matrices(Random& random) {
  Matrices<k> m;
  for (auto& row : m.a)
    for (auto& byte : row) byte = std::uint8_t(random.integer(0, 255));
  for (auto& row : m.b)
    for (auto& byte : row) byte = std::uint8_t(random.integer(0, 255));
  for (auto& row : m.c)
    for (auto& sum : row) sum = random.integer(-1000, 1000);
  return m;
}

/// Adds the product twice to the sum, by one warp. Fragments are laid out byte by byte, as the PTX
/// ISA's figures of mma.m16n8k16 and m16n8k32 for .u8/.s8 show. Byte is the type of a's elements.
template <class Digit, int words, class Byte>
void multiply_by_warp(Matrices<16 * words>& m) {
  Counts counts;
  emulator::run_grid(1, 32, 1, counts, [&m] {
    const int lane = emulator::threadIdx.x, group = lane >> 2, in_group = lane % 4;
    std::uint32_t a[2 * words] = {}, b[words] = {};
    std::int32_t c[4];
    for (int i = 0; i < 8 * words; ++i) {
      const int row = i < 4 || (i >= 8 && i < 12) ? group : group + 8;
      const int col = in_group * 4 + (i & 3) + (i < 8 ? 0 : 16);
      a[i / 4] |= std::uint32_t(m.a[row][col]) << (i % 4 * 8);
    }
    for (int i = 0; i < 4 * words; ++i) {
      const int row = in_group * 4 + (i & 3) + (i < 4 ? 0 : 16);
      b[i / 4] |= std::uint32_t(m.b[row][group]) << (i % 4 * 8);
    }
    for (int i = 0; i < 4; ++i) c[i] = m.c[i < 2 ? group : group + 8][in_group * 2 + (i & 1)];
    emulator::mma<Digit, Byte>(c, a, b);
    emulator::mma<Digit, Byte>(c, a, b);
    for (int i = 0; i < 4; ++i) m.c[i < 2 ? group : group + 8][in_group * 2 + (i & 1)] = c[i];
  });
  CHECK(counts.barriers == 0);
}

template <class Digit, int words, class Byte = std::uint8_t>
void check_product(Random& random) {
  constexpr int k = 16 * words;
  Matrices<k> m = random_matrices<k>(random);
  auto expected = m.c;
  for (int row = 0; row < kRows; ++row)
    for (int col = 0; col < kColumns; ++col)
      for (int n = 0; n < k; ++n) expected[row][col] += 2 * Byte(m.a[row][n]) * Digit(m.b[n][col]);
  multiply_by_warp<Digit, words, Byte>(m);
  CHECK(m.c == expected);
}

}  // namespace

TEST_CASE("mma in the emulator: two products, in the PTX ISA's fragments") {
  Random random(81);
  for (int n = 0; n < 10; ++n) {
    check_product<std::int8_t, 1>(random);
    check_product<std::uint8_t, 1>(random);
    check_product<std::int8_t, 2>(random);
    check_product<std::uint8_t, 2>(random);
    check_product<std::int8_t, 1, std::int8_t>(random);
    check_product<std::uint8_t, 2, std::int8_t>(random);
  }
}

TEST_CASE("a warp whose threads do not all come is found out") {
  Counts counts;
  const auto meet = [](int threads) {
    return [threads] {
      if (emulator::threadIdx.x < threads) emulator::meet_warp();
    };
  };
  CHECK_THROWS_AS(emulator::run_grid(1, 32, 1, counts, meet(31)), emulator::EmulatorError);
  CHECK_THROWS_AS(emulator::run_grid(1, 31, 1, counts, meet(31)), emulator::EmulatorError);
  CHECK_NOTHROW(emulator::run_grid(2, 96, 1, counts, meet(64)));
}

TEST_CASE("a band holds each weight once for each output of a segment, and zeros else") {
  for (const int channels : {1, 2, 3, 4}) {
    for (const int width : {1, 2, 3, 8, 31}) {
      for (const int lead : {-31, -6, -1, 0, 3}) {
        const int dx = lead * channels, steps = steps_of(lead, width, channels);
        int wrong = 0;
        for (int output = 0; output < kSegment; ++output) {
          int weights = 0;
          for (int place = 0; place < steps * kStepBytes; ++place) {
            const int word = place / 4 * 4, at = word - output + kSegment - 1;
            wrong += at < 0 || at >= matrix_words_of(steps);
            const int i = mask_column(at, place - word, dx, width, channels);
            // A segment's samples are read from a multiple of four on.
            const int first = dx - (dx & ~3) + output;
            wrong += i >= 0 && place != first + i * channels;
            weights += i >= 0;
          }
          wrong += weights != width;
        }
        CHECK_MESSAGE(wrong == 0, width << " weights, " << channels << " channels, dx " << dx);
      }
    }
  }
}

TEST_CASE("tensor takes 8-bit pictures alone, and says so") {
  const Strategy* strategy = find_strategy("tensor");
  REQUIRE(strategy);
  Problem p{64, 48, 1, Depth::u8, Border::replicate, 0, box_mask(3, 3)};
  CHECK(strategy->refusal(p) == "");
  for (const Depth depth : {Depth::u16, Depth::f32}) {
    p.depth = depth;
    CHECK(strategy->refusal(p) ==
          "tensor cores multiply bytes, and the samples here are " + std::string(name_of(depth)) +
              (depth == Depth::f32 ? ", as those of edges and of pictures with alpha are" : "") +
              "; use --strategy=auto, or " +
              (depth == Depth::f32 ? "apply a mask to a picture of 8 bits without alpha"
                                   : "a picture of 8 bits"));
  }
}

namespace {

/// Checks that tensor gives the CPU's bytes on every device, in tiles and strips of all kinds.
void check_bytes(const Problem& p) {
  const Strategy *tensor = find_strategy("tensor"), *cpu = find_strategy("cpu");
  REQUIRE((tensor && cpu));
  REQUIRE(tensor->refusal(p) == "");
  INFO(to_string(p) << ", anchor " << p.mask.anchor_x << ", divisor " << p.mask.divisor);
  Picture in = Picture::of(p);
  in.fill(Fill::noise, 84);
  const Picture expected = run({cpu, DeviceKind::cpu}, p, in);
  for (const Runner& runner : runners_of("tensor")) {
    // Blocks take one tile or several, and rows of the picture have padding or none.
    for (auto [blocks, padded] : {std::pair{1 << 30, true}, {5, true}, {1 << 30, false}}) {
      emulator::most_blocks = blocks;
      PlanOptions options;
      options.padded_pitch = padded;
      const Picture out = run(runner, p, in, options);
      const Place at = first_difference(out, expected);
      CHECK_MESSAGE(same_samples(out, expected), "first difference at " << at.x << ' ' << at.y);
    }
    emulator::most_blocks = 1 << 30;
  }
}

}  // namespace

TEST_CASE("tensor gives the CPU's bytes: channels, borders, modes, sides of the picture") {
  constexpr std::pair<int, int> kSides[] = {{3, 3}, {5, 5}, {9, 9}, {2, 4}, {8, 1}};
  for (const auto& [number, largest, sides, channels, border, mode, width, moved] :
       combinations_where(
           [](int, auto sides, int channels, Border border, Mode mode, int, bool) {
             // Even in full only some combinations run, since the emulator is slow.
             return (channels + int(border) + int(mode) + sides.first) % 7 == 0;
           },
           kDigits, kSides, numbers(1, kMaxTestChannels), kBorders, kModes,
           std::array{340, 344, 512 + 13}, std::array{false, true})) {
    const auto [w, h] = sides;
    Random random(86 + number);
    const unsigned divisor = std::bit_floor(unsigned(largest * std::sqrt(w * h)));
    Mask mask = integer_mask(random, w, h, largest, divisor, 100);
    if (moved) mask = anchored(mask, int(number) % w, int(number) % h);
    check_bytes({width / channels, 35, channels, Depth::u8, border, 9, mask, mode});
  }
}

// These pictures are wider and higher than a tile, so that there are tiles without edges.
TEST_CASE("tensor gives the CPU's bytes: digits, steps, heights, anchors, ends") {
  const auto check = [](const Mask& mask, Mode mode) {
    const Border border = mode == Mode::full ? Border::constant : Border::reflect101;
    check_bytes({601, 101, 1, Depth::u8, border, 9, mask, mode});
  };
  constexpr std::pair<int, int> kSides[] = {{3, 3}, {5, 5},   {7, 7},   {9, 9},  {4, 3},
                                            {9, 2}, {15, 15}, {31, 31}, {30, 5}, {1, 9}};
  for (const auto& [number, largest, sides, odd, moved, mode] :
       combinations(kDigits, kSides, std::array{0, 1}, std::array{false, true}, kModes)) {
    const auto [w, h] = sides;
    Random random(83 + number);
    const int limit = std::min(largest, 4000000 / (w * h));
    // The divisors are so large that most results lie within 0..255. One is a power of two.
    const unsigned scale = std::bit_floor(unsigned(limit * std::sqrt(w * h)));
    const Mask mask = integer_mask(random, w, h, limit, scale + unsigned(odd), 100);
    check(moved ? anchored(mask, w - 1, 0) : mask, mode);
  }
  for (const Mode mode : kModes) check(gaussian_mask(40, 3, 6), mode);  // in parts
}

}  // namespace convfilt::test
