/// tensor's kernels for warpgroups: the emulator's products against plain ones, banded matrices,
/// the strips that cover a plane, and the bytes of all these together.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <typeinfo>
#include <vector>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/tensor/warpgroup/grid.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/pairs.hpp"
#include "tests/support/tensor_bytes.hpp"

namespace convfilt::emulator::tensor::warpgroup {
bool takes(const Problem&);  // kernels/tensor/warpgroup/warpgroup.hpp, by backend
}

namespace convfilt::test {
namespace {

using namespace tensor::warpgroup;

constexpr int kRows = 64, kDepth = 32;            // of a product
constexpr int kDigits[] = {100, 30000, 3000000};  // largest weights of one digit, two, three

/// Where the PTX ISA's figure of matrices without swizzling has byte k of a row, in bytes: core
/// matrices of 8 rows of 16 bytes.
int place_of(int row, int k, int lead, int stride) {
  return k / 16 * lead + row / 8 * stride + row % 8 * 16 + k % 16;
}

/// Checks a product of a warpgroup whose operand a has that lead and stride.
template <int columns>
void check_product(Random& random, int a_lead, int a_stride) {
  const int a_bytes = 7 * a_stride + a_lead + 128, b_bytes = columns / 8 * 256;
  std::vector<std::uint8_t> a(std::size_t(a_bytes + 15) / 16 * 16), b(b_bytes);
  for (auto* bytes : {&a, &b})
    for (auto& byte : *bytes) byte = std::uint8_t(random.integer(0, 255));
  for (std::size_t k = 0; k < b.size(); k += 3) b[k] = 0;
  std::vector<std::int32_t> result(kRows * columns);
  const int bytes = int(a.size() + b.size());
  emulator::Stream stream(PlanOptions{});
  const auto kernel = [](const std::vector<std::uint8_t>* a, const std::vector<std::uint8_t>* b,
                         int a_lead, int a_stride, std::vector<std::int32_t>* result) {
    const int thread = emulator::threadIdx.x, a_words = int(a->size()) / 4;
    const emulator::SharedWords words = emulator::shared_words();
    if (thread == 0) {
      for (int k = 0; k < a_words + int(b->size()) / 4; ++k) {
        std::uint32_t word;
        std::memcpy(&word, k < a_words ? a->data() + 4 * k : b->data() + 4 * (k - a_words), 4);
        words.set(k, word);
      }
    }
    emulator::synchronise_block();
    std::int32_t sums[columns / 2];
    std::fill_n(sums, columns / 2, 5);
    const auto left = emulator::operand(words, a_lead, a_stride);
    const auto right = emulator::operand(words.from(a_words), 128, 256);
    emulator::multiply(sums, left, right);
    emulator::multiply(sums, left, right);
    for (int k = 0; k < columns / 2; ++k) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + k / 2 % 2 * 8;
      (*result)[row * columns + k / 4 * 8 + thread % 4 * 2 + k % 2] = sums[k];
    }
  };
  emulator::launch_shared(emulator::dim3(1), emulator::dim3(128), bytes, stream, +kernel, &a, &b,
                          a_lead, a_stride, &result);
  long wrong = 0;
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < columns; ++column) {
      std::int32_t sum = 5;
      for (int k = 0; k < kDepth; ++k) {
        sum += 2 * a[place_of(row, k, a_lead, a_stride)] *
               std::int8_t(b[place_of(column, k, 128, 256)]);
      }
      wrong += result[row * columns + column] != sum;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("products of warpgroups in the emulator: the PTX ISA's operands and sums") {
  Random random(91);
  check_product<64>(random, 16, 128);  // rows of a picture, whose segments overlap
  check_product<96>(random, 16, 128);
  check_product<64>(random, 1088, 128);  // columns of it
}

TEST_CASE("signed digits are a weight again, and as few as hold all of a mask") {
  PreparedMask<std::uint8_t> mask;
  mask.width = mask.height = 1;
  for (auto [weight, digits] : {std::pair{0, 1},
                                {127, 1},
                                {-128, 1},
                                {128, 2},
                                {-129, 2},
                                {32639, 2},
                                {-32896, 2},
                                {32640, 3},
                                {-32897, 3},
                                {4210752, 3},
                                {-4210752, 3}}) {
    mask.weights = {weight};
    INFO("weight " << weight);
    CHECK(signed_digits(mask) == digits);
    const auto matrices = banded_matrices(mask, {1, 1, 1}, 1, 1, digits);
    const int size = matrix_bytes_of(digits), before = rows_together(digits) - 1;
    REQUIRE(matrices.size() == std::size_t(size * (2 * before + 1)));
    long found = 0;
    for (int output = 0; output < kSegment; ++output) {
      const int column = output / 4 * 2 + output % 2, half = output / 2 % 2;
      std::int64_t is = 0;
      for (int digit = digits - 1; digit >= 0; --digit) {
        const int row = (2 * digit + half) * 8 + column;
        is = is * 256 + std::int8_t(matrices[before * size + place_of(row, 1 + output, 128, 256)]);
      }
      found += is == weight;
    }
    CHECK(found == kSegment);
    CHECK(std::count_if(matrices.begin(), matrices.end(), [](auto byte) { return byte != 0; }) <=
          digits * kSegment);
  }
}

TEST_CASE("strips cover all of a plane, each column once") {
  for (int width = 1; width < 5000; width += width < 1100 ? 1 : 37) {
    const Grid grid = cover_columns(-3, 5, width, width);
    std::vector<int> written(width);
    for (int strip = 0; strip < grid.across; ++strip) {
      const int x = grid.strip_x(strip);
      CHECK(x % kSector == 0);
      for (int k = strip * kColumns; k < std::min(x + kColumns, width); ++k) ++written[k];
    }
    INFO("width " << width);
    CHECK(std::count(written.begin(), written.end(), 1) == width);
    CHECK(grid.last_x + kColumns < std::max(width, kColumns) + kSector);
    CHECK(grid.read_columns() == grid.last_x + kColumns + 16);
    CHECK(grid.left == 3);
    CHECK(grid.right == 1);
  }
}

TEST_CASE("strips reach the last row, and are as many as run at a time") {
  for (const int height : {1, 7, 64, 100, 513, 8192, 30000}) {
    for (const int at_once : {1, 40, 1056, 1 << 30}) {
      Grid grid = cover_columns(-1, 3, 8192, 8192);
      cover_rows(grid, 2, 3, height, at_once);
      CHECK(grid.rows % 2 == 0);
      CHECK(grid.rows >= 8);
      CHECK(grid.rows <= 128);
      CHECK(grid.down * grid.rows >= height);
      CHECK((grid.down - 1) * grid.rows < height);
    }
  }
  Grid grid = cover_columns(-1, 3, 8192, 8192);
  cover_rows(grid, 2, 3, 8192, 1056);
  CHECK(grid.across * grid.down <= 1056);
  CHECK(grid.across * grid.down > 950);
}

TEST_CASE("a profile files a time under the kernel that really runs") {
  const auto plan_type = [](const Problem& p) {
    const auto plan = find_strategy("tensor")->prepare(p, DeviceKind::emulator, {});
    return std::string(typeid(*plan).name());
  };
  int taken = 0, left = 0;
  for (const int width : {300, 341, 342, 512, 640, 1023, 1024, 1100, 1366, 2048}) {
    for (const int channels : {1, 2, 3, 4}) {
      for (const int side : {3, 7, 9, 15, 31, 63, 78, 79, 101}) {
        const Problem p{width, 8, channels, Depth::u8, Border::replicate, 0, box_mask(side, 3)};
        const std::string without = plan_type(p);
        const WithWarpgroups with;
        const bool other = plan_type(p) != without;
        CHECK_MESSAGE(emulator::tensor::warpgroup::takes(p) == other, to_string(p));
        ++(other ? taken : left);
      }
    }
  }
  CHECK(taken >= 50);
  CHECK(left >= 50);
}

TEST_CASE("warpgroups take wide pictures with rows that have padding, where a device has them") {
  for (auto [width, side, padded, taken] : {std::tuple{1100, 3, true, false},
                                            {1400, 3, true, true},
                                            {1400, 31, true, true},
                                            {1400, 3, false, false},
                                            {1400, 78, true, true},
                                            {1400, 79, true, false},
                                            {1024, 3, true, true},
                                            {1023, 3, true, false}}) {
    INFO("width " << width << ", side " << side << ", padded " << padded);
    const Problem p{width, 20, 1, Depth::u8, Border::replicate, 0, box_mask(side, side)};
    const auto without = reads(p, padded);
    const WithWarpgroups with;
    CHECK((reads(p, padded) != without) == taken);
  }
}

TEST_CASE("warpgroups give the CPU's bytes: digits, steps, heights, channels, borders, modes") {
  constexpr std::pair<int, int> kSides[] = {{3, 3}, {5, 5}, {7, 7},   {9, 9},  {1, 1},
                                            {4, 2}, {9, 6}, {15, 15}, {31, 12}};
  for (const auto& [number, largest, sides, channels, mode] :
       combinations(kDigits, kSides, std::array{1, 3, 4}, kModes)) {
    const auto [w, h] = sides;
    const int turn = int(number), limit = std::min(largest, 4000000 / (w * h));
    const unsigned scale = std::bit_floor(unsigned(limit * std::sqrt(w * h)));
    const Border border =
        mode == Mode::full ? Border::constant : kBorders[number % std::size(kBorders)];
    Random random(93 + number);
    const Mask mask = integer_mask(random, w, h, limit, turn % 2 ? scale : scale + 1, 100);
    const Mask moved = anchored(mask, turn % w, turn % h);
    // For the widest masks the channels are separated.
    const int apart = w > 15 ? 1 : channels;
    const int width = (1500 + turn % 300) / apart, height = 21 + turn % 60;
    REQUIRE(strips_fit((width - w + 1) * apart));
    check_bytes({width, height, channels, Depth::u8, border, 9, turn % 4 < 3 ? mask : moved, mode});
  }
}

TEST_CASE("warpgroups give the CPU's bytes: masks in parts, half steps") {
  // Sides and digits together decide how many rows a part has. Every pair of them is tried once,
  // and most with another mode or number of channels.
  constexpr std::pair<int, int> kSides[] = {{33, 33}, {47, 47}, {63, 63},
                                            {78, 25}, {21, 17}, {5, 120}};
  for (const auto& [number, largest, sides] : combinations(kDigits, kSides)) {
    const auto [w, h] = sides;
    const int turn = int(number) + 1, round = turn + turn / 6;
    const Mode mode = kModes[round % std::size(kModes)];
    const int channels = round % 2 ? 1 : 3, limit = std::min(largest, 4000000 / (w * h));
    const unsigned scale = std::bit_floor(unsigned(limit * std::sqrt(w * h)));
    const Border border =
        mode == Mode::full ? Border::constant : kBorders[turn % std::size(kBorders)];
    Random random(94 + number);
    const Mask mask = integer_mask(random, w, h, limit, turn % 4 < 2 ? scale : scale + 1, 100);
    const Mask moved = anchored(mask, turn % w, turn % h);
    const int width = 1105 + turn, height = 3 + turn % 5;
    check_bytes({width, mode == Mode::valid ? height + h : height, channels, Depth::u8, border, 9,
                 turn % 3 ? mask : moved, mode});
  }
}

TEST_CASE("warpgroups give the CPU's bytes: sides of the picture, two wide strips, pieces") {
  Random random(95);
  const Mask mask = integer_mask(random, 5, 3, 30000, 1 << 16, 100);
  for (const auto& [number, width, border] :
       combinations(std::array{1024, 1366, 2048, 2049, 2112, 2115}, kBorders)) {
    check_bytes({width, 9, 1, Depth::u8, border, 9, mask, Mode::same});
  }
}

TEST_CASE(
    "warpgroups give the CPU's bytes: in matrices and in pieces, which begin elsewhere in words") {
  Random random(98);
  for (auto [side, channels, limit] :
       {std::tuple{5, 1, 60000}, {5, 1, 14000}, {3, 3, 60000}, {31, 3, 400000}, {47, 1, 600000}}) {
    const int height = side == 47 ? 47 : 3;  // 47: the mask is taken in parts
    const Mask mask = integer_mask(random, side, height, 60000 / height, 1 << 16, 100);
    check_pieces({1500, side == 31 ? 64 : 40, channels, Depth::u8, Border::reflect, 9, mask},
                 std::size_t(limit), limit == 14000);
  }
}

}  // namespace convfilt::test
